/* The order, which is the whole point:
 *  1. nothing that we do or that the host does later crosses over (private)
 *  2. copies of everything that is to stay writable, while it is
 *  3. the made-up objects: /dev, /tmp, empty folders, masks
 *  4. the root and all below it become read-only
 *  5. /proc, while the old one is whole: in a user namespace the kernel gives us a
 *     new one only then
 *  6. the copies and the made-up objects go to their places, parents first */
#include "guard/confine/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/resolve.h"
#include "guard/confine/tree.h"

#define SAFE (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

static int make_private(struct fence_err *err)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		return 0;
	/* EINVAL: / is no mount point, as in a chroot. */
	fence_fail(err, -errno, "make the mounts private");
	if (err->code == -EINVAL)
		(void)fence_hint(err, "/ must be a mount point: in a chroot, bind it onto itself");
	return err->code;
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

/* One tmpfs serves everything: a folder of it, copied, is a mount of its own. */
static int make_scratch(struct guard_mounts *mounts, struct guard_dev *dev, struct fence_err *err)
{
	int rc;

	mounts->scratch_fd = guard_tree_tmpfs();
	if (mounts->scratch_fd < 0)
		return fence_fail(err, mounts->scratch_fd, "make a tmpfs");
	rc = guard_dev_make(dev, mounts->scratch_fd, mounts->real_root, err);
	if (rc < 0)
		return rc;
	if (mkdirat(mounts->scratch_fd, "tmp", 01777) < 0 ||
	    mkdirat(mounts->scratch_fd, "mask", 0) < 0 ||
	    mknodat(mounts->scratch_fd, "file", S_IFREG, 0) < 0)
		return fence_fail(err, -errno, "fill a tmpfs");
	return 0;
}

/* --- 4. and 5. ------------------------------------------------------------------------ */

static int close_root(struct fence_err *err)
{
	struct mount_attr attr = { .attr_set = SAFE | MOUNT_ATTR_RDONLY };
	int rc = fence_mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attr);

	return rc < 0 ? fence_fail(err, rc, "make / read-only") : 0;
}

/* Only what is attached can be copied (before Linux 6.15), so the tmpfs lies on
 * /proc's place, where the new /proc then covers it for good. */
static int attach_scratch(struct guard_mounts *mounts, const struct guard_plan *plan,
			  struct fence_err *err)
{
	const struct guard_op *proc = find_kind(plan, GUARD_OP_PROC);
	int rc = guard_tree_attach(mounts->scratch_fd, proc->object_fd, "");

	return rc < 0 ? fence_fail(err, rc, "mount a tmpfs") : 0;
}

static int mount_proc(bool read_only)
{
	unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC | (read_only ? MS_RDONLY : 0);

	return mount("proc", "/proc", "proc", flags, NULL) < 0 ? -errno : 0;
}

int guard_mounts_proc_only(struct fence_err *err)
{
	int rc = make_private(err);

	if (rc < 0)
		return rc;
	rc = mount_proc(false);
	if (rc == 0)
		return 0;
	fence_fail(err, rc, "mount /proc");
	if (rc == -EPERM)
		(void)fence_hint(err, "the host hides parts of /proc: run the container with "
				      "--security-opt systempaths=unconfined");
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

/* A mount of one of the scratch tmpfs's objects. */
static int scratch_tree(const struct guard_mounts *mounts, const char *name, uint64_t flags)
{
	owned_fd fd = guard_tree_clone(mounts->scratch_fd, name);
	int rc = fd < 0 ? fd : guard_tree_restrict(fd, flags, false);

	return rc < 0 ? rc : fence_take_fd(&fd);
}

static int mask_tree(const struct guard_mounts *mounts, bool is_dir)
{
	return scratch_tree(mounts, is_dir ? "mask" : "file",
			    SAFE | MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC);
}

static int tmpfs_tree(const struct guard_mounts *mounts, size_t number)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "t%zu", number);
	if (mkdirat(mounts->scratch_fd, name, 0755) < 0)
		return -errno;
	return scratch_tree(mounts, name, SAFE);
}

