#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "fence/limit.h"

static void one_number_is_both_limits(void **state)
{
	struct fence_spawn_limit limit;

	(void)state;
	assert_int_equal(fence_limit_parse("nofile=64", &limit, NULL), 0);
	assert_int_equal(limit.resource, RLIMIT_NOFILE);
	assert_int_equal(limit.soft, 64);
	assert_int_equal(limit.hard, 64);
	assert_string_equal(fence_limit_name(limit.resource), "nofile");
	assert_int_equal(fence_limit_parse("fsize=1KiB:unlimited", &limit, NULL), 0);
	assert_int_equal(limit.soft, 1024);
	assert_true(limit.hard == UINT64_MAX);
}

static void what_is_no_limit_is_refused_in_words(void **state)
{
	static const char *const wrong[] = {
		"",	     "nofile",	  "=1",		"nofile=",	"nofile=-1", "nofile=1KiB",
		"nofile=1:", "nofile=:1", "nofile=2:1", "nofile=1:2:3", "file=1",    "NOFILE=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct fence_spawn_limit limit;
		struct fence_err err = { 0 };

		assert_int_equal(fence_limit_parse(wrong[i], &limit, &err), -EINVAL);
		assert_true(err.what[0] != '\0');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_number_is_both_limits),
		cmocka_unit_test(what_is_no_limit_is_refused_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
