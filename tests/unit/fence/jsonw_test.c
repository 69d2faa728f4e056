#include "fence/jsonw.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/json.h"
#include "fence/own.h"

static const struct fence_json_limits loose = { .size_bytes = 1 << 20, .depth = 32 };

/* What was written, as a C string; it must be what the strict scanner passes. */
static char *text_of(struct fence_jsonw *w)
{
	struct fence_json root;
	struct fence_json_fault fault = { 0, "" };

	assert_false(w->overflow);
	if (fence_json_parse(w->buf, w->length_bytes, &loose, &root, &fault) < 0)
		fail_msg("byte %zu: %s: %.*s", fault.offset_bytes, fault.why, (int)w->length_bytes,
			 w->buf);
	w->buf[w->length_bytes] = '\0';
	return w->buf;
}

static void a_record_has_its_commas_and_quotes(void **state)
{
	struct fence_jsonw w;
	char buf[400];

	(void)state;
	fence_jsonw_init(&w, buf, sizeof(buf));
	fence_jsonw_open(&w, NULL, '{');
	fence_jsonw_string(&w, "s", "a");
	fence_jsonw_int(&w, "i", INT64_MIN);
	fence_jsonw_uint(&w, "u", UINT64_MAX);
	fence_jsonw_decimal(&w, "d", UINT64_MAX);
	fence_jsonw_bool(&w, "yes", true);
	fence_jsonw_bool(&w, "no", false);
	fence_jsonw_null(&w, "null");
	fence_jsonw_string(&w, "none", NULL);
	fence_jsonw_open(&w, "empty", '{');
	fence_jsonw_close(&w, '}');
	fence_jsonw_open(&w, "list", '[');
	fence_jsonw_int(&w, NULL, 1);
	fence_jsonw_open(&w, NULL, '[');
	fence_jsonw_close(&w, ']');
	fence_jsonw_string(&w, NULL, "x");
	fence_jsonw_close(&w, ']');
	fence_jsonw_raw(&w, "raw", "[1.50]", 6);
	fence_jsonw_close(&w, '}');
	assert_string_equal(
		text_of(&w),
		"{\"s\":\"a\",\"i\":-9223372036854775808,\"u\":18446744073709551615,"
		"\"d\":\"18446744073709551615\",\"yes\":true,\"no\":false,\"null\":null,"
		"\"none\":null,\"empty\":{},\"list\":[1,[],\"x\"],\"raw\":[1.50]}");
}

static void a_record_begins_with_schema_tool_and_version(void **state)
{
	struct fence_jsonw w;
	char buf[200];

	(void)state;
	fence_jsonw_init(&w, buf, sizeof(buf));
	fence_jsonw_open(&w, NULL, '{');
	fence_jsonw_head(&w, "fence-test/v1", "fence-test");
	fence_jsonw_close(&w, '}');
	assert_string_equal(text_of(&w), "{\"schema\":\"fence-test/v1\",\"tool\":\"fence-test\","
					 "\"version\":\"" FENCE_VERSION "\"}");
}

static void strings_are_escaped(void **state)
{
	static const struct {
		const char *bytes;
		size_t size_bytes;
		const char *wanted;
	} cases[] = {
		{ "", 0, "\"\"" },
		{ "a\"b\\c/", 6, "\"a\\\"b\\\\c/\"" },
		{ "\n\r\t\b\f\033\177", 7, "\"\\n\\r\\t\\u0008\\u000c\\u001b\\u007f\"" },
		{ "a\0b", 3, "\"a\\u0000b\"" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9,
		  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "\xff", 1, "\"\\\\xff\"" },
		{ "\xc3", 1, "\"\\\\xc3\"" },
		{ "\xe2\x82", 2, "\"\\\\xe2\\\\x82\"" },
		{ "\xc0\xaf", 2, "\"\\\\xc0\\\\xaf\"" },
		{ "\xed\xa0\x80", 3, "\"\\\\xed\\\\xa0\\\\x80\"" },
		{ "\xf4\x90\x80\x80", 4, "\"\\\\xf4\\\\x90\\\\x80\\\\x80\"" },
		{ "a\xc3(b", 4, "\"a\\\\xc3(b\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fence_jsonw w;
		char buf[100];

		fence_jsonw_init(&w, buf, sizeof(buf));
		fence_jsonw_bytes(&w, NULL, cases[i].bytes, cases[i].size_bytes);
		assert_false(w.overflow);
		buf[w.length_bytes] = '\0';
		assert_string_equal(buf, cases[i].wanted);
	}
}

/* Every pair of bytes but those with NUL, which the scanner refuses on purpose. */
static void any_bytes_give_a_valid_string(void **state)
{
	(void)state;
	for (int first = 1; first < 256; first++) {
		for (int second = 1; second < 256; second++) {
			const char bytes[] = { (char)first, (char)second };
			struct fence_jsonw w;
			char buf[32];

			fence_jsonw_init(&w, buf, sizeof(buf));
			fence_jsonw_bytes(&w, NULL, bytes, 2);
			(void)text_of(&w);
		}
	}
}

static void what_does_not_fit_is_said_and_not_written(void **state)
{
	static const char wanted[] = "{\"a\":\"bc\\n\",\"d\":[12]}\n";
	char got[64];
	int fds[2];
	ssize_t length;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	for (size_t size = 1; size < sizeof(wanted); size++) {
		/* Of exactly that size, so that a sanitizer sees one byte too many. */
		owned_mem char *buf = malloc(size);
		struct fence_jsonw w;
		int rc;

		fence_jsonw_init(&w, buf, size);
		fence_jsonw_open(&w, NULL, '{');
		fence_jsonw_string(&w, "a", "bc\n");
		fence_jsonw_open(&w, "d", '[');
		fence_jsonw_int(&w, NULL, 12);
		fence_jsonw_close(&w, ']');
		fence_jsonw_close(&w, '}');
		rc = fence_jsonw_line(&w, fds[1]);
		assert_int_equal(rc, size < sizeof(wanted) - 1 ? -EOVERFLOW : 0);
		assert_int_equal(w.overflow, rc != 0);
	}
	length = read(fds[0], got, sizeof(got));
	assert_int_equal(length, sizeof(wanted) - 1);
	assert_memory_equal(got, wanted, sizeof(wanted) - 1);
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
}

static void what_is_written_is_read_back(void **state)
{
	static const char odd[] = "tab\t \"q\" \\ / \x01 caf\xc3\xa9 \xf0\x9f\x98\x80";
	struct fence_json root, value;
	struct fence_json_fault fault;
	struct fence_jsonw w;
	char buf[200];
	uint64_t number;

	(void)state;
	fence_jsonw_init(&w, buf, sizeof(buf));
	fence_jsonw_open(&w, NULL, '{');
	fence_jsonw_string(&w, "odd", odd);
	fence_jsonw_decimal(&w, "ino", UINT64_MAX - 1);
	fence_jsonw_close(&w, '}');
	assert_int_equal(fence_json_parse(buf, w.length_bytes, &loose, &root, &fault), 0);
	assert_int_equal(fence_json_member(&root, "odd", &value), 0);
	assert_true(fence_json_string_is(&value, odd));
	assert_int_equal(fence_json_member(&root, "ino", &value), 0);
	assert_int_equal(fence_json_decimal(&value, &number), 0);
	assert_true(number == UINT64_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_has_its_commas_and_quotes),
		cmocka_unit_test(a_record_begins_with_schema_tool_and_version),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(any_bytes_give_a_valid_string),
		cmocka_unit_test(what_does_not_fit_is_said_and_not_written),
		cmocka_unit_test(what_is_written_is_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
