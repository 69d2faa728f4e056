/* Which system calls a confined command is refused, and with which answer. The one
 * table: policy/gen/make_filters.c turns it into the filters at build time, a test
 * compares it with fence-guard(1).
 *
 * EPERM says "refused". ENOSYS says "this kernel has none" and is for calls that
 * runtimes try first and can do without: refusing clone3 with EPERM stops every
 * thread of a glibc program, refusing it with ENOSYS makes glibc use clone. Calls
 * whose arguments decide (clone, ioctl, socket, chmod...) are in the generator.
 * --strict has all of this, and a list of what is left to be allowed. */
#ifndef GUARD_POLICY_CALLS_H
#define GUARD_POLICY_CALLS_H

#include <errno.h>

/* The highest number that the table was written for; what lies above is answered
 * ENOSYS, so that a call that we never judged is never open. */
#define GUARD_KNOWN_MAX 452 /* fchmodat2, 6.6 */

/* What opens a call again. */
enum guard_opener {
	GUARD_BY_NOTHING,
	GUARD_BY_USERNS,  /* --allow-userns */
	GUARD_BY_SET_ID,  /* --allow-set-id */
	GUARD_BY_NESTING, /* --allow-nesting, which opens what --allow-userns does as well */
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

/* No pointers here: each would have to be relocated at every start of fence-guard. */
struct guard_call {
	char name[24];
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
	{ "open_tree", ENOSYS, GUARD_BY_NESTING },
	{ "move_mount", ENOSYS, GUARD_BY_NESTING },
	{ "fsopen", ENOSYS, GUARD_BY_NESTING },
	{ "fsconfig", ENOSYS, GUARD_BY_NESTING },
	{ "fsmount", ENOSYS, GUARD_BY_NESTING },
	{ "fspick", ENOSYS, GUARD_BY_NESTING },
	{ "mount_setattr", ENOSYS, GUARD_BY_NESTING },
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
	{ "mount", EPERM, GUARD_BY_NESTING },
	{ "umount", EPERM, GUARD_BY_NOTHING },
	{ "umount2", EPERM, GUARD_BY_NESTING },
	{ "pivot_root", EPERM, GUARD_BY_NESTING },
	{ "chroot", EPERM, GUARD_BY_USERNS },
	{ "setns", EPERM, GUARD_BY_NESTING },
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
	{ "sethostname", EPERM, GUARD_BY_NESTING },
	{ "setdomainname", EPERM, GUARD_BY_NESTING },
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

/* --strict is a list of what is allowed. It has what compilers, interpreters, package
 * builds, shells and their tools were seen to call, what the C library may call in the
 * place of that on another machine, and the rest of each such family (all of files, of
 * signals, of timers...), so that a program does not work by chance alone. What is not
 * there is ENOSYS, whoever adds it to the kernel: */
/* clang-format off */
static const char guard_strict_calls[][24] = {
	/* Files. */
	"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev",
	"preadv2", "pwritev2", "lseek", "open", "openat", "creat", "close",
	"close_range", "dup", "dup2", "dup3", "fcntl", "flock", "fsync", "fdatasync", "sync",
	"syncfs", "sync_file_range", "fallocate", "fadvise64", "readahead", "truncate",
	"ftruncate", "sendfile", "splice", "tee", "copy_file_range", "stat", "fstat", "lstat",
	"newfstatat", "statx", "statfs", "fstatfs", "access", "faccessat", "faccessat2",
	"getdents", "getdents64", "getcwd", "chdir", "fchdir", "rename", "renameat",
	"renameat2", "mkdir", "mkdirat", "rmdir", "link", "linkat", "unlink", "unlinkat",
	"symlink", "symlinkat", "readlink", "readlinkat", "mknod", "mknodat", "chmod",
	"fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "umask",
	"utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr",
	"getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr",
	"removexattr", "lremovexattr", "fremovexattr", "inotify_init", "inotify_init1",
	"inotify_add_watch", "inotify_rm_watch", "memfd_create",
	/* Waiting. */
	"pipe", "pipe2", "select", "pselect6", "poll", "ppoll", "epoll_create",
	"epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd",
	"eventfd2", "signalfd", "signalfd4", "timerfd_create", "timerfd_settime",
	"timerfd_gettime",
	/* Memory. */
	"mmap", "munmap", "mremap", "mprotect", "msync", "mincore", "madvise", "brk", "mlock",
	"mlock2", "munlock", "mlockall", "munlockall", "membarrier", "pkey_alloc", "pkey_free",
	"pkey_mprotect",
	/* Processes and threads; clone, unshare and personality are judged. */
	"fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid",
	"pidfd_open", "pidfd_send_signal", "getpid", "gettid", "getppid", "getpgrp", "getpgid",
	"setpgid", "getsid", "setsid", "set_tid_address", "set_robust_list", "rseq", "futex",
	"arch_prctl", "prctl", "sched_yield", "sched_getaffinity", "sched_setaffinity",
	"sched_getparam", "sched_setparam", "sched_getscheduler", "sched_setscheduler",
	"sched_getattr", "sched_setattr", "sched_get_priority_max", "sched_get_priority_min",
	"sched_rr_get_interval", "getpriority", "setpriority", "ioprio_get", "ioprio_set",
	"getcpu", "getrlimit", "setrlimit", "prlimit64", "getrusage", "times",
	/* Who one is, and to be less. */
	"getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups",
	"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups",
	"setfsuid", "setfsgid", "capget", "capset", "seccomp", "landlock_create_ruleset",
	"landlock_add_rule", "landlock_restrict_self",
	/* Signals. */
	"kill", "tkill", "tgkill", "pause", "alarm", "rt_sigaction", "rt_sigprocmask",
	"rt_sigreturn", "rt_sigsuspend", "rt_sigpending", "rt_sigtimedwait", "rt_sigqueueinfo",
	"rt_tgsigqueueinfo", "sigaltstack", "restart_syscall",
	/* Time. */
	"time", "gettimeofday", "clock_gettime", "clock_getres", "clock_nanosleep",
	"nanosleep", "getitimer", "setitimer", "timer_create", "timer_settime",
	"timer_gettime", "timer_getoverrun", "timer_delete",
	/* The machine, to look at. */
	"uname", "sysinfo", "getrandom",
	/* Sockets; socket and socketpair are judged. */
	"bind", "listen", "accept", "accept4", "connect", "shutdown", "getsockname",
	"getpeername", "getsockopt", "setsockopt", "sendto", "sendmsg", "sendmmsg", "recvfrom",
	"recvmsg", "recvmmsg",
	/* System V IPC: databases, fakeroot. It is the command's own. */
	"shmget", "shmat", "shmdt", "shmctl", "semget", "semop", "semtimedop", "semctl",
	"msgget", "msgsnd", "msgrcv", "msgctl",
};
/* clang-format on */

/* What --strict takes beyond guard_calls, named so that each call of this machine was
 * decided about: a test says so. EPERM is for what a program cannot do without once it
 * asks for it. */
static const struct guard_call guard_strict_refused[] = {
	/* Into other processes. LeakSanitizer, debuggers, strace. */
	{ "ptrace", EPERM, GUARD_BY_NOTHING },
	{ "process_madvise", ENOSYS, GUARD_BY_NOTHING },
	{ "process_mrelease", ENOSYS, GUARD_BY_NOTHING },
	{ "get_robust_list", ENOSYS, GUARD_BY_NOTHING },
	/* Watching and naming files of a whole file system. */
	{ "fanotify_mark", EPERM, GUARD_BY_NOTHING },
	{ "name_to_handle_at", ENOSYS, GUARD_BY_NOTHING },
	/* Whoever has these has another way for kernels and containers without. */
	{ "io_setup", ENOSYS, GUARD_BY_NOTHING },
	{ "io_destroy", ENOSYS, GUARD_BY_NOTHING },
	{ "io_submit", ENOSYS, GUARD_BY_NOTHING },
	{ "io_cancel", ENOSYS, GUARD_BY_NOTHING },
	{ "io_getevents", ENOSYS, GUARD_BY_NOTHING },
	{ "io_pgetevents", ENOSYS, GUARD_BY_NOTHING },
	{ "mbind", ENOSYS, GUARD_BY_NOTHING },
	{ "get_mempolicy", ENOSYS, GUARD_BY_NOTHING },
	{ "set_mempolicy", ENOSYS, GUARD_BY_NOTHING },
	{ "set_mempolicy_home_node", ENOSYS, GUARD_BY_NOTHING },
	{ "mq_open", ENOSYS, GUARD_BY_NOTHING },
	{ "mq_unlink", ENOSYS, GUARD_BY_NOTHING },
	{ "mq_timedsend", ENOSYS, GUARD_BY_NOTHING },
	{ "mq_timedreceive", ENOSYS, GUARD_BY_NOTHING },
	{ "mq_notify", ENOSYS, GUARD_BY_NOTHING },
	{ "mq_getsetattr", ENOSYS, GUARD_BY_NOTHING },
	{ "vmsplice", ENOSYS, GUARD_BY_NOTHING },
	{ "remap_file_pages", ENOSYS, GUARD_BY_NOTHING },
	{ "cachestat", ENOSYS, GUARD_BY_NOTHING },
	{ "futex_waitv", ENOSYS, GUARD_BY_NOTHING },
	/* Numbers that this kernel has nothing behind. */
	{ "set_thread_area", ENOSYS, GUARD_BY_NOTHING },
	{ "get_thread_area", ENOSYS, GUARD_BY_NOTHING },
	{ "epoll_ctl_old", ENOSYS, GUARD_BY_NOTHING },
	{ "epoll_wait_old", ENOSYS, GUARD_BY_NOTHING },
	{ "getpmsg", ENOSYS, GUARD_BY_NOTHING },
	{ "putpmsg", ENOSYS, GUARD_BY_NOTHING },
	{ "afs_syscall", ENOSYS, GUARD_BY_NOTHING },
	{ "tuxcall", ENOSYS, GUARD_BY_NOTHING },
	{ "security", ENOSYS, GUARD_BY_NOTHING },
	{ "vserver", ENOSYS, GUARD_BY_NOTHING },
};

/* What a policy's own list may not allow, and why. All the rest of guard_calls it may, by
 * name: nothing else rests on it. */
enum guard_keeper {
	GUARD_KEPT_FOR_FILES,
	GUARD_KEPT_FOR_NAMESPACES,
	GUARD_KEPT_FOR_KERNEL,
};

static const struct {
	char name[24];
	enum guard_keeper keeper;
} guard_kept_calls[] = {
	{ "mount", GUARD_KEPT_FOR_FILES },	    { "umount", GUARD_KEPT_FOR_FILES },
	{ "umount2", GUARD_KEPT_FOR_FILES },	    { "pivot_root", GUARD_KEPT_FOR_FILES },
	{ "open_tree", GUARD_KEPT_FOR_FILES },	    { "move_mount", GUARD_KEPT_FOR_FILES },
	{ "fsopen", GUARD_KEPT_FOR_FILES },	    { "fsconfig", GUARD_KEPT_FOR_FILES },
	{ "fsmount", GUARD_KEPT_FOR_FILES },	    { "fspick", GUARD_KEPT_FOR_FILES },
	{ "mount_setattr", GUARD_KEPT_FOR_FILES },  { "open_by_handle_at", GUARD_KEPT_FOR_FILES },
	{ "setns", GUARD_KEPT_FOR_NAMESPACES },	    { "clone3", GUARD_KEPT_FOR_NAMESPACES },
	{ "kexec_load", GUARD_KEPT_FOR_KERNEL },    { "kexec_file_load", GUARD_KEPT_FOR_KERNEL },
	{ "init_module", GUARD_KEPT_FOR_KERNEL },   { "finit_module", GUARD_KEPT_FOR_KERNEL },
	{ "delete_module", GUARD_KEPT_FOR_KERNEL }, { "create_module", GUARD_KEPT_FOR_KERNEL },
	{ "bpf", GUARD_KEPT_FOR_KERNEL },	    { "iopl", GUARD_KEPT_FOR_KERNEL },
	{ "ioperm", GUARD_KEPT_FOR_KERNEL },	    { "reboot", GUARD_KEPT_FOR_KERNEL },
	{ "swapon", GUARD_KEPT_FOR_KERNEL },	    { "swapoff", GUARD_KEPT_FOR_KERNEL },
};

/* Do what no filter sees, as making sockets and files: allowed only where nothing rests on
 * the judges of arguments. */
static const char guard_unseen_calls[][24] = {
	"io_uring_setup",
	"io_uring_enter",
	"io_uring_register",
};

/* What our init does below the filter, and whoever becomes the command, with any C library
 * and under sanitizers: no policy can refuse these. A test refuses all others. */
/* clang-format off */
static const char guard_init_calls[][24] = {
	"read", "write", "open", "openat", "close", "close_range", "fcntl", "dup2", "dup3",
	"ioctl", "stat", "fstat", "newfstatat", "access", "faccessat", "faccessat2",
	"readlink", "readlinkat", "getdents64", "poll", "ppoll", "sendmsg", "recvmsg",
	"mmap", "munmap", "mprotect", "brk", "futex", "clone", "fork", "vfork", "execve",
	"exit", "exit_group", "wait4", "waitid", "prctl", "getpid", "gettid", "setpgid",
	"kill", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
	"restart_syscall", "getrlimit", "setrlimit", "prlimit64",
};
/* clang-format on */

/* Whose arguments decide; the generator has a judge for each. */
static const char *const guard_judged_calls[] = {
	"ioctl", "clone", "unshare", "socket", "socketpair", "personality",
};

/* The same, but with --allow-set-id: what makes a file, or gives one its mode. */
static const char *const guard_judged_mode_calls[] = {
	"chmod", "fchmod", "fchmodat", "fchmodat2", "open", "openat", "creat", "mknod", "mknodat",
};

/* The same, with --allow-nesting: which of these pass is confine/nesting.c's matter. The
 * last three are refused to root alone. */
static const char *const guard_judged_nesting_calls[] = {
	"umount2", "pivot_root", "open_tree", "fsmount", "setxattr", "lsetxattr", "fsetxattr",
};
#define GUARD_JUDGED_OF_ROOT 3

/* With --net ports: alone. */
static const char *const guard_judged_port_calls[] = {
	"listen", "sendto", "sendmsg", "sendmmsg", "setsockopt",
};

#endif
