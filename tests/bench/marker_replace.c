/* marker_replace: what a durable replacement of a marker costs, against the same system
 * calls bare: a loop that makes every one of them, in their order, on files beside it,
 * without a check, a word of JSON or a decision. One of each in turn, in one process.
 *
 *   marker_replace [-n ROUNDS] [-b BAR] FOLDER...
 *
 * Prints medians and their ratio for each folder. Exit status: 1 when a ratio is above
 * BAR, 125 when something failed. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "fence/marker.h"

#define MAX_ROUNDS 20000
#define WARM_UP	   10

static void must(bool claim, const char *what)
{
	if (!claim) {
		fprintf(stderr, "marker_replace: %s: %s\n", what, strerror(errno));
		exit(125);
	}
}

static void die(const char *what, const struct fence_err *err)
{
	fprintf(stderr, "marker_replace: %s: %s: %s\n", what, err->what,
		err->why[0] ? err->why : fence_errno_words(err->code));
	exit(125);
}

static double now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* --- bare -------------------------------------------------------------------------------- */

struct bare {
	char dir[256];
	int dir_fd, lock_fd;
	char text[512];
};

static void bare_lock(const struct bare *bare, short type)
{
	struct flock byte = { .l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };
	struct stat st;

	must(fcntl(bare->lock_fd, F_OFD_SETLK, &byte) == 0, "bare lock");
	if (type == F_WRLCK)
		must(fstat(bare->lock_fd, &st) == 0 &&
			     fstatat(bare->dir_fd, "bare.lock", &st, AT_SYMLINK_NOFOLLOW) == 0,
		     "bare lock");
}

