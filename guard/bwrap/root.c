/* The order:
 *  1. nothing that we mount crosses over to the host
 *  2. copies of all sources, while the view is the host's: none of them can show what
 *     we make, and none is looked up in a folder that we changed
 *  3. an empty tmpfs on "/". A path from "/" still begins below it, at the old root;
 *     the new root is reached by its descriptor alone
 *  4. the operations, as given
 *  5. the old root goes under the new one and away */
#include "guard/bwrap/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/cause.h"
#include "guard/confine/pivot.h"
#include "guard/confine/tree.h"

#define SAFE (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

/* --- 2. copies -------------------------------------------------------------------- */

static int copy_source(struct bwrap_op *op, struct fence_err *err)
{
	uint64_t flags = MOUNT_ATTR_NOSUID | (op->devices ? 0U : (uint64_t)MOUNT_ATTR_NODEV) |
			 (op->read_only ? (uint64_t)MOUNT_ATTR_RDONLY : 0U);
	struct stat st;
	int rc;

	/* Links are followed: the one difference to guard_tree_clone. */
	op->tree_fd = fence_open_tree(AT_FDCWD, op->source,
				      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (op->tree_fd < 0) {
		if (op->tree_fd == -ENOENT && op->optional)
			return 0;
		fence_fail(err, op->tree_fd, "Can't find source path %s", op->source);
		if (op->tree_fd == -ENOENT)
			(void)fence_hint(err, "use the option with -try if it may be missing");
		return op->tree_fd;
	}
	rc = guard_tree_restrict(op->tree_fd, flags, true);
	if (rc < 0)
		return fence_fail(err, rc, "restrict %s", op->source);
	if (fstat(op->tree_fd, &st) < 0)
		return fence_fail(err, -errno, "look at %s", op->source);
	op->is_dir = S_ISDIR(st.st_mode);
	return 0;
}

/* The descriptor's file is of the mount namespace that we left: its name is looked up
 * again in ours, and must lead to the same file. */
static int name_of_fd(const struct bwrap_root *root, struct bwrap_op *op, char *path,
		      size_t size_bytes, struct fence_err *err)
{
	char link[32];
	struct stat was, is;
	ssize_t length;

	(void)snprintf(link, sizeof(link), "self/fd/%d", op->fd);
	length = readlinkat(root->proc_fd, link, path, size_bytes - 1);
	if (length < 0 || fstat(op->fd, &was) < 0)
		return fence_fail(err, -errno, "Can't find source path of descriptor %d", op->fd);
	path[length] = '\0';
	if (stat(path, &is) == 0 && is.st_dev == was.st_dev && is.st_ino == was.st_ino)
		return 0;
	return fence_fail_why(err, -ESTALE, "its file has no name any more",
			      "Can't find source path of descriptor %d", op->fd);
}

static int copy_sources(const struct bwrap_root *root, struct bwrap *bwrap, struct fence_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < bwrap->op_count; i++) {
		struct bwrap_op *op = &bwrap->ops[i];
		char path[4096];

		if (op->kind != BWRAP_BIND)
			continue;
		if (op->fd >= 0) {
			rc = name_of_fd(root, op, path, sizeof(path), err);
			op->source = path;
		}
		if (rc == 0)
			rc = copy_source(op, err);
		if (op->fd >= 0)
			op->source = NULL;
	}
	return rc;
}

/* --- 4. operations ---------------------------------------------------------------- */

/* Groups and others may enter what is made on the way only where the thing itself is
 * for them. */
static int parent_mode(int mode)
{
	int parent = 0755;

	if ((mode & 0070) == 0)
		parent &= ~0070;
	if ((mode & 0007) == 0)
		parent &= ~0007;
	return parent;
}

static int do_bind(struct bwrap_root *root, struct bwrap_op *op, struct fence_err *err)
{
	owned_fd place = -1;
	int rc;

	if (op->tree_fd < 0)
		return 0; /* optional, and not there */
	place = bwrap_place_mount(root, op->dest, op->is_dir, 0755, err);
	if (place < 0)
		return place;
	rc = bwrap_attach(root, op->tree_fd, place, op->dest, err);
	fence_close_fd(&op->tree_fd);
	return rc;
}

