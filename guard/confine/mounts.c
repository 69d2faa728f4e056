/* The order, which is the whole point:
 *  1. nothing that we do or that the host does later crosses over (private)
 *  2. copies of everything that is to stay writable, while it is
 *  3. the made-up objects: /dev, /tmp, empty folders, masks, all in one tmpfs; copies
 *     of those that are to stay writable
 *  4. the root and all below it become read-only, the rest of that tmpfs too
 *  5. /proc, while the old one is whole: in a user namespace the kernel gives us a
 *     new one only then
 *  6. the copies and the made-up objects go to their places, parents first
 * System calls are counted here: a launch is a hundred of them. */
#include "guard/confine/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/cause.h"
#include "guard/confine/overlay.h"
#include "guard/confine/resolve.h"
#include "guard/confine/root.h"
#include "guard/confine/tree.h"

#define SAFE (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

static int make_private(struct fence_err *err)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		return 0;
	/* EINVAL: / is no mount point, as in a chroot. */
	return fence_fail(err, -errno, "make the mounts private");
}

/* --- 2. copies -------------------------------------------------------------------- */

static uint64_t flags_of(const struct guard_op *op)
{
	uint64_t flags = SAFE;

	/* A device that was named is meant to work. */
	if (S_ISCHR(op->st.st_mode) || S_ISBLK(op->st.st_mode))
		flags &= ~(uint64_t)MOUNT_ATTR_NODEV;
	return op->kind == GUARD_OP_RO ? flags | MOUNT_ATTR_RDONLY : flags;
}

static int copy_op(struct guard_op *op, struct fence_err *err)
{
	int rc;

	op->tree_fd = guard_tree_clone(op->object_fd, "");
	if (op->tree_fd < 0)
		return fence_fail(err, op->tree_fd, "take over %s", op->path);
	rc = guard_tree_restrict(op->tree_fd, flags_of(op), true);
	return rc < 0 ? fence_fail(err, rc, "restrict %s", op->path) : 0;
}

static int copy_all(struct guard_plan *plan, struct fence_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < plan->count; i++) {
		struct guard_op *op = &plan->ops[i];

		if (op->skip || (op->kind != GUARD_OP_RW && op->kind != GUARD_OP_RO &&
				 op->kind != GUARD_OP_PIN))
			continue;
		plan->current = op->path;
		rc = copy_op(op, err);
	}
	return rc;
}

/* --- 3. made-up objects ------------------------------------------------------------- */

static const struct guard_op *find_kind(const struct guard_plan *plan, enum guard_op_kind kind)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->ops[i].kind == kind && !plan->ops[i].skip)
			return &plan->ops[i];
	return NULL;
}

/* One tmpfs serves everything: a folder of it, copied, is a mount of its own. Only what
 * is attached can be copied (before Linux 6.15), so it lies on /proc's place, where the
 * new /proc then covers it for good; we stand in it, and name what is in it by that. */
static int make_scratch(const struct guard_mounts *mounts, struct fence_err *err)
{
	if (mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0 ||
	    chdir("/proc") < 0 || (mounts->nesting && mkdir("proc", 0555) < 0))
		return fence_fail(err, -errno, "mount a tmpfs");
	return 0;
}

/* What masks are made of: nothing, that nobody may read. */
static int make_mask(const struct guard_op *op)
{
	int rc = S_ISDIR(op->st.st_mode) ? mkdir("mask", 0) : mknod("file", S_IFREG, 0);

	return rc < 0 && errno != EEXIST ? -errno : 0;
}

/* A folder of the scratch tmpfs, as a writable mount of its own. */
static int scratch_folder(const char *name, mode_t mode)
{
	return mkdir(name, mode) < 0 ? -errno : guard_tree_clone(AT_FDCWD, name);
}

/* Where there is no copy to be had the host's own is read-only: stricter, never weaker. */
static int make_copy(const struct guard_mounts *mounts, struct guard_plan *plan,
		     struct guard_op *op, const char *name, struct fence_err *err)
{
	if (guard_overlay_make_private(plan, op, name, mounts->real_root) == 0)
		return 0;
	fence_close_fd(&op->tree_fd);
	op->kind = GUARD_OP_RO;
	return copy_op(op, err);
}

