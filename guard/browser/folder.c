#include "guard/browser/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"

#define NAME_LETTERS 8
/* Chromium puts org.chromium.Chromium.XXXXXX/SingletonSocket below root/tmp, and a
 * socket's path has 107 bytes. */
#define BASE_MAX   (FOLDER_ROOT_MAX - 14)
#define DEPTH_MAX  64
#define FRESH_MAX  64 /* entries that a client may have put into a new profile */
#define FRESH_DEEP 4
#define LINKS_MAX  40

/* --- the private root ------------------------------------------------------------- */

static const char *const inside[] = {
	"home",
	"home/.config",
	"home/.cache",
	"home/.local",
	"home/.local/share",
	"home/.local/state",
	"tmp",
	"run",
	"crash",
	"profile",
};

static int make_inside(const char *root)
{
	owned_fd fd = open(root, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++)
		if (mkdirat(fd, inside[i], 0700) < 0)
			return -errno;
	return 0;
}

static int make_in(const char *tmp, char ret_root[FOLDER_ROOT_MAX])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint8_t random[NAME_LETTERS];
	char name[NAME_LETTERS + 1] = "";
	int rc;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	for (int i = 0; i < NAME_LETTERS; i++)
		name[i] = letters[random[i] % 32];
	(void)snprintf(ret_root, FOLDER_ROOT_MAX, "%.*s/fc-%s", BASE_MAX, tmp, name);
	/* mkdir never follows a link that stands there, and fails if anything does. */
	if (mkdir(ret_root, 0700) < 0)
		return -errno;
	rc = make_inside(ret_root);
	if (rc < 0)
		(void)folder_remove(ret_root);
	return rc;
}

int folder_make_root(const char *tmp, char ret_root[FOLDER_ROOT_MAX])
{
	if (tmp != NULL && tmp[0] == '/' && strlen(tmp) <= BASE_MAX && make_in(tmp, ret_root) == 0)
		return 0;
	return make_in("/tmp", ret_root);
}

/* --- removing --------------------------------------------------------------------- */

static int remove_inside(int dir_fd, unsigned int depth);

static int remove_entry(int dir_fd, const char *name, unsigned int depth)
{
	int rc = 0;

	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (depth > 0) {
		int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0)
			return -errno;
		rc = remove_inside(fd, depth - 1);
	}
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return rc < 0 ? rc : -errno;
	return 0;
}

/* Takes `dir_fd`. Goes on after a failure: what can be removed is. */
static int remove_inside(int dir_fd, unsigned int depth)
{
	DIR *list = fdopendir(dir_fd);
	int first = 0;

	if (list == NULL) {
		int rc = -errno;

		(void)close(dir_fd);
		return rc;
	}
	for (const struct dirent *e = readdir(list); e != NULL; e = readdir(list)) {
		int rc;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		rc = remove_entry(dirfd(list), e->d_name, depth);
		if (rc < 0 && first == 0)
			first = rc;
	}
	(void)closedir(list);
	return first;
}

int folder_remove(const char *path)
{
	owned_fd fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int rc;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid())
		return -EPERM;
	rc = remove_inside(fence_take_fd(&fd), DEPTH_MAX);
	if (rmdir(path) < 0 && errno != ENOENT)
		return rc < 0 ? rc : -errno;
	return 0;
}

/* --- the client's profile ----------------------------------------------------------- */

struct hand_over {
	const struct identity *identity;
	unsigned int entries_left;
	bool acts; /* false: only looks */
};

/* A second name of a file may be one that somebody else put here for us to give
 * away; a folder that others may write to is not the caller's alone. */
static bool is_callers_own(const struct stat *st)
{
	if (st->st_uid != geteuid())
		return false;
	if (S_ISDIR(st->st_mode))
		return (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
	return S_ISREG(st->st_mode) && st->st_nlink == 1;
}

static int give(const struct hand_over *how, int fd)
{
	if (!how->acts)
		return 0;
	/* AT_EMPTY_PATH: the very thing that was looked at, whatever its name is now. */
	if (fchownat(fd, "", how->identity->uid, how->identity->gid, AT_EMPTY_PATH) < 0)
		return -errno;
	return 0;
}

static int walk(struct hand_over *how, int fd, unsigned int depth);

/* Never into another mount: what is mounted there is not the client's fresh folder,
 * and has a place of its own elsewhere. */
static int walk_entry(struct hand_over *how, int dir_fd, const char *name, unsigned int depth)
{
	owned_fd fd = fence_openat2(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0,
				    RESOLVE_BENEATH | RESOLVE_NO_XDEV);

	if (fd < 0)
		return fd;
	if (how->entries_left-- == 0 || depth == 0)
		return -EPERM;
	return walk(how, fd, depth - 1);
}

static int walk_list(struct hand_over *how, int dir_fd, unsigned int depth)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	int rc = 0;

	if (list == NULL)
		return -errno;
	for (const struct dirent *e = readdir(list); e != NULL && rc == 0; e = readdir(list))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = walk_entry(how, dirfd(list), e->d_name, depth);
	(void)closedir(list);
	return rc;
}

