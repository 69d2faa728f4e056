/* marker_race: one party of a race for a marker.
 *
 *   marker_race write PATH ATTEMPT COUNT    replaces it COUNT times through the lock,
 *                                           starting over whenever another was first
 *   marker_race foreign PATH ATTEMPT COUNT  renames COUNT new states over it without
 *                                           knowing the lock, as other programs may
 *   marker_race careless PATH ATTEMPT COUNT the control: replaces what it just read, and
 *                                           looks again before it renames, but has no lock
 *   marker_race read PATH ATTEMPT COUNT     reads it COUNT times
 *   marker_race watch PATH ATTEMPT          says "reads", and reads it until its input ends
 *   marker_race hold PATH                   takes the lock, says "held" and keeps it
 *                                           until its input ends
 *
 * Prints how often it had to start over, or how often it read. Exit status: 0 all were
 * done, 1 not. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/marker_compose.h"
#include "fence/own.h"
#include "fence/sys.h"

static int give_up(const char *what, const struct fence_err *err)
{
	fprintf(stderr, "marker_race: %s: %s: %s\n", what, err->what,
		err->why[0] ? err->why : strerror(-err->code));
	return 1;
}

static struct fence_marker_approved approved_of(const struct fence_marker *marker)
{
	struct fence_marker_approved approved = { .supervisor_pid = marker->supervisor.pid,
						  .place = marker->place,
						  .seq = marker->seq };

	memcpy(approved.nonce, marker->nonce, sizeof(approved.nonce));
	return approved;
}

static int race_write(const char *path, const char *attempt, long count)
{
	struct fence_marker_approved approved;
	struct fence_marker_change change = { .attempt_id = attempt,
					      .approved = &approved,
					      .status = FENCE_MARKER_ACTIVE,
					      .durable = FENCE_MARKER_DURABLE_NONE,
					      .lock_wait_ms = 20000 };
	struct fence_marker_writer writer;
	struct fence_marker marker;
	enum fence_marker_answer answer;
	struct fence_err err = { 0 };
	long again = 0;

	if (fence_marker_writer_open(path, &writer, &err) < 0)
		return give_up("open", &err);
	while (count > 0) {
		int rc = fence_marker_read(path, FENCE_MARKER_V1, &marker, NULL, &err);

		if (rc < 0)
			return give_up("read", &err);
		approved = approved_of(&marker);
		rc = fence_marker_replace(&writer, &change, NULL, &answer, &err);
		if (rc < 0 && rc != -ESTALE)
			return give_up("replace", &err);
		again += rc < 0;
		count -= rc == 0;
	}
	printf("%ld\n", again);
	return 0;
}

/* A state with nothing but the fields that it must have, written without the lock. */
static int write_foreign(const char *path, const char *attempt)
{
	char text[1024], name[4096];
	struct fence_marker_path split;
	struct stat st, parent;
	owned_fd fd = -1;
	int length;

	(void)snprintf(name, sizeof(name), "%s.foreign-%d", path, getpid());
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || fence_marker_path_split(path, &split, NULL) < 0 || fstat(fd, &st) < 0 ||
	    stat(split.dir, &parent) < 0)
		return -1;
	length =
		snprintf(text, sizeof(text),
			 "{\"format\":\"fence-marker/v1\",\"attemptId\":\"%s\",\"supervisorPid\":1,"
			 "\"status\":\"active\",\"markerDev\":\"%ju\",\"markerIno\":\"%ju\","
			 "\"parentDev\":\"%ju\",\"parentIno\":\"%ju\"}\n",
			 attempt, (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
			 (uintmax_t)parent.st_dev, (uintmax_t)parent.st_ino);
	if (fence_write_full(fd, text, (size_t)length) < 0)
		return -1;
	return rename(name, path);
}

static int race_foreign(const char *path, const char *attempt, long count)
{
	for (; count > 0; count--) {
		if (write_foreign(path, attempt) < 0) {
			perror("marker_race: foreign");
			return 1;
		}
	}
	printf("0\n");
	return 0;
}

