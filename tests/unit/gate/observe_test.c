#include "gate/observe.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct gate_stage plain = { .id = "unit", .timeout_ms = 1500 };
static const struct gate_stage strict = { .id = "unit", .timeout_ms = 1500, .leaks_fail = true };

static struct fence_group_result exited(int status)
{
	return (struct fence_group_result){ .cause = FENCE_CAUSE_EXITED,
					    .exit_known = true,
					    .exit = { .number = status } };
}

static struct gate_guard_status guard_said(bool signalled, int number)
{
	return (struct gate_guard_status){
		.executed = true, .ended = true, .signalled = signalled, .number = number
	};
}

static void a_status_of_0_passes_and_another_fails(void **state)
{
	struct fence_group_result good = exited(0), bad = exited(7);
	struct gate_observation seen;

	(void)state;
	gate_observe(&plain, &good, NULL, &seen);
	assert_int_equal(seen.outcome, GATE_PASSED);
	assert_string_equal(seen.detail, "");
	gate_observe(&plain, &bad, NULL, &seen);
	assert_int_equal(seen.outcome, GATE_FAILED);
	assert_true(seen.has_exit);
	assert_string_equal(seen.detail, "exited with status 7");
}

static void a_signal_of_somebody_else_is_a_failure(void **state)
{
	struct fence_group_result result = { .cause = FENCE_CAUSE_SIGNALLED,
					     .exit_known = true,
					     .killed_by = FENCE_SENDER_OTHER,
					     .exit = { .signalled = true, .number = SIGSEGV } };
	struct gate_observation seen;

	(void)state;
	gate_observe(&plain, &result, NULL, &seen);
	assert_int_equal(seen.outcome, GATE_SIGNALLED);
	assert_string_equal(seen.detail, "died of signal 11 SIGSEGV");
}

static void a_time_out_is_one_whatever_the_status_was(void **state)
{
	struct fence_group_result result = exited(1);
	struct gate_observation seen;

	(void)state;
	result.cause = FENCE_CAUSE_TIMEOUT;
	gate_observe(&plain, &result, NULL, &seen);
	assert_int_equal(seen.outcome, GATE_TIMED_OUT);
	assert_string_equal(seen.detail, "timed out after 1.5 s");
	result.exit.number = 0;
	gate_observe(&plain, &result, NULL, &seen);
	assert_int_equal(seen.outcome, GATE_TIMED_OUT);
}

static void what_was_cancelled_did_not_fail(void **state)
{
	struct fence_group_result result = exited(130);
	struct gate_observation seen;

	(void)state;
	result.cause = FENCE_CAUSE_CANCELLED;
	gate_observe(&plain, &result, NULL, &seen);
	assert_int_equal(seen.outcome, GATE_CANCELLED);
}

static void what_could_not_start_was_not_executed(void **state)
{
	struct fence_group_result result = { .cause = FENCE_CAUSE_NOT_STARTED,
					     .failed_step = FENCE_SPAWN_STEP_EXEC,
					     .failed_errno = ENOEXEC };
	struct gate_observation seen;

	(void)state;
	gate_observe(&plain, &result, NULL, &seen);
	assert_int_equal(seen.outcome, GATE_NOT_EXECUTED);
	assert_string_equal(seen.detail, "could not be executed: execute: Exec format error");
}

static void an_end_that_nobody_saw_is_lost(void **state)
{
	struct fence_group_result result = { .cause = FENCE_CAUSE_EXITED, .monitor_lost = true };
	struct gate_observation seen;

	(void)state;
	gate_observe(&plain, &result, NULL, &seen);
	assert_int_equal(seen.outcome, GATE_LOST);
}

static void what_it_left_behind_is_named_and_fails_when_the_stage_says_so(void **state)
{
	struct fence_group_result result = exited(0);
	struct gate_observation seen;

	(void)state;
	result.leftover_count = 2;
	result.leftover_pids[0] = 41;
	result.leftover_pids[1] = 42;
	memcpy(result.leftover_names[0], "sleep", 6);
	memcpy(result.leftover_names[1], "a\033b", 4);
	gate_observe(&plain, &result, NULL, &seen);
	assert_int_equal(seen.outcome, GATE_PASSED);
	assert_string_equal(seen.detail, "left 2 processes behind: sleep[41], a\\x1bb[42]");
	gate_observe(&strict, &result, NULL, &seen);
	assert_int_equal(seen.outcome, GATE_LEAKED);
	result.exit.number = 3;
	gate_observe(&strict, &result, NULL, &seen);
	assert_int_equal(seen.outcome, GATE_FAILED);
}