static int make_up(struct guard_mounts *mounts, struct guard_plan *plan, size_t number,
		   struct fence_err *err)
{
	struct guard_op *op = &plan->ops[number];
	char name[32];

	if (op->kind == GUARD_OP_MASK)
		return make_mask(op);
	if (op->kind == GUARD_OP_DEV)
		return guard_dev_make(mounts->real_root, &op->tree_fd, err);
	if (op->kind == GUARD_OP_TMP)
		return op->tree_fd = scratch_folder("tmp", 01777);
	(void)snprintf(name, sizeof(name), "t%zu", number);
	if (op->is_private)
		return make_copy(mounts, plan, op, name, err);
	if (op->kind == GUARD_OP_OVERLAY)
		return guard_overlay_make(op, name, mounts->real_root, err);
	return op->tree_fd = scratch_folder(name, 0755);
}

static int make_up_all(struct guard_mounts *mounts, struct guard_plan *plan, struct fence_err *err)
{
	bool have_mask[2] = { false, false };
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < plan->count; i++) {
		struct guard_op *op = &plan->ops[i];
		bool is_dir = S_ISDIR(op->st.st_mode);

		if (op->skip || (op->kind != GUARD_OP_DEV && op->kind != GUARD_OP_TMP &&
				 op->kind != GUARD_OP_TMPFS && op->kind != GUARD_OP_MASK &&
				 op->kind != GUARD_OP_OVERLAY))
			continue;
		if (op->kind == GUARD_OP_MASK && have_mask[is_dir])
			continue;
		have_mask[is_dir] |= op->kind == GUARD_OP_MASK;
		rc = make_up(mounts, plan, i, err);
		if (rc < 0 && err->code == 0)
			return fence_fail(err, rc, "make up %s", op->path);
	}
	return rc < 0 ? rc : 0;
}

/* --- 4. and 5. ------------------------------------------------------------------------ */

static int close_root(struct fence_err *err)
{
	struct mount_attr attr = { .attr_set = SAFE | MOUNT_ATTR_RDONLY };
	int rc = fence_mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attr);

	return rc < 0 ? fence_fail(err, rc, "make / read-only") : 0;
}

static int mount_proc(const char *place, bool read_only)
{
	unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC | (read_only ? MS_RDONLY : 0);

	return mount("proc", place, "proc", flags, NULL) < 0 ? -errno : 0;
}

int guard_mounts_proc_only(struct fence_err *err)
{
	int rc = make_private(err);

	if (rc < 0)
		return rc;
	rc = mount_proc("/proc", false);
	/* Where another sandbox has one that is read-only, a new one can be no more. */
	if (rc == -EPERM)
		rc = mount_proc("/proc", true);
	if (rc == 0)
		return 0;
	fence_fail(err, rc, "mount /proc");
	guard_cause_hint(GUARD_STEP_PROC, err);
	return rc;
}

/* Without capabilities uid 0 still owns what is in /proc/sys and friends, and
 * could write there. Read-only as a whole, unless the command needs to write its
 * own user namespace's maps: then the parts that are the machine's. */
static int close_proc(struct fence_err *err)
{
	static const char *const parts[] = {
		"/proc/sys",  "/proc/sysrq-trigger", "/proc/irq",	    "/proc/bus",
		"/proc/fs",   "/proc/acpi",	     "/proc/scsi",	    "/proc/driver",
		"/proc/mtrr", "/proc/asound",	     "/proc/dynamic_debug",
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		owned_fd tree = guard_tree_clone(AT_FDCWD, parts[i]);
		int rc;

		if (tree == -ENOENT)
			continue;
		rc = tree < 0 ? tree : guard_tree_restrict(tree, SAFE | MOUNT_ATTR_RDONLY, true);
		if (rc == 0)
			rc = guard_tree_attach(tree, AT_FDCWD, parts[i]);
		if (rc < 0)
			return fence_fail(err, rc, "make %s read-only", parts[i]);
	}
	return 0;
}

