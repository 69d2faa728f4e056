#include "fence/conf/yaml.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fence/clock.h"

static struct fence_yaml *parse(const char *text)
{
	struct fence_yaml *yaml = NULL;

	assert_int_equal(fence_yaml_parse(text, strlen(text), &yaml), 0);
	return yaml;
}

/* The file has these faults, each as "line:column: what", in this order. */
static void assert_faults(const char *text, size_t count, const char *const *lines)
{
	struct fence_yaml *yaml = parse(text);

	for (size_t i = 0; i < count; i++) {
		char line[400];

		assert_true(i < yaml->fault_count);
		fence_yaml_fault_line(&yaml->faults[i], "f", line, sizeof(line));
		assert_string_equal(line, lines[i]);
	}
	assert_int_equal(yaml->fault_count, count);
	fence_yaml_free(yaml);
}

#define FAULTS(text, ...)                                                                          \
	assert_faults(text, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *),         \
		      (const char *const[]){ __VA_ARGS__ })

static void scalars_stay_the_strings_that_were_written(void **state)
{
	static const char *const words[] = { "no", "3.10", "010", "~", "1e3", "true", "" };
	struct fence_yaml *yaml = parse("[no, 3.10, 010, ~, 1e3, true, '']");
	const struct fence_yaml_node *at = yaml->root->first;

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++, at = at->next)
		assert_string_equal(at->text, words[i]);
	assert_null(at);
	fence_yaml_free(yaml);
}

static void a_node_carries_its_line_and_column(void **state)
{
	struct fence_yaml *yaml = parse("a: 1\nlist:\n  - x\n  - {k: v}\n");
	const struct fence_yaml_node *list = yaml->root->first->next;

	(void)state;
	assert_string_equal(list->key, "list");
	assert_int_equal(list->key_line, 2);
	assert_int_equal(list->key_column, 1);
	assert_int_equal(list->count, 2);
	assert_int_equal(list->first->next->first->line, 4);
	assert_int_equal(list->first->next->first->key_column, 6);
	assert_int_equal(list->first->next->first->column, 9);
	fence_yaml_free(yaml);
}

static void a_key_given_twice_names_both_lines(void **state)
{
	(void)state;
	FAULTS("timeout: 5\nother: 1\ntimeout: 500\n",
	       "f:3:1: key \"timeout\" on line 3 is on line 1 already");
}

static void all_faults_are_reported_at_once(void **state)
{
	(void)state;
	FAULTS("a: &x 1\nb: *x\nc: !!str y\na: 2\n<<: {d: 1}\n",
	       "f:1:4: anchor \"&x\"; write the value where it is used",
	       "f:2:4: alias \"*x\"; write the value here",
	       "f:3:4: tag \"tag:yaml.org,2002:str\"; values have no tags here",
	       "f:4:1: key \"a\" on line 4 is on line 1 already",
	       "f:5:1: merge key \"<<\"; write the keys where they are used");
}

static void a_second_document_is_refused(void **state)
{
	(void)state;
	FAULTS("a: 1\n---\nb: 2\n", "f:2:1: a second document; a file has one");
}

static void a_directive_is_refused(void **state)
{
	(void)state;
	FAULTS("%YAML 1.1\n---\na: 1\n", "f:1:1: a % directive; leave it out");
}

static void an_empty_file_is_refused(void **state)
{
	(void)state;
	FAULTS("", "f:1:1: the file is empty");
	FAULTS("# nothing\n", "f:1:1: the file is empty");
}

static void a_key_that_is_no_scalar_is_refused(void **state)
{
	(void)state;
	FAULTS("? [a]\n: 1\n", "f:1:3: a key must be a scalar");
}

static void a_tab_in_the_indentation_is_named(void **state)
{
	struct fence_yaml *yaml = parse("a:\n\tb: 1\n");

	(void)state;
	assert_string_equal(yaml->faults[0].text, "a tab in the indentation; use spaces");
	assert_int_equal(yaml->faults[0].line, 2);
	assert_null(yaml->root);
	fence_yaml_free(yaml);
}

static void a_nul_in_a_value_is_refused(void **state)
{
	(void)state;
	FAULTS("a: \"x\\0y\"\n", "f:1:4: a NUL in a value");
}

static void bytes_that_are_no_utf8_are_placed(void **state)
{
	struct fence_yaml *yaml = parse("a: 1\nbc: \xff\n");

	(void)state;
	assert_int_equal(yaml->error_total, 1);
	assert_int_equal(yaml->faults[0].line, 2);
	assert_int_equal(yaml->faults[0].column, 5);
	fence_yaml_free(yaml);
}

