/* A policy's own words in every filter that options can make of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "guard/confine/asking.h"
#include "guard/confine/judging.h"
#include "guard/confine/own.h"
#include "guard/confine/steps.h"

static const struct guard_place at = { .line = 3, .column = 5 };

/* The options that choose a filter, by the bits of a number below 24. */
static void choose(struct guard_policy *policy, unsigned int which)
{
	policy->allow_userns = which & 1;
	policy->allow_set_id = which & 2;
	policy->seccomp = which & 4 ? GUARD_SECCOMP_STRICT : GUARD_SECCOMP_DEFAULT;
	policy->net = which < 8 ? GUARD_NET_NONE : GUARD_NET_PORTS;
	policy->ports.bind.count = which < 16 ? 0 : 1;
}

static unsigned int ask(struct sock_fprog filter, int number, uint64_t argument)
{
	struct seccomp_data data = {
		.nr = number,
		.arch = filter.filter[1].k,
		.args = { argument },
	};

	return guard_asking_answer(&filter, &data);
}

static void add(struct guard_policy *policy, const char *name, int error)
{
	assert_int_equal(guard_policy_add_call(policy, name, error, at), 0);
}

static void calls_that_are_named_get_their_answer_and_all_others_keep_theirs(void **state)
{
	(void)state;
	for (unsigned int which = 0; which < 24; which++) {
		struct guard_policy plain, own;

		guard_policy_init(&plain);
		guard_policy_init(&own);
		choose(&plain, which);
		choose(&own, which);
		add(&own, "keyctl", 0);
		add(&own, "ptrace", 0);
		add(&own, "perf_event_open", ENOSYS);
		add(&own, "getrandom", EACCES);
		add(&own, "socket", EAFNOSUPPORT);
		assert_int_equal(guard_own_filter(&own, NULL), 0);
		for (int number = -1; number <= 600; number++) {
			const struct guard_call_rule *rule = guard_policy_call(&own, number);
			unsigned int wanted = ask(guard_filter(&plain), number, AF_INET);

			if (rule != NULL)
				wanted = rule->error == 0
						 ? SECCOMP_RET_ALLOW
						 : SECCOMP_RET_ERRNO | (unsigned int)rule->error;
			assert_int_equal(ask(guard_filter(&own), number, AF_INET), wanted);
		}
		guard_policy_free(&plain);
		guard_policy_free(&own);
	}
}

static void without_any_there_is_none(void **state)
{
	struct guard_policy policy;

	(void)state;
	guard_policy_init(&policy);
	assert_int_equal(guard_own_filter(&policy, NULL), 0);
	assert_null(policy.own_filter);
	guard_policy_free(&policy);
}

static void even_the_longest_can_be_loaded_and_asked(void **state)
{
	static struct sock_filter lines[GUARD_ASKING_MAX];
	int watched[GUARD_WATCHED_MAX];
	size_t count = guard_watched_calls(watched);

	(void)state;
	for (unsigned int which = 0; which < 24; which++) {
		struct guard_policy policy;
		struct sock_fprog filter;

		guard_policy_init(&policy);
		choose(&policy, which);
		for (int number = 0; number <= 600; number++) {
			const char *name = guard_call_name(number);

			if (name != NULL)
				(void)guard_policy_add_call(&policy, name, EPERM, at);
		}
		assert_true(policy.call_count > 250);
		assert_int_equal(guard_own_filter(&policy, NULL), 0);
		filter = guard_filter(&policy);
		assert_true(filter.len <= BPF_MAXINSNS);
		assert_true(guard_asking_build(&filter, watched, count, lines) > 0);
		guard_policy_free(&policy);
	}
}

static void no_call_is_named_twice(void **state)
{
	struct guard_policy policy;

	(void)state;
	guard_policy_init(&policy);
	add(&policy, "keyctl", 0);
	assert_int_equal(guard_policy_add_call(&policy, "keyctl", EPERM, at), -EINVAL);
	guard_policy_free(&policy);
}

static void what_no_filter_sees_is_allowed_only_where_nothing_rests_on_it(void **state)
{
	struct guard_policy policy;

	(void)state;
	guard_policy_init(&policy);
	policy.file = "p";
	add(&policy, "io_uring_setup", 0);
	assert_int_equal(guard_policy_check(&policy, NULL), -EINVAL);
	policy.net = GUARD_NET_HOST;
	assert_int_equal(guard_policy_check(&policy, NULL), -EINVAL);
	policy.allow_set_id = true;
	assert_int_equal(guard_policy_check(&policy, NULL), 0);
	policy.net = GUARD_NET_NONE;
	assert_int_equal(guard_policy_check(&policy, NULL), -EINVAL);
	guard_policy_free(&policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_are_named_get_their_answer_and_all_others_keep_theirs),
		cmocka_unit_test(without_any_there_is_none),
		cmocka_unit_test(even_the_longest_can_be_loaded_and_asked),
		cmocka_unit_test(no_call_is_named_twice),
		cmocka_unit_test(what_no_filter_sees_is_allowed_only_where_nothing_rests_on_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
