#include "fence/group.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fence/tree.h"

extern char **environ;

static const char *const sleeper[] = { "sh", "-c", "echo hello; exec sleep 600", NULL };

static struct fence_group *start(const char *const *argv, bool capture)
{
	struct fence_group_plan plan;
	struct fence_group *group = NULL;

	fence_group_plan_init(&plan);
	plan.spawn.file = "/bin/sh";
	plan.spawn.argv = (char *const *)(uintptr_t)argv;
	plan.spawn.envp = environ;
	plan.capture = capture;
	plan.tail_bytes = 4096;
	assert_int_equal(fence_group_start(&plan, &group, NULL), 0);
	return group;
}

static void wait_until_it_runs(const struct fence_group *group)
{
	while (fence_group_pid(group) == 0)
		(void)poll(NULL, 0, 1);
}

static void wait_until_it_ends(struct fence_group *group, struct fence_group *const *others,
			       size_t count)
{
	struct pollfd event = { .fd = fence_group_fd(group), .events = POLLIN };
	int rc = 0;

	while (rc == 0) {
		assert_int_equal(poll(&event, 1, 10000), 1);
		rc = fence_group_step(group, others, count, NULL);
	}
	assert_int_equal(rc, 1);
}

static bool runs(pid_t pid)
{
	struct fence_proc_stat stat;

	return fence_proc_stat(pid, &stat) == 0 && stat.state != 'Z';
}

static pid_t monitor_of(const struct fence_group *group)
{
	struct fence_proc_stat stat;

	assert_int_equal(fence_proc_stat(fence_group_pid(group), &stat), 0);
	return stat.parent;
}

static void a_command_ends_and_is_told_of(void **state)
{
	static const char *const argv[] = { "sh", "-c", "echo out; echo err >&2; exit 7", NULL };
	struct fence_group *group = start(argv, true);
	const struct fence_group_result *result;
	uint8_t *tail;
	size_t bytes;

	(void)state;
	wait_until_it_ends(group, NULL, 0);
	result = fence_group_result(group);
	assert_int_equal(result->cause, FENCE_CAUSE_EXITED);
	assert_int_equal(result->reap, FENCE_REAP_CLEAR);
	assert_true(result->exit_known);
	assert_int_equal(fence_exit_status(&result->exit), 7);
	assert_int_equal(result->term_at_ms, -1);
	assert_int_equal(result->output_bytes[0], 4);
	assert_int_equal(fence_group_tail(group, 1, &tail, &bytes), 0);
	assert_int_equal(bytes, 4);
	assert_memory_equal(tail, "err\n", 4);
	free(tail);
	fence_group_free(group);
}

static void a_command_that_is_not_there_was_not_started(void **state)
{
	struct fence_group_plan plan;
	struct fence_group *group = NULL;
	const struct fence_group_result *result;

	(void)state;
	fence_group_plan_init(&plan);
	plan.spawn.file = "/nonexistent/program";
	plan.spawn.argv = (char *const *)(uintptr_t)sleeper;
	plan.spawn.envp = environ;
	assert_int_equal(fence_group_start(&plan, &group, NULL), 0);
	wait_until_it_ends(group, NULL, 0);
	result = fence_group_result(group);
	assert_int_equal(result->cause, FENCE_CAUSE_NOT_STARTED);
	assert_int_equal(result->failed_step, FENCE_SPAWN_STEP_EXEC);
	assert_int_equal(result->failed_errno, 2);
	fence_group_free(group);
}

static void stopping_ends_it_politely(void **state)
{
	struct fence_group *group = start(sleeper, false);

	(void)state;
	wait_until_it_runs(group);
	assert_int_equal(fence_group_stop(group, FENCE_CAUSE_TERMINATE_REQUEST), 0);
	wait_until_it_ends(group, NULL, 0);
	assert_int_equal(fence_group_result(group)->cause, FENCE_CAUSE_TERMINATE_REQUEST);
	assert_int_equal(fence_group_result(group)->reap, FENCE_REAP_TERM);
	assert_int_equal(fence_group_result(group)->killed_by, FENCE_SENDER_REQUEST);
	fence_group_free(group);
}

