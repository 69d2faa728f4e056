/* The filters as they are built in, run by an interpreter of the classic BPF that
 * seccomp takes: what each answers, without being confined ourselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/btrfs.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "guard/policy/calls.h"
#include "guard_call_names.h"
#include "guard_filters.h"

#define REFUSED(error) (SECCOMP_RET_ERRNO | (error))

static uint32_t load(const struct seccomp_data *data, uint32_t offset)
{
	uint32_t word;

	assert_true(offset % 4 == 0 && offset + 4 <= sizeof(*data));
	memcpy(&word, (const char *)data + offset, sizeof(word));
	return word;
}

static size_t jump(const struct sock_filter *line, uint32_t accumulator)
{
	switch (BPF_OP(line->code)) {
	case BPF_JA:
		return line->k;
	case BPF_JEQ:
		return accumulator == line->k ? line->jt : line->jf;
	case BPF_JGT:
		return accumulator > line->k ? line->jt : line->jf;
	case BPF_JGE:
		return accumulator >= line->k ? line->jt : line->jf;
	case BPF_JSET:
		return accumulator & line->k ? line->jt : line->jf;
	}
	fail_msg("unknown jump 0x%x", line->code);
	return 0;
}

static uint32_t run(const struct sock_filter *filter, size_t count, const struct seccomp_data *data)
{
	uint32_t accumulator = 0;

	for (size_t at = 0; at < count; at++) {
		const struct sock_filter *line = &filter[at];

		if (line->code == (BPF_LD | BPF_W | BPF_ABS))
			accumulator = load(data, line->k);
		else if (line->code == (BPF_ALU | BPF_AND | BPF_K))
			accumulator &= line->k;
		else if (line->code == (BPF_RET | BPF_K))
			return line->k;
		else if (BPF_CLASS(line->code) == BPF_JMP)
			at += jump(line, accumulator);
		else
			fail_msg("unknown instruction 0x%x", line->code);
	}
	fail_msg("the filter ends without an answer");
	return 0;
}

#define COUNT(filter) (sizeof(filter) / sizeof((filter)[0]))
#define NATIVE	      AUDIT_ARCH_X86_64

static uint32_t ask(uint32_t nr, uint64_t a, uint64_t b, uint64_t c)
{
	struct seccomp_data data = { .nr = (int)nr, .arch = NATIVE, .args = { a, b, c } };

	return run(filter_default, COUNT(filter_default), &data);
}

static uint32_t ask_userns(uint32_t nr, uint64_t a)
{
	struct seccomp_data data = { .nr = (int)nr, .arch = NATIVE, .args = { a } };

	return run(filter_default_userns, COUNT(filter_default_userns), &data);
}

static void ordinary_calls_pass(void **state)
{
	static const uint32_t calls[] = {
		SYS_read,	SYS_openat,	  SYS_execve, SYS_fork,
		SYS_wait4,	SYS_futex,	  SYS_mmap,   SYS_kill,
		SYS_rename,	SYS_ptrace,	  SYS_statx,  SYS_prctl,
		SYS_seccomp,	SYS_pidfd_open,	  SYS_splice, SYS_landlock_create_ruleset,
		SYS_epoll_wait, SYS_memfd_create,
	};

	(void)state;
	for (size_t i = 0; i < COUNT(calls); i++)
		assert_int_equal(ask(calls[i], 0, 0, 0), SECCOMP_RET_ALLOW);
}

static void a_foreign_architecture_is_killed(void **state)
{
	struct seccomp_data data = { .nr = 20, .arch = AUDIT_ARCH_I386 };

	(void)state;
	assert_int_equal(run(filter_default, COUNT(filter_default), &data),
			 SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(run(filter_default_userns, COUNT(filter_default_userns), &data),
			 SECCOMP_RET_KILL_PROCESS);
}

static void x32_numbers_and_numbers_above_the_table_do_not_exist(void **state)
{
	(void)state;
	assert_int_equal(ask(0x40000000 | SYS_mount, 0, 0, 0), REFUSED(ENOSYS));
	assert_int_equal(ask(0x40000000 | SYS_getpid, 0, 0, 0), REFUSED(ENOSYS));
	assert_int_equal(ask(GUARD_KNOWN_MAX + 1, 0, 0, 0), REFUSED(ENOSYS));
	assert_int_equal(ask(0x7fffffff, 0, 0, 0), REFUSED(ENOSYS));
	assert_int_equal(ask(GUARD_KNOWN_MAX, 0, 0, 0), SECCOMP_RET_ALLOW);
	/* A tracer's "skip this call". */
	assert_int_equal(ask(0xffffffff, 0, 0, 0), SECCOMP_RET_ALLOW);
}