/* --- 6. places -------------------------------------------------------------------------- */

/* Bound from the scratch tmpfs, which is read-only by now, a mask is so as well: else
 * its owner would give himself rights to it. One call for each of thousands, through the
 * new /proc; where that is hidden, three. */
static int mask(const struct guard_plan *plan, bool is_dir, int place_fd)
{
	const char *name = is_dir ? "mask" : "file";
	char place[32];
	owned_fd tree_fd = -1;

	(void)snprintf(place, sizeof(place), "/proc/self/fd/%d", place_fd);
	if (!plan->proc_masked)
		return mount(name, place, NULL, MS_BIND, NULL) < 0 ? -errno : 0;
	tree_fd = guard_tree_clone(AT_FDCWD, name);
	return tree_fd < 0 ? tree_fd : guard_tree_attach(tree_fd, place_fd, "");
}

static int put_on(const struct guard_plan *plan, const struct guard_op *op, int place_fd)
{
	if (op->kind == GUARD_OP_MASK)
		return mask(plan, S_ISDIR(op->st.st_mode), place_fd);
	return guard_tree_attach(op->tree_fd, place_fd, "");
}

/* A place for `rest` (a relative path) in a folder in memory, which nobody but us has
 * been in. */
static int make_place(int tree_fd, const char *rest, bool is_dir)
{
	char path[PATH_MAX];
	size_t length = strlen(rest);

	memcpy(path, rest, length + 1);
	for (size_t i = 0; i < length; i++) {
		if (path[i] != '/')
			continue;
		path[i] = '\0';
		if (mkdirat(tree_fd, path, 0755) < 0 && errno != EEXIST)
			return -errno;
		path[i] = '/';
	}
	if (is_dir ? mkdirat(tree_fd, path, 0755) < 0
		   : mknodat(tree_fd, path, S_IFREG | 0600, 0) < 0)
		if (errno != EEXIST)
			return -errno;
	return 0;
}

/* A mount goes to the object itself while nothing covers it, to a place made for it
 * below a folder in memory, else to the object looked up again. */
static int attach_below(const struct guard_plan *plan, struct guard_op *op,
			const struct guard_op *above, struct fence_err *err)
{
	const char *rest = op->path + strlen(above->path) + 1;
	owned_fd place = -1;
	int rc;

	if (above->kind == GUARD_OP_TMP || above->kind == GUARD_OP_TMPFS ||
	    above->kind == GUARD_OP_DEV) {
		rc = make_place(above->tree_fd, rest, S_ISDIR(op->st.st_mode));
		if (rc < 0)
			return fence_fail(err, rc, "make a place for %s", op->path);
		return guard_tree_attach(op->tree_fd, above->tree_fd, rest);
	}
	if (op->st.st_ino == 0 && fstat(op->object_fd, &op->st) < 0)
		return -errno;
	/* An overlay numbers its folders itself; nobody has been in it. */
	place = guard_reopen(op->path, above->kind == GUARD_OP_OVERLAY ? NULL : &op->st);
	if (place == -ESTALE)
		return fence_fail_why(err, place, "it was replaced meanwhile", "confine %s",
				      op->path);
	if (place < 0)
		return fence_fail(err, place, "find %s again", op->path);
	return put_on(plan, op, place);
}

static int attach_op(struct guard_plan *plan, struct guard_op *op, struct fence_err *err)
{
	int rc = op->parent < 0 ? put_on(plan, op, op->object_fd)
				: attach_below(plan, op, &plan->ops[op->parent], err);

	if (rc == -ENOENT && op->may_vanish) {
		*err = (struct fence_err){ 0 };
		return 0;
	}
	return rc < 0 && err->code == 0 ? fence_fail(err, rc, "mount on %s", op->path) : rc;
}

/* TMPDIR often names a folder of its own below /tmp, which is not there in a private
 * one; made anew, programs find what they were promised. */
static int make_tmp_dir(const struct guard_plan *plan, const struct guard_op *tmp,
			struct fence_err *err)
{
	const char *path = plan->tmp_dir;
	int rc;

