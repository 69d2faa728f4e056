#include "fence/ident.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "fence/tree.h"

/* Not in Debian 12's headers. */
#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446
#endif
#ifndef FD_PIDFS_ROOT
#define FD_PIDFS_ROOT (-10002) /* 6.17 */
#endif
#ifndef FILEID_KERNFS
#define FILEID_KERNFS 0xfe /* a 64-bit id */
#endif

/* --- facts about where we are ------------------------------------------------------ */

int fence_boot_id(char ret[FENCE_BOOT_ID_BYTES])
{
	char text[64];
	ssize_t length =
		fence_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", text, sizeof(text));

	if (length < 0)
		return (int)length;
	if (length < FENCE_BOOT_ID_BYTES - 1)
		return -EBADMSG;
	memcpy(ret, text, FENCE_BOOT_ID_BYTES - 1);
	ret[FENCE_BOOT_ID_BYTES - 1] = '\0';
	return 0;
}

/* Boot and pid namespace: the half of an identity that all of our processes share. */
static int read_here(struct fence_ident *ret)
{
	struct stat ns;
	int rc = fence_proc_probe();

	if (rc == -ENOENT)
		rc = -EXDEV; /* this /proc has no number for us */
	if (rc == 0 && stat("/proc/self/ns/pid", &ns) < 0)
		rc = -errno;
	if (rc == 0)
		rc = fence_boot_id(ret->boot_id);
	if (rc == 0)
		ret->pid_ns = ns.st_ino;
	return rc;
}

/* --- facts about a process ---------------------------------------------------------- */

/* Before Linux 6.9 all pidfds share one anonymous inode, which names nobody. */
static int read_id(int pidfd, uint64_t *ret)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(pidfd, &fs) < 0 || fstat(pidfd, &st) < 0)
		return -errno;
	*ret = fs.f_type == PID_FS_MAGIC ? st.st_ino : 0;
	return 0;
}

/* The pid that a pidfd stands for, as our /proc counts. */
static int read_pid(int pidfd, pid_t *ret)
{
	char path[48], text[1024], *at, *line_end;
	int64_t pid;
	ssize_t length;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	length = fence_read_file(AT_FDCWD, path, text, sizeof(text));
	if (length < 0)
		return (int)length;
	at = strstr(text, "\nPid:\t");
	if (!at)
		return -EBADF; /* a descriptor, but not a pidfd */
	at += strlen("\nPid:\t");
	line_end = strchr(at, '\n');
	if (line_end)
		*line_end = '\0';
	if (fence_parse_number(at, -1, INT32_MAX, &pid) < 0)
		return -EBADMSG;
	if (pid == 0)
		return -EXDEV; /* it lives where our namespace has no number for it */
	if (pid < 0)
		return -ESRCH;
	*ret = (pid_t)pid;
	return 0;
}

/* The facts of `pid`, read while `pidfd` still held that number. */
static int read_process(int pidfd, pid_t pid, struct fence_ident *ret)
{
	struct fence_ident found = { .pid = pid };
	struct fence_proc_stat stat = { 0 };
	pid_t pid_after;
	int rc = read_here(&found);

	if (rc == 0)
		rc = read_id(pidfd, &found.id);
	if (rc == 0)
		rc = fence_proc_stat(pid, &stat);
	if (rc == -ENOENT)
		rc = -ESRCH;
	/* Not reaped even now, so the number was this process's while we read. */
	if (rc == 0)
		rc = read_pid(pidfd, &pid_after);
	if (rc == 0 && pid_after != pid)
		rc = -ESRCH;
	found.start_ticks = stat.start_ticks;
	if (rc == 0)
		*ret = found;
	return rc;
}

int fence_ident_of_pidfd(int pidfd, struct fence_ident *ret)
{
	pid_t pid;
	int rc = read_pid(pidfd, &pid);

	return rc < 0 ? rc : read_process(pidfd, pid, ret);
}