/* 1 when it was put there, 0 when another was faster, -1. */
static int write_careless(const char *path, const char *attempt)
{
	struct fence_marker_news news = { .status = FENCE_MARKER_ACTIVE };
	struct fence_marker old, next, now;
	struct stat st;
	owned_fd fd = -1;
	char name[4096];

	(void)snprintf(name, sizeof(name), "%s.careless-%d", path, getpid());
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || fence_marker_read(path, FENCE_MARKER_V1, &old, NULL, NULL) < 0 ||
	    strcmp(old.attempt_id, attempt) != 0 || fstat(fd, &st) < 0)
		return -1;
	news.place = old.place;
	news.place.marker_ino = st.st_ino;
	news.seq = old.seq + 1;
	(void)snprintf(news.nonce, sizeof(news.nonce), "%032x", (unsigned int)getpid());
	if (fence_marker_compose(old.text, old.text_bytes, old.format, &news, &next, NULL) < 0 ||
	    fence_write_full(fd, next.text, next.text_bytes) < 0 ||
	    fence_marker_read(path, FENCE_MARKER_V1, &now, NULL, NULL) < 0)
		return -1;
	if (now.seq != old.seq || strcmp(now.nonce, old.nonce) != 0)
		return unlink(name) < 0 ? -1 : 0;
	return rename(name, path) < 0 ? -1 : 1;
}

static int race_careless(const char *path, const char *attempt, long count)
{
	long again = 0;

	while (count > 0) {
		int done = write_careless(path, attempt);

		if (done < 0) {
			perror("marker_race: careless");
			return 1;
		}
		count -= done;
		again += !done;
	}
	printf("%ld\n", again);
	return 0;
}

static int race_read(const char *path, const char *attempt, long count)
{
	struct fence_marker marker;
	enum fence_marker_rule rule;
	struct fence_err err = { 0 };

	for (; count > 0; count--) {
		if (fence_marker_read(path, FENCE_MARKER_V1, &marker, &rule, &err) < 0)
			return give_up(fence_marker_rule_word(rule), &err);
		if (strcmp(marker.attempt_id, attempt) != 0) {
			fprintf(stderr, "marker_race: it is of %s\n", marker.attempt_id);
			return 1;
		}
	}
	printf("0\n");
	return 0;
}

static int watch(const char *path, const char *attempt)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct fence_marker marker;
	enum fence_marker_rule rule;
	struct fence_err err = { 0 };
	long looks = 0;

	printf("reads\n");
	(void)fflush(stdout);
	for (; poll(&input, 1, 0) == 0; looks++) {
		if (fence_marker_read(path, FENCE_MARKER_V1, &marker, &rule, &err) < 0)
			return give_up(fence_marker_rule_word(rule), &err);
		if (strcmp(marker.attempt_id, attempt) != 0)
			return 1;
	}
	printf("%ld\n", looks);
	return 0;
}

static int hold(const char *path)
{
	struct flock byte = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };
	char name[4096], rest;
	owned_fd fd = -1;

	(void)snprintf(name, sizeof(name), "%s.lock", path);
	fd = open(name, O_RDWR | O_CLOEXEC);
	/* A POSIX lock: writers of the two kinds must exclude each other. */
	if (fd < 0 || fcntl(fd, F_SETLK, &byte) < 0) {
		perror("marker_race: hold");
		return 1;
	}
	printf("held\n");
	(void)fflush(stdout);
	while (fence_read_some(STDIN_FILENO, &rest, 1) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	long count = argc == 5 ? strtol(argv[4], NULL, 10) : 0;

	if (argc == 3 && strcmp(argv[1], "hold") == 0)
		return hold(argv[2]);
	if (argc == 4 && strcmp(argv[1], "watch") == 0)
		return watch(argv[2], argv[3]);
	if (count > 0 && strcmp(argv[1], "careless") == 0)
		return race_careless(argv[2], argv[3], count);
	if (count > 0 && strcmp(argv[1], "write") == 0)
		return race_write(argv[2], argv[3], count);
	if (count > 0 && strcmp(argv[1], "foreign") == 0)
		return race_foreign(argv[2], argv[3], count);
	if (count > 0 && strcmp(argv[1], "read") == 0)
		return race_read(argv[2], argv[3], count);
	fprintf(stderr, "marker_race: see the top of its source\n");
	return 2;
}
