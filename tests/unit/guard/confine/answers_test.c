/* Every filter that options choose, asked about every number and many arguments: the answers
 * are those of fence-guard(1), which is written down here once more, as a function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/btrfs.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "guard/confine/asking.h"
#include "guard/confine/own.h"
#include "guard/confine/steps.h"
#include "guard/policy/calls.h"

#define COUNT(list)    (sizeof(list) / sizeof((list)[0]))
#define REFUSED(error) (SECCOMP_RET_ERRNO | (unsigned int)(error))
#define ALLOW	       SECCOMP_RET_ALLOW
#define NATIVE	       AUDIT_ARCH_X86_64
#define VARIANTS       30
#define VALUES_MAX     160

/* --- what options make of a filter ------------------------------------------------------ */

/* 0-23: as their bits say, and by eight the network; then those that may nest. */
static void choose(struct guard_policy *policy, unsigned int which)
{
	unsigned int net = which < 24 ? which / 8 : (which - 24) / 2;

	guard_policy_init(policy);
	policy->allow_nesting = which >= 24;
	policy->allow_userns = policy->allow_nesting || which & 1;
	policy->allow_set_id = which < 24 ? (which & 2) != 0 : (which & 1) != 0;
	policy->seccomp = which < 24 && which & 4 ? GUARD_SECCOMP_STRICT : GUARD_SECCOMP_DEFAULT;
	policy->net = net == 0 ? GUARD_NET_NONE : GUARD_NET_PORTS;
	policy->ports.bind.count = net == 2;
}

/* --- what is to be answered --------------------------------------------------------------- */

static bool is_one_of(uint32_t value, const uint32_t *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == value)
			return true;
	return false;
}

static uint32_t ioctl_answer(uint32_t command)
{
	static const uint32_t refused[] = {
		TIOCSTI,
		TIOCLINUX,
		TIOCSETD,
		BTRFS_IOC_SNAP_CREATE,
		BTRFS_IOC_SNAP_CREATE_V2,
		BTRFS_IOC_SNAP_DESTROY,
		BTRFS_IOC_SNAP_DESTROY_V2,
		0xc0506617, /* FS_IOC_ADD_ENCRYPTION_KEY */
		0xc0406618, /* FS_IOC_REMOVE_ENCRYPTION_KEY */
	};

	return is_one_of(command, refused, COUNT(refused)) ? REFUSED(EPERM) : ALLOW;
}

static uint32_t namespaces_answer(const struct guard_policy *policy, uint32_t flags)
{
	uint32_t refused = policy->allow_nesting ? 0 : 0x06020000; /* mounts, UTS, cgroups */

	if (!policy->allow_userns)
		refused |= 0x78000000; /* IPC, users, processes, network */
	return flags & refused ? REFUSED(EPERM) : ALLOW;
}

static uint32_t unshare_answer(const struct guard_policy *policy, uint32_t flags)
{
	/* VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, and the eight kinds of namespaces. */
	const uint32_t known = 0xf00 | 0x10000 | 0x40000 | 0x7e020080;

	if (flags & ~known)
		return REFUSED(EINVAL);
	return flags & 0x80 /* time */ ? REFUSED(EPERM) : namespaces_answer(policy, flags);
}

static uint32_t inet_answer(const struct guard_policy *policy, uint32_t type, uint32_t protocol)
{
	static const uint32_t types[] = { 3, 5, 6, 10 }; /* raw, seqpacket, DCCP, packet */
	static const uint32_t protocols[] = { 33, 132, 256, 262 }; /* DCCP, SCTP, SMC, MPTCP */

	type &= 15;
	if (policy->net == GUARD_NET_PORTS)
		return type == 1 && (protocol == 0 || protocol == 6) ? ALLOW
								     : REFUSED(EPROTONOSUPPORT);
	return is_one_of(type, types, COUNT(types)) ||
			       is_one_of(protocol, protocols, COUNT(protocols))
		       ? REFUSED(EPROTONOSUPPORT)
		       : ALLOW;
}

static uint32_t socket_answer(const struct guard_policy *policy, const uint32_t arg[])
{
	switch (arg[0]) {
	case 1: /* UNIX */
		return ALLOW;
	case 2: /* IPv4 */
	case 10:
		return inet_answer(policy, arg[1], arg[2]);
	case 16: /* netlink */
		return arg[2] == 0 ? ALLOW : REFUSED(EPROTONOSUPPORT);
	default:
		return REFUSED(EAFNOSUPPORT);
	}
}

static uint32_t personality_answer(uint32_t persona)
{
	static const uint32_t plain[] = { 0, 8, 0x20000, 0x20008, 0x40000, 0xffffffff };

	return is_one_of(persona, plain, COUNT(plain)) ? ALLOW : REFUSED(EPERM);
}