int fence_ident_of_pid(pid_t pid, struct fence_ident *ret, int *ret_pidfd)
{
	owned_fd pidfd = -1;
	int rc;

	if (pid <= 0)
		return -ESRCH;
	pidfd = fence_pidfd_open(pid, 0);
	if (pidfd < 0)
		return pidfd == -EINVAL || pidfd == -ENOENT ? -ESRCH : pidfd; /* a thread */
	rc = read_process(pidfd, pid, ret);
	if (rc == 0 && ret_pidfd)
		*ret_pidfd = fence_take_fd(&pidfd);
	return rc;
}

int fence_ident_self(struct fence_ident *ret)
{
	return fence_ident_of_pid(getpid(), ret, NULL);
}

int fence_ident_self_shown(uint64_t proc_ns, struct fence_ident *ret)
{
	struct fence_ident found = { .pid_ns = proc_ns };
	struct fence_proc_stat stat;
	owned_fd pidfd = -1;
	char text[1024];
	ssize_t length;
	int rc = fence_ident_self(ret);

	if (rc != -EXDEV)
		return rc;
	/* getpid(2) counts as our namespace does; "self" is what /proc calls us. The pidfd is
	 * the same process for everybody. */
	length = fence_read_file(AT_FDCWD, "/proc/self/stat", text, sizeof(text));
	rc = length < 0 ? (int)length : fence_proc_stat_parse(text, &stat);
	pidfd = rc < 0 ? rc : fence_pidfd_open(getpid(), 0);
	if (pidfd < 0)
		return pidfd;
	found.pid = stat.pid;
	found.start_ticks = stat.start_ticks;
	rc = read_id(pidfd, &found.id);
	if (rc == 0)
		rc = fence_boot_id(found.boot_id);
	if (rc == 0)
		*ret = found;
	return rc;
}

/* --- comparing and acting ------------------------------------------------------------- */

static bool is_same_place(const struct fence_ident *a, const struct fence_ident *b)
{
	return a->pid_ns == b->pid_ns && strcmp(a->boot_id, b->boot_id) == 0;
}

bool fence_ident_same(const struct fence_ident *a, const struct fence_ident *b)
{
	if (!is_same_place(a, b) || a->pid != b->pid)
		return false;
	if (a->id != 0 && b->id != 0)
		return a->id == b->id;
	return a->start_ticks == b->start_ticks;
}

int fence_ident_open(const struct fence_ident *ident, int *ret_pidfd)
{
	struct fence_ident found = { 0 };
	owned_fd pidfd = -1;
	int rc = read_here(&found);

	if (rc < 0)
		return rc;
	if (!is_same_place(ident, &found))
		return -EXDEV;
	rc = fence_ident_of_pid(ident->pid, &found, &pidfd);
	if (rc < 0)
		return rc;
	if (!fence_ident_same(ident, &found))
		return -ESRCH;
	*ret_pidfd = fence_take_fd(&pidfd);
	return 0;
}

/* A pidfd's file handle is its inode number. -ENODATA: this kernel opens none. */
static int open_by_id(uint64_t id)
{
	union {
		struct file_handle handle;
		uint8_t room[sizeof(struct file_handle) + sizeof(id)];
	} u = { .handle = { .handle_bytes = sizeof(id), .handle_type = FILEID_KERNFS } };
	struct stat st;
	owned_fd pidfd = -1;

	memcpy(u.handle.f_handle, &id, sizeof(id));
	pidfd = open_by_handle_at(FD_PIDFS_ROOT, &u.handle, O_CLOEXEC);
	if (pidfd < 0 && errno == ESTALE)
		return -ESRCH;
	if (pidfd < 0)
		return -ENODATA;
	if (fstat(pidfd, &st) < 0 || st.st_ino != id)
		return -ENODATA;
	return fence_take_fd(&pidfd);
}

