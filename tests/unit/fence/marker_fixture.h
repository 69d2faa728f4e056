/* Folders with a marker in them, for the unit tests of markers. */
#ifndef TESTS_MARKER_FIXTURE_H
#define TESTS_MARKER_FIXTURE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/marker.h"
#include "fence/marker_compose.h"
#include "fence/own.h"
#include "fence/sys.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Each test has a folder of its own, and "m" in it is the marker. */
struct fixture {
	char dir[32];
	char path[64];
	char other[64];
};

static inline int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (!f)
		return -1;
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/fence-marker.XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	(void)snprintf(f->path, sizeof(f->path), "%s/m", f->dir);
	(void)snprintf(f->other, sizeof(f->other), "%s/other", f->dir);
	return 0;
}

/* Removes the folder's files, and folders in it that are empty; counts what was
 * there. */
static inline int empty_dir(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;

	if (!dir)
		return -1;
	for (const struct dirent *entry; (entry = readdir(dir));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		count++;
		if (unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			(void)unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	(void)closedir(dir);
	return count;
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;
	int rc;

	(void)empty_dir(f->dir);
	rc = rmdir(f->dir);
	free(f);
	return rc;
}

static inline void create(struct fixture *f, enum fence_marker_format format,
			  struct fence_marker *ret)
{
	const struct fence_marker_birth birth = {
		.format = format,
		.attempt_id = "attempt-1",
		.supervisor_pid = getpid(),
		.by = FENCE_MARKER_BY_EXECUTOR,
	};
	struct fence_marker_writer writer;
	struct fence_err err = { 0 };
	bool made = false;

	if (fence_marker_writer_open(f->path, &writer, &err) < 0 ||
	    fence_marker_create(&writer, &birth, ret, &made, &err) < 0)
		fail_msg("%s: %s", err.what, err.why);
	assert_true(made);
	fence_marker_writer_close(&writer);
}

/* A marker by somebody else's hand, bound to its inode as it should be: `rest` are
 * the bytes after the identity fields, the final brace and newline too. */
static inline void forge(const char *path, const char *front, const char *rest, size_t rest_bytes)
{
	char text[4096];
	owned_fd fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct fence_marker_path split;
	struct stat st, parent;
	int length;

	assert_true(fd >= 0);
	assert_int_equal(fence_marker_path_split(path, &split, NULL), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(stat(split.dir, &parent), 0);
	length = snprintf(text, sizeof(text),
			  "%s\"markerDev\":\"%ju\",\"markerIno\":\"%ju\",\"parentDev\":\"%ju\","
			  "\"parentIno\":\"%ju\"",
			  front, (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
			  (uintmax_t)parent.st_dev, (uintmax_t)parent.st_ino);
	assert_int_equal(fence_write_full(fd, text, (size_t)length), 0);
	assert_int_equal(fence_write_full(fd, rest, rest_bytes), 0);
}

#define FRONT                                                                                      \
	"{\"format\":\"fence-marker/v1\",\"attemptId\":\"a\",\"supervisorPid\":77,"                \
	"\"status\":\"active\","

static inline void not_authentic(const char *path, enum fence_marker_rule wanted)
{
	struct fence_marker marker;
	enum fence_marker_rule rule = FENCE_MARKER_RULE_NAME;
	struct fence_err err = { 0 };

	assert_int_equal(fence_marker_read(path, FENCE_MARKER_V1, &marker, NULL, NULL), -EBADMSG);
	assert_int_equal(fence_marker_read(path, FENCE_MARKER_V1, &marker, &rule, &err), -EBADMSG);
	if (rule != wanted)
		fail_msg("rule %s (%s: %s), wanted %s", fence_marker_rule_word(rule), err.what,
			 err.why, fence_marker_rule_word(wanted));
}

static inline struct fence_marker authentic(const char *path)
{
	struct fence_marker marker;
	enum fence_marker_rule rule;
	struct fence_err err = { 0 };

	if (fence_marker_read(path, FENCE_MARKER_V1, &marker, &rule, &err) < 0)
		fail_msg("rule %s: %s: %s", fence_marker_rule_word(rule), err.what, err.why);
	return marker;
}

static inline struct fence_marker_approved approved_of(const struct fence_marker *marker)
{
	struct fence_marker_approved approved = { .supervisor_pid = marker->supervisor.pid,
						  .place = marker->place,
						  .seq = marker->seq };

	memcpy(approved.nonce, marker->nonce, sizeof(approved.nonce));
	return approved;
}

static inline int replace(const char *path, const struct fence_marker_change *change,
			  struct fence_marker *ret, enum fence_marker_answer *ret_answer,
			  struct fence_err *err)
{
	struct fence_marker_writer writer;
	int rc = fence_marker_writer_open(path, &writer, err);

	assert_int_equal(rc, 0);
	rc = fence_marker_replace(&writer, change, ret, ret_answer, err);
	fence_marker_writer_close(&writer);
	return rc;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
