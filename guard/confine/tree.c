#include "guard/confine/tree.h"

#include <fcntl.h>

#include "fence/own.h"
#include "fence/sys.h"

int guard_tree_clone(int dir_fd, const char *path)
{
	unsigned int flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
			     AT_SYMLINK_NOFOLLOW | (path[0] == '\0' ? AT_EMPTY_PATH : 0U);

	return fence_open_tree(dir_fd, path, flags);
}

int guard_tree_restrict(int tree_fd, uint64_t flags, bool recursive)
{
	struct mount_attr attr = { .attr_set = flags };

	return fence_mount_setattr(tree_fd, "", AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0),
				   &attr);
}

int guard_tree_attach(int tree_fd, int dir_fd, const char *path)
{
	unsigned int flags =
		MOVE_MOUNT_F_EMPTY_PATH | (path[0] == '\0' ? MOVE_MOUNT_T_EMPTY_PATH : 0U);

	return fence_move_mount(tree_fd, "", dir_fd, path, flags);
}

int guard_tree_new(const char *type, const struct guard_fs_option *options, unsigned int flags)
{
	owned_fd fs = fence_fsopen(type, FSOPEN_CLOEXEC);
	/* What mount tables show as the device. */
	int rc = fs < 0 ? fs : fence_fsconfig(fs, FSCONFIG_SET_STRING, "source", type);

	for (; rc == 0 && options != NULL && options->key != NULL; options++)
		rc = fence_fsconfig(fs, FSCONFIG_SET_STRING, options->key, options->value);
	if (rc == 0)
		rc = fence_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL);
	return rc < 0 ? rc : fence_fsmount(fs, FSMOUNT_CLOEXEC, flags);
}
