#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fence/capture.h"

static void expect_tail(const struct fence_tail *tail, const uint8_t *ring, const char *wanted)
{
	uint8_t copy[64];
	size_t count = fence_tail_copy(tail, ring, true, copy);

	assert_int_equal(count, strlen(wanted));
	assert_memory_equal(copy, wanted, count);
}

static void what_fits_is_kept_whole(void **state)
{
	struct fence_tail tail;
	uint8_t ring[8];

	(void)state;
	fence_tail_init(&tail, sizeof(ring));
	expect_tail(&tail, ring, "");
	fence_tail_add(&tail, ring, "abc", 3);
	expect_tail(&tail, ring, "abc");
	fence_tail_add(&tail, ring, "defgh", 5);
	expect_tail(&tail, ring, "abcdefgh");
	assert_int_equal(tail.total_bytes, 8);
}

static void the_oldest_bytes_make_room(void **state)
{
	struct fence_tail tail;
	uint8_t ring[8];

	(void)state;
	fence_tail_init(&tail, sizeof(ring));
	fence_tail_add(&tail, ring, "abcdef", 6);
	fence_tail_add(&tail, ring, "ghijk", 5);
	expect_tail(&tail, ring, "defghijk");
	fence_tail_add(&tail, ring, "l", 1);
	expect_tail(&tail, ring, "efghijkl");
	assert_int_equal(tail.total_bytes, 12);
	assert_int_equal(fence_tail_kept(&tail), 8);
}

static void more_than_a_ring_at_once_leaves_its_end(void **state)
{
	struct fence_tail tail;
	uint8_t ring[4];

	(void)state;
	fence_tail_init(&tail, sizeof(ring));
	fence_tail_add(&tail, ring, "x", 1);
	fence_tail_add(&tail, ring, "0123456789", 10);
	expect_tail(&tail, ring, "6789");
	fence_tail_add(&tail, ring, "ab", 2);
	expect_tail(&tail, ring, "89ab");
	assert_int_equal(tail.total_bytes, 13);
}

static void no_ring_still_counts(void **state)
{
	struct fence_tail tail;
	uint8_t copy[1];

	(void)state;
	fence_tail_init(&tail, 0);
	fence_tail_add(&tail, NULL, "hello", 5);
	assert_int_equal(tail.total_bytes, 5);
	assert_int_equal(fence_tail_copy(&tail, NULL, true, copy), 0);
}

/* Against the plain way: keep everything, take the end. */
static void any_pieces_give_the_same_end(void **state)
{
	uint8_t all[4096];
	uint8_t ring[97];
	uint8_t copy[97];
	struct fence_tail tail;
	size_t total = 0;
	unsigned int random = 12345;

	(void)state;
	fence_tail_init(&tail, sizeof(ring));
	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t)(i * 7 + i / 256);
	while (total + 250 < sizeof(all)) {
		size_t count;
		size_t kept = total < sizeof(ring) ? total : sizeof(ring);

		assert_int_equal(fence_tail_copy(&tail, ring, false, copy), kept);
		assert_memory_equal(copy, all + total - kept, kept);
		random = random * 1103515245 + 12345;
		count = (random >> 16) % 250;
		fence_tail_add(&tail, ring, all + total, count);
		total += count;
	}
	assert_int_equal(tail.total_bytes, total);
}

static void a_character_cut_at_the_front_is_left_out(void **state)
{
	struct fence_tail tail;
	uint8_t ring[4];

	(void)state;
	fence_tail_init(&tail, sizeof(ring));
	fence_tail_add(&tail, ring,
		       "\xE2\x82\xAC"
		       "ab",
		       5); /* a euro sign, its first byte lost */
	expect_tail(&tail, ring, "ab");
	fence_tail_init(&tail, sizeof(ring));
	fence_tail_add(&tail, ring,
		       "x\xC3\xA9"
		       "ab",
		       5); /* cut between characters: all is kept */
	expect_tail(&tail, ring,
		    "\xC3\xA9"
		    "ab");
	fence_tail_init(&tail, sizeof(ring));
	fence_tail_add(&tail, ring, "\x80\x80\x80\x80\x80", 5); /* no UTF-8 at all */
	expect_tail(&tail, ring, "\x80\x80\x80\x80");
	fence_tail_init(&tail, sizeof(ring));
	fence_tail_add(&tail, ring,
		       "\x80"
		       "ab",
		       3); /* nothing was cut: kept as it came */
	expect_tail(&tail, ring,
		    "\x80"
		    "ab");
}

/* The stream in pieces of three, and what is kept of it: "head|omitted|tail". */
static void expect_kept(const char *stream, size_t size, const char *wanted)
{
	struct fence_tail tail;
	struct fence_head head = { .size_bytes = 4 };
	uint8_t ring[4], memory[4], end[4];
	uint64_t omitted;
	size_t before, count;
	char got[64];

	fence_tail_init(&tail, sizeof(ring));
	for (size_t at = 0; at < size; at += 3) {
		size_t piece = size - at < 3 ? size - at : 3;

		fence_head_add(&head, memory, stream + at, piece);
		fence_tail_add(&tail, ring, stream + at, piece);
	}
	before = fence_head_before(&head, memory, &tail, &omitted);
	count = fence_tail_copy(&tail, ring, omitted > 0, end);
	(void)snprintf(got, sizeof(got), "%.*s|%llu|%.*s", (int)before, (const char *)memory,
		       (unsigned long long)omitted, (int)count, (const char *)end);
	assert_string_equal(got, wanted);
}

static void head_and_tail_after_each_other_are_the_stream(void **state)
{
	(void)state;
	expect_kept("", 0, "|0|");
	expect_kept("abc", 3, "|0|abc");
	expect_kept("abcd", 4, "|0|abcd");
	expect_kept("abcde", 5, "a|0|bcde");
	expect_kept("abcdefgh", 8, "abcd|0|efgh");
	expect_kept("abcdefghi", 9, "abcd|1|fghi");
	expect_kept("abcdefghijklmnop", 16, "abcd|8|mnop");
}

static void a_character_is_torn_only_where_nothing_is_left_out(void **state)
{
	(void)state;
	expect_kept("abc\xC3\xA9"
		    "fgh",
		    8,
		    "abc\xC3|0|\xA9"
		    "fgh");
	expect_kept("abc\xC3\xA9"
		    "ffffghij",
		    13, "abc|6|ghij");
	expect_kept("abc\xA9"
		    "fffffghij",
		    13, "abc\xA9|5|ghij");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_kept_whole),
		cmocka_unit_test(the_oldest_bytes_make_room),
		cmocka_unit_test(more_than_a_ring_at_once_leaves_its_end),
		cmocka_unit_test(no_ring_still_counts),
		cmocka_unit_test(any_pieces_give_the_same_end),
		cmocka_unit_test(a_character_cut_at_the_front_is_left_out),
		cmocka_unit_test(head_and_tail_after_each_other_are_the_stream),
		cmocka_unit_test(a_character_is_torn_only_where_nothing_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
