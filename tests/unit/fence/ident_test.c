#include "fence/ident.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"

/* A child that does nothing until it is killed. */
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

static void end_child(pid_t pid, int pidfd)
{
	struct fence_exit how;

	assert_int_equal(fence_pidfd_signal(pidfd, SIGKILL, 0), 0);
	assert_int_equal(fence_reap_wait(pid, &how, NULL), 0);
}

static void a_reused_pid_is_not_the_same_process(void **state)
{
	struct fence_ident before = { .pid = 42, .start_ticks = 1000 };
	struct fence_ident after = { .pid = 42, .start_ticks = 2000 };

	(void)state;
	assert_false(fence_ident_same(&before, &after));
	after.start_ticks = 1000;
	assert_true(fence_ident_same(&before, &after));
}

static void a_pid_reused_within_one_tick_is_told_by_its_id(void **state)
{
	struct fence_ident before = { .pid = 42, .start_ticks = 1000, .id = 7 };
	struct fence_ident after = { .pid = 42, .start_ticks = 1000, .id = 8 };

	(void)state;
	assert_false(fence_ident_same(&before, &after));
	after.id = 0; /* not known there: the start time decides */
	assert_true(fence_ident_same(&before, &after));
}

static void another_boot_or_namespace_is_another_process(void **state)
{
	struct fence_ident a = {
		.pid = 42, .start_ticks = 1, .id = 7, .boot_id = "a", .pid_ns = 1
	};
	struct fence_ident b = a;

	(void)state;
	assert_true(fence_ident_same(&a, &b));
	b.pid_ns = 2;
	assert_false(fence_ident_same(&a, &b));
	b = a;
	b.boot_id[0] = 'b';
	assert_false(fence_ident_same(&a, &b));
	b.boot_id[0] = '\0';
	assert_false(fence_ident_same(&a, &b));
}

static void we_know_ourselves(void **state)
{
	struct fence_ident self, again;
	struct stat ns;
	owned_fd pidfd = fence_pidfd_open(getpid(), 0);

	(void)state;
	assert_int_equal(fence_ident_self(&self), 0);
	assert_int_equal(self.pid, getpid());
	assert_true(self.start_ticks > 0);
	assert_int_equal(strlen(self.boot_id), 36);
	assert_int_equal(stat("/proc/self/ns/pid", &ns), 0);
	assert_true(self.pid_ns == ns.st_ino);
	assert_int_equal(fence_ident_of_pidfd(pidfd, &again), 0);
	assert_true(fence_ident_same(&self, &again));
	assert_true(self.id == again.id);
	assert_int_equal(fence_ident_alive(&self), 1);
}

static void two_processes_differ(void **state)
{
	struct fence_ident self, other;
	int pidfd;
	pid_t pid = start_child(&pidfd);

	(void)state;
	assert_int_equal(fence_ident_self(&self), 0);
	assert_int_equal(fence_ident_of_pid(pid, &other, NULL), 0);
	assert_false(fence_ident_same(&self, &other));
	assert_true(self.id == 0 || self.id != other.id);
	assert_true(self.pid_ns == other.pid_ns);
	end_child(pid, pidfd);
	assert_int_equal(close(pidfd), 0);
}

static void a_process_is_signalled_through_its_identity_and_then_dead(void **state)
{
	struct pollfd ended = { .events = POLLIN };
	struct fence_ident child;
	struct fence_exit how;
	int pidfd;
	pid_t pid = start_child(&pidfd);

	(void)state;
	assert_int_equal(fence_ident_of_pidfd(pidfd, &child), 0);
	assert_int_equal(fence_ident_alive(&child), 1);
	assert_int_equal(fence_ident_signal(&child, SIGKILL), 0);
	/* Look, without taking it: a zombie has ended, though its pid is still its own. */
	ended.fd = pidfd;
	assert_int_equal(poll(&ended, 1, 10000), 1);
	assert_int_equal(fence_reap_look(&how), 1);
	assert_int_equal(fence_ident_alive(&child), 0);
	assert_int_equal(fence_ident_of_pidfd(pidfd, &child), 0);
	assert_int_equal(fence_reap_wait(pid, &how, NULL), 0);
	assert_int_equal(how.number, SIGKILL);
	assert_int_equal(fence_ident_alive(&child), 0);
	assert_int_equal(fence_ident_signal(&child, SIGKILL), -ESRCH);
	assert_int_equal(fence_ident_of_pidfd(pidfd, &child), -ESRCH);
	assert_int_equal(close(pidfd), 0);
}