static void refused_calls_get_their_answer(void **state)
{
	static const struct {
		uint32_t nr;
		uint32_t error;
	} calls[] = {
		{ SYS_mount, EPERM },
		{ SYS_umount2, EPERM },
		{ SYS_pivot_root, EPERM },
		{ SYS_chroot, EPERM },
		{ SYS_setns, EPERM },
		{ SYS_bpf, EPERM },
		{ SYS_perf_event_open, EPERM },
		{ SYS_keyctl, EPERM },
		{ SYS_kexec_load, EPERM },
		{ SYS_init_module, EPERM },
		{ SYS_iopl, EPERM },
		{ SYS_process_vm_readv, EPERM },
		{ SYS_open_by_handle_at, EPERM },
		{ SYS_clone3, ENOSYS },
		{ SYS_io_uring_setup, ENOSYS },
		{ SYS_userfaultfd, ENOSYS },
		{ SYS_move_mount, ENOSYS },
		{ SYS_memfd_secret, ENOSYS },
		{ SYS_mount_setattr, ENOSYS },
		{ SYS_kexec_file_load, ENOSYS },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(calls); i++)
		assert_int_equal(ask(calls[i].nr, 0, 0, 0), REFUSED(calls[i].error));
}

static void a_terminals_dangers_are_refused_on_the_low_32_bits(void **state)
{
	(void)state;
	assert_int_equal(ask(SYS_ioctl, 0, TIOCSTI, 0), REFUSED(EPERM));
	assert_int_equal(ask(SYS_ioctl, 0, UINT64_C(1) << 32 | TIOCSTI, 0), REFUSED(EPERM));
	assert_int_equal(ask(SYS_ioctl, 0, UINT64_C(0xffffffff00000000) | TIOCLINUX, 0),
			 REFUSED(EPERM));
	assert_int_equal(ask(SYS_ioctl, 0, TIOCSETD, 0), REFUSED(EPERM));
	assert_int_equal(ask(SYS_ioctl, 0, UINT64_C(0x7f00000000) | TIOCSETD, 0), REFUSED(EPERM));
	assert_int_equal(ask(SYS_ioctl, 0, TIOCGETD, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_ioctl, 0, TCGETS, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_ioctl, 0, TIOCSPGRP, 0), SECCOMP_RET_ALLOW);
}

static void no_snapshot_is_made_that_would_show_what_is_masked(void **state)
{
	(void)state;
	assert_int_equal(ask(SYS_ioctl, 3, BTRFS_IOC_SNAP_CREATE, 0), REFUSED(EPERM));
	assert_int_equal(ask(SYS_ioctl, 3, BTRFS_IOC_SNAP_CREATE_V2, 0), REFUSED(EPERM));
	assert_int_equal(ask(SYS_ioctl, 3, BTRFS_IOC_SUBVOL_CREATE, 0), SECCOMP_RET_ALLOW);
}

