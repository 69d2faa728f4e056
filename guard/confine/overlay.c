#include "guard/confine/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/tree.h"

/* The merged folder has the attributes of the one in memory. */
static int make_upper(const char *path, const struct stat *like, bool real_root)
{
	if (mkdir(path, 0700) < 0)
		return -errno;
	if (real_root && lchown(path, like->st_uid, like->st_gid) < 0)
		return -errno;
	return chmod(path, like->st_mode & 07777) < 0 ? -errno : 0;
}

static int make_folders(const struct guard_op *op, const char *name, bool real_root)
{
	char lower[64];
	char upper[64];
	char work[64];
	owned_fd tree_fd = -1;
	int rc;

	(void)snprintf(lower, sizeof(lower), "%s/lower", name);
	(void)snprintf(upper, sizeof(upper), "%s/upper", name);
	(void)snprintf(work, sizeof(work), "%s/work", name);
	if (mkdir(name, 0755) < 0 || mkdir(lower, 0700) < 0 || mkdir(work, 0700) < 0)
		return -errno;
	rc = make_upper(upper, &op->st, real_root);
	if (rc < 0)
		return rc;
	tree_fd = fence_open_tree(op->object_fd, "",
				  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	return tree_fd < 0 ? tree_fd : guard_tree_attach(tree_fd, AT_FDCWD, lower);
}

/* The attributes that the overlay keeps its own account in are root's, and in a user
 * namespace a user's, also for who is root there. */
static bool is_trusted(const char *name, bool real_root)
{
	char work[64];

	(void)snprintf(work, sizeof(work), "%s/work", name);
	return real_root &&
	       (setxattr(work, "trusted.overlay.try", "", 0, 0) == 0 || errno != EPERM);
}

static int configure(int fs_fd, const char *name, bool real_root)
{
	static const char *const folders[][2] = {
		{ "lowerdir", "lower" },
		{ "upperdir", "upper" },
		{ "workdir", "work" },
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(folders) / sizeof(folders[0]); i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "%s/%s", name, folders[i][1]);
		rc = fence_fsconfig(fs_fd, FSCONFIG_SET_STRING, folders[i][0], path);
	}
	/* Where tmpfs has no attributes of users (before Linux 6.6) it does without, and a
	 * folder that was on the host cannot be removed and made anew. */
	if (rc == 0 && !is_trusted(name, real_root))
		rc = fence_fsconfig(fs_fd, FSCONFIG_SET_FLAG, "userxattr", NULL);
	return rc < 0 ? rc : fence_fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL);
}

static unsigned int flags_like(int fd)
{
	struct statvfs fs;
	unsigned int flags = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

	if (fstatvfs(fd, &fs) < 0 || (fs.f_flag & ST_NOEXEC) != 0)
		flags |= MOUNT_ATTR_NOEXEC;
	return flags;
}

/* Kept for the end, when it tells what was written. */
static int open_upper(const char *name)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/upper", name);
	fd = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int guard_overlay_make_private(struct guard_plan *plan, struct guard_op *op, const char *name,
			       bool real_root)
{
	struct guard_private *private = &plan->privates[plan->private_count++];
	int rc = op->no_copy < 0 ? op->no_copy : guard_overlay_make(op, name, real_root, NULL);

	*private = (struct guard_private){ .path = op->path, .upper_fd = -1 };
	if (rc == 0)
		rc = private->upper_fd = open_upper(name);
	private->rc = rc < 0 ? rc : 0;
	return private->rc;
}

int guard_overlay_make(struct guard_op *op, const char *name, bool real_root, struct fence_err *err)
{
	owned_fd fs_fd = -1;
	int rc = make_folders(op, name, real_root);

	if (rc == 0)
		rc = fs_fd = fence_fsopen("overlay", FSOPEN_CLOEXEC);
	if (rc >= 0)
		rc = configure(fs_fd, name, real_root);
	if (rc == 0)
		rc = op->tree_fd = fence_fsmount(fs_fd, FSMOUNT_CLOEXEC, flags_like(op->object_fd));
	if (rc >= 0)
		return 0;
	fence_fail(err, rc, "make an overlay of %s", op->path);
	if (rc == -ENODEV)
		(void)fence_hint(err, "this kernel has no overlayfs: modprobe overlay");
	return rc;
}