static void bare_read(const struct bare *bare)
{
	char text[1025];
	struct stat st;
	int fd, dir_fd = open(bare->dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	must(dir_fd >= 0 && fstat(dir_fd, &st) == 0 &&
		     fstatat(dir_fd, "bare", &st, AT_SYMLINK_NOFOLLOW) == 0,
	     "bare read");
	fd = openat(dir_fd, "bare", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	must(fd >= 0 && fstat(fd, &st) == 0 && pread(fd, text, sizeof(text), 0) > 0 &&
		     fstat(fd, &st) == 0 &&
		     fstatat(dir_fd, "bare", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		     lstat(bare->dir, &st) == 0 && close(fd) == 0 && close(dir_fd) == 0,
	     "bare read");
}

/* The last sibling's name is in the lock; the next one's goes there. */
static void bare_note(const struct bare *bare)
{
	char text[300];

	must(pread(bare->lock_fd, text, sizeof(text), 0) >= 0, "bare note");
	must(unlinkat(bare->dir_fd, ".bare.executor-12345-0123456789abcdef", 0) < 0, "bare note");
	memset(text, 'x', sizeof(text));
	must(pwrite(bare->lock_fd, text, sizeof(text), 0) == sizeof(text), "bare note");
}

static void bare_write(const struct bare *bare)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = { .handle = { .handle_bytes = MAX_HANDLE_SZ } };
	/* A name that was never there before, as ours: the kernel knows nothing of it. */
	char name[] = ".bare.executor-12345-0123456789abcdef", random[16];
	struct stat st;
	int mount_id, fd;

	must(getrandom(random, 16, 0) == 16 && getrandom(random, 8, 0) == 8, "bare write");
	for (size_t i = 0; i < 16; i++)
		name[sizeof(name) - 2 - i] = (char)('a' + (random[i / 2] >> (i % 2 * 4) & 15));
	fd = openat(bare->dir_fd, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	must(fd >= 0 && fstat(fd, &st) == 0 && fstat(bare->dir_fd, &st) == 0, "bare write");
	(void)name_to_handle_at(fd, "", &u.handle, &mount_id, AT_EMPTY_PATH);
	must(write(fd, bare->text, sizeof(bare->text)) == sizeof(bare->text) && fsync(fd) == 0 &&
		     close(fd) == 0,
	     "bare write");
	bare_read(bare);
	must(renameat(bare->dir_fd, name, bare->dir_fd, "bare") == 0 && fsync(bare->dir_fd) == 0,
	     "bare rename");
}

static void bare_replace(const struct bare *bare)
{
	bare_lock(bare, F_WRLCK);
	bare_note(bare);
	bare_read(bare);
	bare_write(bare);
	bare_lock(bare, F_UNLCK);
}

static void bare_open(const char *dir, struct bare *ret)
{
	int fd;

	(void)snprintf(ret->dir, sizeof(ret->dir), "%s", dir);
	memset(ret->text, 'x', sizeof(ret->text));
	ret->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(ret->dir_fd >= 0, dir);
	ret->lock_fd = openat(ret->dir_fd, "bare.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	fd = openat(ret->dir_fd, "bare", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	must(ret->lock_fd >= 0 && fd >= 0 &&
		     write(fd, ret->text, sizeof(ret->text)) == sizeof(ret->text) && close(fd) == 0,
	     "bare");
}

/* --- ours --------------------------------------------------------------------------------- */

struct ours {
	struct fence_marker_writer writer;
	struct fence_marker marker;
};

static void ours_open(const char *dir, struct ours *ret)
{
	const struct fence_marker_birth birth = { .attempt_id = "bench",
						  .supervisor_pid = getpid(),
						  .lock_wait_ms = 1000 };
	struct fence_err err = { 0 };
	char path[300];
	bool made;

	(void)snprintf(path, sizeof(path), "%s/ours", dir);
	if (fence_marker_writer_open(path, &ret->writer, &err) < 0 ||
	    fence_marker_create(&ret->writer, &birth, &ret->marker, &made, &err) < 0)
		die("create", &err);
}

static void ours_replace(struct ours *ours)
{
	struct fence_marker_approved approved = { .supervisor_pid = ours->marker.supervisor.pid,
						  .place = ours->marker.place,
						  .seq = ours->marker.seq };
	const struct fence_marker_change change = { .attempt_id = "bench",
						    .approved = &approved,
						    .status = FENCE_MARKER_ACTIVE,
						    .lock_wait_ms = 1000 };
	enum fence_marker_answer answer;
	struct fence_err err = { 0 };

	if (fence_marker_replace(&ours->writer, &change, &ours->marker, &answer, &err) < 0)
		die("replace", &err);
}

/* --- measuring ------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *us, size_t count)
{
	qsort(us, count, sizeof(*us), by_size);
	return us[count / 2];
}

static void clean(const char *dir)
{
	static const char *const names[] = { "ours", "ours.lock", "bare", "bare.lock" };
	char path[300];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(dir);
}

static bool measure(const char *where, size_t rounds, double bar)
{
	static double bare_us[MAX_ROUNDS], ours_us[MAX_ROUNDS];
	char dir[256];
	struct bare bare;
	struct ours ours;
	double ratio;

	(void)snprintf(dir, sizeof(dir), "%s/fence-bench.XXXXXX", where);
	must(mkdtemp(dir) != NULL, where);
	bare_open(dir, &bare);
	ours_open(dir, &ours);
	for (size_t i = 0; i < WARM_UP + rounds; i++) {
		size_t at = i < WARM_UP ? 0 : i - WARM_UP;
		double start_us = now_us(), middle_us;

		bare_replace(&bare);
		middle_us = now_us();
		ours_replace(&ours);
		ours_us[at] = now_us() - middle_us;
		bare_us[at] = middle_us - start_us;
	}
	fence_marker_writer_close(&ours.writer);
	(void)close(bare.dir_fd);
	(void)close(bare.lock_fd);
	clean(dir);
	ratio = median(ours_us, rounds) / median(bare_us, rounds);
	printf("  %-12s bare %8.1f us   replace %8.1f us   ratio %.2f (at most %.2f)%s\n", where,
	       median(bare_us, rounds), median(ours_us, rounds), ratio, bar,
	       ratio > bar ? "  MISSED" : "");
	return ratio <= bar;
}

int main(int argc, char **argv)
{
	size_t rounds = 300;
	double bar = 1.5;
	bool held = true;
	int option;

	while ((option = getopt(argc, argv, "n:b:")) != -1) {
		if (option == 'n')
			rounds = (size_t)strtoul(optarg, NULL, 10);
		else if (option == 'b')
			bar = strtod(optarg, NULL);
		else
			return 125;
	}
	if (optind == argc || rounds == 0 || rounds > MAX_ROUNDS) {
		fprintf(stderr, "marker_replace: see the top of its source\n");
		return 125;
	}
	for (; optind < argc; optind++)
		held &= measure(argv[optind], rounds, bar);
	return held ? 0 : 1;
}
