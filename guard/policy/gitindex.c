#include "guard/policy/gitindex.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#define HEADER_BYTES	12
#define EXTENSION_BYTES 8  /* its name and its size */
#define STAT_BYTES	40 /* times, device, inode, mode, owner, size */
#define AT_MODE		24
#define FLAG_MORE	0x4000U /* two more bytes of flags */
#define FLAG_LENGTH	0x0fffU
#define TYPE_MASK	0170000U
#define TYPE_GITLINK	0160000U

struct index {
	const uint8_t *bytes;
	size_t length;
	size_t at;
	uint32_t version;
	size_t hash_bytes;
	char path[PATH_MAX]; /* of the entry under way; version 4 builds on the one before */
	bool nameless;	     /* there was an entry without a path */
	int (*link)(void *arg, const char *path);
	void *arg;
};

static uint32_t be32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

/* How much of the path before is dropped: a number in git's "offset" encoding. */
static bool read_offset(struct index *index, size_t *ret)
{
	size_t value = 0;

	for (;;) {
		uint8_t byte;

		if (index->at >= index->length || value > PATH_MAX)
			return false;
		byte = index->bytes[index->at++];
		value = value << 7 | (byte & 0x7fU);
		if ((byte & 0x80U) == 0)
			break;
		value++;
	}
	*ret = value;
	return true;
}

static bool read_path(struct index *index)
{
	size_t kept = 0;
	size_t dropped = 0;
	const uint8_t *start;
	const uint8_t *end;

	if (index->version == 4) {
		kept = strlen(index->path);
		if (!read_offset(index, &dropped) || dropped > kept)
			return false;
		kept -= dropped;
	}
	start = index->bytes + index->at;
	end = memchr(start, '\0', index->length - index->at);
	if (end == NULL || kept + (size_t)(end - start) >= sizeof(index->path))
		return false;
	memcpy(index->path + kept, start, (size_t)(end - start) + 1);
	index->at += (size_t)(end - start) + 1;
	index->nameless |= index->path[0] == '\0';
	return index->path[0] != '/';
}

static bool leads_up(const char *path)
{
	for (;;) {
		size_t length = strcspn(path, "/");

		if (length == 2 && path[0] == '.' && path[1] == '.')
			return true;
		if (path[length] == '\0')
			return false;
		path += length + 1;
	}
}

static int read_entry(struct index *index)
{
	const uint8_t *entry = index->bytes + index->at;
	size_t start = index->at;
	size_t fixed = STAT_BYTES + index->hash_bytes + 2;
	uint32_t flags;
	size_t length;

	if (index->length - index->at <= fixed + 2)
		return -EBADMSG;
	flags = (uint32_t)entry[fixed - 2] << 8 | entry[fixed - 1];
	if ((flags & FLAG_MORE) != 0 && index->version == 2)
		return -EBADMSG;
	index->at += fixed + ((flags & FLAG_MORE) != 0 ? 2 : 0);
	if (!read_path(index))
		return -EBADMSG;
	length = strlen(index->path);
	/* It is what tells a hash of the other length, too. */
	if ((flags & FLAG_LENGTH) != (length < FLAG_LENGTH ? length : FLAG_LENGTH))
		return -EBADMSG;
	/* One to eight zero bytes, up to the next multiple of eight. */
	if (index->version != 4)
		index->at = start + ((index->at - 1 - start + 8) & ~(size_t)7);
	if (index->at > index->length)
		return -EBADMSG;
	if ((be32(entry + AT_MODE) & TYPE_MASK) != TYPE_GITLINK)
		return 0;
	return leads_up(index->path) ? -EBADMSG : index->link(index->arg, index->path);
}

static int read_entries(struct index *index)
{
	uint32_t count = be32(index->bytes + 8);
	int rc = 0;

	index->at = HEADER_BYTES;
	index->path[0] = '\0';
	index->nameless = false;
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = read_entry(index);
	return rc;
}

/* The extension "link": most of the entries are in another file, and some of those that
 * are here say only what is new of one there, without a name. */
static bool is_split(const struct index *index)
{
	size_t at = index->at;

	/* A checksum comes last. */
	while (index->length - at >= EXTENSION_BYTES + index->hash_bytes) {
		size_t size = be32(index->bytes + at + 4);

		if (memcmp(index->bytes + at, "link", 4) == 0)
			return true;
		if (size > index->length - at - EXTENSION_BYTES)
			return false;
		at += EXTENSION_BYTES + size;
	}
	return false;
}

static int ignore(void *arg, const char *path)
{
	(void)arg;
	(void)path;
	return 0;
}

int guard_git_index_links(const uint8_t *bytes, size_t length_bytes,
			  int (*link)(void *arg, const char *path), void *arg)
{
	static const size_t hashes[] = { 20, 32 };
	struct index index = { .bytes = bytes, .length = length_bytes };

	if (length_bytes < HEADER_BYTES || memcmp(bytes, "DIRC", 4) != 0)
		return 0;
	index.version = be32(bytes + 4);
	if (index.version < 2 || index.version > 4)
		return -EBADMSG;
	for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
		index.hash_bytes = hashes[i];
		index.link = ignore;
		if (read_entries(&index) < 0)
			continue;
		if (is_split(&index))
			return -EOPNOTSUPP;
		if (index.nameless)
			continue;
		index.link = link;
		index.arg = arg;
		return read_entries(&index);
	}
	return -EBADMSG;
}
