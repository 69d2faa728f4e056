#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "guard/policy/words.h"

static void a_simple_command_is_split_as_a_shell_would(void **state)
{
	static const struct {
		const char *text;
		const char *words[5];
	} rows[] = {
		{ "git push", { "git", "push" } },
		{ "  git\tpush  ", { "git", "push" } },
		{ "a 'b c' \"d e\"", { "a", "b c", "d e" } },
		{ "a''b \"\" ''", { "ab", "", "" } },
		{ "a\\ b \\;", { "a b", ";" } },
		{ "a 'x;$y*' \"p;q*\"", { "a", "x;$y*", "p;q*" } },
		{ "a \"b\\\"c\\\\d\\n\"", { "a", "b\"c\\d\\n" } },
		{ "make CC=gcc a#b a~b", { "make", "CC=gcc", "a#b", "a~b" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *words[GUARD_WORDS_MAX];
		char buf[64];
		size_t count = 0;
		size_t wanted = 0;

		assert_null(guard_words_split(rows[i].text, buf, words, &count));
		for (; wanted < 5 && rows[i].words[wanted] != NULL; wanted++)
			assert_string_equal(words[wanted], rows[i].words[wanted]);
		assert_int_equal(count, wanted);
	}
}

static void what_takes_more_of_a_shell_is_refused(void **state)
{
	static const char *const texts[] = {
		"",	 "  ",	    "a; b",  "a && b",	 "a | b",	 "a > b", "a & b",
		"(a)",	 "a $b",    "a `b`", "a \"$b\"", "a \"`b`\"",	 "a *",	  "a b?",
		"a [b]", "a {b,c}", "a 'b",  "a \"b",	 "a b\\",	 "a # b", "~/a",
		"a ~",	 "A=1 b",   "a\nb",  "! a",	 "a \"b\\\nc\"", "a <b",  "a b\\\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *words[GUARD_WORDS_MAX];
		char buf[64];
		size_t count;

		if (guard_words_split(texts[i], buf, words, &count) == NULL)
			fail_msg("taken: %s", texts[i]);
	}
}

static void sixty_four_words_are_the_most(void **state)
{
	const char *words[GUARD_WORDS_MAX];
	char text[2 * GUARD_WORDS_MAX + 2];
	char buf[sizeof(text)];
	size_t count;

	(void)state;
	memset(text, 0, sizeof(text));
	for (size_t i = 0; i < GUARD_WORDS_MAX; i++)
		memcpy(text + 2 * i, "a ", 2);
	assert_null(guard_words_split(text, buf, words, &count));
	assert_int_equal(count, GUARD_WORDS_MAX);
	text[2 * GUARD_WORDS_MAX] = 'a';
	assert_non_null(guard_words_split(text, buf, words, &count));
}

static void a_rule_is_about_the_commands_that_begin_with_it(void **state)
{
	static const char *const push[] = { "git", "push" };
	static const char *const plain[] = { "git", "push", "origin" };
	static const char *const placed[] = { "/usr/bin/git", "push" };
	static const char *const other[] = { "git", "status" };
	static const char *const longer[] = { "gitk", "push" };
	static const char *const exact[] = { "/usr/bin/git" };

	(void)state;
	assert_true(guard_words_match(push, 2, plain, 3));
	assert_true(guard_words_match(push, 2, placed, 2));
	assert_true(guard_words_match(exact, 1, placed, 2));
	assert_false(guard_words_match(exact, 1, plain, 3));
	assert_false(guard_words_match(push, 2, other, 2));
	assert_false(guard_words_match(push, 2, longer, 2));
	assert_false(guard_words_match(push, 2, plain, 1));
	assert_false(guard_words_match(push, 0, plain, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_simple_command_is_split_as_a_shell_would),
		cmocka_unit_test(what_takes_more_of_a_shell_is_refused),
		cmocka_unit_test(sixty_four_words_are_the_most),
		cmocka_unit_test(a_rule_is_about_the_commands_that_begin_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
