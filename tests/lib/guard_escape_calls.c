/* guard_escape_calls MODE [root|user]: system calls that are refused (see
 * guard_escape.h). Most are made with arguments that the kernel itself answers
 * EFAULT, EINVAL or EBADF to: nothing would happen if the filter let them through, and
 * the test would see it. */
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fscrypt.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "tests/lib/guard_escape.h"

#define BAD 1L /* no address of anybody's */

/* Missing in older headers. */
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
#ifndef SYS_userfaultfd
#define SYS_userfaultfd 323
#endif
#define CALL_LISTMOUNT	    458 /* 6.8 */
#define CALL_OPEN_TREE_ATTR 467 /* 6.15 */

static int clone_new(const struct attempt *at)
{
	long pid = syscall(SYS_clone, at->arg[0] | SIGCHLD, NULL, NULL, NULL, 0);

	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(0);
	(void)waitpid((pid_t)pid, NULL, 0);
	return 0;
}

/* arg[0]: the call's number there, with pointers that point nowhere. */
static int by_32_bits(const struct attempt *at)
{
#if defined(__x86_64__)
	int result = (int)at->arg[0];

	__asm__ volatile("int $0x80"
			 : "+a"(result)
			 : "b"(1), "c"(1), "d"(1), "S"(0), "D"(0)
			 : "memory");
	return result < 0 ? result : 0;
#else
	(void)at;
	return -ENOSYS;
#endif
}

static int end_filters(const struct attempt *at)
{
	(void)at;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_DISABLED, NULL, 0, 0) < 0 ? -errno : 0;
}

/* clang-format off */
#define SECCOMP_CALL(title, errno_name, root, user, ...) \
	{ .name = title, .layer = "seccomp", .inside = { errno_name }, .control = { root, user }, \
	  .run = escape_call, __VA_ARGS__ }
#define CALL(number_, ...) .number = SYS_##number_, .arg = { __VA_ARGS__ }
#define NEW(title, root, user, flag) \
	{ .name = title, .layer = "seccomp", .inside = { "EPERM" }, .control = { root, user }, \
	  .run = clone_new, .arg = { flag } }
#define IOCTL(title, command) \
	{ .name = title, .layer = "seccomp", .inside = { "EPERM" }, .control = { "other", NULL }, \
	  .run = escape_call, CALL(ioctl, 0, (long)(command)) }
#define SOCKET(title, errno_name, root, user, ...) \
	{ .name = title, .layer = "seccomp", .inside = { errno_name }, .control = { root, user }, \
	  .run = escape_call, CALL(socket, __VA_ARGS__) }