/* A place for `rest` (a relative path) in a folder in memory. */
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
	return fence_openat2(tree_fd, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0,
			     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Where the operation's mount goes: the object itself while nothing covers it, a
 * place made for it below a folder in memory, else the object looked up again. */
static int open_place(struct guard_plan *plan, const struct guard_op *op, int *ret_owned)
{
	const struct guard_op *above = op->parent < 0 ? NULL : &plan->ops[op->parent];
	int fd;

	if (above == NULL)
		return op->object_fd;
	if (above->kind == GUARD_OP_TMP || above->kind == GUARD_OP_TMPFS ||
	    above->kind == GUARD_OP_DEV)
		fd = make_place(above->tree_fd, op->path + strlen(above->path) + 1,
				S_ISDIR(op->st.st_mode));
	else
		fd = guard_reopen(op->path, &op->st);
	*ret_owned = fd;
	return fd;
}

static int make_tree(struct guard_mounts *mounts, struct guard_plan *plan, struct guard_op *op)
{
	if (op->kind == GUARD_OP_MASK)
		return mask_tree(mounts, S_ISDIR(op->st.st_mode));
	if (op->kind == GUARD_OP_TMPFS)
		return tmpfs_tree(mounts, (size_t)(op - plan->ops));
	if (op->kind == GUARD_OP_TMP)
		return scratch_tree(mounts, "tmp", SAFE);
	if (op->kind == GUARD_OP_DEV)
		return guard_tree_clone(mounts->scratch_fd, "dev");
	return op->tree_fd;
}

static int attach_op(struct guard_mounts *mounts, struct guard_plan *plan, struct guard_op *op,
		     struct fence_err *err)
{
	owned_fd owned = -1;
	int place = open_place(plan, op, &owned);
	int rc;

	if (place == -ESTALE)
		return fence_fail_why(err, place, "it was replaced meanwhile", "confine %s",
				      op->path);
	if (place < 0)
		return fence_fail(err, place, "find %s again", op->path);
	op->tree_fd = make_tree(mounts, plan, op);
	rc = op->tree_fd < 0 ? op->tree_fd : guard_tree_attach(op->tree_fd, place, "");
	return rc < 0 ? fence_fail(err, rc, "mount on %s", op->path) : 0;
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
	if (rc < 0)
		return fence_fail(err, rc, "make TMPDIR %s", path);
	fence_drop_fd(&rc);
	return 0;
}

static int attach_all(struct guard_mounts *mounts, struct guard_plan *plan, struct guard_dev *dev,
		      struct fence_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < plan->count; i++) {
		struct guard_op *op = &plan->ops[i];

		if (op->skip || op->kind == GUARD_OP_PROC)
			continue;
		plan->current = op->path;
		rc = attach_op(mounts, plan, op, err);
		if (rc == 0 && op->kind == GUARD_OP_DEV)
			rc = guard_dev_finish(dev, op->tree_fd, mounts->scratch_fd, err);
		if (rc == 0 && op->kind == GUARD_OP_TMP)
			rc = make_tmp_dir(plan, op, err);
		/* A thousand masks are not a thousand descriptors. */
		if (op->kind == GUARD_OP_MASK)
			fence_close_fd(&op->tree_fd);
	}
	return rc;
}

/* Only once everything has its place in it. */
static int close_dev(const struct guard_plan *plan, struct fence_err *err)
{
	const struct guard_op *dev = find_kind(plan, GUARD_OP_DEV);
	int rc = dev == NULL ? 0 : guard_tree_restrict(dev->tree_fd, MOUNT_ATTR_RDONLY, false);

	return rc < 0 ? fence_fail(err, rc, "make /dev read-only") : 0;
}

/* A fresh /proc, or, where the host forbids one, an unreadable empty folder, never
 * the host's. The scratch tmpfs lies under whichever it is. */
static int place_proc(struct guard_mounts *mounts, struct guard_plan *plan, struct fence_err *err)
{
	const struct guard_op *proc = find_kind(plan, GUARD_OP_PROC);
	owned_fd mask = -1;
	/* Also in a user namespace: uid 0 that is mapped to itself is the host's. */
	bool owns_settings = geteuid() == 0;
	int rc = mount_proc(owns_settings && !mounts->keep_proc_rw);

	if (rc == -EPERM || rc == -EACCES) {
		plan->proc_masked = true;
		mask = mask_tree(mounts, true);
		rc = mask < 0 ? mask : guard_tree_attach(mask, proc->object_fd, "");
	}
	if (rc < 0)
		return fence_fail(err, rc, "mount /proc");
	return plan->proc_masked || !owns_settings || !mounts->keep_proc_rw ? 0 : close_proc(err);
}

int guard_mounts_apply(struct guard_mounts *mounts, struct guard_plan *plan, struct fence_err *err)
{
	struct guard_dev dev;
	mode_t mask = umask(0);
	int rc = make_private(err);

	if (rc == 0)
		rc = copy_all(plan, err);
	if (rc == 0)
		rc = make_scratch(mounts, &dev, err);
	if (rc == 0)
		rc = close_root(err);
	if (rc == 0)
		rc = attach_scratch(mounts, plan, err);
	if (rc == 0)
		rc = place_proc(mounts, plan, err);
	if (rc == 0)
		rc = attach_all(mounts, plan, &dev, err);
	if (rc == 0)
		rc = close_dev(plan, err);
	(void)umask(mask);
	plan->current = rc < 0 ? plan->current : NULL;
	return rc;
}
