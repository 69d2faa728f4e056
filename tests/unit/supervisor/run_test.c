#include "supervisor/run.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define EXIT(n)	  .exit_known = true, .exit = { .number = (n) }
#define DIED(sig) .exit_known = true, .exit = { .signalled = true, .number = (sig) }

static const struct {
	const char *name;
	struct fence_group_result result;
	enum fence_leftover leftover;
	bool leak_fails;
	int wanted;
} statuses[] = {
	{ "its own", { EXIT(42) }, FENCE_LEFTOVER_KILL, false, 42 },
	{ "its signal", { DIED(SIGSEGV) }, FENCE_LEFTOVER_KILL, false, 139 },
	{ "a time-out that it survived",
	  { EXIT(0), .cause = FENCE_CAUSE_TIMEOUT },
	  FENCE_LEFTOVER_KILL,
	  false,
	  124 },
	{ "a time-out that needed KILL",
	  { DIED(SIGKILL), .cause = FENCE_CAUSE_TIMEOUT },
	  FENCE_LEFTOVER_KILL,
	  false,
	  124 },
	{ "silence",
	  { DIED(SIGTERM), .cause = FENCE_CAUSE_IDLE_TIMEOUT },
	  FENCE_LEFTOVER_KILL,
	  false,
	  124 },
	{ "a signal to us",
	  { DIED(SIGINT), .cause = FENCE_CAUSE_SUPERVISOR_SIGNAL },
	  FENCE_LEFTOVER_KILL,
	  false,
	  130 },
	{ "leftovers, ended", { EXIT(3), .leftover_count = 1 }, FENCE_LEFTOVER_KILL, false, 3 },
	{ "leftovers, a failure",
	  { EXIT(3), .leftover_count = 1 },
	  FENCE_LEFTOVER_FAIL,
	  false,
	  125 },
	{ "no leftovers", { EXIT(3) }, FENCE_LEFTOVER_FAIL, true, 3 },
	{ "a leak, reported", { EXIT(0), .leaked = true }, FENCE_LEFTOVER_KILL, false, 0 },
	{ "a leak, a failure", { EXIT(0), .leaked = true }, FENCE_LEFTOVER_KILL, true, 125 },
	{ "a survivor", { EXIT(0), .survivor_count = 1 }, FENCE_LEFTOVER_KILL, false, 125 },
	{ "a survivor of a time-out",
	  { DIED(SIGTERM), .cause = FENCE_CAUSE_TIMEOUT, .survivor_count = 1 },
	  FENCE_LEFTOVER_KILL,
	  false,
	  125 },
	{ "a lost monitor",
	  { DIED(SIGKILL), .monitor_lost = true },
	  FENCE_LEFTOVER_KILL,
	  false,
	  125 },
	{ "not found",
	  { .cause = FENCE_CAUSE_NOT_STARTED,
	    .failed_step = FENCE_SPAWN_STEP_EXEC,
	    .failed_errno = ENOENT },
	  FENCE_LEFTOVER_KILL,
	  false,
	  127 },
	{ "not executable",
	  { .cause = FENCE_CAUSE_NOT_STARTED,
	    .failed_step = FENCE_SPAWN_STEP_EXEC,
	    .failed_errno = EACCES },
	  FENCE_LEFTOVER_KILL,
	  false,
	  126 },
	{ "no such directory",
	  { .cause = FENCE_CAUSE_NOT_STARTED,
	    .failed_step = FENCE_SPAWN_STEP_DIR,
	    .failed_errno = ENOENT },
	  FENCE_LEFTOVER_KILL,
	  false,
	  125 },
};

static void each_ending_has_its_status(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct run_conf conf;
		int got;

		run_conf_init(&conf);
		conf.leftover = statuses[i].leftover;
		conf.leak_fails = statuses[i].leak_fails;
		got = run_exit_status(&conf, &statuses[i].result);
		if (got != statuses[i].wanted)
			fail_msg("%s: %d, wanted %d", statuses[i].name, got, statuses[i].wanted);
	}
}

