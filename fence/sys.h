/* Thin wrappers, and the only place that calls syscall(2). Each adds one thing:
 * -errno, retry on EINTR, or "all of it". None has an opinion; none logs. */
#ifndef FENCE_SYS_H
#define FENCE_SYS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "fence/kernel.h"

/* All of it, or -errno; a read that ends early is -ENODATA. */
int fence_read_full(int fd, void *buf, size_t size_bytes);
int fence_write_full(int fd, const void *buf, size_t size_bytes);

/* One read or write, retried on EINTR: the count, or -errno. */
ssize_t fence_read_some(int fd, void *buf, size_t size_bytes);
ssize_t fence_write_some(int fd, const void *buf, size_t size_bytes);

/* A whole small file (of /proc, say) into `buf`, NUL-terminated: its length, or
 * -errno; -EFBIG when it does not fit with its NUL. `dir_fd` may be AT_FDCWD. */
ssize_t fence_read_file(int dir_fd, const char *path, char *buf, size_t size_bytes);

/* Opens /dev/null on each of 0, 1 and 2 that is closed, so that no other file gets that
 * number. For reading alone: what is written there fails with EBADF, as it would have,
 * and is not lost in silence. First thing in main. */
int fence_fix_stdio(void);

/* ioctl(2), whose request is a signed number in one C library and not in another: its
 * answer, or -errno. */
int fence_ioctl(int fd, unsigned int request, void *arg);
/* Opens the other side of a pseudo-terminal's master (Linux 4.13), close-on-exec and
 * nobody's controlling terminal. Through the master, no /dev/pts needs to be there. */
int fence_pty_slave(int master);

/* Descriptors above 2 as they were given to us are none of a child's business. */
int fence_close_range(unsigned int first, unsigned int last, unsigned int flags);

int fence_pidfd_open(pid_t pid, unsigned int flags);
int fence_pidfd_signal(int pidfd, int sig, unsigned int flags);

/* waitid with the kernel's rusage (the child's and its waited-for children's).
 * The number of children told of (0 or 1), or -errno. */
int fence_waitid(int id_type, id_t id, siginfo_t *info, int options, struct rusage *usage);

/* A raw clone(2) that behaves like fork: 0 in the child, the pid, or -errno; unless
 * NULL, a close-on-exec pidfd comes with it. For fence/spawn alone. */
pid_t fence_raw_clone(uint64_t flags, int *ret_pidfd);

/* A raw clone3(2) that behaves like fork, into a cgroup (Linux 5.7): 0 in the child, the
 * pid and a close-on-exec pidfd, or -errno. For fence/spawn alone. */
pid_t fence_raw_clone_into(uint64_t flags, int cgroup_fd, int *ret_pidfd);

/* openat2(2). -ENOSYS where the kernel or a filter has none. */
int fence_openat2(int dir_fd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve);

/* getdents64(2): entries as the kernel gives them; 0 at the end; -EINVAL when the next
 * one does not fit. */
ssize_t fence_getdents(int dir_fd, void *buf, size_t size_bytes);

/* renameat2(2) flags are the kernel's. */
int fence_renameat2(int old_dir, const char *old_path, int new_dir, const char *new_path,
		    unsigned int flags);

/* write(2) at the file's own place that never waits, whatever the descriptor's
 * flags: -EAGAIN instead, -EOPNOTSUPP where the kind of file cannot tell. */
ssize_t fence_write_nowait(int fd, const void *buf, size_t size_bytes);
/* The same for reading. */
ssize_t fence_read_nowait(int fd, void *buf, size_t size_bytes);

/* Sets of signals by the kernel's numbers, 1 to 64. A C library keeps two or three
 * real-time signals to itself and leaves them out of what sigfillset(3) fills and
 * sigaddset(3) adds, but anybody may send them. */
#define FENCE_SIGNAL_MAX 64
void fence_sigset_fill(sigset_t *set);
void fence_sigset_add(sigset_t *set, int sig);
/* The default disposition, for those signals too. */
int fence_signal_default(int sig);

/* sched_getscheduler(2), and sched_setscheduler(2) to a policy without priorities. musl's
 * functions of these names do nothing but fail. */
int fence_sched_policy(pid_t pid);
int fence_sched_set_policy(pid_t pid, int policy);

/* setrlimit(2) of the calling process: prlimit64(2), whose numbers have 64 bits
 * everywhere. UINT64_MAX is "no limit". */
int fence_set_limit(int resource, uint64_t soft, uint64_t hard);
int fence_get_limit(int resource, uint64_t *ret_soft, uint64_t *ret_hard);

/* The mount interface by descriptors (Linux 5.2; mount_setattr 5.12). New
 * descriptors are close-on-exec when the flags say so. */
int fence_open_tree(int dir_fd, const char *path, unsigned int flags);
int fence_move_mount(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags);
int fence_mount_setattr(int dir_fd, const char *path, unsigned int flags,
			const struct mount_attr *attr);
int fence_fsopen(const char *type, unsigned int flags);
int fence_fsconfig(int fs_fd, unsigned int command, const char *key, const char *value);
int fence_fsmount(int fs_fd, unsigned int flags, unsigned int attr_flags);

/* pivot_root(2), which no C library has. */
int fence_pivot_root(const char *new_root, const char *put_old);

/* Gives up every capability of this thread: effective, permitted, inheritable. */
int fence_capset_none(void);

/* Landlock (Linux 5.13). `attr` is struct landlock_ruleset_attr in the size that the
 * caller knows; with flags LANDLOCK_CREATE_RULESET_VERSION and no attr the answer is
 * the ABI. Descriptors are close-on-exec. */
int fence_landlock_create(const void *attr, size_t size_bytes, uint32_t flags);
int fence_landlock_allow(int ruleset_fd, int folder_fd, uint64_t access);
int fence_landlock_allow_port(int ruleset_fd, unsigned int port, uint64_t access); /* ABI 4 */
int fence_landlock_restrict(int ruleset_fd);

/* seccomp(2): its answer (a close-on-exec descriptor with SECCOMP_FILTER_FLAG_NEW_LISTENER),
 * or -errno. `args` is as the operation has it. */
int fence_seccomp(unsigned int operation, unsigned int flags, void *args);

#endif