/* The mode's place among the arguments, or -1: the call gives none. */
static int mode_of(int number, const uint32_t arg[])
{
	const uint32_t makes = 0100 | 020000000; /* O_CREAT, O_TMPFILE without O_DIRECTORY */

	switch (number) {
	case SYS_chmod:
	case SYS_fchmod:
	case SYS_creat:
	case SYS_mknod:
		return 1;
	case SYS_fchmodat:
	case SYS_mknodat:
	case 452: /* fchmodat2 */
		return 2;
	case SYS_open:
		return arg[1] & makes ? 2 : -1;
	case SYS_openat:
		return arg[2] & makes ? 3 : -1;
	default:
		return -1;
	}
}

static uint32_t port_answer(const struct guard_policy *policy, int number, const uint32_t arg[])
{
	const uint32_t fast = 0x20000000; /* MSG_FASTOPEN */

	switch (number) {
	case SYS_listen:
		return policy->ports.bind.count == 0 ? REFUSED(EACCES) : ALLOW;
	case SYS_sendmsg:
		return arg[2] & fast ? REFUSED(EOPNOTSUPP) : ALLOW;
	case SYS_sendto:
	case SYS_sendmmsg:
		return arg[3] & fast ? REFUSED(EOPNOTSUPP) : ALLOW;
	case SYS_setsockopt:
		return arg[1] == 6 && arg[2] == 31 ? REFUSED(ENOENT) : ALLOW;
	default:
		return ALLOW;
	}
}