static void new_namespaces_are_refused_unless_they_are_allowed(void **state)
{
	static const uint64_t always[] = { CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWCGROUP };
	static const uint64_t for_browsers[] = { CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET,
						 CLONE_NEWIPC };

	(void)state;
	assert_int_equal(ask(SYS_clone, SIGCHLD, 0, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_unshare, CLONE_FILES, 0, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_unshare, 0x80, 0, 0), REFUSED(EPERM)); /* CLONE_NEWTIME */
	for (size_t i = 0; i < COUNT(always); i++) {
		assert_int_equal(ask(SYS_clone, always[i] | SIGCHLD, 0, 0), REFUSED(EPERM));
		assert_int_equal(ask(SYS_unshare, always[i], 0, 0), REFUSED(EPERM));
		assert_int_equal(ask_userns(SYS_clone, always[i]), REFUSED(EPERM));
		assert_int_equal(ask_userns(SYS_unshare, always[i]), REFUSED(EPERM));
	}
	for (size_t i = 0; i < COUNT(for_browsers); i++) {
		assert_int_equal(ask(SYS_clone, for_browsers[i] | SIGCHLD, 0, 0), REFUSED(EPERM));
		assert_int_equal(ask(SYS_unshare, for_browsers[i], 0, 0), REFUSED(EPERM));
		assert_int_equal(ask_userns(SYS_clone, for_browsers[i]), SECCOMP_RET_ALLOW);
		assert_int_equal(ask_userns(SYS_unshare, for_browsers[i]), SECCOMP_RET_ALLOW);
	}
	assert_int_equal(ask_userns(SYS_chroot, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask_userns(SYS_mount, 0), REFUSED(EPERM));
	assert_int_equal(ask_userns(SYS_clone3, 0), REFUSED(ENOSYS));
}

static void whoever_may_nest_makes_all_namespaces_but_that_of_time_and_mounts(void **state)
{
	static const uint32_t opened[] = { SYS_mount,	     SYS_umount2,   SYS_pivot_root,
					   SYS_setns,	     SYS_open_tree, SYS_move_mount,
					   SYS_fsopen,	     SYS_fsmount,   SYS_chroot,
					   SYS_mount_setattr };
	static const uint32_t shut[] = { SYS_open_by_handle_at, SYS_keyctl, SYS_bpf, SYS_quotactl };
	static const uint64_t kinds[] = { CLONE_NEWNS,	 CLONE_NEWUTS, CLONE_NEWCGROUP,
					  CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET,
					  CLONE_NEWIPC };
	struct seccomp_data data = { .arch = NATIVE };

	(void)state;
#define NESTING_ANSWER run(filter_default_nesting, COUNT(filter_default_nesting), &data)
	for (size_t i = 0; i < COUNT(opened); i++) {
		data.nr = (int)opened[i];
		assert_int_equal(NESTING_ANSWER, SECCOMP_RET_ALLOW);
	}
	for (size_t i = 0; i < COUNT(shut); i++) {
		data.nr = (int)shut[i];
		assert_int_equal(NESTING_ANSWER, REFUSED(EPERM));
	}
	for (size_t i = 0; i < COUNT(kinds); i++) {
		data.args[0] = kinds[i];
		data.nr = SYS_clone;
		assert_int_equal(NESTING_ANSWER, SECCOMP_RET_ALLOW);
		data.nr = SYS_unshare;
		assert_int_equal(NESTING_ANSWER, SECCOMP_RET_ALLOW);
	}
	data.args[0] = 0x80; /* CLONE_NEWTIME */
	assert_int_equal(NESTING_ANSWER, REFUSED(EPERM));
	data.nr = SYS_clone3;
	assert_int_equal(NESTING_ANSWER, REFUSED(ENOSYS));
}

static void only_usual_sockets_can_be_made(void **state)
{
	(void)state;
	assert_int_equal(ask(SYS_socket, AF_UNIX, SOCK_STREAM, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 6),
			 SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_socket, AF_INET6, SOCK_DGRAM, 17), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_socket, AF_NETLINK, SOCK_RAW, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_socket, AF_NETLINK, SOCK_RAW, 9), REFUSED(EPROTONOSUPPORT));
	for (uint64_t family = 0; family < 64; family++)
		if (family != AF_UNIX && family != AF_INET && family != AF_INET6 &&
		    family != AF_NETLINK)
			assert_int_equal(ask(SYS_socket, family, SOCK_STREAM, 0),
					 REFUSED(EAFNOSUPPORT));
	/* The kernel cuts the number to an int; so do we. */
	assert_int_equal(ask(SYS_socket, UINT64_C(1) << 32 | AF_PACKET, SOCK_RAW, 0),
			 REFUSED(EAFNOSUPPORT));
	assert_int_equal(ask(SYS_socket, AF_INET, SOCK_RAW | SOCK_NONBLOCK, 1),
			 REFUSED(EPROTONOSUPPORT));
	assert_int_equal(ask(SYS_socket, AF_INET6, SOCK_SEQPACKET, 132), REFUSED(EPROTONOSUPPORT));
	assert_int_equal(ask(SYS_socket, AF_INET, SOCK_STREAM, 132), REFUSED(EPROTONOSUPPORT));
	assert_int_equal(ask(SYS_socket, AF_INET, SOCK_STREAM, 262), REFUSED(EPROTONOSUPPORT));
	assert_int_equal(ask(SYS_socket, AF_INET, SOCK_STREAM, 256), REFUSED(EPROTONOSUPPORT));
	assert_int_equal(ask(SYS_socket, AF_INET, 6, 33), REFUSED(EPROTONOSUPPORT));
}

