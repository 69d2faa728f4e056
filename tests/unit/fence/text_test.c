#include "fence/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void pieces_are_joined(void **state)
{
	struct fence_text text;
	char buf[32];

	(void)state;
	fence_text_init(&text, buf, sizeof(buf));
	assert_string_equal(buf, "");
	fence_text_add(&text, "%d-%s", 1, "two");
	fence_text_add_bytes(&text, "threefour", 5);
	assert_string_equal(buf, "1-twothree");
	assert_int_equal(text.length_bytes, 10);
	assert_false(text.truncated);
}

static void what_fits_exactly_is_taken(void **state)
{
	struct fence_text text;
	char buf[5];

	(void)state;
	fence_text_init(&text, buf, sizeof(buf));
	fence_text_add(&text, "abcd");
	assert_false(text.truncated);
	assert_string_equal(buf, "abcd");
	fence_text_init(&text, buf, sizeof(buf));
	fence_text_add_bytes(&text, "abcd", 4);
	assert_false(text.truncated);
	fence_text_add_bytes(&text, "", 0);
	assert_false(text.truncated);
	fence_text_add(&text, "e");
	assert_true(text.truncated);
	assert_string_equal(buf, "abcd");
}

static void after_what_did_not_fit_nothing_is_added(void **state)
{
	struct fence_text text;
	char buf[8];

	(void)state;
	fence_text_init(&text, buf, sizeof(buf));
	fence_text_add(&text, "abc");
	fence_text_add(&text, "%s", "defghijk");
	assert_true(text.truncated);
	assert_string_equal(buf, "abc");
	fence_text_add(&text, "d");
	fence_text_add_bytes(&text, "d", 1);
	assert_string_equal(buf, "abc");
	assert_int_equal(text.length_bytes, 3);
}

static void unsafe_bytes_become_visible(void **state)
{
	struct fence_text text;
	char buf[64];

	(void)state;
	fence_text_init(&text, buf, sizeof(buf));
	fence_text_add_safe(&text, "a b~\\\n\0\033\xc3\xa9\x7f", 11);
	assert_string_equal(buf, "a b~\\x5c\\x0a\\x00\\x1b\\xc3\\xa9\\x7f");
}

static void an_escape_is_never_cut(void **state)
{
	struct fence_text text;
	char buf[8];

	(void)state;
	fence_text_init(&text, buf, sizeof(buf));
	fence_text_add_safe(&text, "ab\n\n", 4);
	assert_true(text.truncated);
	assert_string_equal(buf, "ab\\x0a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_joined),
		cmocka_unit_test(what_fits_exactly_is_taken),
		cmocka_unit_test(after_what_did_not_fit_nothing_is_added),
		cmocka_unit_test(unsafe_bytes_become_visible),
		cmocka_unit_test(an_escape_is_never_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
