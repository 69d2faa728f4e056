/* Numbers of the kernel's that a C library's headers may lack: Debian 12's glibc is
 * older than the kernels we meet, and musl leaves many of them out. Values are those
 * of the kernel's user-space headers (include/uapi). */
#ifndef FENCE_KERNEL_H
#define FENCE_KERNEL_H

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/uio.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1U << 0)
#endif
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif
#ifndef PIDFD_SIGNAL_PROCESS_GROUP
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2) /* 6.9 */
#endif
#ifndef TIOCGPTPEER
#define TIOCGPTPEER _IO('T', 0x41)
#endif

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5) /* 5.19 */
#endif

/* glibc 2.36 has all of the mount interface in sys/mount.h, musl none of it. */
#ifndef MOUNT_ATTR_RDONLY
#include <linux/mount.h>
#endif

#endif