	if (path == NULL || strcmp(path, tmp->path) == 0 || !guard_path_within(path, tmp->path) ||
	    strstr(path, "..") != NULL || path[strlen(path) - 1] == '/' || strlen(path) >= PATH_MAX)
		return 0;
	rc = make_place(tmp->tree_fd, path + strlen(tmp->path) + 1, true);
	return rc < 0 ? fence_fail(err, rc, "make TMPDIR %s", path) : 0;
}

static int attach_all(struct guard_plan *plan, struct fence_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < plan->count; i++) {
		struct guard_op *op = &plan->ops[i];

		if (op->skip || op->kind == GUARD_OP_PROC)
			continue;
		plan->current = op->path;
		rc = attach_op(plan, op, err);
		if (rc == 0 && op->kind == GUARD_OP_TMP)
			rc = make_tmp_dir(plan, op, err);
	}
	return rc;
}

/* Read-only only once everything has its place in it; and unlike the scratch tmpfs that
 * it is a part of, it is for devices. */
static int close_dev(const struct guard_plan *plan, struct fence_err *err)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY, .attr_clr = MOUNT_ATTR_NODEV };
	const struct guard_op *dev = find_kind(plan, GUARD_OP_DEV);
	int rc = dev == NULL ? 0 : fence_mount_setattr(dev->tree_fd, "", AT_EMPTY_PATH, &attr);

	return rc < 0 ? fence_fail(err, rc, "make /dev read-only") : 0;
}

#define FORBIDDEN (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)

/* A fresh /proc, or, where the host forbids one, an unreadable empty folder, never
 * the host's. The scratch tmpfs lies under whichever it is. */
static int place_proc(struct guard_mounts *mounts, struct guard_plan *plan, struct fence_err *err)
{
	/* Also in a user namespace: uid 0 that is mapped to itself is the host's. */
	bool owns_settings = getauxval(AT_EUID) == 0;
	bool read_only = owns_settings && !mounts->keep_proc_rw;
	int rc = 0;

	/* In a user namespace the kernel gives a new /proc no more rights than one has that is
	 * whole: ours is not, with what close_proc puts on it. So there is a second one, which is
	 * whole and read-only, where no path leads, and theirs are read-only as well. */
	if (owns_settings && mounts->nesting)
		rc = mount_proc("proc", true);
	if (rc == 0)
		rc = mount_proc("/proc", read_only);
	/* Inside of such a one the maps of a namespace cannot be written, but all be read. */
	if (rc == -EPERM && owns_settings && !read_only && !mounts->nesting) {
		read_only = true;
		rc = mount_proc("/proc", true);
	}

	/* Without one nobody inside could map a user. */
	if (!mounts->nesting && (rc == -EPERM || rc == -EACCES)) {
		plan->proc_masked = true;
		rc = mount("tmpfs", "/proc", "tmpfs", FORBIDDEN, "mode=0") < 0 ? -errno : 0;
	}
	if (rc < 0)
		return fence_fail(err, rc, "mount /proc");
	plan->proc_read_only = !plan->proc_masked && read_only;
	return plan->proc_masked || !owns_settings || read_only ? 0 : close_proc(err);
}

int guard_mounts_apply(struct guard_mounts *mounts, struct guard_plan *plan, struct fence_err *err)
{
	mode_t mask = umask(0);
	int rc = make_private(err);

	if (rc == 0)
		rc = copy_all(plan, err);
	if (rc == 0)
		rc = make_scratch(mounts, err);
	if (rc == 0)
		rc = make_up_all(mounts, plan, err);
	if (rc == 0)
		rc = close_root(err);
	if (rc == 0)
		rc = place_proc(mounts, plan, err);
	if (rc == 0)
		rc = attach_all(plan, err);
	if (rc == 0)
		rc = close_dev(plan, err);
	if (rc == 0 && plan->inner.is_set)
		rc = guard_root_leave(plan, err);
	(void)umask(mask);
	plan->current = rc < 0 ? plan->current : NULL;
	return rc;
}
