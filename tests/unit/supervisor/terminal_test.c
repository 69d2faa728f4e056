/* Units of supervisor/run_terminal.h: which signals the command has already, and the
 * line of --progress. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "supervisor/run.h"

static void what_the_terminal_sends_to_its_group_is_delivered(void **state)
{
	static struct run run;
	const int by_terminal[] = { SIGINT, SIGQUIT, SIGTSTP, SIGWINCH };
	const int by_nobody_but_processes[] = { SIGTERM, SIGUSR1, SIGCONT, SIGCHLD };

	(void)state;
	run.conf.foreground = true;
	for (size_t i = 0; i < 4; i++) {
		assert_true(run_terminal_delivered(&run, by_terminal[i], true));
		assert_false(run_terminal_delivered(&run, by_terminal[i], false));
		assert_false(run_terminal_delivered(&run, by_nobody_but_processes[i], true));
	}
	run.conf.foreground = false;
	assert_false(run_terminal_delivered(&run, SIGINT, true));
}

static void a_lost_terminal_is_told_to_a_session_leader_alone(void **state)
{
	static struct run run = { .conf.foreground = true };

	(void)state;
	assert_int_equal(run_terminal_delivered(&run, SIGHUP, true), getsid(0) != getpid());
}

static const char *line_of(const struct run_progress_facts *facts, size_t width)
{
	static char line[121];

	run_progress_line(facts, "fence-run", width, line, sizeof(line));
	return line;
}

static void the_line_says_time_processes_and_memory(void **state)
{
	struct run_progress_facts facts = { .elapsed_ms = 1999, .processes = 1 };

	(void)state;
	assert_string_equal(line_of(&facts, 120), "fence-run: 1s, 1 process, RSS 0 B");
	facts = (struct run_progress_facts){ .elapsed_ms = 61000,
					     .limit_ms = 7384000,
					     .processes = 12,
					     .rss_bytes = UINT64_C(1536) << 10,
					     .reads_output = true,
					     .output_bytes = UINT64_C(5) << 40 };
	assert_string_equal(line_of(&facts, 120),
			    "fence-run: 1m01s of 2h03m, 12 processes, RSS 1.5 MiB, output 5.0 TiB");
}

static void the_line_is_as_wide_as_it_may_be(void **state)
{
	struct run_progress_facts facts = { .elapsed_ms = 5000, .rss_bytes = 200 << 20 };

	(void)state;
	assert_string_equal(line_of(&facts, 14), "fence-run: 5s,");
	assert_string_equal(line_of(&facts, 0), "");
	assert_string_equal(line_of(&facts, 500), "fence-run: 5s, 0 processes, RSS 200 MiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_terminal_sends_to_its_group_is_delivered),
		cmocka_unit_test(a_lost_terminal_is_told_to_a_session_leader_alone),
		cmocka_unit_test(the_line_says_time_processes_and_memory),
		cmocka_unit_test(the_line_is_as_wide_as_it_may_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