static int copy_data(int from, int to, const char *dest, struct fence_err *err)
{
	char buf[65536];

	for (;;) {
		ssize_t got = fence_read_some(from, buf, sizeof(buf));
		int rc = got < 0 ? (int)got : fence_write_full(to, buf, (size_t)got);

		if (rc < 0)
			return fence_fail(err, rc, "write data to %s", dest);
		if (got == 0)
			return 0;
	}
}

static int do_file(struct bwrap_root *root, struct bwrap_op *op, struct fence_err *err)
{
	int mode = op->mode < 0 ? 0666 : op->mode;
	const char *name;
	owned_fd parent = bwrap_place_parent(root, op->dest, parent_mode(mode), &name, err);
	owned_fd file = -1;

	if (parent < 0)
		return parent;
	file = bwrap_place_create(root, op->dest, O_TRUNC, mode);
	if (file < 0)
		return fence_fail(err, file, "make file %s", op->dest);
	return copy_data(op->fd, file, op->dest, err);
}

/* A file in the tmpfs that is there in any case. Its name there goes as soon as it is
 * bound; without one from the start (O_TMPFILE) the kernel would not mount it. */
static int bind_file(struct bwrap_root *root, struct bwrap_op *op, const char *file,
		     struct fence_err *err)
{
	const uint64_t flags = SAFE | (op->read_only ? (uint64_t)MOUNT_ATTR_RDONLY : 0U);
	owned_fd tree = guard_tree_clone(root->base_fd, file);
	int rc = tree < 0 ? tree : guard_tree_restrict(tree, flags, false);
	int mode = op->mode < 0 ? 0600 : op->mode;
	owned_fd place = -1;

	if (rc < 0)
		return fence_fail(err, rc, "make a mount for %s", op->dest);
	place = bwrap_place_mount(root, op->dest, false, parent_mode(mode), err);
	return place < 0 ? place : bwrap_attach(root, tree, place, op->dest, err);
}

