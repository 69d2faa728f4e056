#include "fence/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void says(const struct fence_err *err, const char *wanted)
{
	char line[1200];
	size_t length = fence_err_line(err, "prog", line, sizeof(line));

	assert_int_equal(length, strlen(line));
	assert_string_equal(line, wanted);
}

static void an_error_is_one_line_of_what_why_and_hint(void **state)
{
	struct fence_err err;

	(void)state;
	assert_int_equal(fence_fail(&err, -ENOENT, "open %s", "a.txt"), -ENOENT);
	says(&err, "prog: open a.txt: No such file or directory\n");
	assert_int_equal(fence_hint(&err, "make %d of it", 1), -ENOENT);
	says(&err, "prog: open a.txt: No such file or directory; make 1 of it\n");
	assert_int_equal(fence_fail_why(&err, -EINVAL, "unknown key", "line %d", 7), -EINVAL);
	says(&err, "prog: line 7: unknown key\n");
}

static void words_are_optional(void **state)
{
	(void)state;
	assert_int_equal(fence_fail(NULL, -EIO, "read"), -EIO);
	assert_int_equal(fence_fail_why(NULL, -EIO, "because", "read"), -EIO);
	assert_int_equal(fence_hint(NULL, "do"), 0);
}

static void a_new_error_forgets_the_old_one(void **state)
{
	struct fence_err err;

	(void)state;
	fence_fail_why(&err, -EINVAL, "why", "what");
	fence_hint(&err, "hint");
	fence_fail(&err, -EIO, "read");
	says(&err, "prog: read: Input/output error\n");
}

static void nothing_in_it_can_break_the_line_or_the_terminal(void **state)
{
	struct fence_err err;

	(void)state;
	fence_fail_why(&err, -EIO, "a\tb", "x\ny\033[2J\177\r");
	fence_hint(&err, "caf\xc3\xa9 \xc2\x9b c:\\d");
	says(&err, "prog: x\\x0ay\\x1b[2J\\x7f\\x0d: a\\x09b; caf\xc3\xa9 \\xc2\\x9b c:\\d\n");
}

static void a_long_text_is_cut_with_dots(void **state)
{
	char text[1000];
	struct fence_err err;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	fence_fail_why(&err, -EIO, text, "%s", text);
	fence_hint(&err, "%s", text);
	assert_int_equal(strlen(err.what), sizeof(err.what) - 1);
	assert_string_equal(err.what + sizeof(err.what) - 5, "x...");
	assert_int_equal(strlen(err.why), sizeof(err.why) - 1);
	assert_string_equal(err.why + sizeof(err.why) - 5, "x...");
	assert_string_equal(err.hint + sizeof(err.hint) - 5, "x...");
}

static void a_cut_does_not_halve_a_character(void **state)
{
	char text[1001];
	struct fence_err err;

	(void)state;
	for (size_t i = 0; i < 1000; i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	text[1000] = '\0';
	for (int shift = 0; shift < 2; shift++) {
		const char *dots;

		fence_fail(&err, -EIO, "%s%s", shift ? "a" : "", text);
		dots = strstr(err.what, "...");
		assert_non_null(dots);
		assert_memory_equal(dots - 2, "\xc3\xa9", 2);
	}
}

static void a_small_buffer_still_gets_a_whole_line(void **state)
{
	struct fence_err err;
	char line[16];

	(void)state;
	fence_fail(&err, -EIO, "%s", "abcdefghijklmnopq");
	for (size_t size = 2; size <= sizeof(line); size++) {
		size_t length = fence_err_line(&err, "prog", line, size);

		assert_true(length < size);
		assert_int_equal(line[length - 1], '\n');
		assert_int_equal(line[length], '\0');
	}
	assert_string_equal(line, "prog: abcdefgh\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_is_one_line_of_what_why_and_hint),
		cmocka_unit_test(words_are_optional),
		cmocka_unit_test(a_new_error_forgets_the_old_one),
		cmocka_unit_test(nothing_in_it_can_break_the_line_or_the_terminal),
		cmocka_unit_test(a_long_text_is_cut_with_dots),
		cmocka_unit_test(a_cut_does_not_halve_a_character),
		cmocka_unit_test(a_small_buffer_still_gets_a_whole_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