static bool has(const char *name, const char (*names)[24], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool is_judged(const char *name)
{
	for (size_t i = 0; i < COUNT(guard_judged_calls); i++)
		if (strcmp(guard_judged_calls[i], name) == 0)
			return true;
	return false;
}

static bool is_opened(const struct guard_policy *policy, enum guard_opener opener)
{
	return (opener == GUARD_BY_USERNS && policy->allow_userns) ||
	       (opener == GUARD_BY_SET_ID && policy->allow_set_id) ||
	       (opener == GUARD_BY_NESTING && policy->allow_nesting);
}

/* By the tables alone. */
static uint32_t table_answer(const struct guard_policy *policy, int number)
{
	bool strict = policy->seccomp == GUARD_SECCOMP_STRICT;
	const char *name = guard_call_name(number);

	if (name == NULL)
		return strict ? REFUSED(ENOSYS) : ALLOW;
	for (size_t i = 0; i < COUNT(guard_calls); i++)
		if (strcmp(guard_calls[i].name, name) == 0)
			return is_opened(policy, guard_calls[i].opened_by)
				       ? ALLOW
				       : REFUSED(guard_calls[i].error);
	if (!strict || is_judged(name) || has(name, guard_strict_calls, COUNT(guard_strict_calls)))
		return ALLOW;
	for (size_t i = 0; i < COUNT(guard_strict_refused); i++)
		if (strcmp(guard_strict_refused[i].name, name) == 0)
			return REFUSED(guard_strict_refused[i].error);
	return REFUSED(ENOSYS);
}

static uint32_t argument_answer(const struct guard_policy *policy, int number, const uint32_t arg[])
{
	int mode = mode_of(number, arg);

	switch (number) {
	case SYS_ioctl:
		return ioctl_answer(arg[1]);
	case SYS_unshare:
		return unshare_answer(policy, arg[0]);
	case SYS_clone:
		return namespaces_answer(policy, arg[0]);
	case SYS_personality:
		return personality_answer(arg[0]);
	case SYS_socket:
		return socket_answer(policy, arg);
	case SYS_socketpair:
		return arg[0] == 1 ? ALLOW : REFUSED(EAFNOSUPPORT);
	}
	if (mode >= 0 && !policy->allow_set_id)
		return arg[mode] & 06000 ? REFUSED(EPERM) : ALLOW;
	return policy->net == GUARD_NET_PORTS ? port_answer(policy, number, arg) : ALLOW;
}

static uint32_t wanted(const struct guard_policy *policy, const struct seccomp_data *data)
{
	const struct guard_call_rule *rule = guard_policy_call(policy, data->nr);
	uint32_t arg[6];
	uint32_t answer;

	if (data->arch != NATIVE)
		return SECCOMP_RET_KILL_PROCESS;
	if (rule != NULL)
		return rule->error == 0 ? ALLOW : REFUSED(rule->error);
	if (data->nr == -1)
		return ALLOW;
	if (data->nr < 0 || data->nr > 452)
		return REFUSED(ENOSYS);
	for (size_t i = 0; i < COUNT(arg); i++)
		arg[i] = (uint32_t)data->args[i];
	answer = table_answer(policy, data->nr);
	return answer == ALLOW ? argument_answer(policy, data->nr, arg) : answer;
}

/* --- asking ------------------------------------------------------------------------------- */

static void compare(const struct guard_policy *policy, const struct sock_fprog *filter,
		    const struct seccomp_data *data)
{
	uint32_t answer = guard_asking_answer(filter, data);
	uint32_t right = wanted(policy, data);

	if (answer != right)
		fail_msg("call %d(0x%llx, 0x%llx, 0x%llx, 0x%llx) of 0x%x: 0x%x, not 0x%x; userns "
			 "%d, set-id %d, nesting %d, strict %d, network %d, bind %zu, own %zu",
			 data->nr, data->args[0], data->args[1], data->args[2], data->args[3],
			 data->arch, answer, right, policy->allow_userns, policy->allow_set_id,
			 policy->allow_nesting, policy->seccomp == GUARD_SECCOMP_STRICT,
			 policy->net, policy->ports.bind.count, policy->call_count);
}

/* Each bit, each value that something is compared with, and their neighbours. */
static size_t interesting(uint32_t ret[VALUES_MAX])
{
	static const uint32_t centers[] = {
		TIOCSTI,
		TIOCLINUX,
		TIOCSETD,
		BTRFS_IOC_SNAP_CREATE,
		BTRFS_IOC_SNAP_CREATE_V2,
		BTRFS_IOC_SNAP_DESTROY,
		BTRFS_IOC_SNAP_DESTROY_V2,
		0xc0506617,
		0xc0406618,
		0x20008,
		0x40000,
		16,
		6,
		31,
		33,
		132,
		256,
		262,
		06777,
		O_TMPFILE | O_RDWR,
		O_CREAT | O_EXCL,
	};
	size_t count = 0;

	for (uint32_t bit = 0; bit < 32; bit++) {
		ret[count++] = UINT32_C(1) << bit;
		ret[count++] = ~(UINT32_C(1) << bit);
		ret[count++] = (UINT32_C(1) << bit) - 1;
	}
	for (size_t i = 0; i < COUNT(centers); i++)
		for (uint32_t near = 0; near < 3; near++)
			ret[count++] = centers[i] - 1 + near;
	assert_true(count <= VALUES_MAX);
	return count;
}

static void every_number_has_the_answer_of_the_manual(void **state)
{
	static const struct {
		uint32_t first, count;
	} spans[] = {
		{ 0, 1 << 17 },		 { 0x40000000, 1 << 12 }, { 0x80000000, 1 << 10 },
		{ 0xc0000000, 1 << 10 }, { 0xfffffc00, 1 << 10 },
	};

	(void)state;
	for (unsigned int which = 0; which < VARIANTS; which++) {
		struct guard_policy policy;
		struct sock_fprog filter;

		choose(&policy, which);
		filter = guard_filter(&policy);
		for (size_t i = 0; i < COUNT(spans); i++)
			for (uint32_t at = 0; at < spans[i].count; at++) {
				struct seccomp_data data = { .nr = (int)(spans[i].first + at),
							     .arch = NATIVE };

				compare(&policy, &filter, &data);
			}
		guard_policy_free(&policy);
	}
}

static void no_other_architecture_gets_in(void **state)
{
	static const uint32_t others[] = { AUDIT_ARCH_I386,    AUDIT_ARCH_AARCH64,
					   AUDIT_ARCH_RISCV64, 0,
					   NATIVE ^ 1,	       NATIVE ^ 0x80000000,
					   0xffffffff };

	(void)state;
	for (unsigned int which = 0; which < VARIANTS; which++) {
		struct guard_policy policy;
		struct sock_fprog filter;

		choose(&policy, which);
		assert_int_equal(guard_policy_add_call(&policy, "keyctl", 0,
						       (struct guard_place){ 0 }),
				 0);
		assert_int_equal(guard_own_filter(&policy, NULL), 0);
		filter = guard_filter(&policy);
		for (size_t i = 0; i < COUNT(others); i++)
			for (int number = -2; number <= 600; number++) {
				struct seccomp_data data = { .nr = number, .arch = others[i] };

				compare(&policy, &filter, &data);
			}
		guard_policy_free(&policy);
	}
}

/* Some judge looks at an argument of it. */
static bool has_judge(int number)
{
	static const int calls[] = {
		SYS_ioctl,	 SYS_clone,  SYS_unshare, SYS_socket,	SYS_socketpair,
		SYS_personality, SYS_chmod,  SYS_fchmod,  SYS_fchmodat, 452,
		SYS_open,	 SYS_openat, SYS_creat,	  SYS_mknod,	SYS_mknodat,
		SYS_listen,	 SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_setsockopt,
	};

	for (size_t i = 0; i < COUNT(calls); i++)
		if (calls[i] == number)
			return true;
	return false;
}

/* All arguments but one are harmless, or are so in what the kernel looks at. */
static void compare_argument(const struct guard_policy *policy, const struct sock_fprog *filter,
			     int number, size_t place, uint32_t value)
{
	static const uint64_t high[] = { 0, UINT64_C(1) << 32, UINT64_C(0xffffffff) << 32 };

	for (size_t h = 0; h < COUNT(high); h++) {
		struct seccomp_data data = { .nr = number, .arch = NATIVE };

		for (size_t i = 0; i < COUNT(data.args); i++)
			data.args[i] = high[h];
		data.args[place] |= value;
		compare(policy, filter, &data);
	}
}

static void compare_arguments(const struct guard_policy *policy, const uint32_t *values,
			      size_t count)
{
	struct sock_fprog filter = guard_filter(policy);

	for (int number = 0; number <= 452; number++)
		for (size_t place = 0; place < 6; place++)
			for (size_t i = 0; i < (has_judge(number) ? count : 2); i++)
				compare_argument(policy, &filter, number, place, values[i]);
}

static void arguments_have_the_answers_of_the_manual(void **state)
{
	uint32_t values[VALUES_MAX];
	size_t count = interesting(values);

	(void)state;
	for (unsigned int which = 0; which < VARIANTS; which++) {
		struct guard_policy policy;

		choose(&policy, which);
		compare_arguments(&policy, values, count);
		guard_policy_free(&policy);
	}
}

/* Those that look at two or three of them: two from the `place` on. */
static void compare_together(const struct guard_policy *policy, const struct seccomp_data *call,
			     size_t place)
{
	struct sock_fprog filter = guard_filter(policy);
	uint32_t values[VALUES_MAX];
	size_t count = interesting(values);

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j += j < 96 ? 5 : 1) {
			struct seccomp_data data = *call;

			data.arch = NATIVE;
			data.args[place] = values[i];
			data.args[place + 1] = values[j];
			compare(policy, &filter, &data);
		}
}