static void eighty_thousand_brackets_are_refused_quickly(void **state)
{
	static const char *const openings[] = { "[", "{", "- ", "? ", "a: {", "[{" };

	(void)state;
	for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++) {
		size_t length = strlen(openings[i]);
		char *text = malloc(80000 * length);
		struct fence_yaml *yaml = NULL;
		int64_t start_ms = fence_now_ms();

		assert_non_null(text);
		for (size_t k = 0; k < 80000; k++)
			memcpy(text + k * length, openings[i], length);
		if (80000 * length <= FENCE_YAML_MAX_BYTES) {
			assert_int_equal(fence_yaml_parse(text, 80000 * length, &yaml), 0);
			assert_true(yaml->error_total > 0);
			assert_null(yaml->root);
			fence_yaml_free(yaml);
		}
		free(text);
		/* libyaml alone takes 15 s for the first; sanitizers are slow. */
		assert_true(fence_now_ms() - start_ms < 3000);
	}
}

static void depth_32_is_read_and_33_is_not(void **state)
{
	char text[80] = "";
	struct fence_yaml *yaml;

	(void)state;
	memset(text, '[', 32);
	memset(text + 32, ']', 32);
	yaml = parse(text);
	assert_int_equal(yaml->error_total, 0);
	fence_yaml_free(yaml);
	memset(text, '[', 33);
	memset(text + 33, ']', 33);
	FAULTS(text, "f:1:33: nested deeper than 32");
}

static void a_file_over_256_kib_is_refused(void **state)
{
	size_t size_bytes = FENCE_YAML_MAX_BYTES + 1;
	char *text = malloc(size_bytes);
	struct fence_yaml *yaml = NULL;

	(void)state;
	assert_non_null(text);
	memset(text, '#', size_bytes);
	assert_int_equal(fence_yaml_parse(text, size_bytes, &yaml), -EFBIG);
	assert_int_equal(fence_yaml_parse(text, size_bytes - 1, &yaml), 0);
	fence_yaml_free(yaml);
	free(text);
}

static void the_list_of_faults_is_bounded_and_counts_on(void **state)
{
	char text[4000] = "a: 1\n";
	struct fence_yaml *yaml;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		strncat(text, "a: 1\n", sizeof(text) - strlen(text) - 1);
	yaml = parse(text);
	assert_int_equal(yaml->error_total, 100);
	assert_int_equal(yaml->fault_count, FENCE_YAML_MAX_FAULTS);
	assert_int_equal(yaml->faults[FENCE_YAML_MAX_FAULTS - 1].line, FENCE_YAML_MAX_FAULTS + 1);
	fence_yaml_free(yaml);
}

static void a_fault_line_is_safe_to_print(void **state)
{
	(void)state;
	FAULTS("\"a\\e[31m\": 1\n\"a\\e[31m\": 2\n",
	       "f:2:1: key \"a\\x1b[31m\" on line 2 is on line 1 already");
}

/* --- tables of keys --------------------------------------------------------- */

static void take_text(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	*(const char **)arg = value->text;
}

static const struct fence_yaml_key keys[] = {
	{ "timeout", FENCE_YAML_SCALAR, true, take_text },
	{ "grace", FENCE_YAML_SCALAR, false, take_text },
	{ "later", FENCE_YAML_ANY, false, NULL },
};

static void assert_table_fault(const char *text, const char *line)
{
	struct fence_yaml *yaml = parse(text);
	const char *got = NULL;
	char first[400];

	fence_yaml_take(yaml, yaml->root, "the file", keys, 3, &got);
	assert_int_equal(yaml->error_total, 1);
	fence_yaml_fault_line(&yaml->faults[0], "f", first, sizeof(first));
	assert_string_equal(first, line);
	fence_yaml_free(yaml);
}

static void a_known_key_goes_to_its_row(void **state)
{
	struct fence_yaml *yaml = parse("timeout: 5s\n");
	const char *got = NULL;

	(void)state;
	fence_yaml_take(yaml, yaml->root, "the file", keys, 3, &got);
	assert_int_equal(yaml->error_total, 0);
	assert_string_equal(got, "5s");
	fence_yaml_free(yaml);
}

static void an_unknown_key_names_the_nearest(void **state)
{
	(void)state;
	assert_table_fault("timeout: 1\ntimout: 2\n",
			   "f:2:1: unknown key \"timout\"; did you mean \"timeout\"");
	assert_table_fault("timeout: 1\nzzzzzz: 2\n", "f:2:1: unknown key \"zzzzzz\"");
}

static void a_key_of_a_later_version_says_so(void **state)
{
	(void)state;
	assert_table_fault("timeout: 1\nlater: 2\n",
			   "f:2:1: unknown key \"later\"; this version cannot do that yet");
}

static void a_missing_key_and_a_wrong_kind_are_named(void **state)
{
	(void)state;
	assert_table_fault("grace: 1\n", "f:1:1: the file needs the key \"timeout\"");
	assert_table_fault("timeout: [1]\n", "f:1:10: \"timeout\" must be a scalar, not a list");
	assert_table_fault("- a\n", "f:1:1: the file must be a mapping, not a list");
}

