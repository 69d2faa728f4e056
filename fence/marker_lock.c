/* The lock of a marker, and the siblings that its writers make. */
#include "fence/marker_lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"

/* A sibling's name is the marker's and at most this: dots, the longest writer's
 * word, a pid, the random digits. */
#define SIBLING_EXTRA_BYTES (sizeof("..group-runner-2147483647-") - 1 + FENCE_SIBLING_RANDOM_DIGITS)

/* "BOOTID NAME" and NULs: always as long, so that nothing is left of a longer one. */
#define NOTE_BYTES (FENCE_BOOT_ID_BYTES + NAME_MAX + 1)

/* --- the lock -------------------------------------------------------------------------- */

static void lock_name(const struct fence_marker_writer *writer, char ret[NAME_MAX + 1])
{
	(void)snprintf(ret, NAME_MAX + 1, "%.*s.lock", (int)(NAME_MAX - sizeof(".lock")),
		       writer->path.name);
}

/* Not with O_CREAT when it is there: in a folder like /tmp the kernel lets nobody, root
 * included, open another user's file so (fs.protected_regular). */
static int open_or_make(const struct fence_marker_writer *writer, const char *name, bool *ret_made)
{
	const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd;

	do {
		*ret_made = false;
		fd = openat(writer->dir_fd, name, flags);
		if (fd >= 0 || errno != ENOENT)
			break;
		*ret_made = true;
		fd = openat(writer->dir_fd, name, flags | O_CREAT | O_EXCL, 0600);
	} while (fd < 0 && errno == EEXIST);
	return fd < 0 ? -errno : fd;
}

