/* A look-up that stays below a folder, for where there is no openat2(2): inside of another
 * sandbox whose filter refuses it. Every name is opened from its own folder without following
 * links; what a link or ".." says is done here. The folders on the way are kept open, so that
 * ".." leads to the one that we came through wherever it was moved meanwhile. */
#include "guard/bwrap/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"

#define DEPTH_MAX 256
#define LINKS_MAX 40 /* as the kernel has it */

struct walk {
	int folders[DEPTH_MAX]; /* the root first, which is not ours */
	size_t depth;		/* of them */
	unsigned int links;
	char rest[2 * PATH_MAX]; /* what is still to go */
	int flags, mode;	 /* of the last name */
};

static void climb_to(struct walk *walk, size_t depth)
{
	while (walk->depth > depth)
		(void)close(walk->folders[--walk->depth]);
}

/* Takes the first name off `rest`; false: there is none. */
static bool next_name(struct walk *walk, char name[NAME_MAX + 1], bool *ret_last, int *ret_rc)
{
	size_t skip = strspn(walk->rest, "/");
	size_t length = strcspn(walk->rest + skip, "/");
	const char *after = walk->rest + skip + length;

	*ret_rc = length > NAME_MAX ? -ENAMETOOLONG : 0;
	if (length == 0 || *ret_rc < 0)
		return false;
	memcpy(name, walk->rest + skip, length);
	name[length] = '\0';
	*ret_last = after[strspn(after, "/")] == '\0';
	/* "name/" asks for a folder, as the kernel has it. */
	if (*ret_last && *after == '/')
		walk->flags |= O_DIRECTORY;
	memmove(walk->rest, after, strlen(after) + 1);
	return true;
}

static int follow(struct walk *walk, int link_fd)
{
	char target[PATH_MAX];
	char rest[sizeof(walk->rest)];
	ssize_t length = readlinkat(link_fd, "", target, sizeof(target) - 1);
	int wanted;

	if (length < 0)
		return -errno;
	target[length] = '\0';
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	wanted = snprintf(rest, sizeof(rest), "%s%s", target, walk->rest);
	if (wanted < 0 || (size_t)wanted >= sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(walk->rest, rest, (size_t)wanted + 1);
	if (target[0] == '/')
		climb_to(walk, 1);
	return 0;
}

static int enter(struct walk *walk, int *fd)
{
	if (walk->depth == DEPTH_MAX)
		return -ENAMETOOLONG;
	walk->folders[walk->depth++] = fence_take_fd(fd);
	return 0;
}

/* 1: go on; else the descriptor, or -errno. */
static int step(struct walk *walk, const char *name, bool is_last, int *ret_fd)
{
	int folder = walk->folders[walk->depth - 1];
	struct stat st;
	owned_fd fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && is_last && (walk->flags & O_CREAT) != 0) {
		*ret_fd = openat(folder, name, walk->flags | O_NOFOLLOW | O_CLOEXEC,
				 (mode_t)walk->mode);
		return *ret_fd < 0 ? -errno : 0;
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		int rc = follow(walk, fd);

		return rc < 0 ? rc : 1;
	}
	if (!is_last) {
		int rc = S_ISDIR(st.st_mode) ? enter(walk, &fd) : -ENOTDIR;

		return rc < 0 ? rc : 1;
	}
	if ((walk->flags & O_DIRECTORY) != 0 && !S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if ((walk->flags & O_PATH) != 0) {
		*ret_fd = fence_take_fd(&fd);
		return 0;
	}
	if ((walk->flags & O_EXCL) != 0)
		return -EEXIST;
	*ret_fd = openat(folder, name, (walk->flags & ~O_CREAT) | O_NOFOLLOW | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

static int walk_all(struct walk *walk, int *ret_fd)
{
	char name[NAME_MAX + 1];
	bool is_last;
	int rc;

	while (next_name(walk, name, &is_last, &rc)) {
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			climb_to(walk, walk->depth > 1 ? walk->depth - 1 : 1);
			continue;
		}
		rc = step(walk, name, is_last, ret_fd);
		if (rc <= 0)
			return rc;
	}
	if (rc < 0)
		return rc;
	/* It ended with ".", ".." or a link to the root: with a folder on the way. */
	if ((walk->flags & O_PATH) == 0)
		return -EISDIR;
	*ret_fd = fcntl(walk->folders[walk->depth - 1], F_DUPFD_CLOEXEC, 3);
	return *ret_fd < 0 ? -errno : 0;
}

int bwrap_walk(int root_fd, const char *path, int flags, int mode)
{
	struct walk walk = { .folders = { root_fd }, .depth = 1, .flags = flags, .mode = mode };
	int fd = -1;
	int rc;

	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(walk.rest, path, strlen(path) + 1);
	rc = walk_all(&walk, &fd);
	climb_to(&walk, 1);
	return rc < 0 ? rc : fd;
}
