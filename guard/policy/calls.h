/* Which system calls a confined command is refused, and with which answer. The one
 * table: policy/gen/make_filters.c turns it into the filters at build time, a test
 * compares it with fence-guard(1).
 *
 * EPERM says "refused". ENOSYS says "this kernel has none" and is for calls that
 * runtimes try first and can do without: refusing clone3 with EPERM stops every
 * thread of a glibc program, refusing it with ENOSYS makes glibc use clone. Calls
 * whose arguments decide (clone, ioctl, socket, chmod...) are in the generator. */
#ifndef GUARD_POLICY_CALLS_H
#define GUARD_POLICY_CALLS_H

#include <errno.h>

/* The highest number that the table was written for; what lies above is answered
 * ENOSYS, so that a call that we never judged is never open. */
#define GUARD_KNOWN_MAX 452 /* fchmodat2, 6.6 */

/* What opens a call again. */
enum guard_opener {
	GUARD_BY_NOTHING,
	GUARD_BY_USERNS, /* --allow-userns */
	GUARD_BY_SET_ID, /* --allow-set-id */
};

/* May be newer than the library that knows the numbers; the same on every machine. */
static const struct {
	const char *name;
	int number;
} guard_new_calls[] = {
	{ "set_mempolicy_home_node", 450 },
	{ "cachestat", 451 },
	{ "fchmodat2", 452 },
};

struct guard_call {
	const char *name;
	int error;
	enum guard_opener opened_by;
};

static const struct guard_call guard_calls[] = {
	/* Runtimes fall back from these. */
	{ "clone3", ENOSYS, GUARD_BY_NOTHING },
	{ "io_uring_setup", ENOSYS, GUARD_BY_NOTHING },
	{ "io_uring_enter", ENOSYS, GUARD_BY_NOTHING },
	{ "io_uring_register", ENOSYS, GUARD_BY_NOTHING },
	{ "userfaultfd", ENOSYS, GUARD_BY_NOTHING },
	{ "memfd_secret", ENOSYS, GUARD_BY_NOTHING },
	{ "open_tree", ENOSYS, GUARD_BY_NOTHING },
	{ "move_mount", ENOSYS, GUARD_BY_NOTHING },
	{ "fsopen", ENOSYS, GUARD_BY_NOTHING },
	{ "fsconfig", ENOSYS, GUARD_BY_NOTHING },
	{ "fsmount", ENOSYS, GUARD_BY_NOTHING },
	{ "fspick", ENOSYS, GUARD_BY_NOTHING },
	{ "mount_setattr", ENOSYS, GUARD_BY_NOTHING },
	/* Has the mode of a file that it makes in memory, where a filter does not see it. */
	{ "openat2", ENOSYS, GUARD_BY_SET_ID },
	/* Relics. */
	{ "kexec_file_load", ENOSYS, GUARD_BY_NOTHING },
	{ "_sysctl", ENOSYS, GUARD_BY_NOTHING },
	{ "uselib", ENOSYS, GUARD_BY_NOTHING },
	{ "ustat", ENOSYS, GUARD_BY_NOTHING },
	{ "sysfs", ENOSYS, GUARD_BY_NOTHING },
	{ "create_module", ENOSYS, GUARD_BY_NOTHING },
	{ "get_kernel_syms", ENOSYS, GUARD_BY_NOTHING },
	{ "query_module", ENOSYS, GUARD_BY_NOTHING },
	{ "nfsservctl", ENOSYS, GUARD_BY_NOTHING },
	{ "lookup_dcookie", ENOSYS, GUARD_BY_NOTHING },
	/* The view of files. */
	{ "mount", EPERM, GUARD_BY_NOTHING },
	{ "umount", EPERM, GUARD_BY_NOTHING },
	{ "umount2", EPERM, GUARD_BY_NOTHING },
	{ "pivot_root", EPERM, GUARD_BY_NOTHING },
	{ "chroot", EPERM, GUARD_BY_USERNS },
	{ "setns", EPERM, GUARD_BY_NOTHING },
	{ "open_by_handle_at", EPERM, GUARD_BY_NOTHING },
	{ "quotactl", EPERM, GUARD_BY_NOTHING },
	{ "quotactl_fd", EPERM, GUARD_BY_NOTHING },
	{ "fanotify_init", EPERM, GUARD_BY_NOTHING },
	/* The machine. */
	{ "kexec_load", EPERM, GUARD_BY_NOTHING },
	{ "reboot", EPERM, GUARD_BY_NOTHING },
	{ "swapon", EPERM, GUARD_BY_NOTHING },
	{ "swapoff", EPERM, GUARD_BY_NOTHING },
	{ "init_module", EPERM, GUARD_BY_NOTHING },
	{ "finit_module", EPERM, GUARD_BY_NOTHING },
	{ "delete_module", EPERM, GUARD_BY_NOTHING },
	{ "acct", EPERM, GUARD_BY_NOTHING },
	{ "syslog", EPERM, GUARD_BY_NOTHING },
	{ "vhangup", EPERM, GUARD_BY_NOTHING },
	{ "clock_settime", EPERM, GUARD_BY_NOTHING },
	{ "clock_adjtime", EPERM, GUARD_BY_NOTHING },
	{ "adjtimex", EPERM, GUARD_BY_NOTHING },
	{ "settimeofday", EPERM, GUARD_BY_NOTHING },
	{ "stime", EPERM, GUARD_BY_NOTHING },
	{ "sethostname", EPERM, GUARD_BY_NOTHING },
	{ "setdomainname", EPERM, GUARD_BY_NOTHING },
	{ "iopl", EPERM, GUARD_BY_NOTHING },
	{ "ioperm", EPERM, GUARD_BY_NOTHING },
	{ "modify_ldt", EPERM, GUARD_BY_NOTHING },
	/* The kernel's inside and its keys. */
	{ "bpf", EPERM, GUARD_BY_NOTHING },
	{ "perf_event_open", EPERM, GUARD_BY_NOTHING },
	{ "keyctl", EPERM, GUARD_BY_NOTHING },
	{ "add_key", EPERM, GUARD_BY_NOTHING },
	{ "request_key", EPERM, GUARD_BY_NOTHING },
	/* Other processes. */
	{ "move_pages", EPERM, GUARD_BY_NOTHING },
	{ "migrate_pages", EPERM, GUARD_BY_NOTHING },
	{ "kcmp", EPERM, GUARD_BY_NOTHING },
	{ "pidfd_getfd", EPERM, GUARD_BY_NOTHING },
	{ "process_vm_readv", EPERM, GUARD_BY_NOTHING },
	{ "process_vm_writev", EPERM, GUARD_BY_NOTHING },
};

/* Whose arguments decide; the generator has a judge for each. */
static const char *const guard_judged_calls[] = {
	"ioctl", "clone", "unshare", "socket", "socketpair", "personality",
};

/* The same, but with --allow-set-id: what makes a file, or gives one its mode. */
static const char *const guard_judged_mode_calls[] = {
	"chmod", "fchmod", "fchmodat", "fchmodat2", "open", "openat", "creat", "mknod", "mknodat",
};

/* With --net ports: alone. */
static const char *const guard_judged_port_calls[] = {
	"listen", "sendto", "sendmsg", "sendmmsg", "setsockopt",
};

#endif
