#include "fence/json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fence/clock.h"
#include "fence/own.h"

static const struct fence_json_limits loose = { .size_bytes = 2 << 20, .depth = 32 };
static const struct fence_json_limits safe = { .size_bytes = 1024,
					       .depth = 4,
					       .safe_numbers = true };

#define N(array) (sizeof(array) / sizeof((array)[0]))

static int parse_bytes(const char *text, size_t size_bytes, const struct fence_json_limits *limits,
		       struct fence_json *ret, struct fence_json_fault *ret_fault)
{
	return fence_json_parse(text, size_bytes, limits, ret, ret_fault);
}

static struct fence_json must_parse(const char *text)
{
	struct fence_json value;
	struct fence_json_fault fault = { 0, "" };

	if (parse_bytes(text, strlen(text), &loose, &value, &fault) < 0)
		fail_msg("refused at byte %zu (%s): %s", fault.offset_bytes, fault.why, text);
	return value;
}

static void refused(const char *text, size_t size_bytes, const struct fence_json_limits *limits,
		    size_t offset_bytes, const char *why)
{
	struct fence_json value;
	struct fence_json_fault fault = { 0, "" };

	if (parse_bytes(text, size_bytes, limits, &value, &fault) != -EBADMSG)
		fail_msg("not refused: %s", text);
	if (!strstr(fault.why, why) || fault.offset_bytes != offset_bytes)
		fail_msg("%s: refused at byte %zu (%s), wanted byte %zu (%s)", text,
			 fault.offset_bytes, fault.why, offset_bytes, why);
}

