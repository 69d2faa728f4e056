#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fence/cgroup_bound.h"

static void a_controller_is_found_by_its_whole_name(void **state)
{
	(void)state;
	assert_true(fence_cgroup_lists("cpuset cpu io memory pids\n", FENCE_CGROUP_CPU));
	assert_true(fence_cgroup_lists("memory", FENCE_CGROUP_MEMORY));
	assert_true(fence_cgroup_lists("memory pids\n", FENCE_CGROUP_PIDS));
	assert_false(fence_cgroup_lists("cpuset io\n", FENCE_CGROUP_CPU));
	assert_false(fence_cgroup_lists("hugetlb\n", FENCE_CGROUP_MEMORY));
	assert_false(fence_cgroup_lists("", FENCE_CGROUP_PIDS));
	assert_false(fence_cgroup_lists("\n", FENCE_CGROUP_PIDS));
}

static const char *text_of(enum fence_cgroup_controller controller, uint64_t most)
{
	static char text[64];

	fence_cgroup_bound_text(controller, most, text, sizeof(text));
	return text;
}

static void a_share_of_processors_is_microseconds_of_a_period(void **state)
{
	(void)state;
	assert_string_equal(text_of(FENCE_CGROUP_CPU, 500), "50000 100000");
	assert_string_equal(text_of(FENCE_CGROUP_CPU, 2000), "200000 100000");
	/* A millisecond is the least that the kernel takes. */
	assert_string_equal(text_of(FENCE_CGROUP_CPU, 10), "1000 100000");
	assert_string_equal(text_of(FENCE_CGROUP_CPU, 1), "1000 1000000");
	assert_string_equal(text_of(FENCE_CGROUP_CPU, 9), "9000 1000000");
}

static void other_bounds_are_numbers(void **state)
{
	(void)state;
	assert_string_equal(text_of(FENCE_CGROUP_MEMORY, 1073741824), "1073741824");
	assert_string_equal(text_of(FENCE_CGROUP_PIDS, 21), "21");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_controller_is_found_by_its_whole_name),
		cmocka_unit_test(a_share_of_processors_is_microseconds_of_a_period),
		cmocka_unit_test(other_bounds_are_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
