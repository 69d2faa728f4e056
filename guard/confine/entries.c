#include "guard/confine/entries.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"

/* struct linux_dirent64 of getdents64(2). */
#define AT_LENGTH 16
#define AT_NAME	  19

int guard_entries_each(int dir_fd, int (*each)(void *arg, const char *name), void *arg)
{
	char entries[4096];
	ssize_t length;
	uint16_t step;

	while ((length = fence_getdents(dir_fd, entries, sizeof(entries))) > 0) {
		for (ssize_t at = 0; at < length; at += step) {
			const char *name = entries + at + AT_NAME;
			int rc;

			memcpy(&step, entries + at + AT_LENGTH, sizeof(step));
			if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
				continue;
			rc = each(arg, name);
			if (rc != 0)
				return rc;
		}
	}
	return (int)length;
}

#define DEPTH_MAX  64
#define PASSES_MAX 8 /* a file system may pass names over while others are removed */

struct removal {
	int dir_fd;
	unsigned int depth;
};

static int remove_folder(int dir_fd, const char *name, unsigned int depth);

static int remove_entry(void *arg, const char *name)
{
	const struct removal *removal = arg;

	if (unlinkat(removal->dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	return errno == EISDIR || errno == EPERM
		       ? remove_folder(removal->dir_fd, name, removal->depth + 1)
		       : -errno;
}

static int remove_folder(int dir_fd, const char *name, unsigned int depth)
{
	struct removal removal = { .depth = depth };
	owned_fd fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc = fd < 0 ? -errno : depth > DEPTH_MAX ? -ELOOP : 0;

	removal.dir_fd = fd;
	for (int i = 0; rc == 0 && i < PASSES_MAX; i++) {
		if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return -errno;
		if (lseek(fd, 0, SEEK_SET) < 0)
			return -errno;
		rc = guard_entries_each(fd, remove_entry, &removal);
	}
	if (rc == 0 && unlinkat(dir_fd, name, AT_REMOVEDIR) < 0)
		rc = -errno;
	return rc == -ENOENT ? 0 : rc;
}

int guard_entries_remove(int dir_fd, const char *name)
{
	return remove_folder(dir_fd, name, 0);
}
