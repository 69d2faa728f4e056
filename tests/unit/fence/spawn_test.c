/* Births: what the parent is told of a child that did not come to exec(2). */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"

static int gate_that_is_killed(void *arg, uint64_t cgroup_id, struct fence_err *err)
{
	(void)arg;
	(void)cgroup_id;
	(void)err;
	(void)kill(getpid(), SIGKILL);
	return 0;
}

static int gate_that_refuses(void *arg, uint64_t cgroup_id, struct fence_err *err)
{
	(void)arg;
	(void)cgroup_id;
	return fence_fail(err, -ESTALE, "the gate");
}

static int gate_that_opens(void *arg, uint64_t cgroup_id, struct fence_err *err)
{
	(void)arg;
	(void)cgroup_id;
	(void)err;
	return 0;
}

static int spawn_true(int (*gate)(void *, uint64_t, struct fence_err *),
		      enum fence_spawn_step *ret_step, pid_t *ret_pid)
{
	char *argv[] = { (char *)"true", NULL }, *envp[] = { NULL };
	struct fence_err err = { 0 };
	const struct fence_spawn_plan plan = { .file = "/bin/true",
					       .argv = argv,
					       .envp = envp,
					       .stdio = { -1, -1, -1 },
					       .umask = -1,
					       .gate = gate,
					       .gate_err = &err };
	sigset_t all, old;
	int rc;

	fence_sigset_fill(&all);
	assert_int_equal(sigprocmask(SIG_SETMASK, &all, &old), 0);
	rc = fence_spawn_exec(&plan, ret_pid, NULL, ret_step);
	assert_int_equal(sigprocmask(SIG_SETMASK, &old, NULL), 0);
	return rc;
}

static void a_child_that_was_killed_before_exec_never_started(void **state)
{
	enum fence_spawn_step step = FENCE_SPAWN_STEP_FORK;
	pid_t pid = 0;

	(void)state;
	assert_int_equal(spawn_true(gate_that_is_killed, &step, &pid), -ECANCELED);
	assert_int_equal(step, FENCE_SPAWN_STEP_GATE);
	assert_int_equal(pid, 0);
}

static void a_gate_that_refuses_is_the_step_that_failed(void **state)
{
	enum fence_spawn_step step = FENCE_SPAWN_STEP_FORK;
	pid_t pid = 0;

	(void)state;
	assert_int_equal(spawn_true(gate_that_refuses, &step, &pid), -ESTALE);
	assert_int_equal(step, FENCE_SPAWN_STEP_GATE);
}

static void behind_an_open_gate_the_program_runs(void **state)
{
	enum fence_spawn_step step = FENCE_SPAWN_STEP_FORK;
	struct fence_exit how;
	pid_t pid = 0;

	(void)state;
	assert_int_equal(spawn_true(gate_that_opens, &step, &pid), 0);
	assert_int_equal(fence_reap_wait(pid, &how, NULL), 0);
	assert_int_equal(how.number, 0);
	assert_false(how.signalled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_that_was_killed_before_exec_never_started),
		cmocka_unit_test(a_gate_that_refuses_is_the_step_that_failed),
		cmocka_unit_test(behind_an_open_gate_the_program_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
