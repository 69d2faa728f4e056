#include "fence/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"

#define PROC_TEXT_BYTES (4096 * 1024) /* of mountinfo: hosts of containers have long ones */

/* --- where we are --------------------------------------------------------------------- */

/* Mountinfo writes a space as \040. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at != '\0'; at++) {
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

/* What of `path` lies below `root`, or NULL when it does not. */
static const char *below(const char *path, const char *root)
{
	size_t length = strlen(root);

	if (length == 1)
		return path; /* "/" */
	if (strncmp(path, root, length) != 0 || (path[length] != '/' && path[length] != '\0'))
		return NULL;
	return path + length;
}

/* One line of proc_pid_mountinfo(5): "ID PARENT DEV ROOT POINT ... - TYPE ...". */
static bool place_in_mount(char *line, const char *group, char *ret_path, size_t size_bytes)
{
	char *words[5], *rest = line;
	const char *type = strstr(line, " - ");
	const char *tail;
	int length;

	if (type == NULL || strncmp(type + 3, "cgroup2 ", strlen("cgroup2 ")) != 0)
		return false;
	for (int i = 0; i < 5; i++)
		words[i] = strsep(&rest, " ");
	if (words[4] == NULL)
		return false;
	unescape(words[3]);
	unescape(words[4]);
	tail = below(group, words[3]);
	if (tail == NULL)
		return false;
	length = snprintf(ret_path, size_bytes, "%s%s", words[4],
			  strcmp(tail, "/") == 0 ? "" : tail);
	return length > 0 && (size_t)length < size_bytes;
}

int fence_cgroup_place(char *mounts, char *groups, char *ret_path, size_t size_bytes)
{
	char *group = NULL, *line;

	/* Version 2 is hierarchy 0 and has no controllers in its line. */
	while ((line = strsep(&groups, "\n")) != NULL)
		if (strncmp(line, "0::/", 4) == 0)
			group = line + 3;
	/* A group above our cgroup namespace starts with "/..", one that was removed ends in
	 * " (deleted)": neither has a folder that we could name. */
	if (group == NULL || strncmp(group, "/..", 3) == 0)
		return -ENOENT;
	while ((line = strsep(&mounts, "\n")) != NULL)
		if (place_in_mount(line, group, ret_path, size_bytes))
			return 0;
	return -ENOENT;
}

int fence_cgroup_here(char *ret_path, size_t size_bytes, struct fence_err *err)
{
	owned_mem char *mounts = malloc(PROC_TEXT_BYTES);
	owned_mem char *groups = malloc(2 * PATH_MAX);
	ssize_t got;
	int rc;

	if (mounts == NULL || groups == NULL)
		return fence_fail(err, -ENOMEM, "find our cgroup");
	got = fence_read_file(AT_FDCWD, "/proc/self/mountinfo", mounts, PROC_TEXT_BYTES);
	if (got >= 0)
		got = fence_read_file(AT_FDCWD, "/proc/self/cgroup", groups, 2 * PATH_MAX);
	if (got < 0)
		return fence_fail(err, (int)got, "find our cgroup");
	rc = fence_cgroup_place(mounts, groups, ret_path, size_bytes);
	if (rc == 0)
		return 0;
	(void)fence_fail_why(err, rc, "no hierarchy of version 2 that shows it is mounted here",
			     "find our cgroup");
	(void)fence_hint(err, "mount cgroup2, or use --contain subreaper");
	return rc;
}

/* --- a group's life --------------------------------------------------------------------- */

void fence_cgroup_close(struct fence_cgroup *cgroup)
{
	fence_close_fd(&cgroup->dir_fd);
	fence_close_fd(&cgroup->events_fd);
	fence_close_fd(&cgroup->kill_fd);
}

static int explain_mkdir(const char *path, int rc, struct fence_err *err)
{
	(void)fence_fail(err, rc, "make cgroup %s", path);
	if (rc == -EACCES || rc == -EPERM)
		(void)fence_hint(err, "have the group that we are in delegated to our user "
				      "(systemd: Delegate=yes), or use --contain subreaper");
	else if (rc == -EROFS)
		(void)fence_hint(err, "mount cgroup2 writable, or use --contain subreaper");
	else
		(void)fence_hint(err, "use --contain subreaper");
	return rc;
}

/* What the kernel will ask when a process of ours is to be born in it. */
static int check_birth(int dir_fd, const char *path, struct fence_err *err)
{
	char type[32] = "";

	if (faccessat(dir_fd, "../cgroup.procs", W_OK, AT_EACCESS) < 0)
		return explain_mkdir(path, -errno, err);
	(void)fence_read_file(dir_fd, "cgroup.type", type, sizeof(type));
	if (strncmp(type, "domain invalid", strlen("domain invalid")) != 0)
		return 0;
	(void)fence_fail_why(err, -EOPNOTSUPP, "the group that we are in is for threads alone",
			     "use cgroup %s", path);
	(void)fence_hint(err, "use --contain subreaper");
	return -EOPNOTSUPP;
}

