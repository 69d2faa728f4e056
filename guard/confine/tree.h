/* Mounts by descriptor: thin words for open_tree(2), mount_setattr(2) and
 * move_mount(2), and the small /dev. */
#ifndef GUARD_CONFINE_TREE_H
#define GUARD_CONFINE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "fence/err.h"

/* A detached copy of what `path` below `dir_fd` is ("" : dir_fd itself), with all
 * that is mounted in it: an owned descriptor, or -errno. */
int guard_tree_clone(int dir_fd, const char *path);

/* Adds MOUNT_ATTR_* flags to the mount and, with `recursive`, all below it. */
int guard_tree_restrict(int tree_fd, uint64_t flags, bool recursive);

/* Puts a detached mount on `path` below `dir_fd` ("": on dir_fd itself). */
int guard_tree_attach(int tree_fd, int dir_fd, const char *path);

/* A new, detached tmpfs. */
int guard_tree_tmpfs(void);

/* Fills the folder `name` of a tmpfs that may have device nodes: null zero full
 * random urandom tty, pts, ptmx, shm and the links. The nodes are made where the
 * host lets us, else they are the host's own (`bind_fds`, filled by
 * guard_dev_prepare before /dev is covered). */
#define GUARD_DEV_NODES 6

struct guard_dev {
	bool bind;
	int bind_fds[GUARD_DEV_NODES];
};

int guard_dev_make(struct guard_dev *dev, int scratch_fd, bool may_mknod, struct fence_err *err);
/* What must wait until the folder is a mount of its own: `dev_fd`. */
int guard_dev_finish(struct guard_dev *dev, int dev_fd, int scratch_fd, struct fence_err *err);

#endif
