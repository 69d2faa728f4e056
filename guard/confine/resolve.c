#include "guard/confine/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>

#include "fence/own.h"
#include "fence/sys.h"

#define LINKS_MAX 40 /* as the kernel has it */

/* base + "/" + path without "." and doubled slashes. 1: it has a "..", which only a
 * walk can follow when links may be before it. */
static int clean(const char *base, const char *path, char *ret)
{
	char whole[2 * PATH_MAX];
	const char *at = whole;
	size_t length = 0;
	int dots = 0;
	int wanted = snprintf(whole, sizeof(whole), "%s/%s", path[0] == '/' ? "" : base, path);

	if (wanted < 0 || (size_t)wanted >= sizeof(whole))
		return -ENAMETOOLONG;
	for (;;) {
		size_t part;

		at += strspn(at, "/");
		part = strcspn(at, "/");
		if (part == 0)
			break;
		if (part == 2 && at[0] == '.' && at[1] == '.')
			dots = 1;
		if (part != 1 || at[0] != '.') {
			if (length + part + 2 > PATH_MAX)
				return -ENAMETOOLONG;
			ret[length++] = '/';
			memcpy(ret + length, at, part);
			length += part;
		}
		at += part;
	}
	if (length == 0)
		ret[length++] = '/';
	ret[length] = '\0';
	return dots;
}

/* --- the walk --------------------------------------------------------------------- */

struct walk {
	char rest[2 * PATH_MAX]; /* what is still to go */
	unsigned int links;
	const struct guard_link_watch *watch;
	struct guard_object *at; /* where we stand */
};

static int stand_on_root(struct guard_object *at)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	fence_close_fd(&at->fd);
	at->fd = fd;
	memcpy(at->path, "/", 2);
	return fstat(fd, &at->st) < 0 ? -errno : 0;
}

int guard_path_push(char *path, const char *name)
{
	size_t length = strcmp(path, "/") == 0 ? 0 : strlen(path);

	if (length + strlen(name) + 2 > PATH_MAX)
		return -ENAMETOOLONG;
	path[length] = '/';
	memcpy(path + length + 1, name, strlen(name) + 1);
	return 0;
}

static void path_pop(char *path)
{
	char *slash = strrchr(path, '/');

	slash[slash == path ? 1 : 0] = '\0';
}

