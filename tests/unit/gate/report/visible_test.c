#include "gate/report/visible.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fence/utf8.h"

static void assert_visible(struct gate_visible how, const char *bytes, size_t count,
			   const char *wanted)
{
	char got[256];
	size_t used;
	size_t length = gate_visible(how, bytes, count, got, sizeof(got), &used);

	assert_int_equal(used, count);
	assert_int_equal(length, strlen(wanted));
	assert_memory_equal(got, wanted, length);
}

static void control_bytes_are_shown(void **state)
{
	struct gate_visible line = { .utf8 = true }, lines = { .utf8 = true, .lines = true };

	(void)state;
	assert_visible(line, "\033[31mx\033[0m\0\377\177", 13, "\\x1b[31mx\\x1b[0m\\x00\\xff\\x7f");
	assert_visible(line, "a\tb\n", 4, "a\\x09b\\x0a");
	assert_visible(lines, "a\tb\r\n", 5, "a\tb\\x0d\n");
}

static void utf8_stays_where_the_locale_has_it(void **state)
{
	struct gate_visible utf8 = { .utf8 = true }, ascii = { .utf8 = false };

	(void)state;
	assert_visible(utf8, "\xc3\xa9\xe2\x82\xac", 5, "\xc3\xa9\xe2\x82\xac");
	assert_visible(ascii, "\xc3\xa9", 2, "\\xc3\\xa9");
}

static void text_that_would_read_otherwise_is_shown(void **state)
{
	struct gate_visible utf8 = { .utf8 = true };

	(void)state;
	assert_visible(utf8,
		       "\xe2\x80\xae"
		       "abc",
		       6,
		       "\\xe2\\x80\\xae"
		       "abc");
	assert_visible(utf8,
		       "\xc2\x9b"
		       "31m",
		       5,
		       "\\xc2\\x9b"
		       "31m");
	assert_visible(utf8, "\xed\xa0\x80", 3, "\\xed\\xa0\\x80"); /* a surrogate */
	assert_visible(utf8, "\xc3", 1, "\\xc3");
}

static void pieces_never_split_a_character(void **state)
{
	struct gate_visible utf8 = { .utf8 = true };
	const char *text =
		"\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
		"\xe2\x82\xac\xe2\x82\xac";
	size_t left = strlen(text);

	(void)state;
	while (left > 0) {
		char piece[17];
		size_t used;
		size_t length = gate_visible(utf8, text, left, piece, sizeof(piece), &used);

		assert_true(used > 0);
		assert_true(length <= sizeof(piece));
		assert_true(fence_utf8_is_valid(piece, length));
		text += used;
		left -= used;
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_bytes_are_shown),
		cmocka_unit_test(utf8_stays_where_the_locale_has_it),
		cmocka_unit_test(text_that_would_read_otherwise_is_shown),
		cmocka_unit_test(pieces_never_split_a_character),
	};

	return cmocka_run_group_tests_name("gate/report/visible", tests, NULL, NULL);
}
