#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "fence/group_priv.h"

#define EXIT(n)	  .exit_known = true, .exit = { .number = (n) }
#define DIED(sig) .exit_known = true, .exit = { .signalled = true, .number = (sig) }
#define STOP(why) .stopped = true, .stop_cause = (why)
#define RAN	  .started = true, .own_group = true

static const struct {
	const char *name;
	struct fence_group_facts facts;
	struct fence_group_judgement wanted;
} table[] = {
	{ "exited by itself",
	  { RAN, EXIT(3) },
	  { FENCE_CAUSE_EXITED, FENCE_REAP_CLEAR, FENCE_SENDER_NONE } },
	{ "crashed",
	  { RAN, DIED(SIGSEGV) },
	  { FENCE_CAUSE_SIGNALLED, FENCE_REAP_CLEAR, FENCE_SENDER_OTHER } },
	{ "killed by a stranger",
	  { RAN, DIED(SIGKILL) },
	  { FENCE_CAUSE_SIGNALLED, FENCE_REAP_CLEAR, FENCE_SENDER_OTHER } },
	{ "never started",
	  { .started = false },
	  { FENCE_CAUSE_NOT_STARTED, FENCE_REAP_NO_SESSION, FENCE_SENDER_NONE } },
	{ "timed out, TERM was enough",
	  { RAN, DIED(SIGTERM), STOP(FENCE_CAUSE_TIMEOUT), .term_sent = true,
	    .term_to_leader = FENCE_SENDER_TIMEOUT },
	  { FENCE_CAUSE_TIMEOUT, FENCE_REAP_TERM, FENCE_SENDER_TIMEOUT } },
	{ "timed out, exited in the grace",
	  { RAN, EXIT(0), STOP(FENCE_CAUSE_TIMEOUT), .term_sent = true,
	    .term_to_leader = FENCE_SENDER_TIMEOUT },
	  { FENCE_CAUSE_TIMEOUT, FENCE_REAP_TERM, FENCE_SENDER_NONE } },
	{ "timed out, needed KILL",
	  { RAN, DIED(SIGKILL), STOP(FENCE_CAUSE_TIMEOUT), .term_sent = true, .kill_sent = true,
	    .term_to_leader = FENCE_SENDER_TIMEOUT, .kill_to_leader = FENCE_SENDER_TIMEOUT },
	  { FENCE_CAUSE_TIMEOUT, FENCE_REAP_KILL, FENCE_SENDER_TIMEOUT } },
	{ "timed out, somebody killed it in the grace",
	  { RAN, DIED(SIGKILL), STOP(FENCE_CAUSE_TIMEOUT), .term_sent = true,
	    .term_to_leader = FENCE_SENDER_TIMEOUT },
	  { FENCE_CAUSE_TIMEOUT, FENCE_REAP_TERM, FENCE_SENDER_OTHER } },
	{ "silent for too long",
	  { RAN, DIED(SIGTERM), STOP(FENCE_CAUSE_IDLE_TIMEOUT), .term_sent = true,
	    .term_to_leader = FENCE_SENDER_TIMEOUT },
	  { FENCE_CAUSE_IDLE_TIMEOUT, FENCE_REAP_TERM, FENCE_SENDER_TIMEOUT } },
	{ "INT passed on, it died of that",
	  { RAN, DIED(SIGINT), STOP(FENCE_CAUSE_SUPERVISOR_SIGNAL), .term_sent = true,
	    .forwarded = UINT64_C(1) << (SIGINT - 1) },
	  { FENCE_CAUSE_SUPERVISOR_SIGNAL, FENCE_REAP_TERM, FENCE_SENDER_REQUEST } },
	{ "USR1 passed on, it died of that",
	  { RAN, DIED(SIGUSR1), .forwarded = UINT64_C(1) << (SIGUSR1 - 1) },
	  { FENCE_CAUSE_SIGNALLED, FENCE_REAP_CLEAR, FENCE_SENDER_REQUEST } },
	{ "the last real-time signal passed on",
	  { RAN, DIED(64), .forwarded = UINT64_C(1) << 63 },
	  { FENCE_CAUSE_SIGNALLED, FENCE_REAP_CLEAR, FENCE_SENDER_REQUEST } },
	{ "leftovers ended politely",
	  { RAN, EXIT(0), .term_sent = true },
	  { FENCE_CAUSE_EXITED, FENCE_REAP_TERM, FENCE_SENDER_NONE } },
	{ "leftovers killed",
	  { RAN, EXIT(0), .term_sent = true, .kill_sent = true },
	  { FENCE_CAUSE_EXITED, FENCE_REAP_KILL, FENCE_SENDER_NONE } },
	{ "killed itself, leftovers killed by us",
	  { RAN, DIED(SIGKILL), .term_sent = true, .kill_sent = true },
	  { FENCE_CAUSE_SIGNALLED, FENCE_REAP_KILL, FENCE_SENDER_OTHER } },
	{ "something outlived KILL",
	  { RAN, EXIT(0), .term_sent = true, .kill_sent = true, .survivors = 2 },
	  { FENCE_CAUSE_EXITED, FENCE_REAP_SURVIVED, FENCE_SENDER_NONE } },
	{ "without a group of its own",
	  { .started = true, EXIT(0) },
	  { FENCE_CAUSE_EXITED, FENCE_REAP_INHERITED, FENCE_SENDER_NONE } },
	{ "the launcher died",
	  { RAN, DIED(SIGKILL), STOP(FENCE_CAUSE_EXECUTOR_GONE), .kill_sent = true,
	    .kill_to_leader = FENCE_SENDER_REQUEST },
	  { FENCE_CAUSE_EXECUTOR_GONE, FENCE_REAP_KILL, FENCE_SENDER_REQUEST } },
	{ "the monitor died, the launcher ended it",
	  { RAN, DIED(SIGKILL), .kill_sent = true, .kill_to_leader = FENCE_SENDER_REQUEST,
	    .monitor_lost = true },
	  { FENCE_CAUSE_SUPERVISOR_SIGNAL, FENCE_REAP_KILL, FENCE_SENDER_REQUEST } },
	{ "the monitor died and nobody saw the exit",
	  { RAN, .kill_sent = true },
	  { FENCE_CAUSE_SUPERVISOR_SIGNAL, FENCE_REAP_KILL, FENCE_SENDER_NONE } },
	{ "the monitor died after a time-out",
	  { RAN, STOP(FENCE_CAUSE_TIMEOUT), .kill_sent = true, .monitor_lost = true },
	  { FENCE_CAUSE_TIMEOUT, FENCE_REAP_KILL, FENCE_SENDER_NONE } },
};

static void every_ending_has_its_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct fence_group_judgement got = fence_group_judge(&table[i].facts);

		if (got.cause != table[i].wanted.cause || got.reap != table[i].wanted.reap ||
		    got.killed_by != table[i].wanted.killed_by)
			fail_msg("%s: got %s, %s, %s", table[i].name, fence_cause_word(got.cause),
				 fence_reap_word(got.reap), fence_sender_word(got.killed_by));
	}
}

static void the_vocabularies_are_those_of_the_manual(void **state)
{
	(void)state;
	assert_string_equal(fence_cause_word(FENCE_CAUSE_NOT_STARTED), "not-started");
	assert_string_equal(fence_cause_word(FENCE_CAUSE_EXITED), "exited");
	assert_string_equal(fence_reap_word(FENCE_REAP_NO_SESSION), "no-session");
	assert_string_equal(fence_reap_word(FENCE_REAP_REFUSED_OWN_GROUP), "refused-own-group");
	assert_string_equal(fence_contain_word(FENCE_CONTAIN_SUBREAPER), "subreaper");
	assert_string_equal(fence_sender_word(FENCE_SENDER_LEFTOVER), "leftover");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_ending_has_its_words),
		cmocka_unit_test(the_vocabularies_are_those_of_the_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
