#include "fence/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
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
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest free number is this one: those below are open. */
		if (open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) < 0)
			return -errno;
	}
	return 0;
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

pid_t fence_raw_clone(uint64_t flags)
{
	long pid = syscall(SYS_clone, flags, NULL, NULL, NULL, 0);

	return pid < 0 ? -errno : (pid_t)pid;
}

int fence_openat2(int dir_fd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve)
{
	struct open_how how = { .flags = flags, .mode = mode, .resolve = resolve };
	long fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

int fence_renameat2(int old_dir, const char *old_path, int new_dir, const char *new_path,
		    unsigned int flags)
{
	long rc = syscall(SYS_renameat2, old_dir, old_path, new_dir, new_path, flags);

	return rc < 0 ? -errno : 0;
}

int fence_capset_none(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}