static void every_kind_of_value_is_read(void **state)
{
	static const struct {
		const char *text;
		enum fence_json_kind kind;
		size_t size_bytes;
	} cases[] = {
		{ "null", FENCE_JSON_NULL, 4 },
		{ " true ", FENCE_JSON_BOOL, 4 },
		{ "\tfalse\n", FENCE_JSON_BOOL, 5 },
		{ "0", FENCE_JSON_NUMBER, 1 },
		{ "-0", FENCE_JSON_NUMBER, 2 },
		{ "-12.50e+07", FENCE_JSON_NUMBER, 10 },
		{ "1E400", FENCE_JSON_NUMBER, 5 },
		{ "\"\"", FENCE_JSON_STRING, 2 },
		{ "[]", FENCE_JSON_ARRAY, 2 },
		{ "[ ]", FENCE_JSON_ARRAY, 3 },
		{ "{ }", FENCE_JSON_OBJECT, 3 },
		{ "\r\n{\"a\":[1,{\"b\":null}]}", FENCE_JSON_OBJECT, 20 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct fence_json value = must_parse(cases[i].text);

		assert_int_equal(value.kind, cases[i].kind);
		assert_int_equal(value.size_bytes, cases[i].size_bytes);
	}
}

static void faults_name_the_byte_and_the_reason(void **state)
{
	static const struct {
		const char *text;
		size_t offset_bytes;
		const char *why;
	} cases[] = {
		{ "", 0, "ends where a value" },
		{ "  ", 2, "ends where a value" },
		{ "nul", 0, "not a JSON value" },
		{ "True", 0, "not a JSON value" },
		{ "nullx", 4, "more after" },
		{ "1 2", 2, "more after" },
		{ "{}{}", 2, "more after" },
		{ "{} // no", 3, "more after" },
		{ "'a'", 0, "not a JSON value" },
		{ "NaN", 0, "not a JSON value" },
		{ "+1", 0, "not a JSON value" },
		{ ".5", 0, "not a JSON value" },
		{ "-", 1, "needs a digit" },
		{ "01", 0, "leading zero" },
		{ "-012", 1, "leading zero" },
		{ "1.", 2, "after its point" },
		{ "1.e5", 2, "after its point" },
		{ "1e", 2, "exponent" },
		{ "1e+", 3, "exponent" },
		{ "0x10", 1, "more after" },
		{ "[1,]", 3, "not a JSON value" },
		{ "[,1]", 1, "not a JSON value" },
		{ "[1 2]", 3, "comma or ]" },
		{ "[1", 2, "comma or ]" },
		{ "[", 1, "ends where a value" },
		{ "{", 1, "key in quotes" },
		{ "{\"a\"}", 4, "colon" },
		{ "{\"a\":}", 5, "not a JSON value" },
		{ "{\"a\":1,}", 7, "key in quotes" },
		{ "{a:1}", 1, "key in quotes" },
		{ "{\"a\":1]", 6, "comma or }" },
		{ "\"abc", 0, "does not end" },
		{ "\"abc\\", 4, "does not end" },
		{ "\"a\nb\"", 2, "control character" },
		{ "\"\\x41\"", 1, "unknown escape" },
		{ "\"\\u12\"", 1, "four hexadecimal" },
		{ "\"\\u12g4\"", 1, "four hexadecimal" },
		{ "\"\\u0000\"", 1, "NUL" },
		{ "\"\\ud800\"", 1, "surrogate" },
		{ "\"\\udc00\"", 1, "surrogate" },
		{ "\"\\ud800\\n\"", 1, "surrogate" },
		{ "\"\\ud800\\ud800\"", 1, "surrogate" },
		{ "\"\\ud800\\u00", 1, "surrogate" },
		{ "\"\xff\"", 1, "UTF-8" },
		{ "\"\xc0\xaf\"", 1, "UTF-8" },
		{ "\"\xe0\x80\xaf\"", 1, "UTF-8" },
		{ "\"\xed\xa0\x80\"", 1, "UTF-8" },
		{ "\"\xf4\x90\x80\x80\"", 1, "UTF-8" },
		{ "\"\xc3\"", 1, "UTF-8" },
		{ "\"\xe2\x82", 1, "UTF-8" },
		{ "\xef\xbb\xbf{}", 0, "not a JSON value" },
		{ "\xc2\xa0 1", 0, "not a JSON value" },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++)
		refused(cases[i].text, strlen(cases[i].text), &loose, cases[i].offset_bytes,
			cases[i].why);
}

static void a_nul_byte_is_refused_wherever_it_stands(void **state)
{
	(void)state;
	refused("\"a\0b\"", 5, &loose, 2, "control character");
	refused("{}\0", 3, &loose, 2, "more after");
	refused("\0{}", 3, &loose, 0, "not a JSON value");
}

static void every_prefix_of_a_document_is_refused(void **state)
{
	static const char text[] = "{\"k\\u00e9\":[1.5e3,\"\\ud83d\\ude00\",{\"b\":true}]}";
	struct fence_json value;
	struct fence_json_fault fault;

	(void)state;
	must_parse(text);
	for (size_t cut = 0; cut < sizeof(text) - 1; cut++) {
		/* A copy of exactly that size, so that a sanitizer sees one byte too many. */
		owned_mem char *copy = malloc(cut + 1);

		memcpy(copy, text, cut);
		assert_int_equal(parse_bytes(copy, cut, &loose, &value, &fault), -EBADMSG);
		assert_true(fault.offset_bytes <= cut);
	}
}

static void a_key_twice_is_refused_however_it_is_written(void **state)
{
	(void)state;
	refused("{\"a\":1,\"a\":2}", 13, &loose, 7, "already");
	refused("{\"a\":1,\"\\u0061\":2}", 18, &loose, 7, "already");
	refused("{\"\\u00e9\":1,\"\xc3\xa9\":2}", 18, &loose, 12, "already");
	refused("{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}", 26, &loose, 18, "already");
	refused("{\"\":1,\"b\":2,\"\":3}", 17, &loose, 12, "already");
	refused("{\"x\":{\"a\":1,\"b\":{},\"a\":2}}", 26, &loose, 19, "already");
}

static void the_same_key_in_two_objects_is_fine(void **state)
{
	(void)state;
	must_parse("{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":1}}");
	must_parse("[{\"a\":1},{\"a\":1}]");
	must_parse("{\"a\":1,\"aa\":2,\"A\":3,\"\":4}");
	must_parse("{\"b\":{\"a\":1,\"c\":2},\"a\":1,\"c\":1}");
}

