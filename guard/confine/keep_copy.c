#include "guard/confine/keep_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/entries.h"
#include "guard/confine/keep_names.h"
#include "guard/confine/keep_take.h"

/* A folder that is made when there is something for it. */
struct place {
	struct place *above; /* NULL: the first */
	const char *name;
	int fd;
};

/* What one walk goes through. */
struct folder {
	struct guard_keep_copy *copy;
	int fd;
	struct place place;
	unsigned int depth;
	bool packs; /* of objects: those, rather than single ones */
};

static int open_place(struct guard_keep_copy *copy, struct place *place)
{
	int above_fd;

	if (place->fd >= 0)
		return place->fd;
	if (place->above == NULL)
		return place->fd = copy->open_to(copy->arg);
	above_fd = open_place(copy, place->above);
	if (above_fd < 0)
		return above_fd;
	if (mkdirat(above_fd, place->name, 0700) < 0 && errno != EEXIST)
		return -errno;
	place->fd = openat(above_fd, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	copy->bytes += GUARD_KEEP_BLOCK;
	return place->fd < 0 ? -errno : place->fd;
}

/* --- objects --------------------------------------------------------------------------- */

static bool is_hex(const char *text, size_t length)
{
	return strspn(text, "0123456789abcdef") >= length;
}

static bool is_single(const char *name)
{
	size_t length = strlen(name);

	return (length == 38 || length == 62) && is_hex(name, length);
}

/* pack-HASH.idx */
static bool is_pack_index(const char *name)
{
	size_t length = strlen(name);

	return (length == 49 || length == 73) && strncmp(name, "pack-", 5) == 0 &&
	       is_hex(name + 5, length - 9) && strcmp(name + length - 4, ".idx") == 0;
}

static int write_copy(int from_fd, int to_fd, uint64_t size_bytes)
{
	char buf[65536];

	while (size_bytes > 0) {
		size_t wanted = size_bytes < sizeof(buf) ? (size_t)size_bytes : sizeof(buf);
		ssize_t got = fence_read_some(from_fd, buf, wanted);
		int rc = got <= 0 ? (int)got : fence_write_full(to_fd, buf, (size_t)got);

		if (rc < 0)
			return rc;
		if (got == 0)
			return 0;
		size_bytes -= (uint64_t)got;
	}
	return 0;
}

static int put_file(struct folder *folder, const char *name, int from_fd, uint64_t size_bytes)
{
	int dir_fd = open_place(folder->copy, &folder->place);
	owned_fd fd = -1;

	if (dir_fd < 0)
		return dir_fd;
	fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : write_copy(from_fd, fd, size_bytes);
}

static int take_single(struct folder *folder, const char *name)
{
	struct stat st;
	owned_fd fd = guard_keep_open(folder->copy, folder->fd, name, S_IFREG, &st);

	if (fd < 0 || st.st_size == 0 || !guard_keep_charge(folder->copy, (uint64_t)st.st_size))
		return 0;
	return put_file(folder, name, fd, (uint64_t)st.st_size);
}

/* Neither is of use without the other. */
static int take_pack(struct folder *folder, const char *index_name)
{
	struct stat index_st;
	struct stat pack_st;
	char name[96];
	owned_fd index_fd =
		guard_keep_open(folder->copy, folder->fd, index_name, S_IFREG, &index_st);
	owned_fd pack_fd = -1;
	int rc;

	(void)snprintf(name, sizeof(name), "%.*s.pack", (int)strlen(index_name) - 4, index_name);
	if (index_fd >= 0)
		pack_fd = guard_keep_open(folder->copy, folder->fd, name, S_IFREG, &pack_st);
	if (pack_fd < 0 || !guard_keep_charge(folder->copy, (uint64_t)pack_st.st_size +
								    (uint64_t)index_st.st_size))
		return 0;
	rc = put_file(folder, name, pack_fd, (uint64_t)pack_st.st_size);
	return rc < 0 ? rc : put_file(folder, index_name, index_fd, (uint64_t)index_st.st_size);
}

static int on_object(void *arg, const char *name)
{
	struct folder *folder = arg;

	if (!guard_keep_count(folder->copy))
		return 1;
	if (folder->packs)
		return is_pack_index(name) ? take_pack(folder, name) : 0;
	return is_single(name) ? take_single(folder, name) : 0;
}

/* A walk goes on where something is left out. */
static int go_into(struct folder *outer, const char *name, int (*each)(void *, const char *),
		   struct folder *inner)
{
	struct stat st;
	owned_fd fd = -1;
	int rc;

	inner->copy = outer->copy;
	inner->depth = outer->depth + 1;
	inner->place = (struct place){ .above = &outer->place, .name = name, .fd = -1 };
	if (inner->depth > outer->copy->left.depth)
		return guard_keep_omit(outer->copy, GUARD_KEEP_TOO_DEEP);
	fd = guard_keep_open(outer->copy, outer->fd, name, S_IFDIR, &st);
	if (fd < 0)
		return 0;
	inner->fd = fd;
	rc = guard_entries_each(fd, each, inner);
	fence_close_fd(&inner->place.fd);
	return rc;
}

static int on_fan(void *arg, const char *name)
{
	struct folder inner = { 0 };
	struct folder *folder = arg;

	if (!guard_keep_count(folder->copy))
		return 1;
	return strlen(name) == 2 && is_hex(name, 2) ? go_into(folder, name, on_object, &inner) : 0;
}

/* Single ones first: what was just written is rather there than in a pack, which may be
 * the one that is too large. */
static int take_objects(struct folder *folder)
{
	struct folder objects = { 0 };
	struct folder above = { 0 };
	struct folder packs = { .packs = true };
	struct stat st;
	owned_fd fd = -1;
	int rc = go_into(folder, "objects", on_fan, &objects);

	if (rc != 0)
		return rc;
	fd = guard_keep_open(folder->copy, folder->fd, "objects", S_IFDIR, &st);
	if (fd < 0)
		return 0;
	above = (struct folder){
		.copy = folder->copy,
		.fd = fd,
		.place = { .above = &folder->place, .name = "objects", .fd = -1 },
		.depth = folder->depth + 1,
	};
	rc = go_into(&above, "pack", on_object, &packs);
	fence_close_fd(&above.place.fd);
	return rc;
}

/* --- a folder of git's ------------------------------------------------------------------- */

static int put_names(struct folder *folder, const struct guard_keep_names *names)
{
	int dir_fd = open_place(folder->copy, &folder->place);
	owned_fd fd = -1;

	if (dir_fd < 0)
		return dir_fd;
	fd = openat(dir_fd, "names", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : guard_keep_names_write(names, fd);
}

static int on_module(void *arg, const char *name);

/* All that git has in one folder: a repository's, or a submodule's. Names are collected
 * first, when there is room for them: without them nobody finds anything. */
static int take_git(struct folder *folder)
{
	struct folder modules = { 0 };
	struct guard_keep_names names = { .copy = folder->copy };
	int rc = guard_keep_names_collect(folder->fd, &names);

	if (rc >= 0)
		rc = take_objects(folder);
	if (rc >= 0 && (names.length > 0 || folder->place.fd >= 0))
		rc = put_names(folder, &names);
	guard_keep_names_free(&names);
	return rc < 0 ? rc : go_into(folder, "modules", on_module, &modules);
}

/* Or a folder of such folders: a submodule may be called a/b. */
static bool is_git(int fd)
{
	static const char *const signs[] = { "HEAD", "objects", "refs", "logs", "packed-refs" };
	struct stat st;

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (fstatat(fd, signs[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	return false;
}

static int on_module(void *arg, const char *name)
{
	struct folder *outer = arg;
	struct folder inner = { .copy = outer->copy, .depth = outer->depth + 1 };
	struct stat st;
	owned_fd fd = -1;
	int rc;

	if (!guard_keep_count(outer->copy))
		return 1;
	if (!guard_keep_is_plain(name))
		return 0;
	if (inner.depth > outer->copy->left.depth)
		return guard_keep_omit(outer->copy, GUARD_KEEP_TOO_DEEP);
	fd = guard_keep_open(outer->copy, outer->fd, name, S_IFDIR, &st);
	if (fd < 0)
		return 0;
	inner.fd = fd;
	inner.place = (struct place){ .above = &outer->place, .name = name, .fd = -1 };
	rc = is_git(fd) ? take_git(&inner) : guard_entries_each(fd, on_module, &inner);
	fence_close_fd(&inner.place.fd);
	return rc;
}

int guard_keep_copy(int from_fd, struct guard_keep_copy *copy)
{
	struct folder top = { .copy = copy, .fd = from_fd, .place = { .fd = -1 } };
	int rc = take_git(&top);

	return rc < 0 ? rc : top.place.fd >= 0;
}