int fence_ident_open_group(const struct fence_ident *leader, int *ret_pidfd)
{
	struct fence_ident found = { 0 };
	owned_fd pidfd = -1;
	int rc = read_here(&found);

	if (rc < 0)
		return rc;
	if (!is_same_place(leader, &found))
		return -EXDEV;
	pidfd = leader->id == 0 ? -ENODATA : open_by_id(leader->id);
	if (pidfd == -ENODATA) {
		rc = fence_ident_of_pid(leader->pid, &found, &pidfd);
		if (rc < 0)
			return rc == -ESRCH ? -ENODATA : rc;
		/* A stranger got the number, so it had become free: nobody has it as his
		 * group's or session's. */
		if (!fence_ident_same(leader, &found))
			return -ESRCH;
	}
	if (pidfd < 0)
		return pidfd;
	*ret_pidfd = fence_take_fd(&pidfd);
	return 0;
}

int fence_ident_alive(const struct fence_ident *ident)
{
	owned_fd pidfd = -1;
	struct pollfd ended;
	int rc = fence_ident_open(ident, &pidfd);

	if (rc < 0)
		return rc == -ESRCH ? 0 : rc;
	/* A zombie keeps its pid, but does nothing more: its pidfd is readable. */
	ended = (struct pollfd){ .fd = pidfd, .events = POLLIN };
	do {
		rc = poll(&ended, 1, 0);
	} while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : rc == 0;
}

int fence_ident_signal(const struct fence_ident *ident, int sig)
{
	owned_fd pidfd = -1;
	int rc = fence_ident_open(ident, &pidfd);

	return rc < 0 ? rc : fence_pidfd_signal(pidfd, sig, 0);
}

/* --- at rest ---------------------------------------------------------------------------- */

void fence_ident_write(struct fence_jsonw *w, const struct fence_ident *ident)
{
	fence_jsonw_int(w, "pid", ident->pid);
	if (ident->start_ticks != 0)
		fence_jsonw_decimal(w, "start", ident->start_ticks);
	if (ident->id != 0)
		fence_jsonw_decimal(w, "id", ident->id);
	if (ident->boot_id[0] != '\0')
		fence_jsonw_string(w, "bootId", ident->boot_id);
	if (ident->pid_ns != 0)
		fence_jsonw_decimal(w, "pidNs", ident->pid_ns);
}

static int parse_pid(const struct fence_json *value, struct fence_ident *ret)
{
	int64_t pid;
	int rc = fence_json_int(value, 1, INT32_MAX, &pid);

	if (rc == 0)
		ret->pid = (pid_t)pid;
	return rc;
}

static int parse_start(const struct fence_json *value, struct fence_ident *ret)
{
	return fence_json_decimal(value, &ret->start_ticks);
}

static int parse_id(const struct fence_json *value, struct fence_ident *ret)
{
	return fence_json_decimal(value, &ret->id);
}

static int parse_boot_id(const struct fence_json *value, struct fence_ident *ret)
{
	size_t length;
	int rc = fence_json_string(value, ret->boot_id, sizeof(ret->boot_id), &length);

	return rc == 0 && length != FENCE_BOOT_ID_BYTES - 1 ? -EINVAL : rc;
}

static int parse_pid_ns(const struct fence_json *value, struct fence_ident *ret)
{
	return fence_json_decimal(value, &ret->pid_ns);
}

int fence_ident_parse(const struct fence_json *object, struct fence_ident *ret,
		      const char **ret_member)
{
	static const struct {
		const char *name;
		int (*parse)(const struct fence_json *value, struct fence_ident *ret);
	} members[] = {
		{ "pid", parse_pid },	     { "start", parse_start },	{ "id", parse_id },
		{ "bootId", parse_boot_id }, { "pidNs", parse_pid_ns },
	};
	struct fence_ident found = { 0 };
	struct fence_json value;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		int rc = fence_json_member(object, members[i].name, &value);

		if (rc == -ENOENT && i > 0)
			continue;
		if (rc == 0)
			rc = members[i].parse(&value, &found);
		if (rc < 0) {
			*ret_member = members[i].name;
			return -EINVAL;
		}
	}
	*ret = found;
	return 0;
}