/* Parses "fence-run WORDS... true". */
static int parse(struct run_conf *conf, const char *const *words, size_t count)
{
	const char *argv[16] = { "fence-run" };
	struct fence_err err;
	char buf[64];
	struct fence_text text;
	int rest;

	memcpy(argv + 1, words, count * sizeof(argv[0]));
	argv[count + 1] = "true";
	fence_text_init(&text, buf, sizeof(buf));
	run_conf_init(conf);
	return fence_opts_parse(&run_cli, (int)count + 2, (char *const *)(uintptr_t)argv, conf,
				&rest, &text, &err);
}
#define PARSE(conf, ...)                                                                           \
	parse(conf, (const char *const[]){ __VA_ARGS__ },                                          \
	      sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

static void options_are_stored(void **state)
{
	struct run_conf conf;

	(void)state;
	assert_int_equal(PARSE(&conf, "-t", "1.5s", "--grace=0", "--umask", "027"), 0);
	assert_int_equal(conf.timeout_ms, 1500);
	assert_int_equal(conf.grace_ms, 0);
	assert_int_equal(conf.umask, 027);
	assert_int_equal(PARSE(&conf, "--term-scope", "tree", "--leftover", "fail"), 0);
	assert_int_equal(conf.term_scope, FENCE_TERM_TREE);
	assert_int_equal(conf.leftover, FENCE_LEFTOVER_FAIL);
	assert_int_equal(PARSE(&conf, "--timeout", "1ns"), 0);
	assert_int_equal(conf.timeout_ms, 1);
}

static void what_makes_no_sense_is_refused(void **state)
{
	struct run_conf conf;

	(void)state;
	assert_int_equal(PARSE(&conf, "--timeout", "soon"), -EINVAL);
	assert_int_equal(PARSE(&conf, "--timeout", "-1"), -ERANGE);
	assert_int_equal(PARSE(&conf, "--umask", "888"), -EINVAL);
	assert_int_equal(PARSE(&conf, "--umask", "1000"), -EINVAL);
	assert_int_equal(PARSE(&conf, "--capture", "1GiB"), -ERANGE);
	assert_int_equal(PARSE(&conf, "--env", "=x"), -EINVAL);
	assert_int_equal(PARSE(&conf, "--unset", "A=B"), -EINVAL);
	assert_int_equal(PARSE(&conf, "--keep-fd", "2"), -ERANGE);
	assert_int_equal(PARSE(&conf, "--keep-fd", "999"), -EBADF);
	assert_int_equal(PARSE(&conf, "--leftover", "forget"), -EINVAL);
}

static void kept_descriptors_are_in_order(void **state)
{
	struct run_conf conf;

	(void)state;
	for (int fd = 40; fd < 43; fd++)
		assert_int_equal(dup2(2, fd), fd);
	assert_int_equal(PARSE(&conf, "--keep-fd", "41", "--keep-fd", "42", "--keep-fd", "40"), 0);
	assert_int_equal(conf.keep_count, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(conf.keep_fds[i], 40 + i);
		(void)close(40 + i);
	}
}

static void a_record_and_the_output_do_not_mix(void **state)
{
	struct run_conf conf;
	struct fence_err err;

	(void)state;
	assert_int_equal(PARSE(&conf, "--result", "-"), 0);
	assert_int_equal(run_conf_check(&conf, &err), -EINVAL);
	assert_int_equal(PARSE(&conf, "--result", "-", "--capture", "1KiB"), 0);
	assert_int_equal(run_conf_check(&conf, &err), 0);
	assert_int_equal(PARSE(&conf, "--result", "-", "--capture", "1KiB", "--tee"), 0);
	assert_int_equal(run_conf_check(&conf, &err), -EINVAL);
	assert_int_equal(PARSE(&conf, "--result", "file"), 0);
	assert_int_equal(run_conf_check(&conf, &err), 0);
}

static const char *const base[] = { "PATH=/bin",  "SECRET=1",	 "HOME=/root",
				    "HOMEPAGE=x", "HOME=/twice", NULL };

static char **build(const struct run_conf *conf)
{
	char **env = NULL;

	assert_int_equal(run_env_build(conf, (char *const *)(uintptr_t)base, &env, NULL), 0);
	return env;
}

static void the_environment_is_ours_unless_told(void **state)
{
	struct run_conf conf;
	char **env;

	(void)state;
	run_conf_init(&conf);
	env = build(&conf);
	for (size_t i = 0; i < sizeof(base) / sizeof(base[0]); i++)
		assert_ptr_equal(env[i], base[i]);
	free(env);
}

static void the_allow_list_lets_nothing_else_through(void **state)
{
	struct run_conf conf;
	char **env;

	(void)state;
	assert_int_equal(PARSE(&conf, "--env-allow", "--env", "SECRET", "--env", "NEW=a=b", "--env",
			       "MISSING"),
			 0);
	env = build(&conf);
	assert_string_equal(run_env_get(env, "PATH"), "/bin");
	assert_string_equal(run_env_get(env, "SECRET"), "1");
	assert_string_equal(run_env_get(env, "NEW"), "a=b");
	assert_null(run_env_get(env, "HOMEPAGE"));
	assert_null(run_env_get(env, "MISSING"));
	free(env);
}

static void the_last_word_on_a_variable_counts(void **state)
{
	struct run_conf conf;
	char **env;

	(void)state;
	assert_int_equal(PARSE(&conf, "--unset", "HOME", "--env", "A=1", "--env", "A=2"), 0);
	env = build(&conf);
	assert_null(run_env_get(env, "HOME"));
	assert_string_equal(run_env_get(env, "HOMEPAGE"), "x");
	assert_string_equal(run_env_get(env, "A"), "2");
	free(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_ending_has_its_status),
		cmocka_unit_test(options_are_stored),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(kept_descriptors_are_in_order),
		cmocka_unit_test(a_record_and_the_output_do_not_mix),
		cmocka_unit_test(the_environment_is_ours_unless_told),
		cmocka_unit_test(the_allow_list_lets_nothing_else_through),
		cmocka_unit_test(the_last_word_on_a_variable_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