static void limits_hold_at_their_edge(void **state)
{
	const struct fence_json_limits small = { .size_bytes = 5, .depth = 2 };
	struct fence_json value;
	struct fence_json_fault fault;

	(void)state;
	assert_int_equal(parse_bytes("[[1]]", 5, &small, &value, &fault), 0);
	refused("[[12]]", 6, &small, 5, "longer than allowed");
	refused("[[[]]", 5, &small, 2, "too deep");
	refused("[{\"", 3, &small, 2, "does not end");
}

static void numbers_are_measured_exactly_against_2_53(void **state)
{
	static const char *const fine[] = {
		"9007199254740992",
		"-9007199254740992",
		"9007199254740992.000",
		"9007199254740.992e3",
		"0.00000000000000000000000001",
		"1e15",
		"0e999999999999",
		"900719925474099200e-2",
		"9007199254740991.9",
		"0.9007199254740993e15",
		"1e-999999999999",
	};
	static const char *const beyond[] = {
		"9007199254740993",
		"-9007199254740993",
		"9007199254740992.001",
		"1e16",
		"1e999999999999",
		"90071992547409930e-1",
		"0.9007199254740993e16",
		"10000000000000000",
		"9.1e15",
		"0.0000000001e26",
	};
	struct fence_json value;
	struct fence_json_fault fault;

	(void)state;
	for (size_t i = 0; i < N(fine); i++)
		if (parse_bytes(fine[i], strlen(fine[i]), &safe, &value, &fault) < 0)
			fail_msg("refused: %s", fine[i]);
	for (size_t i = 0; i < N(beyond); i++) {
		refused(beyond[i], strlen(beyond[i]), &safe, 0, "beyond 2^53");
		must_parse(beyond[i]);
	}
}

static void more_members_than_are_remembered_are_refused(void **state)
{
	size_t room = 16 * (FENCE_JSON_KEYS_MAX + 2), length = 0;
	owned_mem char *text = malloc(room);
	struct fence_json value;
	struct fence_json_fault fault;

	(void)state;
	for (size_t i = 0; i < FENCE_JSON_KEYS_MAX; i++)
		length += (size_t)snprintf(text + length, room - length, "%s\"k%zu\":0",
					   i == 0 ? "{" : ",", i);
	text[length] = '}';
	assert_int_equal(parse_bytes(text, length + 1, &loose, &value, &fault), 0);
	(void)snprintf(text + length, room - length, ",\"more\":0}");
	refused(text, strlen(text), &loose, length + 1, "too many members");
}

/* Long keys that differ only at their ends, in falling order: each is compared to
 * its end and each goes to the front. */
static void keys_made_to_be_slow_stay_fast(void **state)
{
	enum { KEYS = 4000, KEY_BYTES = 250 };
	size_t room = (size_t)KEYS * (KEY_BYTES + 16), length = 0;
	owned_mem char *text = malloc(room);
	struct fence_json value;
	struct fence_json_fault fault;
	int64_t start_ms;

	(void)state;
	for (int i = KEYS; i > 0; i--)
		length += (size_t)snprintf(text + length, room - length, "%c\"%0*d\":0",
					   i == KEYS ? '{' : ',', KEY_BYTES, i);
	text[length++] = '}';
	assert_true(length > 1000000);
	start_ms = fence_now_ms();
	assert_int_equal(parse_bytes(text, length, &loose, &value, &fault), 0);
	/* About 15 ms; a search through all earlier keys takes more than ten seconds. */
	assert_true(fence_now_ms() - start_ms < 2000);
}

