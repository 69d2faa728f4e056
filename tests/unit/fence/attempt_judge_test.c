#include "fence/attempt.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"

static struct fence_marker marker_of(const struct fence_ident *supervisor)
{
	struct fence_marker marker = { .supervisor = *supervisor };

	assert_int_equal(gethostname(marker.host, sizeof(marker.host)), 0);
	return marker;
}

static struct fence_marker own_marker(void)
{
	struct fence_ident self;

	assert_int_equal(fence_ident_self(&self), 0);
	return marker_of(&self);
}

static enum fence_attempt_life judge(const struct fence_marker *marker)
{
	enum fence_attempt_life life = FENCE_ATTEMPT_UNKNOWN;
	struct fence_err err = { 0 };

	if (fence_attempt_judge(marker, &life, NULL, &err) < 0)
		fail_msg("%s: %s", err.what, err.why);
	return life;
}

static pid_t start_child(int *ret_pidfd)
{
	pid_t pid = -1;
	int rc = fence_spawn_fork(0, &pid, ret_pidfd);

	if (rc == 0)
		for (;;)
			(void)pause();
	assert_int_equal(rc, 1);
	return pid;
}

static void a_running_supervisor_is_alive_and_held(void **state)
{
	struct fence_marker marker = own_marker();
	enum fence_attempt_life life;
	owned_fd pidfd = -1;

	(void)state;
	assert_int_equal(fence_attempt_judge(&marker, &life, &pidfd, NULL), 0);
	assert_int_equal(life, FENCE_ATTEMPT_ALIVE);
	assert_true(pidfd >= 0);
	assert_int_equal(fence_pidfd_signal(pidfd, 0, 0), 0);
}

static void a_supervisor_that_ended_is_dead_before_it_is_reaped_too(void **state)
{
	struct fence_marker marker;
	struct fence_ident child;
	struct fence_exit how;
	owned_fd pidfd = -1;
	pid_t pid = start_child(&pidfd);
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };

	(void)state;
	assert_int_equal(fence_ident_of_pidfd(pidfd, &child), 0);
	marker = marker_of(&child);
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_ALIVE);
	assert_int_equal(fence_pidfd_signal(pidfd, SIGKILL, 0), 0);
	assert_int_equal(poll(&ended, 1, 10000), 1);
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_DEAD);
	assert_int_equal(fence_reap_wait(pid, &how, NULL), 0);
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_DEAD);
}

static void a_stranger_with_its_pid_is_not_the_supervisor(void **state)
{
	struct fence_marker marker = own_marker();

	(void)state;
	marker.supervisor.id = 0;
	marker.supervisor.start_ticks++;
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_DEAD);
	marker = own_marker();
	if (marker.supervisor.id == 0)
		return;		/* this kernel has no such ids */
	marker.supervisor.id++; /* the start tick may well be shared */
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_DEAD);
}

static void what_is_not_known_is_not_compared(void **state)
{
	struct fence_marker marker = own_marker();

	(void)state;
	marker.host[0] = '\0';
	marker.supervisor.boot_id[0] = '\0';
	marker.supervisor.pid_ns = 0;
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_ALIVE);
	marker.supervisor.id = 0;
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_ALIVE);
	marker.supervisor.start_ticks = 0;
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_UNKNOWN);
	marker.supervisor.pid = INT32_MAX; /* beyond any pid_max */
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_DEAD);
}

static void nobody_elsewhere_is_judged_from_here(void **state)
{
	struct fence_marker marker = own_marker();

	(void)state;
	marker.supervisor.pid = INT32_MAX;
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_DEAD);
	marker.supervisor.pid_ns++;
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_OTHER_PID_NS);
	marker.supervisor.boot_id[0] = marker.supervisor.boot_id[0] == 'a' ? 'b' : 'a';
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_OTHER_BOOT);
	(void)snprintf(marker.host, sizeof(marker.host), "no-such-host.invalid");
	assert_int_equal(judge(&marker), FENCE_ATTEMPT_OTHER_HOST);
}

static void over_is_terminated_or_cancelled_and_done(void **state)
{
	struct fence_marker marker = { .status = FENCE_MARKER_ACTIVE };

	(void)state;
	assert_false(fence_attempt_is_over(&marker));
	marker.status = FENCE_MARKER_TERMINATING;
	marker.has_result = true;
	assert_false(fence_attempt_is_over(&marker));
	marker.status = FENCE_MARKER_CANCELLED;
	assert_true(fence_attempt_is_over(&marker));
	marker.result.survivors = 1;
	assert_false(fence_attempt_is_over(&marker));
	marker.has_result = false;
	marker.result.survivors = 0;
	assert_false(fence_attempt_is_over(&marker));
	marker.status = FENCE_MARKER_TERMINATED;
	assert_true(fence_attempt_is_over(&marker));
}

static void every_life_has_its_word(void **state)
{
	(void)state;
	assert_string_equal(fence_attempt_life_word(FENCE_ATTEMPT_ALIVE), "alive");
	assert_string_equal(fence_attempt_life_word(FENCE_ATTEMPT_OTHER_HOST), "other-host");
	assert_string_equal(fence_attempt_life_word(FENCE_ATTEMPT_UNKNOWN), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_running_supervisor_is_alive_and_held),
		cmocka_unit_test(a_supervisor_that_ended_is_dead_before_it_is_reaped_too),
		cmocka_unit_test(a_stranger_with_its_pid_is_not_the_supervisor),
		cmocka_unit_test(what_is_not_known_is_not_compared),
		cmocka_unit_test(nobody_elsewhere_is_judged_from_here),
		cmocka_unit_test(over_is_terminated_or_cancelled_and_done),
		cmocka_unit_test(every_life_has_its_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