/* Of every filter that must answer alike, whatever else it is for. */
#define ASK_EACH(data, wanted, suffix)                                                             \
	do {                                                                                       \
		assert_int_equal(run(filter_default##suffix, COUNT(filter_default##suffix), data), \
				 wanted);                                                          \
		assert_int_equal(run(filter_ports##suffix, COUNT(filter_ports##suffix), data),     \
				 wanted);                                                          \
		assert_int_equal(run(filter_bind##suffix, COUNT(filter_bind##suffix), data),       \
				 wanted);                                                          \
	} while (0)

static void mode_is(uint32_t nr, uint64_t b, uint64_t c, uint64_t d, uint32_t wanted)
{
	struct seccomp_data data = { .nr = (int)nr, .arch = NATIVE, .args = { 3, b, c, d } };

	ASK_EACH(&data, wanted, );
	ASK_EACH(&data, wanted, _userns);
	ASK_EACH(&data, wanted, _strict);
	ASK_EACH(&data, wanted, _strict_userns);
	ASK_EACH(&data, SECCOMP_RET_ALLOW, _set_id);
	ASK_EACH(&data, SECCOMP_RET_ALLOW, _strict_set_id);
	ASK_EACH(&data, SECCOMP_RET_ALLOW, _set_id_userns);
}

static uint32_t wanted_of(uint64_t mode)
{
	return mode & 06000 ? REFUSED(EPERM) : SECCOMP_RET_ALLOW;
}

static void no_file_becomes_set_id(void **state)
{
	static const uint32_t second[] = { SYS_chmod, SYS_fchmod, SYS_creat, SYS_mknod };
	static const uint32_t third[] = { SYS_fchmodat, 452, SYS_mknodat };

	(void)state;
	for (uint64_t mode = 0; mode < 010000; mode++) {
		/* S_IFREG, and what the kernel does not look at. */
		uint64_t full = UINT64_C(0x600000000) | 0x70000 | 0100000 | mode;

		for (size_t i = 0; i < COUNT(second); i++)
			mode_is(second[i], full, 0, 0, wanted_of(mode));
		for (size_t i = 0; i < COUNT(third); i++)
			mode_is(third[i], 06000, full, 06000, wanted_of(mode));
		mode_is(SYS_open, O_CREAT | O_WRONLY, full, 0, wanted_of(mode));
		mode_is(SYS_openat, 06000, O_CREAT | O_RDWR, full, wanted_of(mode));
		mode_is(SYS_openat, 0, O_TMPFILE | O_RDWR, full, wanted_of(mode));
	}
	mode_is(SYS_openat2, 0, 0, 0, REFUSED(ENOSYS));
}

static void what_makes_no_file_has_no_mode(void **state)
{
	static const uint64_t high = (uint64_t)O_CREAT << 32;

	(void)state;
	mode_is(SYS_open, high | O_RDWR | O_DIRECTORY, 06777, 0, SECCOMP_RET_ALLOW);
	mode_is(SYS_openat, 0, high | O_RDONLY | O_DIRECTORY | O_CLOEXEC, 06777, SECCOMP_RET_ALLOW);
	mode_is(SYS_openat, O_CREAT, O_PATH, 06777, SECCOMP_RET_ALLOW);
	/* A folder gets no such bit from mkdir(2). */
	mode_is(SYS_mkdir, 06777, 0, 0, SECCOMP_RET_ALLOW);
	mode_is(SYS_mkdirat, 0, 06777, 0, SECCOMP_RET_ALLOW);
	mode_is(SYS_umask, 06000, 06000, 06000, SECCOMP_RET_ALLOW);
}

static uint32_t ask_ports(uint32_t nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct seccomp_data data = { .nr = (int)nr, .arch = NATIVE, .args = { a, b, c, d } };
	uint32_t ports = run(filter_ports, COUNT(filter_ports), &data);

	assert_int_equal(run(filter_ports_userns, COUNT(filter_ports_userns), &data), ports);
	assert_int_equal(run(filter_ports_set_id, COUNT(filter_ports_set_id), &data), ports);
	if (nr != SYS_listen) {
		assert_int_equal(run(filter_bind, COUNT(filter_bind), &data), ports);
		assert_int_equal(run(filter_bind_userns, COUNT(filter_bind_userns), &data), ports);
	}
	return ports;
}

static void beside_ports_there_is_tcp_alone(void **state)
{
	(void)state;
	for (uint64_t family = AF_INET; family <= AF_INET6; family += AF_INET6 - AF_INET) {
		for (uint64_t type = 0; type < 16; type++)
			for (uint64_t protocol = 0; protocol < 300; protocol++)
				assert_int_equal(ask_ports(SYS_socket, family,
							   type | SOCK_CLOEXEC | SOCK_NONBLOCK,
							   protocol, 0),
						 type == SOCK_STREAM &&
								 (protocol == 0 || protocol == 6)
							 ? SECCOMP_RET_ALLOW
							 : REFUSED(EPROTONOSUPPORT));
	}
	assert_int_equal(ask_ports(SYS_socket, AF_UNIX, SOCK_DGRAM, 0, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask_ports(SYS_socket, AF_NETLINK, SOCK_RAW, 0, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask_ports(SYS_socket, AF_PACKET, SOCK_RAW, 0, 0), REFUSED(EAFNOSUPPORT));
}

static void beside_ports_no_send_call_connects(void **state)
{
	static const uint64_t high = UINT64_C(1) << 32;
	uint64_t fast = high | MSG_FASTOPEN | MSG_NOSIGNAL;

	(void)state;
	assert_int_equal(ask_ports(SYS_sendto, 3, 0, 1, fast), REFUSED(EOPNOTSUPP));
	assert_int_equal(ask_ports(SYS_sendmsg, 3, 0, fast, 0), REFUSED(EOPNOTSUPP));
	assert_int_equal(ask_ports(SYS_sendmmsg, 3, 0, 1, fast), REFUSED(EOPNOTSUPP));
	assert_int_equal(ask_ports(SYS_sendto, 3, 0, fast, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask_ports(SYS_sendmsg, 3, 0, MSG_NOSIGNAL, fast), SECCOMP_RET_ALLOW);
	assert_int_equal(ask_ports(SYS_sendmmsg, 3, 0, fast, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_sendmsg, 3, 0, fast), SECCOMP_RET_ALLOW);
}

static void beside_ports_a_socket_stays_what_it_is(void **state)
{
	static const uint64_t high = UINT64_C(1) << 32;

	(void)state;
	assert_int_equal(ask_ports(SYS_setsockopt, 3, high | 6, high | 31, 0), REFUSED(ENOENT));
	assert_int_equal(ask_ports(SYS_setsockopt, 3, 6, 1, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask_ports(SYS_setsockopt, 3, 1, 31, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_setsockopt, 3, 6, 31), SECCOMP_RET_ALLOW);
}

static void without_ports_of_its_own_nothing_listens(void **state)
{
	struct seccomp_data data = { .nr = SYS_listen, .arch = NATIVE };

	(void)state;
	assert_int_equal(ask_ports(SYS_listen, 3, 1, 0, 0), REFUSED(EACCES));
	assert_int_equal(run(filter_bind, COUNT(filter_bind), &data), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_listen, 3, 1, 0), SECCOMP_RET_ALLOW);
}

static void only_unix_sockets_come_in_pairs(void **state)
{
	(void)state;
	assert_int_equal(ask(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0), SECCOMP_RET_ALLOW);
	for (uint64_t family = 0; family < 64; family++)
		if (family != AF_UNIX)
			assert_int_equal(ask(SYS_socketpair, family, SOCK_STREAM, 0),
					 REFUSED(EAFNOSUPPORT));
}

static void odd_personalities_are_refused(void **state)
{
	(void)state;
	assert_int_equal(ask(SYS_personality, PER_LINUX, 0, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_personality, 0xffffffff, 0, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_personality, ADDR_NO_RANDOMIZE, 0, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(ask(SYS_personality, READ_IMPLIES_EXEC, 0, 0), REFUSED(EPERM));
	assert_int_equal(ask(SYS_personality, MMAP_PAGE_ZERO, 0, 0), REFUSED(EPERM));
}

/* --- --strict ------------------------------------------------------------------------- */

struct filter {
	const struct sock_filter *lines;
	size_t count;
};

#define FILTERS(net)                                                                               \
	{ filter_##net, COUNT(filter_##net) },                                                     \
		{ filter_##net##_userns, COUNT(filter_##net##_userns) },                           \
		{ filter_##net##_set_id, COUNT(filter_##net##_set_id) },                           \
	{                                                                                          \
		filter_##net##_set_id_userns, COUNT(filter_##net##_set_id_userns)                  \
	}

/* Four of a network: user namespaces are allowed in the second and fourth, set-id files in
 * the last two. */
static const struct filter usual[] = { FILTERS(default), FILTERS(ports), FILTERS(bind) };
static const struct filter strict[] = { FILTERS(default_strict), FILTERS(ports_strict),
					FILTERS(bind_strict) };

static uint32_t ask_filter(const struct filter *filter, const struct seccomp_data *data)
{
	return run(filter->lines, filter->count, data);
}

static bool is_open(size_t filter, enum guard_opener opener)
{
	return (opener == GUARD_BY_USERNS && filter % 2 == 1) ||
	       (opener == GUARD_BY_SET_ID && filter % 4 >= 2);
}

static bool has(const char *name, const char (*names)[24], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static const struct guard_call *find(const char *name, const struct guard_call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(calls[i].name, name) == 0)
			return &calls[i];
	return NULL;
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool is_judged(const char *name)
{
	return is_among(name, guard_judged_calls, COUNT(guard_judged_calls)) ||
	       is_among(name, guard_judged_mode_calls, COUNT(guard_judged_mode_calls)) ||
	       is_among(name, guard_judged_port_calls, COUNT(guard_judged_port_calls));
}

static void every_call_was_decided_about_for_the_list_and_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(guard_call_names); i++) {
		const char *name = guard_call_names[i];
		int times = has(name, guard_strict_calls, COUNT(guard_strict_calls));

		times += find(name, guard_calls, COUNT(guard_calls)) != NULL;
		times += find(name, guard_strict_refused, COUNT(guard_strict_refused)) != NULL;
		if (times == 0)
			times += is_judged(name);
		if (times != 1)
			fail_msg("%s is in %d lists", name, times);
	}
}

static void the_list_has_the_answers_of_its_tables(void **state)
{
	(void)state;
	for (uint32_t nr = 0; nr <= 600; nr++) {
		struct seccomp_data data = { .nr = (int)nr, .arch = NATIVE };
		const char *name = nr < COUNT(guard_call_numbers) ? guard_call_numbers[nr] : "";
		const struct guard_call *call = find(name, guard_calls, COUNT(guard_calls));

		if (is_judged(name))
			continue;
		if (call == NULL)
			call = find(name, guard_strict_refused, COUNT(guard_strict_refused));
		for (size_t i = 0; i < COUNT(strict); i++) {
			uint32_t wanted = REFUSED(ENOSYS);

			if (has(name, guard_strict_calls, COUNT(guard_strict_calls)) ||
			    (call != NULL && is_open(i, call->opened_by)))
				wanted = SECCOMP_RET_ALLOW;
			else if (call != NULL)
				wanted = REFUSED((uint32_t)call->error);
			assert_int_equal(ask_filter(&strict[i], &data), wanted);
		}
	}
}

static void beside_the_list_arguments_decide_as_without(void **state)
{
	static const struct seccomp_data calls[] = {
		{ .nr = SYS_ioctl, .args = { 0, UINT64_C(1) << 32 | TIOCSTI } },
		{ .nr = SYS_ioctl, .args = { 0, TCGETS } },
		{ .nr = SYS_clone, .args = { CLONE_NEWUSER } },
		{ .nr = SYS_clone, .args = { CLONE_NEWNS } },
		{ .nr = SYS_clone, .args = { SIGCHLD } },
		{ .nr = SYS_unshare, .args = { CLONE_NEWNET } },
		{ .nr = SYS_socket, .args = { AF_PACKET, SOCK_RAW } },
		{ .nr = SYS_socket, .args = { AF_INET, SOCK_DGRAM } },
		{ .nr = SYS_socket, .args = { AF_UNIX, SOCK_DGRAM } },
		{ .nr = SYS_socketpair, .args = { AF_INET } },
		{ .nr = SYS_personality, .args = { READ_IMPLIES_EXEC } },
		{ .nr = SYS_chmod, .args = { 0, 04755 } },
		{ .nr = SYS_openat, .args = { 0, 0, O_CREAT, 02644 } },
		{ .nr = SYS_openat, .args = { 0, 0, 0, 02644 } },
		{ .nr = SYS_openat2 },
		{ .nr = SYS_listen },
		{ .nr = SYS_sendmsg, .args = { 3, 0, MSG_FASTOPEN } },
		{ .nr = SYS_setsockopt, .args = { 3, 6, 31 } },
		{ .nr = 0x40000000 | SYS_read },
		{ .nr = -1 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(strict); i++) {
		struct seccomp_data foreign = { .nr = 20, .arch = AUDIT_ARCH_I386 };

		assert_int_equal(ask_filter(&strict[i], &foreign), SECCOMP_RET_KILL_PROCESS);
		for (size_t c = 0; c < COUNT(calls); c++) {
			struct seccomp_data data = calls[c];

			data.arch = NATIVE;
			assert_int_equal(ask_filter(&strict[i], &data),
					 ask_filter(&usual[i], &data));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_calls_pass),
		cmocka_unit_test(a_foreign_architecture_is_killed),
		cmocka_unit_test(x32_numbers_and_numbers_above_the_table_do_not_exist),
		cmocka_unit_test(refused_calls_get_their_answer),
		cmocka_unit_test(a_terminals_dangers_are_refused_on_the_low_32_bits),
		cmocka_unit_test(new_namespaces_are_refused_unless_they_are_allowed),
		cmocka_unit_test(whoever_may_nest_makes_all_namespaces_but_that_of_time_and_mounts),
		cmocka_unit_test(only_usual_sockets_can_be_made),
		cmocka_unit_test(no_snapshot_is_made_that_would_show_what_is_masked),
		cmocka_unit_test(no_file_becomes_set_id),
		cmocka_unit_test(what_makes_no_file_has_no_mode),
		cmocka_unit_test(beside_ports_there_is_tcp_alone),
		cmocka_unit_test(beside_ports_no_send_call_connects),
		cmocka_unit_test(beside_ports_a_socket_stays_what_it_is),
		cmocka_unit_test(without_ports_of_its_own_nothing_listens),
		cmocka_unit_test(only_unix_sockets_come_in_pairs),
		cmocka_unit_test(odd_personalities_are_refused),
		cmocka_unit_test(every_call_was_decided_about_for_the_list_and_once),
		cmocka_unit_test(the_list_has_the_answers_of_its_tables),
		cmocka_unit_test(beside_the_list_arguments_decide_as_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
