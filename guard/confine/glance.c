#include "guard/confine/glance.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <sys/vfs.h>

#include "fence/sys.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* struct linux_dirent64 of getdents64(2). */
#define AT_LENGTH 16
#define AT_NAME	  19

static bool lists_all(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	switch ((uint32_t)fs.f_type) {
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case TMPFS_MAGIC:
	case OVERLAYFS_SUPER_MAGIC:
		return true;
	}
	return false;
}

/* The name of the entry at *at, which moves on; NULL: no more. */
static const char *next_name(const struct guard_glance *glance, size_t *at)
{
	const char *entry = glance->entries + *at;
	uint16_t length;

	if (*at >= glance->length)
		return NULL;
	memcpy(&length, entry + AT_LENGTH, sizeof(length));
	*at += length;
	return entry + AT_NAME;
}

/* What other letters a file system without case takes for ours is its own business. */
static bool is_ascii(const char *name)
{
	for (; *name != '\0'; name++)
		if ((unsigned char)*name >= 0x80)
			return false;
	return true;
}

static bool read_all(int fd, struct guard_glance *ret)
{
	for (;;) {
		ssize_t got = fence_getdents(fd, ret->entries + ret->length,
					     sizeof(ret->entries) - ret->length);

		if (got <= 0)
			return got == 0;
		ret->length += (size_t)got;
	}
}

static int open_folder(const char *folder)
{
	return fence_openat2(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0,
			     RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

static void list(int fd, struct guard_glance *ret)
{
	const char *name;
	size_t at = 0;

	ret->length = 0;
	ret->is_absent = false;
	ret->is_whole = fd >= 0 && read_all(fd, ret);
	while (ret->is_whole && (name = next_name(ret, &at)) != NULL)
		ret->is_whole = is_ascii(name);
}

void guard_glance(const char *folder, struct guard_glance *ret)
{
	int fd = open_folder(folder);

	list(fd >= 0 && lists_all(fd) ? fd : -1, ret);
	/* Not by a link either: that is ELOOP. */
	ret->is_absent = fd == -ENOENT;
}

void guard_glance_system(const char *folder, struct guard_glance *ret)
{
	list(open_folder(folder), ret);
}

bool guard_glance_lacks(const struct guard_glance *glance, const char *path)
{
	size_t length = strcspn(path, "/");
	const char *name;
	size_t at = 0;

	if (!glance->is_whole)
		return false;
	while ((name = next_name(glance, &at)) != NULL)
		if (strncasecmp(name, path, length) == 0 && name[length] == '\0')
			return false;
	return true;
}
