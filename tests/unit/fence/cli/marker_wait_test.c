#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fence/cli/marker_cli.h"

static enum marker_wait_end judge(enum fence_marker_status status, unsigned int wanted)
{
	const struct fence_marker marker = { .status = status };
	const struct marker_goal goal = { .statuses = wanted };

	return marker_judge_goal(&marker, &goal);
}

static void a_status_that_is_there_is_reached(void **state)
{
	(void)state;
	for (int i = FENCE_MARKER_ACTIVE; i <= FENCE_MARKER_CANCELLED; i++) {
		assert_int_equal(judge((enum fence_marker_status)i, 1U << i), MARKER_WAIT_REACHED);
		assert_int_equal(judge((enum fence_marker_status)i, 15), MARKER_WAIT_REACHED);
	}
}

/* For each pair: what can be reached by steps that may be taken is waited for, and
 * nothing else. */
static void only_what_can_follow_is_waited_for(void **state)
{
	(void)state;
	for (int from = 0; from < 4; from++) {
		unsigned int ahead = 1U << from, before;

		do {
			before = ahead;
			for (int i = 0; i < 16; i++)
				if ((ahead & 1U << i / 4) != 0 &&
				    fence_marker_may_become((enum fence_marker_status)(i / 4),
							    (enum fence_marker_status)(i % 4)))
					ahead |= 1U << i % 4;
		} while (ahead != before);
		for (int to = 0; to < 4; to++)
			if (to != from)
				assert_int_equal(judge((enum fence_marker_status)from, 1U << to),
						 (ahead & 1U << to) != 0 ? MARKER_WAIT_ON
									 : MARKER_WAIT_NEVER);
	}
}

static void over_is_waited_for_until_nothing_runs(void **state)
{
	struct fence_marker marker = { .status = FENCE_MARKER_CANCELLED };
	const struct marker_goal goal = { .statuses = 0 };

	(void)state;
	assert_int_equal(marker_judge_goal(&marker, &goal), MARKER_WAIT_ON);
	marker.has_result = true;
	marker.result.survivors = 1;
	assert_int_equal(marker_judge_goal(&marker, &goal), MARKER_WAIT_ON);
	marker.result.survivors = 0;
	assert_int_equal(marker_judge_goal(&marker, &goal), MARKER_WAIT_REACHED);
	marker.status = FENCE_MARKER_TERMINATING;
	assert_int_equal(marker_judge_goal(&marker, &goal), MARKER_WAIT_ON);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_status_that_is_there_is_reached),
		cmocka_unit_test(only_what_can_follow_is_waited_for),
		cmocka_unit_test(over_is_waited_for_until_nothing_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
