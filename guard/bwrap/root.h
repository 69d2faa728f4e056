/* The new root: made beside the old one, filled, then put in its place. */
#ifndef GUARD_BWRAP_ROOT_H
#define GUARD_BWRAP_ROOT_H

#include <stdbool.h>
#include <sys/types.h>

#include "fence/err.h"
#include "guard/bwrap/bwrap.h"

struct bwrap_root {
	int base_fd;	 /* the tmpfs that is the root until another is put on it */
	int fd;		 /* the root now */
	size_t stacked;	 /* mounts that were put on "/" */
	int proc_fd;	 /* the host's /proc; -1: it has none */
	bool fresh_proc; /* this pid namespace has no /proc yet */
	const char *file_label;
};

/* Takes copies of all that is bound, carries the operations out, and makes the result
 * the root of this process, which must be alone in a mount namespace of its own. */
int bwrap_root_make(struct bwrap_root *root, struct bwrap *bwrap, struct fence_err *err);

/* --- one operation's parts ---------------------------------------------------------- */

/* A path in the new root: symbolic links lead within it, never to the host. O_PATH. */
int bwrap_place_open(const struct bwrap_root *root, const char *path, int flags);

/* The same for a file to write to, which is made when it is not there. */
int bwrap_place_create(const struct bwrap_root *root, const char *path, int flags, int mode);

/* The folder, made with what lacks above it. An owned descriptor or -errno with words. */
int bwrap_place_dir(const struct bwrap_root *root, const char *path, int parent_mode, int mode,
		    struct fence_err *err);

/* The folder that `path` lies in, made when it lacks, and the name in it (of `path`). */
int bwrap_place_parent(const struct bwrap_root *root, const char *path, int parent_mode,
		       const char **ret_name, struct fence_err *err);

/* Where a mount can go: found, or made as a folder or as an empty file. */
int bwrap_place_mount(const struct bwrap_root *root, const char *path, bool is_dir, int parent_mode,
		      struct fence_err *err);

/* Puts a detached mount there; on "/" it is the root from then on. */
int bwrap_attach(struct bwrap_root *root, int tree_fd, int place_fd, const char *path,
		 struct fence_err *err);

int bwrap_new_tmpfs(const struct bwrap_root *root, int mode, uint64_t size_bytes);

int bwrap_make_dev(struct bwrap_root *root, const char *dest, struct fence_err *err);
int bwrap_make_proc(struct bwrap_root *root, const char *dest, struct fence_err *err);

#endif
