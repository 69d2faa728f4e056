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

/* A new file system of a kind, with its options and MOUNT_ATTR_* flags: a detached mount,
 * an owned descriptor, or -errno. `options` may be NULL. */
struct guard_fs_option {
	const char *key, *value; /* NULL, NULL ends them */
};
int guard_tree_new(const char *type, const struct guard_fs_option *options, unsigned int flags);

/* Makes `dev` in the working directory, a tmpfs, with null zero full random urandom
 * tty, pts, ptmx, shm and the links, while the host's /dev is still in place; gives a
 * detached copy of it. The nodes are made where the host lets us, else they are the
 * host's own. */
int guard_dev_make(bool may_mknod, int *ret_tree_fd, struct fence_err *err);

#endif