/* A room that was too small for what came meanwhile is the sanitizer's to see. */
static void what_is_captured_can_be_looked_at_meanwhile(void **state)
{
	static const char *const argv[] = {
		"sh", "-c", "i=0; while [ $i -lt 3000 ]; do echo xxxxxxx; i=$((i + 1)); done", NULL
	};
	struct fence_group *group = start(argv, true);
	size_t bytes = 0;

	(void)state;
	for (int rc = 0; rc == 0;) {
		uint8_t *tail = NULL;
		size_t before = bytes;

		assert_int_equal(fence_group_tail(group, 0, &tail, &bytes), 0);
		assert_true(bytes >= before && bytes <= 4096);
		if (bytes > 0 && bytes < 4096)
			assert_int_equal(tail[0], 'x');
		free(tail);
		rc = fence_group_step(group, NULL, 0, NULL);
		assert_true(rc >= 0);
	}
	assert_int_equal(fence_group_result(group)->output_bytes[0], 24000);
	fence_group_free(group);
}

static void a_lost_monitor_costs_its_own_group_alone(void **state)
{
	static const char *const argv[] = { "sh", "-c", "echo hello; sleep 600 & setsid sleep 600",
					    NULL };
	struct fence_group *groups[2] = { start(argv, true), start(sleeper, false) };
	const struct fence_group_result *result = fence_group_result(groups[0]);
	uint8_t *tail = NULL;
	size_t bytes = 0;
	pid_t other;

	(void)state;
	wait_until_it_runs(groups[0]);
	wait_until_it_runs(groups[1]);
	other = fence_group_pid(groups[1]);
	while (fence_group_output_bytes(groups[0]) < 6)
		(void)poll(NULL, 0, 1);
	assert_int_equal(kill(monitor_of(groups[0]), SIGKILL), 0);
	wait_until_it_ends(groups[0], groups, 2);
	assert_int_equal(fence_group_tail(groups[0], 0, &tail, &bytes), 0);
	assert_int_equal(bytes, 6);
	assert_true(result->monitor_lost);
	assert_int_equal(result->cause, FENCE_CAUSE_SUPERVISOR_SIGNAL);
	assert_int_equal(result->survivor_count, 0);
	assert_false(runs(result->pid));
	assert_memory_equal(tail, "hello\n", 6);
	free(tail);
	assert_true(runs(other));
	assert_int_equal(monitor_of(groups[1]) > 0, 1);
	fence_group_free(groups[0]);
	fence_group_free(groups[1]);
	assert_false(runs(other));
}

static void both_monitors_lost_is_no_harder(void **state)
{
	struct fence_group *groups[2] = { start(sleeper, false), start(sleeper, false) };
	pid_t monitors[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		wait_until_it_runs(groups[i]);
		monitors[i] = monitor_of(groups[i]);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(kill(monitors[i], SIGKILL), 0);
	for (int i = 0; i < 2; i++) {
		wait_until_it_ends(groups[i], groups, 2);
		assert_true(fence_group_result(groups[i])->monitor_lost);
		assert_int_equal(fence_group_result(groups[i])->survivor_count, 0);
	}
	for (int i = 0; i < 2; i++) {
		assert_false(runs(fence_group_result(groups[i])->pid));
		fence_group_free(groups[i]);
	}
}

static void freeing_a_running_group_ends_it(void **state)
{
	struct fence_group *group = start(sleeper, false);
	pid_t pid;

	(void)state;
	wait_until_it_runs(group);
	pid = fence_group_pid(group);
	assert_true(runs(pid));
	fence_group_free(group);
	assert_false(runs(pid));
}

static int prepare(void **state)
{
	(void)state;
	return fence_group_prepare(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_ends_and_is_told_of),
		cmocka_unit_test(a_command_that_is_not_there_was_not_started),
		cmocka_unit_test(stopping_ends_it_politely),
		cmocka_unit_test(what_is_captured_can_be_looked_at_meanwhile),
		cmocka_unit_test(a_lost_monitor_costs_its_own_group_alone),
		cmocka_unit_test(both_monitors_lost_is_no_harder),
		cmocka_unit_test(freeing_a_running_group_ends_it),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}