static void a_string_is_unescaped_into_the_callers_buffer(void **state)
{
	struct fence_json value =
		must_parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t \\u00e9\\u20AC\\uD83D\\uDE00\"");
	static const char wanted[] = "\"\\/\b\f\n\r\t \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
	char text[sizeof(wanted)];
	size_t length;

	(void)state;
	assert_int_equal(fence_json_string(&value, text, sizeof(text), &length), 0);
	assert_string_equal(text, wanted);
	assert_int_equal(length, sizeof(wanted) - 1);
	assert_true(fence_json_string_is(&value, wanted));
}

static void a_string_that_does_not_fit_is_not_cut(void **state)
{
	struct fence_json value = must_parse("\"abc\""), empty = must_parse("\"\"");
	char text[4] = "zzz";

	(void)state;
	assert_int_equal(fence_json_string(&value, text, 3, NULL), -EOVERFLOW);
	assert_int_equal(fence_json_string(&value, text, 0, NULL), -EOVERFLOW);
	assert_int_equal(fence_json_string(&value, text, 4, NULL), 0);
	assert_int_equal(fence_json_string(&empty, text, 0, NULL), -EOVERFLOW);
	assert_int_equal(fence_json_string(&empty, text, 1, NULL), 0);
	assert_string_equal(text, "");
}

static void strings_are_compared_whole(void **state)
{
	struct fence_json value = must_parse("\"ab\\u0063\"");

	(void)state;
	assert_true(fence_json_string_is(&value, "abc"));
	assert_false(fence_json_string_is(&value, "ab"));
	assert_false(fence_json_string_is(&value, "abcd"));
	assert_false(fence_json_string_is(&value, ""));
	value = must_parse("7");
	assert_false(fence_json_string_is(&value, "7"));
}

static void members_are_found_and_walked_in_order(void **state)
{
	struct fence_json root = must_parse(
		" { \"a\\u0062\" : [ 1 , \"]}\\\"\" , { \"x\":{} } ] , \"c\":-1.5,\"d\" :null } ");
	struct fence_json value, key, element;
	struct fence_json_iter iter;
	int count = 0;

	(void)state;
	assert_int_equal(fence_json_member(&root, "ab", &value), 0);
	assert_int_equal(value.kind, FENCE_JSON_ARRAY);
	fence_json_iter_init(&iter, &value);
	while (fence_json_next(&iter, NULL, &element))
		count++;
	assert_int_equal(count, 3);
	assert_int_equal(element.kind, FENCE_JSON_OBJECT);
	assert_int_equal(fence_json_member(&root, "c", &value), 0);
	assert_memory_equal(value.at, "-1.5", value.size_bytes);
	assert_int_equal(value.size_bytes, 4);
	assert_int_equal(fence_json_member(&root, "x", &value), -ENOENT);
	assert_int_equal(fence_json_member(&value, "x", &value), -EINVAL);

	fence_json_iter_init(&iter, &root);
	for (count = 0; fence_json_next(&iter, &key, &value); count++)
		assert_int_equal(key.kind, FENCE_JSON_STRING);
	assert_int_equal(count, 3);
	assert_true(fence_json_string_is(&key, "d"));
	assert_int_equal(value.kind, FENCE_JSON_NULL);
}

static void what_holds_nothing_has_nothing_to_walk(void **state)
{
	static const char *const texts[] = { "{}", "[]", "[ \n ]", "{ }", "7", "\"ab\"", "null" };
	struct fence_json_iter iter;
	struct fence_json value;

	(void)state;
	for (size_t i = 0; i < N(texts); i++) {
		struct fence_json root = must_parse(texts[i]);

		fence_json_iter_init(&iter, &root);
		assert_false(fence_json_next(&iter, NULL, &value));
	}
}