/* The folder itself goes last: while it is the caller's, nobody else can put
 * anything into it. */
static int walk(struct hand_over *how, int fd, unsigned int depth)
{
	struct stat st;
	int rc = 0;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!is_callers_own(&st))
		return -EPERM;
	if (S_ISDIR(st.st_mode))
		rc = walk_list(how, fd, depth);
	return rc < 0 ? rc : give(how, fd);
}

/* --- the way there ------------------------------------------------------------------- */

/* Whoever owns a link decides where the path leads, so as root only links of our own
 * and of root are followed; an owner of a folder on the way could move another one
 * there, but none that he could not reach. */
struct way {
	char left[PATH_MAX]; /* what is still to be walked */
	unsigned int links_left;
};

static int follow(struct way *way, int dir_fd, const char *name, const struct stat *st)
{
	char text[PATH_MAX], joined[PATH_MAX];
	ssize_t length = readlinkat(dir_fd, name, text, sizeof(text) - 1);
	int joined_length;

	if (length < 0)
		return -errno;
	if (way->links_left-- == 0)
		return -ELOOP;
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return -EPERM;
	text[length] = '\0';
	joined_length = snprintf(joined, sizeof(joined), "%s/%s", text, way->left);
	if (joined_length < 0 || (size_t)joined_length >= sizeof(joined))
		return -ENAMETOOLONG;
	memcpy(way->left, joined, (size_t)joined_length + 1);
	return 0;
}

/* Cuts the next name off. False: there is none. */
static bool next_name(struct way *way, char ret_name[NAME_MAX + 1])
{
	size_t skip = strspn(way->left, "/");
	size_t length = strcspn(way->left + skip, "/");

	(void)snprintf(ret_name, NAME_MAX + 1, "%.*s", (int)length, way->left + skip);
	memmove(way->left, way->left + skip + length, strlen(way->left + skip + length) + 1);
	return length > 0;
}

/* Takes one step from `dir_fd`, or puts a link's text before what is left. */
static int step(struct way *way, int *dir_fd, const char *name)
{
	owned_fd fd = openat(*dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	bool is_absolute;
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISLNK(st.st_mode)) {
		fence_close_fd(dir_fd);
		*dir_fd = fence_take_fd(&fd);
		return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
	}
	rc = follow(way, *dir_fd, name, &st);
	is_absolute = rc == 0 && way->left[0] == '/';
	if (!is_absolute)
		return rc;
	fence_close_fd(dir_fd);
	*dir_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return *dir_fd < 0 ? -errno : 0;
}

/* Opens the folder that holds the last name of `path`, which is not looked at. */
static int open_parent(const char *path, int *ret_fd, char ret_name[NAME_MAX + 1])
{
	owned_fd fd = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct way way = { .links_left = LINKS_MAX };
	size_t length = strlen(path), last;
	char name[NAME_MAX + 1];
	int rc = 0;

	if (fd < 0)
		return -errno;
	while (length > 1 && path[length - 1] == '/')
		length--;
	for (last = length; last > 0 && path[last - 1] != '/'; last--)
		;
	if (length >= sizeof(way.left) || length - last > NAME_MAX)
		return -ENAMETOOLONG;
	(void)snprintf(ret_name, NAME_MAX + 1, "%.*s", (int)(length - last), path + last);
	(void)snprintf(way.left, sizeof(way.left), "%.*s", (int)last, path);
	while (rc == 0 && next_name(&way, name))
		rc = step(&way, &fd, name);
	if (rc == 0)
		*ret_fd = fence_take_fd(&fd);
	return rc;
}

/* Only in a folder of the caller's alone, or one like /tmp. */
static int make_profile(int parent_fd, const char *name, const struct identity *identity)
{
	owned_fd fd = -1;
	struct stat st;

	if (fstat(parent_fd, &st) < 0)
		return -errno;
	if ((st.st_mode & S_ISVTX) == 0) {
		if (st.st_uid == identity->uid)
			return 0; /* the browser makes it */
		if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
			return -EPERM;
	}
	if (mkdirat(parent_fd, name, 0700) < 0)
		return -errno;
	fd = openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!is_callers_own(&st))
		return -EPERM;
	return give(&(struct hand_over){ .identity = identity, .acts = true }, fd);
}

int folder_hand_over(const char *profile, const struct identity *identity)
{
	struct hand_over how = { .identity = identity, .entries_left = FRESH_MAX };
	owned_fd parent_fd = -1, fd = -1;
	char name[NAME_MAX + 1];
	struct stat st;
	int rc;

	if (!identity->drops)
		return 0;
	rc = open_parent(profile, &parent_fd, name);
	if (rc < 0)
		return rc;
	fd = openat(parent_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? make_profile(parent_fd, name, identity) : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (st.st_uid == identity->uid)
		return 0;
	/* First all of it is looked at, so that a refusal changes nothing. */
	rc = walk(&how, fd, FRESH_DEEP);
	if (rc < 0)
		return rc;
	how = (struct hand_over){ .identity = identity, .entries_left = FRESH_MAX, .acts = true };
	return walk(&how, fd, FRESH_DEEP);
}
