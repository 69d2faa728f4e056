#include "guard/confine/tracee.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fence/kernel.h"
#include "fence/own.h"
#include "fence/sys.h"

#define PAGE_BYTES 4096 /* no page is smaller: a read within one is whole or nothing */

/* linux/openat2.h */
#define RESOLVE_NO_MAGICLINKS_ 0x02
#define RESOLVE_IN_ROOT_       0x10

size_t guard_tracee_read(pid_t pid, uint64_t address, void *ret, size_t size_bytes)
{
	size_t done = 0;

	while (done < size_bytes) {
		size_t part = PAGE_BYTES - (address + done) % PAGE_BYTES;
		struct iovec to = { .iov_base = (char *)ret + done };
		struct iovec from = { .iov_base = (void *)(uintptr_t)(address + done) };
		ssize_t got;

		part = part < size_bytes - done ? part : size_bytes - done;
		to.iov_len = from.iov_len = part;
		got = process_vm_readv(pid, &to, 1, &from, 1, 0);
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

bool guard_tracee_string(pid_t pid, uint64_t address, char *ret, size_t size_bytes)
{
	size_t done = 0;

	while (address != 0 && done < size_bytes - 1) {
		size_t part = PAGE_BYTES - (address + done) % PAGE_BYTES;
		size_t got;

		part = part < size_bytes - 1 - done ? part : size_bytes - 1 - done;
		got = guard_tracee_read(pid, address + done, ret + done, part);
		if (memchr(ret + done, '\0', got) != NULL)
			return true;
		if (got < part)
			return false;
		done += got;
	}
	ret[done] = '\0';
	return done > 0;
}

void guard_tracee_name(pid_t pid, char ret[17])
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (fence_read_file(AT_FDCWD, path, ret, 17) <= 0)
		memcpy(ret, "?", 2);
	ret[strcspn(ret, "\n")] = '\0';
}

/* The last number of NSpid is the one inside. */
bool guard_tracee_is_init(pid_t pid)
{
	char path[64];
	char text[8192];
	char *line;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (fence_read_file(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return false;
	line = strstr(text, "\nNSpid:");
	if (line == NULL)
		return false;
	line[1 + strcspn(line + 1, "\n")] = '\0';
	line = strrchr(line, '\t');
	return line != NULL && strcmp(line, "\t1") == 0;
}

static int open_root(pid_t pid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	return openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int guard_tracee_sees(pid_t pid, pid_t other)
{
	owned_fd root = open_root(pid);
	char path[64];
	struct stat st;

	if (root < 0 || fstatat(root, "proc/self", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "proc/%d", (int)other);
	return fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* --- paths --------------------------------------------------------------------------- */

static bool read_link(const char *path, char *ret, size_t size_bytes)
{
	ssize_t length = readlink(path, ret, size_bytes - 1);

	if (length <= 0)
		return false;
	ret[length] = '\0';
	return true;
}

/* Takes "." and ".." and doubled slashes out, by the letters alone. */
static void clean(char *path)
{
	size_t to = 0;
	const char *at = path;

	while (*at != '\0') {
		size_t length;

		at += strspn(at, "/");
		length = strcspn(at, "/");
		if (length == 2 && memcmp(at, "..", 2) == 0) {
			while (to > 0 && path[--to] != '/')
				;
		} else if (length > 0 && !(length == 1 && at[0] == '.')) {
			path[to++] = '/';
			memmove(path + to, at, length);
			to += length;
		}
		at += length;
	}
	if (to == 0)
		path[to++] = '/';
	path[to] = '\0';
}

/* As it is written, from the root. */
static bool spell(pid_t pid, int dir_fd, const char *path, char ret[PATH_MAX])
{
	char link[64];
	size_t length = 0;

	if (path[0] != '/') {
		if (dir_fd == AT_FDCWD)
			(void)snprintf(link, sizeof(link), "/proc/%d/cwd", (int)pid);
		else
			(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)pid, dir_fd);
		if (!read_link(link, ret, PATH_MAX) || ret[0] != '/')
			return false;
		length = strlen(ret);
	}
	if (length + strlen(path) + 2 > PATH_MAX)
		return false;
	(void)snprintf(ret + length, PATH_MAX - length, "/%s", path);
	return true;
}

/* What is there, in the tree that the process sees; its name without links in `ret`. */
static int find(int root, const char *path, bool follow, char ret[PATH_MAX], struct stat *ret_st)
{
	char link[64];
	owned_fd fd = fence_openat2(root, path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW), 0,
				    RESOLVE_IN_ROOT_ | RESOLVE_NO_MAGICLINKS_);

	if (fd < 0)
		return fd;
	if (fstat(fd, ret_st) < 0)
		return -errno;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return read_link(link, ret, PATH_MAX) && ret[0] == '/' ? 0 : -ENOENT;
}

bool guard_tracee_path(pid_t pid, int dir_fd, const char *path, bool follow,
		       struct guard_tracee_path *ret)
{
	owned_fd root = open_root(pid);
	char written[PATH_MAX];
	char folder[PATH_MAX];
	char *name;
	struct stat st;

	memset(ret, 0, sizeof(*ret));
	if (root < 0 || path[0] == '\0' || !spell(pid, dir_fd, path, written))
		return false;
	if (find(root, written, follow, ret->text, &st) == 0) {
		ret->exists = ret->has_folder = ret->is_whole = true;
		ret->is_special =
			!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode);
		return true;
	}
	clean(written);
	name = strrchr(written, '/');
	memcpy(ret->text, written, sizeof(ret->text));
	if (name == written)
		return true;
	*name = '\0';
	if (find(root, written, true, folder, &st) < 0 || !S_ISDIR(st.st_mode))
		return true;
	ret->has_folder = ret->is_whole = true;
	return snprintf(ret->text, sizeof(ret->text), "%s/%s", strcmp(folder, "/") ? folder : "",
			name + 1) < (int)sizeof(ret->text);
}
