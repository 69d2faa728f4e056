/* Which system calls a confined command is refused, and with which answer. The one
 * table: policy/gen/make_filters.c turns it into the filters at build time, a test
 * compares it with fence-guard(1).
 *
 * EPERM says "refused". ENOSYS says "this kernel has none" and is for calls that
 * runtimes try first and can do without: refusing clone3 with EPERM stops every
 * thread of a glibc program, refusing it with ENOSYS makes glibc use clone. Calls
 * whose arguments decide (clone, unshare, ioctl, socket, personality) are in the
 * generator. */
#ifndef GUARD_POLICY_CALLS_H
#define GUARD_POLICY_CALLS_H

#include <errno.h>
#include <stdbool.h>

/* The highest number that the table was written for; what lies above is answered
 * ENOSYS, so that a call that we never judged is never open. */
#define GUARD_KNOWN_MAX 452 /* fchmodat2, 6.6 */

struct guard_call {
	const char *name;
	int error;
	bool with_userns; /* allowed by --allow-userns */
};

static const struct guard_call guard_calls[] = {
	/* Runtimes fall back from these. */
	{ "clone3", ENOSYS, false },
	{ "io_uring_setup", ENOSYS, false },
	{ "io_uring_enter", ENOSYS, false },
	{ "io_uring_register", ENOSYS, false },
	{ "userfaultfd", ENOSYS, false },
	{ "memfd_secret", ENOSYS, false },
	{ "open_tree", ENOSYS, false },
	{ "move_mount", ENOSYS, false },
	{ "fsopen", ENOSYS, false },
	{ "fsconfig", ENOSYS, false },
	{ "fsmount", ENOSYS, false },
	{ "fspick", ENOSYS, false },
	{ "mount_setattr", ENOSYS, false },
	/* Relics. */
	{ "kexec_file_load", ENOSYS, false },
	{ "_sysctl", ENOSYS, false },
	{ "uselib", ENOSYS, false },
	{ "ustat", ENOSYS, false },
	{ "sysfs", ENOSYS, false },
	{ "create_module", ENOSYS, false },
	{ "get_kernel_syms", ENOSYS, false },
	{ "query_module", ENOSYS, false },
	{ "nfsservctl", ENOSYS, false },
	{ "lookup_dcookie", ENOSYS, false },
	/* The view of files. */
	{ "mount", EPERM, false },
	{ "umount", EPERM, false },
	{ "umount2", EPERM, false },
	{ "pivot_root", EPERM, false },
	{ "chroot", EPERM, true },
	{ "setns", EPERM, false },
	{ "open_by_handle_at", EPERM, false },
	{ "quotactl", EPERM, false },
	{ "quotactl_fd", EPERM, false },
	{ "fanotify_init", EPERM, false },
	/* The machine. */
	{ "kexec_load", EPERM, false },
	{ "reboot", EPERM, false },
	{ "swapon", EPERM, false },
	{ "swapoff", EPERM, false },
	{ "init_module", EPERM, false },
	{ "finit_module", EPERM, false },
	{ "delete_module", EPERM, false },
	{ "acct", EPERM, false },
	{ "syslog", EPERM, false },
	{ "vhangup", EPERM, false },
	{ "clock_settime", EPERM, false },
	{ "clock_adjtime", EPERM, false },
	{ "adjtimex", EPERM, false },
	{ "settimeofday", EPERM, false },
	{ "stime", EPERM, false },
	{ "sethostname", EPERM, false },
	{ "setdomainname", EPERM, false },
	{ "iopl", EPERM, false },
	{ "ioperm", EPERM, false },
	{ "modify_ldt", EPERM, false },
	/* The kernel's inside and its keys. */
	{ "bpf", EPERM, false },
	{ "perf_event_open", EPERM, false },
	{ "keyctl", EPERM, false },
	{ "add_key", EPERM, false },
	{ "request_key", EPERM, false },
	/* Other processes. */
	{ "move_pages", EPERM, false },
	{ "migrate_pages", EPERM, false },
	{ "kcmp", EPERM, false },
	{ "pidfd_getfd", EPERM, false },
	{ "process_vm_readv", EPERM, false },
	{ "process_vm_writev", EPERM, false },
};

/* Whose arguments decide; the generator has a judge for each. */
static const char *const guard_judged_calls[] = {
	"ioctl", "clone", "unshare", "socket", "socketpair", "personality",
};

/* The same, with --net ports: alone. */
static const char *const guard_judged_port_calls[] = {
	"listen", "sendto", "sendmsg", "sendmmsg", "setsockopt",
};

#endif