static void whole_numbers_are_exact_or_refused(void **state)
{
	static const struct {
		const char *text;
		int rc;
		int64_t value;
	} cases[] = {
		{ "0", 0, 0 },
		{ "-0", 0, 0 },
		{ "-42", 0, -42 },
		{ "9007199254740992", 0, INT64_C(9007199254740992) },
		{ "-9007199254740992", 0, INT64_C(-9007199254740992) },
		{ "9007199254740993", -ERANGE, 0 },
		{ "99999999999999999999999999999999999999", -ERANGE, 0 },
		{ "1.0", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
		{ "\"1\"", -EINVAL, 0 },
		{ "true", -EINVAL, 0 },
	};
	struct fence_json value;
	int64_t number;

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		number = 0;
		value = must_parse(cases[i].text);
		assert_int_equal(fence_json_int(&value, INT64_MIN, INT64_MAX, &number),
				 cases[i].rc);
		assert_true(number == cases[i].value);
	}
	value = must_parse("7");
	assert_int_equal(fence_json_int(&value, 1, 6, &number), -ERANGE);
	assert_int_equal(fence_json_int(&value, 8, 9, &number), -ERANGE);
}

static void decimal_strings_hold_all_of_64_bits(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} cases[] = {
		{ "\"0\"", 0, 0 },
		{ "\"18446744073709551615\"", 0, UINT64_MAX },
		{ "\"18446744073709551616\"", -ERANGE, 0 },
		{ "\"99999999999999999999\"", -ERANGE, 0 },
		{ "\"100000000000000000000\"", -ERANGE, 0 },
		{ "\"\"", -EINVAL, 0 },
		{ "\"01\"", -EINVAL, 0 },
		{ "\"-1\"", -EINVAL, 0 },
		{ "\" 1\"", -EINVAL, 0 },
		{ "\"1a\"", -EINVAL, 0 },
		{ "1", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct fence_json value = must_parse(cases[i].text);
		uint64_t number = 0;

		assert_int_equal(fence_json_decimal(&value, &number), cases[i].rc);
		assert_true(number == cases[i].value);
	}
}

static void a_bool_is_only_true_or_false(void **state)
{
	struct fence_json value = must_parse("true");
	bool answer = false;

	(void)state;
	assert_int_equal(fence_json_bool(&value, &answer), 0);
	assert_true(answer);
	value = must_parse("false");
	assert_int_equal(fence_json_bool(&value, &answer), 0);
	assert_false(answer);
	value = must_parse("1");
	assert_int_equal(fence_json_bool(&value, &answer), -EINVAL);
}

static void a_fault_becomes_one_line_of_error(void **state)
{
	const struct fence_json_fault fault = { 17, "not UTF-8" };
	struct fence_err err = { 0 };
	char line[200];

	(void)state;
	assert_int_equal(fence_json_fail(&err, "a.json", &fault), -EBADMSG);
	fence_err_line(&err, "fence-test", line, sizeof(line));
	assert_string_equal(line, "fence-test: a.json: byte 17: not UTF-8\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_value_is_read),
		cmocka_unit_test(faults_name_the_byte_and_the_reason),
		cmocka_unit_test(a_nul_byte_is_refused_wherever_it_stands),
		cmocka_unit_test(every_prefix_of_a_document_is_refused),
		cmocka_unit_test(a_key_twice_is_refused_however_it_is_written),
		cmocka_unit_test(the_same_key_in_two_objects_is_fine),
		cmocka_unit_test(limits_hold_at_their_edge),
		cmocka_unit_test(numbers_are_measured_exactly_against_2_53),
		cmocka_unit_test(more_members_than_are_remembered_are_refused),
		cmocka_unit_test(keys_made_to_be_slow_stay_fast),
		cmocka_unit_test(a_string_is_unescaped_into_the_callers_buffer),
		cmocka_unit_test(a_string_that_does_not_fit_is_not_cut),
		cmocka_unit_test(strings_are_compared_whole),
		cmocka_unit_test(members_are_found_and_walked_in_order),
		cmocka_unit_test(what_holds_nothing_has_nothing_to_walk),
		cmocka_unit_test(whole_numbers_are_exact_or_refused),
		cmocka_unit_test(decimal_strings_hold_all_of_64_bits),
		cmocka_unit_test(a_bool_is_only_true_or_false),
		cmocka_unit_test(a_fault_becomes_one_line_of_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
