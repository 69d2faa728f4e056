/* From a path as somebody wrote it to the object that it names, once. */
#ifndef GUARD_CONFINE_RESOLVE_H
#define GUARD_CONFINE_RESOLVE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct guard_object {
	char path[PATH_MAX];	    /* absolute, without links, dots or doubled slashes */
	char missing[NAME_MAX + 1]; /* the name in it that there is not; "": nobody can tell */
	int fd;			    /* O_PATH, the caller's to close; -1: none */
	struct stat st;
};

/* Told of every symbolic link on the way: its own path (without links before it),
 * and an O_PATH descriptor of the link itself, good during the call. */
struct guard_link_watch {
	int (*seen)(void *arg, const struct guard_object *link);
	void *arg;
};

/* `base` is absolute and without links; `path` is relative to it or absolute.
 * `watch` may be NULL. On -ENOENT (and -ENOTDIR, -EACCES) *ret is the nearest
 * ancestor that there is, and with it its descriptor and what is missing in it. */
int guard_resolve(const char *base, const char *path, const struct guard_link_watch *watch,
		  struct guard_object *ret);

/* The same without telling where a missing path ends: -ENOENT leaves ret->fd at -1.
 * One system call where no link is on the way. */
int guard_resolve_quick(const char *base, const char *path, const struct guard_link_watch *watch,
			struct guard_object *ret);

/* A folder that everybody has (/dev), looked up once; of ret->st only the kind is known. */
int guard_resolve_place(const char *path, struct guard_object *ret);

/* The working directory as it is, whatever its path `ret->path` leads to now. */
int guard_resolve_here(struct guard_object *ret);

/* Is what could not be looked up as good as absent for the command? Not when the
 * folder in the way is our own, as one with a foreign gid may be that a
 * user namespace does not know: its owner inside opens it with chmod(2). */
bool guard_is_absent(int rc, const char *base, const char *path);

/* Opens a path of that kind again, in the tree as it is now: it must be the same
 * object, else -ESTALE, unless `wanted` is NULL. Returns an O_PATH descriptor. */
int guard_reopen(const char *path, const struct stat *wanted);

/* Absolute, without dots and doubled slashes; there may be links on its way. */
bool guard_path_is_plain(const char *path);

/* open(2) of an absolute path without dots, whose links are followed as guard_resolve does:
 * a descriptor, or -errno. */
int guard_open(const char *path, int flags);

/* The folder above a path without links, which `fd` leads to: a descriptor, or -errno. */
int guard_open_above(const char *path, int fd);

/* Adds a name to a path of PATH_MAX bytes, or -ENAMETOOLONG. */
int guard_path_push(char *path, const char *name);

/* `below` is `dir` or lies below it. Both are absolute and without links. */
bool guard_path_within(const char *below, const char *dir);

#endif