static int follow(struct walk *walk, const struct guard_object *link)
{
	char target[PATH_MAX];
	char rest[sizeof(walk->rest)];
	ssize_t length = readlinkat(link->fd, "", target, sizeof(target) - 1);
	int wanted;

	if (length < 0)
		return -errno;
	target[length] = '\0';
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	if (walk->watch != NULL) {
		int rc = walk->watch->seen(walk->watch->arg, link);

		if (rc < 0)
			return rc;
	}
	wanted = snprintf(rest, sizeof(rest), "%s/%s", target, walk->rest);
	if (wanted < 0 || (size_t)wanted >= sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(walk->rest, rest, (size_t)wanted + 1);
	return target[0] == '/' ? stand_on_root(walk->at) : 0;
}

/* Not by "..": in a root of the command's own the host's lies on top of it, and for the
 * kernel what is mounted on a folder is there as soon as a step leads to it. */
int guard_open_above(const char *path, int fd)
{
	char above[PATH_MAX];
	int above_fd;

	memcpy(above, path, strlen(path) + 1);
	path_pop(above);
	above_fd = fence_openat2(AT_FDCWD, above, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
				 RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (above_fd != -ENOSYS && above_fd != -EPERM)
		return above_fd;
	above_fd = strcmp(above, "/") == 0 ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)
					   : openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return above_fd < 0 ? -errno : above_fd;
}

static int step_up(struct guard_object *at)
{
	int fd = S_ISDIR(at->st.st_mode) ? guard_open_above(at->path, at->fd) : -ENOTDIR;

	if (fd < 0)
		return fd;
	fence_close_fd(&at->fd);
	at->fd = fd;
	path_pop(at->path);
	return fstat(fd, &at->st) < 0 ? -errno : 0;
}

static int step(struct walk *walk, const char *name)
{
	struct guard_object next = { .fd = -1 };
	owned_fd fd = -1;
	int rc;

	if (strcmp(name, "..") == 0)
		return step_up(walk->at);
	next.fd = openat(walk->at->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	fd = next.fd;
	if (fd < 0 || fstat(fd, &next.st) < 0)
		return -errno;
	memcpy(next.path, walk->at->path, sizeof(next.path));
	rc = guard_path_push(next.path, name);
	if (rc < 0)
		return rc;
	if (S_ISLNK(next.st.st_mode))
		return follow(walk, &next);
	fence_close_fd(&walk->at->fd);
	*walk->at = next;
	(void)fence_take_fd(&fd);
	return 0;
}

/* A ".." behind it leads to where nobody can tell before it is there. */
static void note_missing(const struct walk *walk, const char *name)
{
	bool leads_back = strcmp(name, "..") == 0;

	for (const char *at = walk->rest; (at = strstr(at, "/..")) != NULL; at += 3)
		leads_back |= at[3] == '/' || at[3] == '\0';
	(void)snprintf(walk->at->missing, sizeof(walk->at->missing), "%s", leads_back ? "" : name);
}

static int walk_rest(struct walk *walk)
{
	char name[NAME_MAX + 1];
	int rc;

	for (;;) {
		size_t skip = strspn(walk->rest, "/");
		size_t length = strcspn(walk->rest + skip, "/");

		if (length == 0)
			return 0;
		if (length > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, walk->rest + skip, length);
		name[length] = '\0';
		memmove(walk->rest, walk->rest + skip + length,
			strlen(walk->rest + skip + length) + 1);
		rc = strcmp(name, ".") == 0 ? 0 : step(walk, name);
		if (rc < 0) {
			note_missing(walk, name);
			return rc;
		}
	}
}

int guard_resolve(const char *base, const char *path, const struct guard_link_watch *watch,
		  struct guard_object *ret)
{
	struct walk walk = { .watch = watch, .at = ret };
	int rc;
	int wanted =
		snprintf(walk.rest, sizeof(walk.rest), "%s/%s", path[0] == '/' ? "" : base, path);

	ret->fd = -1;
	if (wanted < 0 || (size_t)wanted >= sizeof(walk.rest))
		return -ENAMETOOLONG;
	rc = stand_on_root(ret);
	return rc < 0 ? rc : walk_rest(&walk);
}

int guard_resolve_quick(const char *base, const char *path, const struct guard_link_watch *watch,
			struct guard_object *ret)
{
	int rc = clean(base, path, ret->path);
	int fd = -1;

	ret->fd = -1;
	if (rc < 0)
		return rc;
	if (rc == 0)
		fd = fence_openat2(AT_FDCWD, ret->path, O_PATH | O_CLOEXEC, 0,
				   RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (rc == 1 || fd == -ELOOP || fd == -ENOSYS || fd == -EPERM) {
		rc = guard_resolve(base, path, watch, ret);
		if (rc < 0)
			fence_close_fd(&ret->fd);
		return rc;
	}
	if (fd < 0)
		return fd;
	ret->fd = fd;
	return fstat(fd, &ret->st) < 0 ? -errno : 0;
}

int guard_open(const char *path, int flags)
{
	struct guard_object object = { .fd = -1 };
	char name[32];
	int fd = fence_openat2(AT_FDCWD, path, (uint64_t)(unsigned int)flags, 0,
			       RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);

	if (fd != -ELOOP && fd != -ENOSYS && fd != -EPERM)
		return fd;
	fd = guard_resolve_quick("/", path, NULL, &object);
	if (fd < 0)
		return fd;
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", object.fd);
	fd = open(name, flags);
	fd = fd < 0 ? -errno : fd;
	fence_close_fd(&object.fd);
	return fd;
}

int guard_resolve_place(const char *path, struct guard_object *ret)
{
	ret->fd = fence_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0,
				RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (ret->fd < 0)
		return guard_resolve_quick("/", path, NULL, ret);
	memcpy(ret->path, path, strlen(path) + 1);
	ret->st = (struct stat){ .st_mode = S_IFDIR };
	return 0;
}

bool guard_path_is_plain(const char *path)
{
	char cleaned[PATH_MAX];

	return path[0] == '/' && clean("", path, cleaned) == 0 && strcmp(cleaned, path) == 0;
}

int guard_resolve_here(struct guard_object *ret)
{
	if (getcwd(ret->path, sizeof(ret->path)) == NULL)
		return -errno;
	ret->fd = openat(AT_FDCWD, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ret->fd < 0)
		return -errno;
	return fstat(ret->fd, &ret->st) < 0 ? -errno : 0;
}

/* May we, and so the command, change the mode of this? To ask by uid would not do:
 * in a user namespace all foreign owners look like nobody, whom we may be. */
static bool can_chmod(const struct guard_object *object)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", object->fd);
	return chmod(path, object->st.st_mode & 07777) == 0 || (errno != EPERM && errno != EROFS);
}

bool guard_is_absent(int rc, const char *base, const char *path)
{
	struct guard_object at = { .fd = -1 };
	bool is_ours;

	if (rc != -EACCES)
		return rc == -ENOENT || rc == -ENOTDIR;
	rc = guard_resolve(base, path, NULL, &at);
	is_ours = at.fd < 0 || can_chmod(&at);
	fence_close_fd(&at.fd);
	return rc == -EACCES && !is_ours;
}

int guard_reopen(const char *path, const struct stat *wanted)
{
	struct stat st;
	owned_fd fd = fence_openat2(AT_FDCWD, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0,
				    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);

	/* Where there is no openat2, the comparison alone decides. */
	if (fd == -ENOSYS || fd == -EPERM)
		fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	else if (fd < 0)
		return fd;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (wanted != NULL && (st.st_dev != wanted->st_dev || st.st_ino != wanted->st_ino))
		return -ESTALE;
	return fence_take_fd(&fd);
}

bool guard_path_within(const char *below, const char *dir)
{
	size_t length = strlen(dir);

	if (strcmp(dir, "/") == 0)
		return true;
	return strncmp(below, dir, length) == 0 && (below[length] == '/' || below[length] == '\0');
}
