#include "fence/attempt_left.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "fence/tree.h"

/* The marker of a supervisor that never was: its stamp is this test's alone. */
static struct fence_marker marker_of_nobody(void)
{
	struct fence_marker marker = { 0 };

	assert_int_equal(fence_ident_self(&marker.supervisor), 0);
	marker.supervisor.start_ticks = UINT64_MAX - (uint64_t)getpid();
	return marker;
}

static pid_t start_sleep(char *const *envp)
{
	char *argv[] = { (char *)"sleep", (char *)"1000", NULL };
	const struct fence_spawn_plan plan = { .file = "/bin/sleep",
					       .argv = argv,
					       .envp = envp,
					       .stdio = { -1, -1, -1 },
					       .session = FENCE_SPAWN_OWN_SESSION,
					       .umask = -1 };
	struct fence_proc_stat stat;
	enum fence_spawn_step step;
	sigset_t all, old;
	pid_t pid = -1;

	fence_sigset_fill(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &old);
	assert_int_equal(fence_spawn_exec(&plan, &pid, NULL, &step), 0);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	/* The kernel lets a parent go on before the new program has its environment. */
	do {
		assert_int_equal(fence_proc_stat(pid, &stat), 0);
	} while (stat.state != 'S' || strcmp(stat.name, "sleep") != 0);
	return pid;
}

static void end_sleep(pid_t pid)
{
	struct fence_exit how;

	(void)kill(pid, SIGKILL);
	assert_int_equal(fence_reap_wait(pid, &how, NULL), 0);
}

/* How many are found by the marker's traces; the first one's proof. */
static size_t find(const struct fence_marker *marker, enum fence_left_proof *ret_proof)
{
	struct fence_left_traces traces;
	struct fence_left_list list = { 0 };
	struct fence_err err = { 0 };
	size_t count;

	if (fence_left_traces_open(marker, &traces, &err) < 0 ||
	    fence_left_find(&traces, &list, &err) < 0)
		fail_msg("%s: %s", err.what, err.why);
	count = list.count;
	if (count > 0)
		*ret_proof = list.items[0].proof;
	fence_left_list_drop(&list);
	fence_left_traces_close(&traces);
	return count;
}

static size_t find_with_env(const struct fence_marker *marker, char *const *envp)
{
	enum fence_left_proof proof = FENCE_LEFT_STAMP;
	pid_t pid = start_sleep(envp);
	size_t count = find(marker, &proof);

	end_sleep(pid);
	assert_int_equal(proof, FENCE_LEFT_STAMP);
	return count;
}

static void only_the_very_stamp_counts(void **state)
{
	struct fence_marker marker = marker_of_nobody();
	char stamp[FENCE_ATTEMPT_STAMP_BYTES], variable[256];
	char *envp[] = { (char *)"A=1", variable, (char *)"B=2", NULL };
	static const struct {
		const char *format;
		size_t found;
	} cases[] = {
		{ "FENCE_SUPERVISOR=%s", 1 },
		{ "FENCE_SUPERVISOR=%s1", 0 },
		{ "FENCE_SUPERVISOR=1%s", 0 },
		{ "XFENCE_SUPERVISOR=%s", 0 },
		{ "A=FENCE_SUPERVISOR=%s", 0 },
		{ "fence_supervisor=%s", 0 },
		{ "FENCE_SUPERVISOR=%.20s", 0 },
		{ "FENCE_SUPERVISOR", 0 },
		/* Of an attempt within another one's, and of one around another one's. */
		{ "FENCE_SUPERVISOR=x/1 %s", 1 },
		{ "FENCE_SUPERVISOR=%s x/1", 1 },
		{ "FENCE_SUPERVISOR=x %s y", 1 },
		{ "FENCE_SUPERVISOR= %s", 1 },
		{ "FENCE_SUPERVISOR=x %s1 y", 0 },
		{ "FENCE_SUPERVISOR=x 1%s y", 0 },
		{ "A=x FENCE_SUPERVISOR=%s", 0 },
		{ "A=x %s", 0 },
	};

	(void)state;
	fence_attempt_stamp(&marker.supervisor, stamp);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
		(void)snprintf(variable, sizeof(variable), cases[i].format, stamp);
#pragma GCC diagnostic pop
		assert_int_equal(find_with_env(&marker, envp), cases[i].found);
	}
}