/* Whose the marker is, his is its lock: when root cancels what a user will own. */
static int give_lock(const struct fence_marker_writer *writer)
{
	struct stat marker;

	if (fstatat(writer->dir_fd, writer->path.name, &marker, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(marker.st_mode) || marker.st_uid == geteuid())
		return 0;
	return fchown(writer->lock_fd, marker.st_uid, marker.st_gid) < 0 ? -errno : 0;
}

int fence_marker_settle_mode(int fd, const struct stat *st)
{
	return (st->st_mode & 07777) != 0600 && fchmod(fd, 0600) < 0 ? -errno : 0;
}

static int open_lock(struct fence_marker_writer *writer, struct fence_err *err)
{
	char name[NAME_MAX + 1];
	struct stat st;
	bool made;
	int rc;

	lock_name(writer, name);
	rc = open_or_make(writer, name, &made);
	if (rc < 0)
		return fence_fail(err, rc, "open %s/%s", writer->path.dir, name);
	writer->lock_fd = rc;
	rc = fstat(writer->lock_fd, &st) < 0 ? -errno : 0;
	if (rc == 0 && made)
		rc = fence_marker_settle_mode(writer->lock_fd, &st);
	if (rc < 0)
		return fence_fail(err, rc, "look at %s/%s", writer->path.dir, name);
	if (!S_ISREG(st.st_mode))
		return fence_fail_why(err, -EINVAL, "not a regular file", "%s/%s", writer->path.dir,
				      name);
	/* Who may not give it away may not replace the marker either, and is told so then. */
	if (made)
		(void)give_lock(writer);
	return 0;
}

int fence_marker_writer_open(const char *path, struct fence_marker_writer *ret,
			     struct fence_err *err)
{
	int rc;

	ret->dir_fd = -1;
	ret->lock_fd = -1;
	rc = fence_marker_path_split(path, &ret->path, err);
	if (rc < 0)
		return rc;
	if (strlen(ret->path.name) + SIBLING_EXTRA_BYTES > NAME_MAX)
		return fence_fail(err, -ENAMETOOLONG, "marker name %s", ret->path.name);
	ret->dir_fd = open(ret->path.dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (ret->dir_fd < 0)
		return fence_fail(err, -errno, "open folder %s", ret->path.dir);
	/* Without it the folder is listed each time. */
	if (fence_boot_id(ret->boot_id) < 0)
		ret->boot_id[0] = '\0';
	rc = open_lock(ret, err);
	if (rc < 0)
		fence_marker_writer_close(ret);
	return rc;
}

void fence_marker_writer_close(struct fence_marker_writer *writer)
{
	fence_close_fd(&writer->lock_fd);
	fence_close_fd(&writer->dir_fd);
}

/* An open file description lock (F_OFD_*), not a process's: two writers in one
 * process then exclude each other too, and the lock is not lost when some other
 * part of the process closes the file. The two kinds conflict with each other, so
 * a writer that uses POSIX locks is excluded as well. */
static int lock_command(int fd, int command, short type)
{
	struct flock byte = { .l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };

	return fcntl(fd, command, &byte) < 0 ? -errno : 0;
}

/* Somebody may have removed the lock file, and others may lock a new one by now. */
static int check_lock(const struct fence_marker_writer *writer, struct fence_err *err)
{
	char name[NAME_MAX + 1];
	struct stat held, named;

	lock_name(writer, name);
	if (fstat(writer->lock_fd, &held) < 0)
		return fence_fail(err, -errno, "look at %s", name);
	if (fstatat(writer->dir_fd, name, &named, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			return fence_fail(err, -errno, "look at %s", name);
		named = (struct stat){ .st_ino = 0 };
	}
	if (held.st_dev != named.st_dev || held.st_ino != named.st_ino)
		return fence_fail_why(err, -EAGAIN, "it was removed while in use", "%s", name);
	return 0;
}

void fence_marker_unlock(const struct fence_marker_writer *writer)
{
	/* Unlocking what is held cannot fail; were it to, closing the file unlocks it. */
	(void)lock_command(writer->lock_fd, F_OFD_SETLK, F_UNLCK);
}

/* The kernel has no wait for a record lock with a deadline but one ended by a
 * signal handler, which a library must not have: so it is tried again, soon at
 * first (an update takes microseconds in memory, less than a millisecond on disk). */
int fence_marker_lock(const struct fence_marker_writer *writer, int64_t wait_ms,
		      struct fence_err *err)
{
	int64_t stop_at_ms = fence_now_ms() + wait_ms;
	struct timespec pause = { .tv_nsec = 50000 };

	for (;;) {
		int rc = lock_command(writer->lock_fd, F_OFD_SETLK, F_WRLCK);

		if (rc == 0) {
			rc = check_lock(writer, err);
			if (rc < 0)
				fence_marker_unlock(writer);
			return rc;
		}
		if (rc != -EAGAIN && rc != -EACCES)
			return fence_fail(err, rc, "lock %s.lock", writer->path.name);
		if (fence_now_ms() >= stop_at_ms)
			return fence_fail_why(err, -EAGAIN, "another writer holds it", "%s.lock",
					      writer->path.name);
		(void)nanosleep(&pause, NULL);
		if (pause.tv_nsec < 3200000)
			pause.tv_nsec *= 2;
	}
}

/* --- siblings ----------------------------------------------------------------------------- */

/* `.MARKER.WRITER-PID-RANDOM` */
static bool is_sibling(const char *entry, const char *marker)
{
	size_t marker_bytes = strlen(marker), length;

	if (entry[0] != '.' || strncmp(entry + 1, marker, marker_bytes) != 0 ||
	    entry[1 + marker_bytes] != '.')
		return false;
	entry += marker_bytes + 2;
	for (int by = FENCE_MARKER_BY_EXECUTOR; by <= FENCE_MARKER_BY_REPAIR; by++) {
		const char *word = fence_marker_by_word((enum fence_marker_by)by);

		length = strlen(word);
		if (strncmp(entry, word, length) != 0 || entry[length] != '-')
			continue;
		entry += length + 1;
		length = strspn(entry, "0123456789");
		if (length == 0 || entry[length] != '-')
			return false;
		entry += length + 1;
		return strlen(entry) == FENCE_SIBLING_RANDOM_DIGITS &&
		       strspn(entry, "0123456789abcdef") == FENCE_SIBLING_RANDOM_DIGITS;
	}
	return false;
}

static int remove_one(const struct fence_marker_writer *writer, const char *name,
		      struct fence_err *err)
{
	if (unlinkat(writer->dir_fd, name, 0) < 0 && errno != ENOENT)
		return fence_fail(err, -errno, "remove stale %s/%s", writer->path.dir, name);
	return 0;
}

static int remove_listed(const struct fence_marker_writer *writer, struct fence_err *err)
{
	int fd = openat(writer->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int rc = 0;

	if (!dir) {
		rc = fence_fail(err, -errno, "open folder %s", writer->path.dir);
		fence_drop_fd(&fd);
		return rc;
	}
	errno = 0;
	for (const struct dirent *entry; rc == 0 && (entry = readdir(dir)); errno = 0)
		if (is_sibling(entry->d_name, writer->path.name))
			rc = remove_one(writer, entry->d_name, err);
	if (rc == 0 && errno != 0)
		rc = fence_fail(err, -errno, "list folder %s", writer->path.dir);
	(void)closedir(dir);
	return rc;
}

/* The name of the last sibling there was, when it was noted on this boot. */
static bool read_note(const struct fence_marker_writer *writer, char ret[NAME_MAX + 1])
{
	const size_t id_bytes = FENCE_BOOT_ID_BYTES - 1;
	char text[NOTE_BYTES];
	ssize_t got;

	do {
		got = pread(writer->lock_fd, text, sizeof(text), 0);
	} while (got < 0 && errno == EINTR);
	if (got != sizeof(text) || writer->boot_id[0] == '\0' ||
	    memcmp(text, writer->boot_id, id_bytes) != 0)
		return false;
	memcpy(ret, text + id_bytes + 1, NAME_MAX);
	ret[NAME_MAX] = '\0';
	return is_sibling(ret, writer->path.name);
}

int fence_marker_remove_stale(const struct fence_marker_writer *writer, struct fence_err *err)
{
	char name[NAME_MAX + 1];

	return read_note(writer, name) ? remove_one(writer, name, err) : remove_listed(writer, err);
}

int fence_marker_note_sibling(const struct fence_marker_writer *writer, const char *name,
			      struct fence_err *err)
{
	char text[NOTE_BYTES] = "";
	ssize_t put;

	(void)snprintf(text, sizeof(text), "%s %s", writer->boot_id, name);
	do {
		put = pwrite(writer->lock_fd, text, sizeof(text), 0);
	} while (put < 0 && errno == EINTR);
	if (put == sizeof(text))
		return 0;
	return fence_fail(err, put < 0 ? -errno : -ENOSPC, "write %s/%s.lock", writer->path.dir,
			  writer->path.name);
}
