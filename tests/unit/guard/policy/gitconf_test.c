#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "guard/policy/gitconf.h"

/* Reads from memory that ends where the text does, so that a sanitizer sees a step
 * too far. */
static void expect(const char *text, const char *wanted)
{
	char path[32] = "untouched";
	size_t length = strlen(text);
	char *copy = malloc(length == 0 ? 1 : length);
	bool found;

	assert_non_null(copy);
	memcpy(copy, text, length);
	found = guard_git_hooks_path(copy, length, GUARD_GIT_BLANKS_KEPT, path, sizeof(path));
	free(copy);
	assert_int_equal(found, wanted != NULL);
	if (wanted != NULL)
		assert_string_equal(path, wanted);
}

static void the_value_of_core_hookspath_is_found(void **state)
{
	(void)state;
	expect("[core]\n\thooksPath = .githooks\n", ".githooks");
	expect("[CORE]\nHOOKSPATH=h", "h");
	expect("[core] hookspath = on the same line", "on the same line");
	expect("[a]\nx=1\n[core]\nbare\nfilemode = true\nhooksPath = h\n[b]\nhooksPath = no\n",
	       "h");
}

static void the_last_one_counts(void **state)
{
	(void)state;
	expect("[core]\nhooksPath = a\nhooksPath = b\n", "b");
	expect("[core]\nhooksPath = a\n[core]\nhooksPath = b\n", "b");
}

static void others_do_not(void **state)
{
	(void)state;
	expect("", NULL);
	expect("hooksPath = x\n", NULL);
	expect("[core \"sub\"]\nhooksPath = x\n", NULL);
	expect("[core.sub]\nhooksPath = x\n", NULL);
	expect("[score]\nhooksPath = x\n", NULL);
	expect("[core]\nhooksPathX = x\n", NULL);
	expect("[core]\n# hooksPath = x\n; hooksPath = y\n", NULL);
	expect("[core]\nhooksPath =\n", NULL);
}

static void values_are_quoted_escaped_and_commented_as_git_has_it(void **state)
{
	(void)state;
	expect("[core]\nhooksPath = \"a b\" # c\n", "a b");
	expect("[core]\nhooksPath = a ; c\n", "a");
	expect("[core]\nhooksPath = \"a#b;c \"\n", "a#b;c ");
	expect("[core]\nhooksPath = a\\\\b\\\"c\\td\n", "a\\b\"c\td");
	expect("[core]\nhooksPath = a\\\nb\n", "ab");
	expect("[core]\r\nhooksPath = dos\r\n", "dos");
}

static void a_tab_is_what_the_version_of_git_makes_of_it(void **state)
{
	static const char text[] = "[core]\nhooksPath = a\tb\\t\"\t\"c\t\n";
	char path[32];

	(void)state;
	assert_true(guard_git_hooks_path(text, strlen(text), GUARD_GIT_BLANKS_KEPT, path,
					 sizeof(path)));
	assert_string_equal(path, "a\tb\t\tc");
	assert_true(guard_git_hooks_path(text, strlen(text), GUARD_GIT_BLANKS_SPACES, path,
					 sizeof(path)));
	assert_string_equal(path, "a b\t\tc");
}

static void bad_syntax_ends_the_reading(void **state)
{
	(void)state;
	expect("[core\nhooksPath = x\n", NULL);
	expect("[core]\nhooksPath = \"open\n", NULL);
	expect("[core]\nhooksPath = a\n]\nhooksPath = b\n", "a");
	expect("[core]\nhooksPath = a\\q\n", NULL);
	expect("[core]\nhooksPath = a\\", "a");
	expect("[", NULL);
	expect("[core]\nhooksPath", NULL);
}

static void one_that_is_too_long_is_none(void **state)
{
	(void)state;
	expect("[core]\nhooksPath = 1234567890123456789012345678901\n",
	       "1234567890123456789012345678901");
	expect("[core]\nhooksPath = 12345678901234567890123456789012\n", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_value_of_core_hookspath_is_found),
		cmocka_unit_test(the_last_one_counts),
		cmocka_unit_test(others_do_not),
		cmocka_unit_test(values_are_quoted_escaped_and_commented_as_git_has_it),
		cmocka_unit_test(a_tab_is_what_the_version_of_git_makes_of_it),
		cmocka_unit_test(bad_syntax_ends_the_reading),
		cmocka_unit_test(one_that_is_too_long_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