/* The same number, but another process than the one that was written down. */
static void somebody_else_with_the_pid_is_left_alone(void **state)
{
	struct fence_ident child, other;
	int pidfd;
	pid_t pid = start_child(&pidfd);

	(void)state;
	assert_int_equal(fence_ident_of_pid(pid, &child, NULL), 0);
	other = child;
	other.start_ticks += 100;
	other.id = child.id ? child.id + 1 : 0;
	assert_int_equal(fence_ident_alive(&other), 0);
	assert_int_equal(fence_ident_signal(&other, SIGKILL), -ESRCH);
	assert_int_equal(fence_ident_alive(&child), 1);
	end_child(pid, pidfd);
	assert_int_equal(close(pidfd), 0);
}

static void what_is_not_of_this_boot_and_namespace_is_not_judged(void **state)
{
	struct fence_ident self, other;

	(void)state;
	assert_int_equal(fence_ident_self(&self), 0);
	other = self;
	other.pid_ns++;
	assert_int_equal(fence_ident_alive(&other), -EXDEV);
	assert_int_equal(fence_ident_signal(&other, 0), -EXDEV);
	other = self;
	other.boot_id[0] = other.boot_id[0] == '0' ? '1' : '0';
	assert_int_equal(fence_ident_alive(&other), -EXDEV);
}

static void what_is_no_process_is_nobody(void **state)
{
	struct fence_ident ident;
	owned_fd fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(fence_ident_of_pid(0, &ident, NULL), -ESRCH);
	assert_int_equal(fence_ident_of_pid(-1, &ident, NULL), -ESRCH);
	assert_int_equal(fence_ident_of_pid(INT32_MAX, &ident, NULL), -ESRCH);
	assert_int_equal(fence_ident_of_pidfd(fd, &ident), -EBADF);
}

static int parse(const char *text, struct fence_ident *ret, const char **ret_member)
{
	const struct fence_json_limits limits = { 1024, 4, true };
	struct fence_json root;
	struct fence_json_fault fault;

	assert_int_equal(fence_json_parse(text, strlen(text), &limits, &root, &fault), 0);
	return fence_ident_parse(&root, ret, ret_member);
}

static void an_identity_survives_being_written_down(void **state)
{
	struct fence_ident self, back;
	struct fence_jsonw w;
	const char *member;
	char text[300];

	(void)state;
	assert_int_equal(fence_ident_self(&self), 0);
	self.id = UINT64_MAX;
	fence_jsonw_init(&w, text, sizeof(text));
	fence_jsonw_open(&w, NULL, '{');
	fence_ident_write(&w, &self);
	fence_jsonw_close(&w, '}');
	text[w.length_bytes] = '\0';
	assert_int_equal(parse(text, &back, &member), 0);
	assert_true(fence_ident_same(&self, &back));
	assert_true(back.id == UINT64_MAX && back.start_ticks == self.start_ticks);
}

static void a_member_of_the_wrong_kind_is_named(void **state)
{
	static const struct {
		const char *text, *member;
	} cases[] = {
		{ "{}", "pid" },
		{ "[]", "pid" },
		{ "{\"pid\":0}", "pid" },
		{ "{\"pid\":\"1\"}", "pid" },
		{ "{\"pid\":2147483648}", "pid" },
		{ "{\"pid\":1,\"start\":5}", "start" },
		{ "{\"pid\":1,\"id\":\"x\"}", "id" },
		{ "{\"pid\":1,\"bootId\":\"short\"}", "bootId" },
		{ "{\"pid\":1,\"bootId\":\"0123456789012345678901234567890123456\"}", "bootId" },
		{ "{\"pid\":1,\"pidNs\":null}", "pidNs" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fence_ident ident;
		const char *member = "";

		assert_int_equal(parse(cases[i].text, &ident, &member), -EINVAL);
		assert_string_equal(member, cases[i].member);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reused_pid_is_not_the_same_process),
		cmocka_unit_test(a_pid_reused_within_one_tick_is_told_by_its_id),
		cmocka_unit_test(another_boot_or_namespace_is_another_process),
		cmocka_unit_test(we_know_ourselves),
		cmocka_unit_test(two_processes_differ),
		cmocka_unit_test(a_process_is_signalled_through_its_identity_and_then_dead),
		cmocka_unit_test(somebody_else_with_the_pid_is_left_alone),
		cmocka_unit_test(what_is_not_of_this_boot_and_namespace_is_not_judged),
		cmocka_unit_test(what_is_no_process_is_nobody),
		cmocka_unit_test(an_identity_survives_being_written_down),
		cmocka_unit_test(a_member_of_the_wrong_kind_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
