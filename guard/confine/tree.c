#include "guard/confine/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "fence/own.h"

int guard_tree_clone(int dir_fd, const char *path)
{
	unsigned int flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
			     AT_SYMLINK_NOFOLLOW | (path[0] == '\0' ? AT_EMPTY_PATH : 0U);
	int fd = open_tree(dir_fd, path, flags);

	return fd < 0 ? -errno : fd;
}

int guard_tree_restrict(int tree_fd, uint64_t flags, bool recursive)
{
	struct mount_attr attr = { .attr_set = flags };
	int rc = mount_setattr(tree_fd, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0), &attr,
			       sizeof(attr));

	return rc < 0 ? -errno : 0;
}

int guard_tree_attach(int tree_fd, int dir_fd, const char *path)
{
	unsigned int flags =
		MOVE_MOUNT_F_EMPTY_PATH | (path[0] == '\0' ? MOVE_MOUNT_T_EMPTY_PATH : 0U);

	return move_mount(tree_fd, "", dir_fd, path, flags) < 0 ? -errno : 0;
}

int guard_tree_tmpfs(void)
{
	owned_fd fs = fsopen("tmpfs", FSOPEN_CLOEXEC);
	int fd;

	if (fs < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0755", 0) < 0 ||
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	fd = fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID);
	return fd < 0 ? -errno : fd;
}
