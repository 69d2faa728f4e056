#include "guard/confine/keep_take.h"

#include <fcntl.h>

#include "fence/own.h"

int guard_keep_omit(struct guard_keep_copy *copy, const char *why)
{
	if (copy->why == NULL)
		copy->why = why;
	return 0;
}

bool guard_keep_count(struct guard_keep_copy *copy)
{
	if (copy->left.names == 0) {
		(void)guard_keep_omit(copy, GUARD_KEEP_TOO_MANY);
		return false;
	}
	copy->left.names--;
	return true;
}

bool guard_keep_charge(struct guard_keep_copy *copy, uint64_t size_bytes)
{
	uint64_t on_disk;

	/* First, since any number may be said of a file with nothing in it. */
	if (size_bytes > copy->left.bytes) {
		(void)guard_keep_omit(copy, GUARD_KEEP_TOO_LARGE);
		return false;
	}
	on_disk = (size_bytes + GUARD_KEEP_BLOCK - 1) / GUARD_KEEP_BLOCK * GUARD_KEEP_BLOCK;
	if (on_disk > copy->left.bytes) {
		(void)guard_keep_omit(copy, GUARD_KEEP_TOO_LARGE);
		return false;
	}
	copy->left.bytes -= on_disk;
	copy->bytes += on_disk;
	return true;
}

bool guard_keep_is_plain(const char *name)
{
	if (name[0] == '.' || name[0] == '\0')
		return false;
	for (; *name != '\0'; name++)
		if ((unsigned char)*name < 0x20 || *name == 0x7f)
			return false;
	return true;
}

/* All inside is dead by now; but what the command had open it may have handed to somebody
 * outside, so that what was looked at is looked at again when it is open. Where whoever made
 * it left no right to read it there is none to be had: the mount is read-only by now. */
int guard_keep_open(struct guard_keep_copy *copy, int dir_fd, const char *name, mode_t type,
		    struct stat *ret_st)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	owned_fd fd = -1;

	if (fstatat(dir_fd, name, ret_st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (ret_st->st_mode & S_IFMT) != type)
		return -1;
	fd = openat(dir_fd, name, flags);
	if (fd < 0 || fstat(fd, ret_st) < 0) {
		(void)guard_keep_omit(copy, GUARD_KEEP_CLOSED);
		return -1;
	}
	return (ret_st->st_mode & S_IFMT) == type ? fence_take_fd(&fd) : -1;
}
