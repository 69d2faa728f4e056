#include "fence/group_monitor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fence/clock.h"

static struct fence_monitor running(int64_t limit_at_ms, int64_t idle_at_ms)
{
	struct fence_monitor m = { .boot_fd = -1 };

	m.timers[TIMER_LIMIT].at_ms = limit_at_ms;
	m.timers[TIMER_IDLE].at_ms = idle_at_ms;
	return m;
}

static void a_pause_keeps_what_is_left(void **state)
{
	int64_t now = fence_now_ms();
	struct fence_monitor m = running(now + 60000, FENCE_NEVER);

	(void)state;
	fence_monitor_pause_timers(&m);
	assert_int_equal(m.timers[TIMER_LIMIT].at_ms, FENCE_NEVER);
	fence_monitor_resume_timers(&m);
	assert_in_range(m.timers[TIMER_LIMIT].at_ms, now + 60000, now + 61000);
	assert_int_equal(m.timers[TIMER_IDLE].at_ms, FENCE_NEVER);
}

static void a_pause_does_not_lose_a_timeout_that_is_due(void **state)
{
	int64_t now = fence_now_ms();
	struct fence_monitor m = running(now - 5, now - 1);

	(void)state;
	fence_monitor_pause_timers(&m);
	fence_monitor_resume_timers(&m);
	assert_in_range(m.timers[TIMER_LIMIT].at_ms, 1, now + 1000);
	assert_in_range(m.timers[TIMER_IDLE].at_ms, 1, now + 1000);
}

/* The command was killed while it was stopped: what it left is not measured by its
 * silence when it goes on. */
static void a_limit_that_is_cleared_in_a_pause_does_not_come_back(void **state)
{
	int64_t now = fence_now_ms();
	struct fence_monitor m = running(now + 60000, now + 60000);

	(void)state;
	fence_monitor_pause_timers(&m);
	fence_monitor_clear_timer(&m, TIMER_IDLE);
	fence_monitor_resume_timers(&m);
	assert_int_equal(m.timers[TIMER_IDLE].at_ms, FENCE_NEVER);
	assert_in_range(m.timers[TIMER_LIMIT].at_ms, now + 60000, now + 61000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pause_keeps_what_is_left),
		cmocka_unit_test(a_pause_does_not_lose_a_timeout_that_is_due),
		cmocka_unit_test(a_limit_that_is_cleared_in_a_pause_does_not_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
