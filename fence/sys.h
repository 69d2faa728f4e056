/* Thin wrappers, and the only place that calls syscall(2). Each adds one thing:
 * -errno, retry on EINTR, or "all of it". None has an opinion; none logs. */
#ifndef FENCE_SYS_H
#define FENCE_SYS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* All of it, or -errno; a read that ends early is -ENODATA. */
int fence_read_full(int fd, void *buf, size_t size_bytes);
int fence_write_full(int fd, const void *buf, size_t size_bytes);

/* One read or write, retried on EINTR: the count, or -errno. */
ssize_t fence_read_some(int fd, void *buf, size_t size_bytes);
ssize_t fence_write_some(int fd, const void *buf, size_t size_bytes);

/* A whole small file (of /proc, say) into `buf`, NUL-terminated: its length, or
 * -errno; -EFBIG when it does not fit with its NUL. `dir_fd` may be AT_FDCWD. */
ssize_t fence_read_file(int dir_fd, const char *path, char *buf, size_t size_bytes);

/* Opens /dev/null on each of 0, 1 and 2 that is closed. First thing in main. */
int fence_fix_stdio(void);

/* Descriptors above 2 as they were given to us are none of a child's business. */
int fence_close_range(unsigned int first, unsigned int last, unsigned int flags);

int fence_pidfd_open(pid_t pid, unsigned int flags);
int fence_pidfd_signal(int pidfd, int sig, unsigned int flags);

/* Not in Debian 12's headers. */
#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2) /* 6.9 */
#endif

/* waitid with the kernel's rusage (the child's and its waited-for children's).
 * The number of children told of (0 or 1), or -errno. */
int fence_waitid(int id_type, id_t id, siginfo_t *info, int options, struct rusage *usage);

/* A raw clone(2) that behaves like fork: 0 in the child, the pid, or -errno. For
 * fence/spawn alone. */
pid_t fence_raw_clone(uint64_t flags);

/* openat2(2). -ENOSYS where the kernel or a filter has none. */
int fence_openat2(int dir_fd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve);

/* renameat2(2) flags are the kernel's. */
int fence_renameat2(int old_dir, const char *old_path, int new_dir, const char *new_path,
		    unsigned int flags);

/* Gives up every capability of this thread: effective, permitted, inheritable. */
int fence_capset_none(void);

#endif
