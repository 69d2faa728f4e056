#include "fence/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fence/own.h"

ssize_t fence_read_some(int fd, void *buf, size_t size_bytes)
{
	ssize_t got;

	do {
		got = read(fd, buf, size_bytes);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

ssize_t fence_write_some(int fd, const void *buf, size_t size_bytes)
{
	ssize_t put;

	do {
		put = write(fd, buf, size_bytes);
	} while (put < 0 && errno == EINTR);
	return put < 0 ? -errno : put;
}

int fence_read_full(int fd, void *buf, size_t size_bytes)
{
	char *at = buf;

	while (size_bytes > 0) {
		ssize_t got = fence_read_some(fd, at, size_bytes);

		if (got < 0)
			return (int)got;
		if (got == 0)
			return -ENODATA;
		at += got;
		size_bytes -= (size_t)got;
	}
	return 0;
}

int fence_write_full(int fd, const void *buf, size_t size_bytes)
{
	const char *at = buf;

	while (size_bytes > 0) {
		ssize_t put = fence_write_some(fd, at, size_bytes);

		if (put < 0)
			return (int)put;
		at += put;
		size_bytes -= (size_t)put;
	}
	return 0;
}

ssize_t fence_read_file(int dir_fd, const char *path, char *buf, size_t size_bytes)
{
	owned_fd fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t length = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t got = fence_read_some(fd, buf + length, size_bytes - length);

		if (got < 0)
			return got;
		if (got == 0)
			break;
		length += (size_t)got;
		if (length == size_bytes)
			return -EFBIG;
	}
	buf[length] = '\0';
	return (ssize_t)length;
}

int fence_fix_stdio(void)
{
	struct pollfd fds[3] = { { .fd = 0 }, { .fd = 1 }, { .fd = 2 } };

	/* One call that tells of all three; it waits for nothing. */
	if (poll(fds, 3, 0) < 0)
		return -errno;
	for (int fd = 0; fd <= 2; fd++) {
		if ((fds[fd].revents & POLLNVAL) == 0)
			continue;
		/* The lowest free number is this one: those below are open. */
		if (open("/dev/null", O_RDONLY) < 0)
			return -errno;
	}
	return 0;
}

int fence_ioctl(int fd, unsigned int request, void *arg)
{
	long rc = syscall(SYS_ioctl, fd, request, arg);

	return rc < 0 ? -errno : (int)rc;
}

int fence_pty_slave(int master)
{
	return fence_ioctl(master, TIOCGPTPEER, (void *)(intptr_t)(O_RDWR | O_NOCTTY | O_CLOEXEC));
}

int fence_close_range(unsigned int first, unsigned int last, unsigned int flags)
{
	return syscall(SYS_close_range, first, last, flags) < 0 ? -errno : 0;
}

int fence_pidfd_open(pid_t pid, unsigned int flags)
{
	long fd = syscall(SYS_pidfd_open, pid, flags);

	return fd < 0 ? -errno : (int)fd;
}

int fence_pidfd_signal(int pidfd, int sig, unsigned int flags)
{
	return syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, flags) < 0 ? -errno : 0;
}

int fence_waitid(int id_type, id_t id, siginfo_t *info, int options, struct rusage *usage)
{
	long rc;

	info->si_pid = 0;
	do {
		rc = syscall(SYS_waitid, id_type, id, info, options, usage);
	} while (rc < 0 && errno == EINTR);
	if (rc < 0)
		return -errno;
	return info->si_pid != 0;
}

pid_t fence_raw_clone(uint64_t flags, int *ret_pidfd)
{
	long pid = syscall(SYS_clone, ret_pidfd == NULL ? flags : flags | CLONE_PIDFD, NULL,
			   ret_pidfd, NULL, 0);

	return pid < 0 ? -errno : (pid_t)pid;
}

pid_t fence_raw_clone_into(uint64_t flags, int cgroup_fd, int *ret_pidfd)
{
	struct clone_args args = {
		.flags = flags | CLONE_PIDFD | CLONE_INTO_CGROUP,
		.pidfd = (uint64_t)(uintptr_t)ret_pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = (unsigned int)cgroup_fd,
	};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	return pid < 0 ? -errno : (pid_t)pid;
}