int fence_cgroup_make(const char *path, struct fence_cgroup *ret, struct fence_err *err)
{
	struct fence_cgroup made = { .dir_fd = -1, .events_fd = -1, .kill_fd = -1 };
	struct stat st;
	int rc = 0;

	if (mkdir(path, 0700) < 0)
		return explain_mkdir(path, -errno, err);
	made.dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (made.dir_fd >= 0)
		made.events_fd = openat(made.dir_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	if (made.events_fd >= 0)
		made.kill_fd = openat(made.dir_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	if (made.kill_fd < 0 || fstat(made.dir_fd, &st) < 0) {
		rc = -errno;
		(void)fence_fail(err, rc, "use cgroup %s", path);
		if (rc == -ENOENT)
			(void)fence_hint(err, "cgroup.kill needs Linux 5.14; use --contain "
					      "subreaper");
		fence_cgroup_close(&made);
		(void)rmdir(path);
		return rc;
	}
	rc = check_birth(made.dir_fd, path, err);
	if (rc < 0) {
		fence_cgroup_close(&made);
		(void)rmdir(path);
		return rc;
	}
	made.id = st.st_ino;
	*ret = made;
	return 0;
}

int fence_cgroup_kill(const struct fence_cgroup *cgroup)
{
	ssize_t put = fence_write_some(cgroup->kill_fd, "1", 1);

	return put < 0 ? (int)put : 0;
}

int fence_cgroup_kill_path(const char *path)
{
	char file[PATH_MAX + 16];
	owned_fd fd = -1;
	ssize_t put;

	(void)snprintf(file, sizeof(file), "%s/cgroup.kill", path);
	fd = open(file, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	put = fence_write_some(fd, "1", 1);
	return put < 0 ? (int)put : 0;
}

/* A file of "word number" lines. */
static int find_number(const char *text, const char *word, uint64_t *ret)
{
	size_t length = strlen(word);

	for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, word, length) != 0 || at[length] != ' ')
			continue;
		*ret = strtoull(at + length + 1, NULL, 10);
		return 0;
	}
	return -ENOENT;
}

int fence_cgroup_populated(const struct fence_cgroup *cgroup)
{
	char text[256];
	uint64_t populated;
	ssize_t got;
	int rc;

	/* Read from its beginning each time: that also arms the next event. */
	got = pread(cgroup->events_fd, text, sizeof(text) - 1, 0);
	if (got < 0)
		return -errno;
	text[got] = '\0';
	rc = find_number(text, "populated", &populated);
	return rc < 0 ? -EBADMSG : populated != 0;
}

int fence_cgroup_memory_kills(int dir_fd, uint64_t *ret)
{
	char text[512];
	ssize_t got = fence_read_file(dir_fd, "memory.events", text, sizeof(text));

	return got < 0 ? (int)got : find_number(text, "oom_kill", ret);
}

int fence_cgroup_memory_peak(int dir_fd, uint64_t *ret_bytes)
{
	char text[64];
	char *end;
	ssize_t got = fence_read_file(dir_fd, "memory.peak", text, sizeof(text));

	if (got < 0)
		return (int)got;
	*ret_bytes = strtoull(text, &end, 10);
	return end == text ? -EBADMSG : 0;
}

/* --- its end ------------------------------------------------------------------------------ */

static DIR *open_again(int dir_fd)
{
	owned_fd fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir != NULL)
		(void)fence_take_fd(&fd);
	return dir;
}

static bool is_group(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type == DT_DIR;
}

static bool has_groups(int dir_fd)
{
	DIR *dir = open_again(dir_fd);
	struct dirent *entry = NULL;

	while (dir != NULL && (entry = readdir(dir)) != NULL && !is_group(entry))
		;
	if (dir != NULL)
		(void)closedir(dir);
	return entry != NULL;
}

/* Removes the groups in this one that have none in them. Stops at one that has: 1, with a
 * descriptor of it. 0: none is left; -errno. */
static int remove_leaves(int dir_fd, int *ret_deeper_fd)
{
	DIR *dir = open_again(dir_fd);
	struct dirent *entry;
	int rc = 0;

	if (dir == NULL)
		return -errno;
	while (rc == 0 && (entry = readdir(dir)) != NULL) {
		if (!is_group(entry) || unlinkat(dir_fd, entry->d_name, AT_REMOVEDIR) == 0)
			continue;
		if (errno == ENOENT)
			continue;
		rc = -errno;
		*ret_deeper_fd = openat(dir_fd, entry->d_name,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (*ret_deeper_fd >= 0 && has_groups(*ret_deeper_fd))
			rc = 1;
		else
			fence_close_fd(ret_deeper_fd);
	}
	(void)closedir(dir);
	return rc;
}

/* Down to the leaves and up again, without recursion and with two descriptors: the
 * command chose how deep it is. */
static int remove_below(int root_fd)
{
	owned_fd at = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	size_t depth = 0;

	while (at >= 0) {
		int next = -1;
		int rc = remove_leaves(at, &next);

		if (rc < 0)
			return rc;
		if (rc == 0 && depth == 0)
			return 0;
		depth = rc == 1 ? depth + 1 : depth - 1;
		if (rc == 0)
			next = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		fence_close_fd(&at);
		at = next;
	}
	return -errno;
}

int fence_cgroup_remove(const char *path)
{
	owned_fd fd = -1;
	int rc;

	if (rmdir(path) == 0)
		return 0;
	if (errno != EBUSY && errno != ENOTEMPTY)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	rc = fd < 0 ? -errno : remove_below(fd);
	if (rc == 0 && rmdir(path) < 0)
		rc = -errno;
	return rc;
}