/* Wherever a read of 4096 bytes ends within it. */
static void a_stamp_is_found_in_a_large_environment(void **state)
{
	struct fence_marker marker = marker_of_nobody();
	char stamp[FENCE_ATTEMPT_STAMP_BYTES], variable[256], filler[70000];
	char *envp[] = { filler, variable, NULL };

	(void)state;
	fence_attempt_stamp(&marker.supervisor, stamp);
	(void)snprintf(variable, sizeof(variable), "FENCE_SUPERVISOR=%s", stamp);
	for (size_t before = 65400; before <= 65536; before += 17) {
		memset(filler, 'x', sizeof(filler));
		filler[1] = '=';
		filler[before] = '\0';
		assert_int_equal(find_with_env(&marker, envp), 1);
	}
}

static void a_marker_that_says_too_little_proves_nothing(void **state)
{
	struct fence_marker marker = marker_of_nobody();
	char stamp[FENCE_ATTEMPT_STAMP_BYTES], variable[256];
	char *envp[] = { variable, NULL };

	(void)state;
	marker.supervisor.boot_id[0] = '\0';
	fence_attempt_stamp(&marker.supervisor, stamp);
	(void)snprintf(variable, sizeof(variable), "FENCE_SUPERVISOR=%s", stamp);
	assert_int_equal(find_with_env(&marker, envp), 0);
}

static void a_group_without_an_id_is_not_proven(void **state)
{
	struct fence_marker marker = marker_of_nobody();
	char *envp[] = { NULL };
	pid_t pid = start_sleep(envp);
	enum fence_left_proof proof = FENCE_LEFT_STAMP;
	uint64_t id;

	(void)state;
	assert_int_equal(fence_ident_of_pid(pid, &marker.group, NULL), 0);
	id = marker.group.id;
	assert_int_equal(find(&marker, &proof), 1);
	if (id != 0)
		assert_int_equal(proof, FENCE_LEFT_GROUP);
	marker.group.id = 0;
	assert_int_equal(find(&marker, &proof), 1);
	assert_int_equal(proof, FENCE_LEFT_UNPROVEN);
	end_sleep(pid);
	marker.group.id = id;
	assert_int_equal(find(&marker, &proof), 0);
}

/* A leader, reaped by us, and a member of its group that outlives it. */
static void start_group(struct fence_ident *ret_leader, int *ret_member_pidfd)
{
	int pair[2];
	struct fence_exit how;
	pid_t leader, member = 0;

	assert_int_equal(pipe(pair), 0);
	if (fence_spawn_fork(0, &leader, NULL) == 0) {
		(void)setsid();
		if (fence_spawn_fork(0, &member, NULL) == 0)
			for (;;)
				(void)pause();
		(void)fence_write_full(pair[1], &member, sizeof(member));
		for (;;)
			(void)pause();
	}
	assert_int_equal(fence_read_full(pair[0], &member, sizeof(member)), 0);
	assert_int_equal(fence_ident_of_pid(leader, ret_leader, NULL), 0);
	*ret_member_pidfd = fence_pidfd_open(member, 0);
	assert_true(*ret_member_pidfd >= 0);
	(void)kill(leader, SIGKILL);
	assert_int_equal(fence_reap_wait(leader, &how, NULL), 0);
	(void)close(pair[0]);
	(void)close(pair[1]);
}

static void a_group_outlives_its_leader_and_is_known(void **state)
{
	struct fence_ident leader;
	owned_fd member = -1, group = -1;
	int rc;

	(void)state;
	start_group(&leader, &member);
	rc = fence_ident_open_group(&leader, &group);
	if (rc == -ENODATA) { /* this kernel opens no pidfd by its inode */
		assert_int_equal(fence_pidfd_signal(member, SIGKILL, 0), 0);
		return;
	}
	assert_int_equal(rc, 0);
	assert_int_equal(fence_pidfd_signal(group, SIGKILL, PIDFD_SIGNAL_PROCESS_GROUP), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_very_stamp_counts),
		cmocka_unit_test(a_stamp_is_found_in_a_large_environment),
		cmocka_unit_test(a_marker_that_says_too_little_proves_nothing),
		cmocka_unit_test(a_group_without_an_id_is_not_proven),
		cmocka_unit_test(a_group_outlives_its_leader_and_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
