#include <errno.h>
#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "guard/confine/asking.h"
#include "guard/confine/judging.h"
#include "guard/confine/steps.h"

static const struct guard_policy usual = { .net = GUARD_NET_NONE };

/* The architecture that the filter was made for is in its second instruction. */
static struct seccomp_data call(int number, uint64_t argument)
{
	struct sock_fprog filter = guard_filter(&usual);

	return (struct seccomp_data){
		.nr = number,
		.arch = filter.filter[1].k,
		.args = { argument },
	};
}

static unsigned int answer(int number, uint64_t argument)
{
	struct sock_fprog filter = guard_filter(&usual);
	struct seccomp_data data = call(number, argument);

	return guard_asking_answer(&filter, &data);
}

static void the_answers_are_those_of_the_filter(void **state)
{
	struct sock_fprog filter = guard_filter(&usual);
	struct seccomp_data foreign = call(SYS_getpid, 0);

	(void)state;
	foreign.arch ^= 1;
	assert_int_equal(answer(SYS_getpid, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(answer(SYS_mount, 0), SECCOMP_RET_ERRNO | EPERM);
	assert_int_equal(answer(SYS_unshare, 0x10000000), SECCOMP_RET_ERRNO | EPERM);
	assert_int_equal(answer(SYS_unshare, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(answer(9999, 0), SECCOMP_RET_ERRNO | ENOSYS);
	assert_int_equal(guard_asking_answer(&filter, &foreign), SECCOMP_RET_KILL_PROCESS);
}

static void what_is_refused_or_watched_is_asked_about_and_nothing_else(void **state)
{
	static struct sock_filter lines[GUARD_ASKING_MAX];
	struct sock_fprog enforcing = guard_filter(&usual);
	struct sock_fprog asking = { .filter = lines };
	int watched[GUARD_WATCHED_MAX];
	size_t count = guard_watched_calls(watched);
	int length = guard_asking_build(&enforcing, watched, count, lines);

	(void)state;
	assert_true(length > 0);
	asking.len = (unsigned short)length;
	for (int number = 0; number < 600; number++) {
		struct seccomp_data data = call(number, 0);
		unsigned int before = guard_asking_answer(&enforcing, &data);
		unsigned int after = guard_asking_answer(&asking, &data);
		int is_watched = 0;

		for (size_t i = 0; i < count; i++)
			is_watched |= watched[i] == number;
		if (is_watched || (before & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
			assert_int_equal(after, SECCOMP_RET_USER_NOTIF);
		else
			assert_int_equal(after, before);
	}
}

static void nobody_else_may_listen(void **state)
{
	static struct sock_filter lines[GUARD_ASKING_MAX];
	struct sock_fprog enforcing = guard_filter(&usual);
	struct sock_fprog asking = { .filter = lines };
	struct seccomp_data data = call(SYS_seccomp, SECCOMP_SET_MODE_FILTER);

	(void)state;
	asking.len = (unsigned short)guard_asking_build(&enforcing, NULL, 0, lines);
	assert_int_equal(guard_asking_answer(&asking, &data), SECCOMP_RET_ALLOW);
	data.args[1] = SECCOMP_FILTER_FLAG_NEW_LISTENER | UINT64_C(1) << 32;
	assert_int_equal(guard_asking_answer(&asking, &data), SECCOMP_RET_ERRNO | EBUSY);
}

static void a_filter_that_is_none_of_ours_is_refused(void **state)
{
	static struct sock_filter lines[GUARD_ASKING_MAX];
	struct sock_filter allow[] = { { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW } };
	struct sock_fprog program = { .len = 1, .filter = allow };

	(void)state;
	assert_int_equal(guard_asking_build(&program, NULL, 0, lines), -EINVAL);
}

static void what_is_not_understood_is_not_let_pass(void **state)
{
	struct sock_filter odd[] = { { BPF_LD | BPF_IMM, 0, 0, 0 },
				     { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW } };
	struct sock_filter beyond[] = { { BPF_LD | BPF_W | BPF_ABS, 0, 0, 4096 } };
	struct sock_fprog first = { .len = 2, .filter = odd };
	struct sock_fprog second = { .len = 1, .filter = beyond };
	struct seccomp_data data = call(SYS_getpid, 0);

	(void)state;
	assert_int_equal(guard_asking_answer(&first, &data), SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(guard_asking_answer(&second, &data), SECCOMP_RET_KILL_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answers_are_those_of_the_filter),
		cmocka_unit_test(what_is_refused_or_watched_is_asked_about_and_nothing_else),
		cmocka_unit_test(nobody_else_may_listen),
		cmocka_unit_test(a_filter_that_is_none_of_ours_is_refused),
		cmocka_unit_test(what_is_not_understood_is_not_let_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