static const struct attempt attempts[] = {
	/* Around the table: other entries, other numbers. */
#if defined(__x86_64__)
	{ .name = "int80-getpid", .layer = "seccomp", .inside = { "SIGSYS" }, .control = { "either" },
	  .run = by_32_bits, .arg = { 20 } },
	{ .name = "int80-mount", .layer = "seccomp", .inside = { "SIGSYS" }, .control = { "either" },
	  .run = by_32_bits, .arg = { 21 } },
	SECCOMP_CALL("x32-mount", "ENOSYS", "refused", NULL, .number = 0x40000000 | SYS_mount),
#endif
	SECCOMP_CALL("number-unknown", "ENOSYS", "refused", NULL, .number = 5000),
	SECCOMP_CALL("listmount", "ENOSYS", "other", NULL, .number = CALL_LISTMOUNT, .arg = { BAD }),
	SECCOMP_CALL("open-tree-attr", "ENOSYS", "other", NULL, .number = CALL_OPEN_TREE_ATTR,
		     .arg = { -1, BAD }),
	/* What runtimes fall back from. */
	SECCOMP_CALL("clone3", "ENOSYS", "other", NULL, CALL(clone3, BAD, 88)),
	SECCOMP_CALL("io-uring-setup", "ENOSYS", "other", NULL, CALL(io_uring_setup, 1, BAD)),
	SECCOMP_CALL("io-uring-register", "ENOSYS", "other", NULL, CALL(io_uring_register, -1)),
	SECCOMP_CALL("userfaultfd", "ENOSYS", "other", NULL, .number = SYS_userfaultfd, .arg = { -1 }),
	SECCOMP_CALL("memfd-secret", "ENOSYS", "other", NULL, CALL(memfd_secret, -1)),
	SECCOMP_CALL("open-tree", "ENOSYS", "other", NULL, CALL(open_tree, -1, BAD, 0)),
	SECCOMP_CALL("move-mount", "ENOSYS", "other", NULL, CALL(move_mount, -1, BAD, -1, BAD, 0)),
	SECCOMP_CALL("fsopen", "ENOSYS", "other", NULL, CALL(fsopen, BAD, 0)),
	SECCOMP_CALL("fsconfig", "ENOSYS", "other", NULL, CALL(fsconfig, -1, 0, BAD, BAD, 0)),
	SECCOMP_CALL("fsmount", "ENOSYS", "other", NULL, CALL(fsmount, -1, 0, 0)),
	SECCOMP_CALL("fspick", "ENOSYS", "other", NULL, CALL(fspick, -1, BAD, 0)),
	SECCOMP_CALL("mount-setattr", "ENOSYS", "other", NULL, CALL(mount_setattr, -1, BAD, 0, BAD, 32)),
	SECCOMP_CALL("kexec-file-load", "ENOSYS", "other", NULL, CALL(kexec_file_load, -1, -1, 0, BAD, -1)),
#ifdef SYS_ustat
	SECCOMP_CALL("ustat", "ENOSYS", "other", NULL, CALL(ustat, 0, BAD)),
#endif
	/* The view of files. */
	SECCOMP_CALL("umount2", "EPERM", "other", NULL, CALL(umount2, BAD, 0)),
	SECCOMP_CALL("pivot-root", "EPERM", "other", "refused", CALL(pivot_root, BAD, BAD)),
	SECCOMP_CALL("chroot-bad", "EPERM", "other", NULL, CALL(chroot, BAD)),
	SECCOMP_CALL("setns", "EPERM", "other", NULL, CALL(setns, -1, 0)),
	SECCOMP_CALL("open-by-handle-at", "EPERM", "other", "either", CALL(open_by_handle_at, -1, BAD, 0)),
	SECCOMP_CALL("quotactl", "EPERM", "other", NULL, CALL(quotactl, 0x9900, BAD, 0, BAD)),
	SECCOMP_CALL("fanotify-init", "EPERM", "other", "either", CALL(fanotify_init, -1, 0)),
	/* Namespaces. */
	SECCOMP_CALL("unshare-user", "EPERM", "ok", NULL, CALL(unshare, CLONE_NEWUSER)),
	SECCOMP_CALL("unshare-mount", "EPERM", "ok", "refused", CALL(unshare, CLONE_NEWNS)),
	SECCOMP_CALL("unshare-net", "EPERM", "ok", "refused", CALL(unshare, CLONE_NEWNET)),
	SECCOMP_CALL("unshare-time", "EPERM", "ok", "refused", CALL(unshare, CLONE_NEWTIME)),
	SECCOMP_CALL("unshare-user-and-mount", "EPERM", "ok", NULL,
		     CALL(unshare, CLONE_NEWUSER | CLONE_NEWNS)),
	NEW("clone-user", "ok", NULL, CLONE_NEWUSER),
	NEW("clone-pid", "ok", "refused", CLONE_NEWPID),
	NEW("clone-mount", "ok", "refused", CLONE_NEWNS),
	NEW("clone-ipc", "ok", "refused", CLONE_NEWIPC),
	NEW("clone-uts", "ok", "refused", CLONE_NEWUTS),
	NEW("clone-cgroup", "ok", "refused", CLONE_NEWCGROUP),
	/* The machine. */
	SECCOMP_CALL("kexec-load", "EPERM", "other", "refused", CALL(kexec_load, 0, 99, 0, -1)),
	SECCOMP_CALL("reboot", "EPERM", "other", "refused", CALL(reboot, 0, 0, 0, 0)),
	SECCOMP_CALL("swapon", "EPERM", "other", "refused", CALL(swapon, BAD, -1)),
	SECCOMP_CALL("swapoff", "EPERM", "other", "refused", CALL(swapoff, BAD)),
	SECCOMP_CALL("init-module", "EPERM", "other", "refused", CALL(init_module, BAD, 0, BAD)),
	SECCOMP_CALL("finit-module", "EPERM", "other", "refused", CALL(finit_module, -1, BAD, 0)),
	SECCOMP_CALL("delete-module", "EPERM", "other", "refused", CALL(delete_module, BAD, 0)),
	SECCOMP_CALL("acct", "EPERM", "other", "refused", CALL(acct, BAD)),
	SECCOMP_CALL("syslog", "EPERM", "ok", "either", CALL(syslog, 10, 0, 0)),
	SECCOMP_CALL("vhangup", "EPERM", "untried", NULL, CALL(vhangup, 0)),
	SECCOMP_CALL("clock-settime", "EPERM", "other", NULL, CALL(clock_settime, 99, BAD)),
	SECCOMP_CALL("clock-adjtime", "EPERM", "other", NULL, CALL(clock_adjtime, 99, BAD)),
	SECCOMP_CALL("settimeofday", "EPERM", "other", NULL, CALL(settimeofday, BAD, 0)),
	SECCOMP_CALL("adjtimex", "EPERM", "other", NULL, CALL(adjtimex, BAD)),
	SECCOMP_CALL("sethostname", "EPERM", "other", "refused", CALL(sethostname, BAD, 1)),
	SECCOMP_CALL("setdomainname", "EPERM", "other", "refused", CALL(setdomainname, BAD, 1)),
#if defined(__x86_64__)
	SECCOMP_CALL("iopl", "EPERM", "other", NULL, CALL(iopl, 9)),
	SECCOMP_CALL("ioperm", "EPERM", "other", NULL, CALL(ioperm, -1, 2, 1)),
	SECCOMP_CALL("modify-ldt", "EPERM", "ok", NULL, CALL(modify_ldt, 0, BAD, 0)),
#endif
	/* The kernel's inside and its keys. */
	SECCOMP_CALL("bpf", "EPERM", "other", "either", CALL(bpf, -1, BAD, 8)),
	SECCOMP_CALL("perf-event-open", "EPERM", "other", "either", CALL(perf_event_open, BAD, 0, -1, -1, 0)),
	SECCOMP_CALL("keyctl", "EPERM", "ok", NULL, CALL(keyctl, 0, -3, 0)),
	SECCOMP_CALL("add-key", "EPERM", "other", NULL, CALL(add_key, BAD, BAD, 0, 0, 0)),
	SECCOMP_CALL("request-key", "EPERM", "other", NULL, CALL(request_key, BAD, BAD, 0, 0)),
	/* Other processes. */
	SECCOMP_CALL("move-pages", "EPERM", "other", NULL, CALL(move_pages, 0, 1, BAD, 0, BAD, -1)),
	SECCOMP_CALL("migrate-pages", "EPERM", "other", NULL, CALL(migrate_pages, 0, 64, BAD, BAD)),
	SECCOMP_CALL("kcmp", "EPERM", "other", NULL, CALL(kcmp, 0, 0, 0, 0, 0)),
	SECCOMP_CALL("pidfd-getfd", "EPERM", "other", NULL, CALL(pidfd_getfd, -1, 0, 0)),
	SECCOMP_CALL("process-vm-readv", "EPERM", "other", NULL, CALL(process_vm_readv, 0, BAD, 1, BAD, 1, 0)),
	SECCOMP_CALL("process-vm-writev", "EPERM", "other", NULL, CALL(process_vm_writev, 0, BAD, 1, BAD, 1, 0)),
	/* Arguments that decide. */
	IOCTL("tiocsti", TIOCSTI),
	IOCTL("tiocsti-high-bits", TIOCSTI | 1L << 32),
	IOCTL("tioclinux", TIOCLINUX),
	IOCTL("tioclinux-high-bits", TIOCLINUX | 0x7fL << 40),
	IOCTL("tiocsetd", TIOCSETD),
	IOCTL("tiocsetd-high-bits", TIOCSETD | 0x7fff0000L << 16),
	IOCTL("btrfs-snapshot", BTRFS_IOC_SNAP_CREATE),
	IOCTL("btrfs-snapshot-v2", BTRFS_IOC_SNAP_CREATE_V2),
	IOCTL("btrfs-delete", BTRFS_IOC_SNAP_DESTROY),
	IOCTL("btrfs-delete-v2", BTRFS_IOC_SNAP_DESTROY_V2),
	IOCTL("add-encryption-key", FS_IOC_ADD_ENCRYPTION_KEY),
	IOCTL("remove-encryption-key", FS_IOC_REMOVE_ENCRYPTION_KEY),
	SECCOMP_CALL("read-implies-exec", "EPERM", "ok", NULL, CALL(personality, READ_IMPLIES_EXEC)),
	SECCOMP_CALL("mmap-page-zero", "EPERM", "ok", NULL, CALL(personality, MMAP_PAGE_ZERO)),
	{ .name = "filter-off", .layer = "seccomp", .inside = { "EINVAL" }, .control = { "refused" },
	  .run = end_filters },
	/* Sockets. */
	SOCKET("packet-socket", "EAFNOSUPPORT", "other", NULL, AF_PACKET, SOCK_RAW, 0),
	SOCKET("packet-socket-high-bits", "EAFNOSUPPORT", "other", NULL, 1L << 32 | AF_PACKET, SOCK_RAW, 0),
	SOCKET("vsock", "EAFNOSUPPORT", "either", NULL, AF_VSOCK, SOCK_STREAM, 0),
	SOCKET("alg-socket", "EAFNOSUPPORT", "either", NULL, AF_ALG, SOCK_SEQPACKET, 0),
	SOCKET("xdp-socket", "EAFNOSUPPORT", "either", NULL, AF_XDP, SOCK_RAW, 0),
	SOCKET("netlink-audit", "EPROTONOSUPPORT", "either", NULL, AF_NETLINK, SOCK_RAW, 9),
	SOCKET("netlink-uevent", "EPROTONOSUPPORT", "ok", NULL, AF_NETLINK, SOCK_RAW, 15),
	SOCKET("netlink-generic", "EPROTONOSUPPORT", "ok", NULL, AF_NETLINK, SOCK_RAW, 16),
	SOCKET("raw-socket", "EPROTONOSUPPORT", "ok", "other", AF_INET, SOCK_RAW, 1),
	SOCKET("raw-socket-v6", "EPROTONOSUPPORT", "ok", "other", AF_INET6, SOCK_RAW, 58),
	SOCKET("mptcp", "EPROTONOSUPPORT", "either", NULL, AF_INET, SOCK_STREAM, 262),
	SOCKET("sctp", "EPROTONOSUPPORT", "either", NULL, AF_INET, SOCK_STREAM, 132),
	SOCKET("smc", "EPROTONOSUPPORT", "either", NULL, AF_INET, SOCK_STREAM, 256),
	SOCKET("dccp", "EPROTONOSUPPORT", "either", NULL, AF_INET, 6, 33),
};
/* clang-format on */

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	return escape_main(attempts, sizeof(attempts) / sizeof(attempts[0]), argv[1],
			   argc > 2 && strcmp(argv[2], "user") == 0);
}
