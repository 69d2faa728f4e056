#include "fence/attempt.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void what_is_added_comes_back_in_order(void **state)
{
	static const char *const paths[] = { "/a", "/with space/b:c%d", "/e%3Af", "/new\nline" };
	char list[FENCE_ATTEMPT_MARKERS_BYTES] = "";
	char outer[FENCE_ATTEMPT_MARKERS_BYTES];
	char path[PATH_MAX];
	const char *at = list;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		memcpy(outer, list, sizeof(outer));
		assert_int_equal(fence_attempt_markers_add(outer, paths[i], list), 0);
	}
	assert_string_equal(list, "/a:/with space/b%3Ac%25d:/e%253Af:/new\nline");
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(fence_attempt_markers_next(&at, path, sizeof(path)), 1);
		assert_string_equal(path, paths[i]);
	}
	assert_int_equal(fence_attempt_markers_next(&at, path, sizeof(path)), 0);
}

static void a_relative_path_begins_at_the_working_directory(void **state)
{
	char list[FENCE_ATTEMPT_MARKERS_BYTES];

	(void)state;
	assert_int_equal(chdir("/usr"), 0);
	assert_int_equal(fence_attempt_markers_add(NULL, "a/b", list), 0);
	assert_string_equal(list, "/usr/a/b");
}

static void a_list_that_is_too_long_is_refused(void **state)
{
	char outer[FENCE_ATTEMPT_MARKERS_BYTES];
	char list[FENCE_ATTEMPT_MARKERS_BYTES];

	(void)state;
	memset(outer, 'a', sizeof(outer));
	outer[0] = '/';
	outer[sizeof(outer) - 1] = '\0';
	assert_int_equal(fence_attempt_markers_add(outer, "/b", list), -ENAMETOOLONG);
	outer[sizeof(outer) - 4] = '\0';
	assert_int_equal(fence_attempt_markers_add(outer, "/b", list), 0);
	assert_int_equal(strlen(list), sizeof(list) - 1);
	assert_int_equal(fence_attempt_markers_add(outer, "/bc", list), -ENAMETOOLONG);
}

static void what_nobody_made_so_is_refused(void **state)
{
	static const char *const bad[] = {
		"a", ":/a", "/a:", "/a:b", "/%", "/%2", "/%41", "/a%3a"
	};
	char path[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *at = bad[i];
		int rc;

		while ((rc = fence_attempt_markers_next(&at, path, sizeof(path))) == 1)
			continue;
		if (rc != -EINVAL)
			fail_msg("\"%s\": %d", bad[i], rc);
	}
}

static void a_path_that_does_not_fit_is_refused(void **state)
{
	const char *at = "/abc";
	char path[4];

	(void)state;
	assert_int_equal(fence_attempt_markers_next(&at, path, sizeof(path)), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_added_comes_back_in_order),
		cmocka_unit_test(a_relative_path_begins_at_the_working_directory),
		cmocka_unit_test(a_list_that_is_too_long_is_refused),
		cmocka_unit_test(what_nobody_made_so_is_refused),
		cmocka_unit_test(a_path_that_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