static void what_outlived_kill_is_never_a_pass(void **state)
{
	struct fence_group_result result = exited(0);
	struct gate_observation seen;

	(void)state;
	result.survivor_count = 1;
	result.survivor_pids[0] = 77;
	gate_observe(&plain, &result, NULL, &seen);
	assert_int_equal(seen.outcome, GATE_SURVIVED);
	assert_string_equal(seen.detail, "1 of its processes outlived SIGKILL, the first is 77");
}

static void a_confined_stage_ran_only_if_the_guard_says_so(void **state)
{
	static const int statuses[] = { 0, 1, 125, 126, 127 };

	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct fence_group_result result = exited(statuses[i]);
		struct gate_guard_status nothing = { 0 };
		struct gate_guard_status ran = guard_said(false, statuses[i]);
		struct gate_observation seen;

		gate_observe(&plain, &result, &nothing, &seen);
		assert_int_equal(seen.outcome, GATE_NOT_EXECUTED);
		assert_false(seen.has_exit);
		/* The command's own 125, 126 or 127 is a failure like any other. */
		gate_observe(&plain, &result, &ran, &seen);
		assert_int_equal(seen.outcome, statuses[i] == 0 ? GATE_PASSED : GATE_FAILED);
	}
}

static void a_failed_set_up_says_what_the_guard_said(void **state)
{
	struct fence_group_result result = exited(125);
	struct gate_guard_status status = { .failed = true,
					    .failed_stage = "mounts",
					    .failed_what = "mount /proc",
					    .failed_errno = EPERM,
					    .failed_path = "/proc",
					    .failed_hint = "allow user namespaces" };
	struct gate_observation seen;

	(void)state;
	gate_observe(&plain, &result, &status, &seen);
	assert_int_equal(seen.outcome, GATE_NOT_EXECUTED);
	assert_string_equal(seen.detail,
			    "could not be executed: mount /proc: Operation not permitted");
	assert_string_equal(seen.hint, "allow user namespaces");
}

static void a_confined_command_that_died_of_a_signal_did_so(void **state)
{
	struct fence_group_result result = exited(139);
	struct gate_guard_status died = guard_said(true, SIGSEGV);
	struct gate_guard_status exited_139 = guard_said(false, 139);
	struct gate_observation seen;

	(void)state;
	gate_observe(&plain, &result, &died, &seen);
	assert_int_equal(seen.outcome, GATE_SIGNALLED);
	assert_int_equal(seen.number, SIGSEGV);
	gate_observe(&plain, &result, &exited_139, &seen);
	assert_int_equal(seen.outcome, GATE_FAILED);
	assert_int_equal(seen.number, 139);
}

static void a_guard_that_contradicts_itself_is_not_believed(void **state)
{
	struct fence_group_result result = exited(1);
	struct gate_guard_status said_0 = guard_said(false, 0);
	struct gate_guard_status no_end = { .executed = true };
	struct gate_observation seen;

	(void)state;
	gate_observe(&plain, &result, &said_0, &seen);
	assert_int_equal(seen.outcome, GATE_LOST);
	result.exit.number = 0;
	gate_observe(&plain, &result, &no_end, &seen);
	assert_int_equal(seen.outcome, GATE_LOST);
	result = exited(0);
	said_0.garbled = true;
	gate_observe(&plain, &result, &said_0, &seen);
	assert_int_equal(seen.outcome, GATE_LOST);
	said_0.garbled = false;
	gate_observe(&plain, &result, &said_0, &seen);
	assert_int_equal(seen.outcome, GATE_PASSED);
	result.exit.signalled = true;
	result.exit.number = SIGKILL;
	gate_observe(&plain, &result, &said_0, &seen);
	assert_int_equal(seen.outcome, GATE_LOST);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_status_of_0_passes_and_another_fails),
		cmocka_unit_test(a_signal_of_somebody_else_is_a_failure),
		cmocka_unit_test(a_time_out_is_one_whatever_the_status_was),
		cmocka_unit_test(what_was_cancelled_did_not_fail),
		cmocka_unit_test(what_could_not_start_was_not_executed),
		cmocka_unit_test(an_end_that_nobody_saw_is_lost),
		cmocka_unit_test(what_it_left_behind_is_named_and_fails_when_the_stage_says_so),
		cmocka_unit_test(what_outlived_kill_is_never_a_pass),
		cmocka_unit_test(a_confined_stage_ran_only_if_the_guard_says_so),
		cmocka_unit_test(a_failed_set_up_says_what_the_guard_said),
		cmocka_unit_test(a_confined_command_that_died_of_a_signal_did_so),
		cmocka_unit_test(a_guard_that_contradicts_itself_is_not_believed),
	};

	return cmocka_run_group_tests_name("gate/observe", tests, NULL, NULL);
}
