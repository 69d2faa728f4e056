#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guard/policy/gitindex.h"

struct made {
	uint8_t bytes[4096];
	size_t length;
	size_t hash_bytes;
	char last[256];
};

static void put32(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)(value >> 24);
	to[1] = (uint8_t)(value >> 16);
	to[2] = (uint8_t)(value >> 8);
	to[3] = (uint8_t)value;
}

static void begin(struct made *made, uint32_t version, size_t hash_bytes)
{
	*made = (struct made){ .length = 12, .hash_bytes = hash_bytes };
	memcpy(made->bytes, "DIRC", 4);
	put32(made->bytes + 4, version);
}

/* `dropped` of the path before and `rest` after it: version 4's way; else 0 and all. */
static void put(struct made *made, uint32_t mode, size_t dropped, const char *rest)
{
	uint8_t *entry = made->bytes + made->length;
	size_t fixed = 40 + made->hash_bytes + 2;
	size_t kept = made->bytes[7] == 4 ? strlen(made->last) - dropped : 0;
	size_t length;

	memcpy(made->last + kept, rest, strlen(rest) + 1);
	put32(entry + 24, mode);
	memset(entry + 40, 0xee, made->hash_bytes);
	length = strlen(made->last);
	entry[fixed - 2] = (uint8_t)(length >> 8);
	entry[fixed - 1] = (uint8_t)length;
	if (made->bytes[7] == 4) {
		entry[fixed] = (uint8_t)dropped;
		memcpy(entry + fixed + 1, rest, strlen(rest) + 1);
		made->length += fixed + strlen(rest) + 2;
	} else {
		memcpy(entry + fixed, rest, strlen(rest) + 1);
		made->length += (fixed + strlen(rest) + 8) & ~(size_t)7;
	}
	put32(made->bytes + 8, made->bytes[11] + 1U);
}

static int note(void *arg, const char *path)
{
	char *seen = arg;

	memcpy(seen + strlen(seen), path, strlen(path) + 1);
	memcpy(seen + strlen(seen), ";", 2);
	return 0;
}

/* Copied to its exact size, so that a sanitizer sees a read beyond it. */
static int look(const struct made *made, size_t length, char *ret_seen)
{
	uint8_t *copy = malloc(length + 1);
	int rc;

	assert_non_null(copy);
	memcpy(copy, made->bytes, length);
	copy = realloc(copy, length == 0 ? 1 : length);
	ret_seen[0] = '\0';
	rc = guard_git_index_links(copy, length, note, ret_seen);
	free(copy);
	return rc;
}

static void submodules_are_found_in_every_version_and_with_every_hash(void **state)
{
	static const size_t hashes[] = { 20, 32 };
	char seen[256];
	struct made made;

	(void)state;
	for (uint32_t version = 2; version <= 4; version++) {
		for (int i = 0; i < 2; i++) {
			begin(&made, version, hashes[i]);
			put(&made, 0100644, 0, "a/file");
			put(&made, 0160000, version == 4 ? 4 : 0,
			    version == 4 ? "module" : "a/module");
			put(&made, 0100755, version == 4 ? 8 : 0, "z");
			put(&made, 0160000, version == 4 ? 1 : 0, "zz");
			assert_int_equal(look(&made, made.length, seen), 0);
			assert_string_equal(seen, "a/module;zz;");
		}
	}
}

static void an_index_that_is_cut_anywhere_is_refused(void **state)
{
	char seen[256];
	struct made made;

	(void)state;
	for (uint32_t version = 2; version <= 4; version++) {
		begin(&made, version, 20);
		put(&made, 0160000, 0, "module");
		put(&made, 0160000, version == 4 ? 6 : 0, "other");
		for (size_t length = 0; length < made.length; length++)
			assert_int_equal(look(&made, length, seen), length < 12 ? 0 : -EBADMSG);
	}
}

static void a_path_that_leads_out_is_no_path(void **state)
{
	static const char *const paths[] = { "../x", "a/../../x", "a/..", "/etc", "" };
	char seen[256];
	struct made made;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		begin(&made, 2, 20);
		put(&made, 0160000, 0, paths[i]);
		assert_int_equal(look(&made, made.length, seen), -EBADMSG);
	}
}

/* The extension that says so, and the checksum behind it. */
static void split(struct made *made)
{
	memcpy(made->bytes + made->length, "TREE\0\0\0\2xxlink\0\0\0\24", 18);
	made->length += 18 + 20 + made->hash_bytes;
}

static void a_split_index_is_told_apart_whether_its_entries_have_names_or_not(void **state)
{
	static const size_t hashes[] = { 20, 32 };
	char seen[256];
	struct made made;

	(void)state;
	for (uint32_t version = 2; version <= 4; version++) {
		for (int i = 0; i < 2; i++) {
			begin(&made, version, hashes[i]);
			split(&made);
			assert_int_equal(look(&made, made.length, seen), -EOPNOTSUPP);
			begin(&made, version, hashes[i]);
			put(&made, 0160000, 0, "");
			put(&made, 0160000, 0, "module");
			split(&made);
			assert_int_equal(look(&made, made.length, seen), -EOPNOTSUPP);
			assert_string_equal(seen, "");
		}
	}
}

static void a_checksum_that_reads_like_an_extension_is_none(void **state)
{
	char seen[256];
	struct made made;

	(void)state;
	begin(&made, 2, 20);
	put(&made, 0160000, 0, "module");
	memcpy(made.bytes + made.length, "link\0\0\0\0", 8);
	made.length += 20;
	assert_int_equal(look(&made, made.length, seen), 0);
	assert_string_equal(seen, "module;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(submodules_are_found_in_every_version_and_with_every_hash),
		cmocka_unit_test(an_index_that_is_cut_anywhere_is_refused),
		cmocka_unit_test(a_path_that_leads_out_is_no_path),
		cmocka_unit_test(a_split_index_is_told_apart_whether_its_entries_have_names_or_not),
		cmocka_unit_test(a_checksum_that_reads_like_an_extension_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