/* What fence_yaml_choice answers to a file "k: TEXT". */
static int choose(const char *text, const char *const *words, size_t count, char *line,
		  size_t size_bytes)
{
	char file[64];
	struct fence_yaml *yaml;
	int chosen;

	(void)snprintf(file, sizeof(file), "k: %s\n", text);
	yaml = parse(file);
	chosen = fence_yaml_choice(yaml, yaml->root->first, words, count);
	line[0] = '\0';
	if (yaml->fault_count > 0)
		fence_yaml_fault_line(&yaml->faults[0], "f", line, size_bytes);
	fence_yaml_free(yaml);
	return chosen;
}

static void a_choice_is_one_of_the_words_or_a_fault(void **state)
{
	static const char *const words[] = { "none", "host", "ports" };
	const char *many[100];
	char line[400];

	(void)state;
	assert_int_equal(choose("host", words, 3, line, sizeof(line)), 1);
	assert_string_equal(line, "");
	assert_int_equal(choose("hosst", words, 3, line, sizeof(line)), -1);
	assert_string_equal(line, "f:1:4: \"k\" cannot be \"hosst\"; did you mean \"host\"");
	assert_int_equal(choose("xyzzy-q", words, 3, line, sizeof(line)), -1);
	assert_string_equal(line,
			    "f:1:4: \"k\" cannot be \"xyzzy-q\"; use one of none, host, ports");
	for (size_t i = 0; i < 100; i++)
		many[i] = "a-rather-long-word";
	assert_int_equal(choose("xyzzy-q", many, 100, line, sizeof(line)), -1);
	assert_true(strlen(line) < 256);
}

static void only_respelt_scalars_are_ambiguous(void **state)
{
	static const char *const yes[] = { "no",    "Off",  "~",     "010", "3.10", "1e3",
					   "1_000", "0x1f", "12:30", "-01", "1." };
	static const char *const not [] = {
		"10", "3.5", "-k", "nope", "1.2.3", "0", "v1", "1-2", ""
	};
	struct fence_yaml_node node = { .kind = FENCE_YAML_SCALAR, .plain = true };

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		node.text = yes[i];
		assert_true(fence_yaml_is_ambiguous(&node));
	}
	for (size_t i = 0; i < sizeof(not ) / sizeof(not [0]); i++) {
		node.text = not [i];
		assert_false(fence_yaml_is_ambiguous(&node));
	}
	node.text = "no";
	node.plain = false;
	assert_false(fence_yaml_is_ambiguous(&node));
}

static void a_byte_order_mark_is_skipped(void **state)
{
	struct fence_yaml *yaml = parse("\xef\xbb\xbf"
					"a: 1\nb: 2\n");

	(void)state;
	assert_int_equal(yaml->error_total, 0);
	assert_string_equal(yaml->root->first->key, "a");
	assert_int_equal(yaml->root->first->key_column, 1);
	fence_yaml_free(yaml);
	FAULTS("\xef\xbb\xbf", "f:1:1: the file is empty");
}

static void an_unclosed_bracket_names_where_it_was_opened(void **state)
{
	(void)state;
	FAULTS("a:\n  - [x, y\nb: 1\n",
	       "f:3:2: did not find expected ',' or ']', while parsing a flow sequence that begins "
	       "at 2:5");
}

static void columns_are_characters(void **state)
{
	(void)state;
	FAULTS("# \xc3\xa9\xc3\xa9 \xff\n", "f:1:6: invalid leading UTF-8 octet");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars_stay_the_strings_that_were_written),
		cmocka_unit_test(a_node_carries_its_line_and_column),
		cmocka_unit_test(a_key_given_twice_names_both_lines),
		cmocka_unit_test(all_faults_are_reported_at_once),
		cmocka_unit_test(a_second_document_is_refused),
		cmocka_unit_test(a_directive_is_refused),
		cmocka_unit_test(an_empty_file_is_refused),
		cmocka_unit_test(a_key_that_is_no_scalar_is_refused),
		cmocka_unit_test(a_tab_in_the_indentation_is_named),
		cmocka_unit_test(a_nul_in_a_value_is_refused),
		cmocka_unit_test(bytes_that_are_no_utf8_are_placed),
		cmocka_unit_test(eighty_thousand_brackets_are_refused_quickly),
		cmocka_unit_test(depth_32_is_read_and_33_is_not),
		cmocka_unit_test(a_file_over_256_kib_is_refused),
		cmocka_unit_test(the_list_of_faults_is_bounded_and_counts_on),
		cmocka_unit_test(a_fault_line_is_safe_to_print),
		cmocka_unit_test(a_known_key_goes_to_its_row),
		cmocka_unit_test(an_unknown_key_names_the_nearest),
		cmocka_unit_test(a_key_of_a_later_version_says_so),
		cmocka_unit_test(a_missing_key_and_a_wrong_kind_are_named),
		cmocka_unit_test(a_choice_is_one_of_the_words_or_a_fault),
		cmocka_unit_test(only_respelt_scalars_are_ambiguous),
		cmocka_unit_test(a_byte_order_mark_is_skipped),
		cmocka_unit_test(an_unclosed_bracket_names_where_it_was_opened),
		cmocka_unit_test(columns_are_characters),
	};

	return cmocka_run_group_tests_name("fence/conf/yaml", tests, NULL, NULL);
}