static void arguments_are_judged_together(void **state)
{
	static const struct {
		struct seccomp_data call;
		size_t place;
	} calls[] = {
		{ { .nr = SYS_socket, .args = { AF_UNIX } }, 1 },
		{ { .nr = SYS_socket, .args = { AF_INET } }, 1 },
		{ { .nr = SYS_socket, .args = { AF_INET6 } }, 1 },
		{ { .nr = SYS_socket, .args = { AF_NETLINK } }, 1 },
		{ { .nr = SYS_socket, .args = { UINT64_C(1) << 32 | AF_INET } }, 1 },
		{ { .nr = SYS_socket, .args = { AF_VSOCK } }, 1 },
		{ { .nr = SYS_setsockopt }, 1 },
		{ { .nr = SYS_open }, 1 },
		{ { .nr = SYS_openat }, 2 },
	};

	(void)state;
	for (unsigned int which = 0; which < VARIANTS; which++) {
		struct guard_policy policy;

		choose(&policy, which);
		for (size_t i = 0; i < COUNT(calls); i++)
			compare_together(&policy, &calls[i].call, calls[i].place);
		guard_policy_free(&policy);
	}
}

/* Each call that may be named, one kind of word for every third. */
static void name_calls(struct guard_policy *policy)
{
	static const int words[] = { 0, EPERM, GUARD_ERRNO_MAX };

	for (int number = 0; number <= 600; number++) {
		const char *name = guard_call_name(number);

		if (name != NULL)
			(void)guard_policy_add_call(policy, name, words[number % 3],
						    (struct guard_place){ 0 });
	}
	assert_true(policy->call_count > 150);
	assert_int_equal(guard_own_filter(policy, NULL), 0);
}

static void a_policys_own_words_change_nothing_but_what_they_name(void **state)
{
	uint32_t values[VALUES_MAX];
	size_t count = interesting(values);

	(void)state;
	for (unsigned int which = 0; which < VARIANTS; which++) {
		struct guard_policy policy;
		struct sock_fprog filter;

		choose(&policy, which);
		name_calls(&policy);
		filter = guard_filter(&policy);
		for (uint32_t low = 0; low < 1 << 13; low++) {
			struct seccomp_data data = { .nr = (int)(0x40000000 | low),
						     .arch = NATIVE };

			compare(&policy, &filter, &data);
			data.nr = (int)(low - 4);
			compare(&policy, &filter, &data);
		}
		compare_arguments(&policy, values, count / 8);
		guard_policy_free(&policy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_has_the_answer_of_the_manual),
		cmocka_unit_test(no_other_architecture_gets_in),
		cmocka_unit_test(arguments_have_the_answers_of_the_manual),
		cmocka_unit_test(arguments_are_judged_together),
		cmocka_unit_test(a_policys_own_words_change_nothing_but_what_they_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