static int do_bind_data(struct bwrap_root *root, struct bwrap_op *op, struct fence_err *err)
{
	static const char name[] = ".fence-bwrap-data";
	int mode = op->mode < 0 ? 0600 : op->mode;
	owned_fd file = openat(root->base_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int rc;

	if (file < 0)
		return fence_fail(err, -errno, "make a file for %s", op->dest);
	rc = copy_data(op->fd, file, op->dest, err);
	if (rc == 0 && fchmod(file, (mode_t)mode) < 0)
		rc = fence_fail(err, -errno, "set the mode of %s", op->dest);
	if (rc == 0)
		rc = bind_file(root, op, name, err);
	if (rc == 0 && unlinkat(root->base_fd, name, 0) < 0)
		rc = fence_fail(err, -errno, "make a file for %s", op->dest);
	return rc;
}

static int do_proc(struct bwrap_root *root, struct bwrap_op *op, struct fence_err *err)
{
	return bwrap_make_proc(root, op->dest, err);
}

static int do_dev(struct bwrap_root *root, struct bwrap_op *op, struct fence_err *err)
{
	return bwrap_make_dev(root, op->dest, err);
}

static int place_fs(struct bwrap_root *root, struct bwrap_op *op, int fs, const char *type,
		    struct fence_err *err)
{
	owned_fd tree = fs;
	owned_fd place = -1;

	if (tree < 0)
		return fence_fail(err, tree, "make %s for %s", type, op->dest);
	place = bwrap_place_mount(root, op->dest, true, 0755, err);
	return place < 0 ? place : bwrap_attach(root, tree, place, op->dest, err);
}

static int do_tmpfs(struct bwrap_root *root, struct bwrap_op *op, struct fence_err *err)
{
	int fs = bwrap_new_tmpfs(root, op->mode < 0 ? 0755 : op->mode, op->size_bytes);

	return place_fs(root, op, fs, "a tmpfs", err);
}

static int do_mqueue(struct bwrap_root *root, struct bwrap_op *op, struct fence_err *err)
{
	int rc = place_fs(root, op, guard_tree_new("mqueue", NULL, 0), "an mqueue", err);

	if (rc == -EPERM)
		(void)fence_hint(err, "it takes --unshare-ipc");
	return rc;
}

static int do_dir(struct bwrap_root *root, struct bwrap_op *op, struct fence_err *err)
{
	int mode = op->mode < 0 ? 0755 : op->mode;
	owned_fd dir = bwrap_place_dir(root, op->dest, parent_mode(mode), mode, err);

	return dir < 0 ? dir : 0;
}

static int do_symlink(struct bwrap_root *root, struct bwrap_op *op, struct fence_err *err)
{
	const char *name;
	owned_fd parent = bwrap_place_parent(root, op->dest, 0755, &name, err);

	if (parent < 0)
		return parent;
	if (symlinkat(op->source, parent, name) < 0)
		return fence_fail(err, -errno, "make symbolic link %s", op->dest);
	return 0;
}

static int do_remount(struct bwrap_root *root, struct bwrap_op *op, struct fence_err *err)
{
	owned_fd place = bwrap_place_open(root, op->dest, 0);
	int rc = place < 0 ? place : guard_tree_restrict(place, MOUNT_ATTR_RDONLY, false);

	if (rc == -EINVAL)
		return fence_fail_why(err, rc, "it is no mount point", "make %s read-only",
				      op->dest);
	return rc < 0 ? fence_fail(err, rc, "make %s read-only", op->dest) : 0;
}

/* An O_PATH descriptor has no fchmod(2); the link that /proc has for it leads straight
 * to the file. */
static int do_chmod(struct bwrap_root *root, struct bwrap_op *op, struct fence_err *err)
{
	owned_fd place = bwrap_place_open(root, op->dest, 0);
	char link[32];

	if (place < 0)
		return fence_fail(err, place, "set the mode of %s", op->dest);
	(void)snprintf(link, sizeof(link), "self/fd/%d", place);
	if (fchmodat(root->proc_fd, link, (mode_t)op->mode, 0) < 0)
		return fence_fail(err, -errno, "set the mode of %s", op->dest);
	return 0;
}

static int do_ops(struct bwrap_root *root, struct bwrap *bwrap, struct fence_err *err)
{
	static int (*const run[])(struct bwrap_root *, struct bwrap_op *, struct fence_err *) = {
		[BWRAP_BIND] = do_bind,	      [BWRAP_BIND_DATA] = do_bind_data,
		[BWRAP_PROC] = do_proc,	      [BWRAP_DEV] = do_dev,
		[BWRAP_TMPFS] = do_tmpfs,     [BWRAP_MQUEUE] = do_mqueue,
		[BWRAP_DIR] = do_dir,	      [BWRAP_FILE] = do_file,
		[BWRAP_SYMLINK] = do_symlink, [BWRAP_REMOUNT_RO] = do_remount,
		[BWRAP_CHMOD] = do_chmod,
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < bwrap->op_count; i++)
		rc = run[bwrap->ops[i].kind](root, &bwrap->ops[i], err);
	return rc;
}

/* --- 1., 3. and 5. ---------------------------------------------------------------- */

/* Slaves: what the host mounts later still appears in what was bound of it. */
static int cut_off(struct fence_err *err)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0)
		return 0;
	fence_fail(err, -errno, "make the mounts slaves of the host's");
	if (err->code == -EINVAL)
		(void)fence_hint(err, "/ must be a mount point: in a chroot, bind it onto itself");
	return err->code;
}

static int lay_base(struct bwrap_root *root, struct fence_err *err)
{
	int rc;

	root->base_fd = bwrap_new_tmpfs(root, 0755, 0);
	if (root->base_fd < 0) {
		fence_fail(err, root->base_fd, "make a tmpfs");
		guard_cause_hint(GUARD_STEP_MOUNTS, err);
		return root->base_fd;
	}
	root->fd = root->base_fd;
	rc = guard_tree_attach(root->base_fd, AT_FDCWD, "/");
	return rc < 0 ? fence_fail(err, rc, "mount the new root") : 0;
}

int bwrap_root_make(struct bwrap_root *root, struct bwrap *bwrap, struct fence_err *err)
{
	mode_t mask = umask(0);
	int rc = cut_off(err);

	if (rc == 0)
		rc = copy_sources(root, bwrap, err);
	if (rc == 0)
		rc = lay_base(root, err);
	if (rc == 0)
		rc = do_ops(root, bwrap, err);
	if (rc == 0)
		rc = guard_pivot_enter(root->fd, err);
	if (rc == 0)
		rc = guard_pivot_leave(root->fd, root->stacked + 1, err);
	(void)umask(mask);
	return rc;
}
