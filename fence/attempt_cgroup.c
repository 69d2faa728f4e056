/* A cgroup by its id. Its folder's inode is the id (64-bit kernels), which is not
 * given out again while the machine is up; opening it by file handle would need a
 * privilege, so it is looked for. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/attempt_left.h"
#include "fence/own.h"
#include "fence/sys.h"

#define DEPTH_MAX 32

struct search {
	uint64_t id;
	int found_fd;
	char path[PATH_MAX];
};

/* Appends "/NAME"; the length that was, or -ENAMETOOLONG. */
static int push(struct search *search, const char *name)
{
	size_t length = strlen(search->path);

	if (length + 1 + strlen(name) >= sizeof(search->path))
		return -ENAMETOOLONG;
	(void)snprintf(search->path + length, sizeof(search->path) - length, "/%s", name);
	return (int)length;
}

static bool is_wanted(const struct search *search, int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_ino == search->id;
}

/* Below the folder, which itself (the hierarchy's root) is nobody's cgroup. Takes
 * `folder_fd`. True: found, and `path` is its. */
static bool search_below(struct search *search, int folder_fd, int depth)
{
	DIR *dir = fdopendir(folder_fd);
	struct dirent *entry;
	bool found = false;

	if (!dir) {
		(void)close(folder_fd);
		return false;
	}
	while (!found && (entry = readdir(dir)) != NULL) {
		owned_fd fd = -1;
		int length;

		if (entry->d_name[0] == '.' || entry->d_type != DT_DIR)
			continue;
		fd = openat(dirfd(dir), entry->d_name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		length = fd < 0 ? -1 : push(search, entry->d_name);
		if (length < 0)
			continue;
		if (is_wanted(search, fd)) {
			search->found_fd = fence_take_fd(&fd);
			found = true;
		} else if (depth < DEPTH_MAX) {
			found = search_below(search, fence_take_fd(&fd), depth + 1);
		}
		if (!found)
			search->path[length] = '\0';
	}
	(void)closedir(dir);
	return found;
}

/* Mountinfo writes a space as \040. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		unsigned int byte;

		if (at[0] == '\\' && sscanf(at + 1, "%3o", &byte) == 1) {
			*to++ = (char)byte;
			at += 3;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
}

/* One line of proc_pid_mountinfo(5): "ID PARENT DEV ROOT POINT ... - TYPE ...". */
static bool search_mount(struct search *search, char *line)
{
	char *words[5], *rest = line, *type = strstr(line, " - ");
	int fd;

	if (!type || strncmp(type + 3, "cgroup2 ", strlen("cgroup2 ")) != 0)
		return false;
	for (int i = 0; i < 5; i++)
		words[i] = strsep(&rest, " ");
	if (!words[4])
		return false;
	unescape(words[3]);
	unescape(words[4]);
	fd = open(words[4], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return false;
	(void)snprintf(search->path, sizeof(search->path), "%s",
		       strcmp(words[3], "/") == 0 ? "" : words[3]);
	return search_below(search, fd, 0);
}

int fence_cgroup_find(uint64_t id, int *ret_fd, char **ret_path)
{
	struct search search = { .id = id, .found_fd = -1 };
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	owned_mem char *line = NULL;
	bool found = false;
	size_t room = 0;
	char *path;

	if (!mounts)
		return -errno;
	while (!found && getline(&line, &room, mounts) > 0)
		found = search_mount(&search, line);
	(void)fclose(mounts);
	if (!found)
		return -ENOENT;
	path = strdup(search.path);
	if (!path) {
		fence_close_fd(&search.found_fd);
		return -ENOMEM;
	}
	*ret_path = path;
	*ret_fd = search.found_fd;
	return 0;
}