int fence_openat2(int dir_fd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve)
{
	struct open_how how = { .flags = flags, .mode = mode, .resolve = resolve };
	long fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

ssize_t fence_getdents(int dir_fd, void *buf, size_t size_bytes)
{
	long got = syscall(SYS_getdents64, dir_fd, buf, size_bytes);

	return got < 0 ? -errno : got;
}

int fence_renameat2(int old_dir, const char *old_path, int new_dir, const char *new_path,
		    unsigned int flags)
{
	long rc = syscall(SYS_renameat2, old_dir, old_path, new_dir, new_path, flags);

	return rc < 0 ? -errno : 0;
}

ssize_t fence_write_nowait(int fd, const void *buf, size_t size_bytes)
{
	/* iovec is shared with readv, hence not const. */
	struct iovec part = { .iov_base = (void *)(uintptr_t)buf, .iov_len = size_bytes };
	long done;

	do {
		done = syscall(SYS_pwritev2, fd, &part, 1, -1L, -1L, RWF_NOWAIT);
	} while (done < 0 && errno == EINTR);
	return done < 0 ? -errno : done;
}

ssize_t fence_read_nowait(int fd, void *buf, size_t size_bytes)
{
	struct iovec part = { .iov_base = buf, .iov_len = size_bytes };
	long got;

	do {
		got = syscall(SYS_preadv2, fd, &part, 1, -1L, -1L, RWF_NOWAIT);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* The kernel's mask is the first 64 bits of any C library's sigset_t. */
void fence_sigset_fill(sigset_t *set)
{
	(void)sigfillset(set);
	memset(set, 0xff, FENCE_SIGNAL_MAX / 8);
}

void fence_sigset_add(sigset_t *set, int sig)
{
	const size_t bits = 8 * sizeof(unsigned long);
	unsigned long *words = (unsigned long *)(void *)set;

	words[(size_t)(sig - 1) / bits] |= 1UL << (size_t)(sig - 1) % bits;
}

int fence_signal_default(int sig)
{
	/* Handler, flags, restorer and mask are all zero: SIG_DFL is. */
	const unsigned long action[4] = { 0 };

	return syscall(SYS_rt_sigaction, sig, action, NULL, FENCE_SIGNAL_MAX / 8) < 0 ? -errno : 0;
}

int fence_sched_policy(pid_t pid)
{
	long rc = syscall(SYS_sched_getscheduler, pid);

	return rc < 0 ? -errno : (int)rc;
}

int fence_sched_set_policy(pid_t pid, int policy)
{
	static const int no_priority = 0; /* all of struct sched_param */

	return syscall(SYS_sched_setscheduler, pid, policy, &no_priority) < 0 ? -errno : 0;
}

int fence_set_limit(int resource, uint64_t soft, uint64_t hard)
{
	struct {
		uint64_t soft, hard;
	} limit = { soft, hard };

	return syscall(SYS_prlimit64, 0, resource, &limit, NULL) < 0 ? -errno : 0;
}

int fence_get_limit(int resource, uint64_t *ret_soft, uint64_t *ret_hard)
{
	uint64_t limit[2];

	if (syscall(SYS_prlimit64, 0, resource, NULL, limit) < 0)
		return -errno;
	*ret_soft = limit[0];
	*ret_hard = limit[1];
	return 0;
}

int fence_open_tree(int dir_fd, const char *path, unsigned int flags)
{
	long fd = syscall(SYS_open_tree, dir_fd, path, flags);

	return fd < 0 ? -errno : (int)fd;
}

int fence_move_mount(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags)
{
	return syscall(SYS_move_mount, from_fd, from, to_fd, to, flags) < 0 ? -errno : 0;
}

int fence_mount_setattr(int dir_fd, const char *path, unsigned int flags,
			const struct mount_attr *attr)
{
	return syscall(SYS_mount_setattr, dir_fd, path, flags, attr, sizeof(*attr)) < 0 ? -errno
											: 0;
}

int fence_fsopen(const char *type, unsigned int flags)
{
	long fd = syscall(SYS_fsopen, type, flags);

	return fd < 0 ? -errno : (int)fd;
}

int fence_fsconfig(int fs_fd, unsigned int command, const char *key, const char *value)
{
	return syscall(SYS_fsconfig, fs_fd, command, key, value, 0) < 0 ? -errno : 0;
}

int fence_fsmount(int fs_fd, unsigned int flags, unsigned int attr_flags)
{
	long fd = syscall(SYS_fsmount, fs_fd, flags, attr_flags);

	return fd < 0 ? -errno : (int)fd;
}

int fence_pivot_root(const char *new_root, const char *put_old)
{
	return syscall(SYS_pivot_root, new_root, put_old) < 0 ? -errno : 0;
}

int fence_capset_none(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

int fence_landlock_create(const void *attr, size_t size_bytes, uint32_t flags)
{
	long fd = syscall(SYS_landlock_create_ruleset, attr, size_bytes, flags);

	return fd < 0 ? -errno : (int)fd;
}

int fence_landlock_allow(int ruleset_fd, int folder_fd, uint64_t access)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = access,
						   .parent_fd = folder_fd };

	return syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0
		       ? -errno
		       : 0;
}

/* Not in the headers of Linux 6.1. */
#define LANDLOCK_RULE_FOR_PORT 2

int fence_landlock_allow_port(int ruleset_fd, unsigned int port, uint64_t access)
{
	struct {
		uint64_t allowed_access;
		uint64_t port;
	} rule = { .allowed_access = access, .port = port };

	return syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_RULE_FOR_PORT, &rule, 0) < 0
		       ? -errno
		       : 0;
}

int fence_landlock_restrict(int ruleset_fd)
{
	return syscall(SYS_landlock_restrict_self, ruleset_fd, 0) < 0 ? -errno : 0;
}

int fence_seccomp(unsigned int operation, unsigned int flags, void *args)
{
	long answer = syscall(SYS_seccomp, operation, flags, args);

	return answer < 0 ? -errno : (int)answer;
}
