/* A step of a marker's life, as tests drive it: what it starts from, what it must leave.
 * Each round starts from a fresh state of the attempt "old"; a creation is of "new". */
#ifndef TESTS_MARKER_STEP_H
#define TESTS_MARKER_STEP_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/attempt.h"
#include "fence/marker.h"
#include "fence/own.h"
#include "fence/sys.h"

#define LOCK_WAIT_MS 10000

enum step { STEP_CREATE, STEP_REPLACE, STEP_OVER, STEP_NAIVE, STEPS, STEP_READ };

/* STEPS: no step of that name. */
static inline enum step step_of(const char *word)
{
	static const char *const words[] = { "create", "replace", "over", "naive" };
	unsigned int step = STEP_CREATE;

	while (step < STEPS && strcmp(word, words[step]) != 0)
		step++;
	return (enum step)step;
}

struct round {
	enum step step;
	const char *path;
	char approved[512];
	struct fence_marker old; /* text_bytes 0: there is none */
};

static inline void die(const char *what, const struct fence_err *err)
{
	fprintf(stderr, "marker tests: %s: %s: %s\n", what, err->what,
		err->why[0] ? err->why : fence_errno_words(err->code));
	exit(1);
}

static inline void must(bool claim, const char *what)
{
	if (!claim) {
		fprintf(stderr, "marker tests: %s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static inline int make(const char *path, const char *attempt, struct fence_err *err)
{
	const struct fence_marker_birth birth = {
		.attempt_id = attempt,
		.supervisor_pid = getppid(),
		.over_ended = true,
		.lock_wait_ms = LOCK_WAIT_MS,
	};
	struct fence_marker_writer writer;
	struct fence_marker marker;
	bool made = false;
	int rc = fence_marker_writer_open(path, &writer, err);

	if (rc == 0) {
		rc = fence_marker_create(&writer, &birth, &marker, &made, err);
		fence_marker_writer_close(&writer);
	}
	return rc;
}

static inline int advance(const char *path, const struct fence_marker *from,
			  enum fence_marker_status status, struct fence_err *err)
{
	struct fence_marker_approved approved = { .supervisor_pid = from->supervisor.pid,
						  .place = from->place,
						  .seq = from->seq };
	const struct fence_marker_change change = { .attempt_id = from->attempt_id,
						    .approved = &approved,
						    .status = status,
						    .lock_wait_ms = LOCK_WAIT_MS };
	enum fence_marker_answer answer;
	struct fence_marker_writer writer;
	int rc = fence_marker_writer_open(path, &writer, err);

	if (rc == 0) {
		rc = fence_marker_replace(&writer, &change, NULL, &answer, err);
		fence_marker_writer_close(&writer);
	}
	return rc;
}

/* 1: authentic; 0: no file of that name; -1: something else. A name that comes or goes
 * between the reading and the second look is looked at again. */
static inline int look(const char *path, struct fence_marker *ret, enum fence_marker_rule *ret_rule)
{
	struct stat st;

	for (unsigned int i = 0; i < 100; i++) {
		if (fence_marker_read(path, FENCE_MARKER_V1, ret, ret_rule, NULL) == 0)
			return 1;
		if (*ret_rule != FENCE_MARKER_RULE_ENTRY)
			return -1;
		if (lstat(path, &st) < 0 && errno == ENOENT)
			return 0;
	}
	return -1;
}

static inline void read_old(struct round *round)
{
	enum fence_marker_rule rule;

	if (look(round->path, &round->old, &rule) != 1) {
		fprintf(stderr, "marker tests: seed: rule %s\n", fence_marker_rule_word(rule));
		exit(1);
	}
}

/* What the step starts from. Nothing that it does can be seen as a torn state. */
static inline void seed(struct round *round)
{
	struct fence_err err = { 0 };
	char lock[PATH_MAX];
	enum fence_marker_rule rule;
	bool is_there = look(round->path, &round->old, &rule) == 1;

	if (round->step == STEP_CREATE) {
		(void)snprintf(lock, sizeof(lock), "%s.lock", round->path);
		(void)unlink(round->path);
		(void)unlink(lock);
		round->old.text_bytes = 0;
		return;
	}
	if (!is_there || (round->step == STEP_OVER && strcmp(round->old.attempt_id, "new") == 0)) {
		if (is_there && !fence_attempt_is_over(&round->old) &&
		    (advance(round->path, &round->old, FENCE_MARKER_TERMINATING, &err) < 0 ||
		     (read_old(round), false) ||
		     advance(round->path, &round->old, FENCE_MARKER_TERMINATED, &err) < 0))
			die("end the last attempt", &err);
		if (make(round->path, "old", &err) < 0)
			die("make a marker", &err);
		read_old(round);
	}
	if (round->step == STEP_OVER && round->old.status == FENCE_MARKER_ACTIVE) {
		if (advance(round->path, &round->old, FENCE_MARKER_TERMINATING, &err) < 0)
			die("end the attempt", &err);
		read_old(round);
	}
	if (round->step == STEP_OVER && round->old.status == FENCE_MARKER_TERMINATING &&
	    advance(round->path, &round->old, FENCE_MARKER_TERMINATED, &err) < 0)
		die("end the attempt", &err);
	read_old(round);
}

static inline bool is_old(const struct round *round, int there, const struct fence_marker *marker)
{
	if (round->old.text_bytes == 0)
		return there == 0;
	return there == 1 && marker->text_bytes == round->old.text_bytes &&
	       memcmp(marker->text, round->old.text, marker->text_bytes) == 0;
}

static const char *attempt_of(const struct round *round)
{
	return round->step == STEP_CREATE || round->step == STEP_OVER ? "new" : "old";
}

static inline bool is_new(const struct round *round, int there, const struct fence_marker *marker)
{
	int64_t seq = round->old.text_bytes > 0 ? round->old.seq + 1 : 1;

	return there == 1 && strcmp(marker->attempt_id, attempt_of(round)) == 0 &&
	       marker->seq == seq && marker->status == FENCE_MARKER_ACTIVE;
}

/* The writer that comes after: an update of whatever is there. */
static inline void next_writer(const struct round *round)
{
	struct fence_marker marker;
	struct fence_err err = { 0 };
	enum fence_marker_rule rule;
	int there = look(round->path, &marker, &rule), rc;

	if (there < 0)
		(void)unlink(round->path); /* the control's */
	if (there == 1 && marker.status == FENCE_MARKER_ACTIVE)
		rc = advance(round->path, &marker, FENCE_MARKER_ACTIVE, &err);
	else
		rc = make(round->path, attempt_of(round), &err);
	if (rc < 0)
		die("the next writer", &err);
}

/* Names in the folder that begin like a sibling's. */
static inline unsigned int count_temporaries(const char *path)
{
	struct fence_marker_path split;
	unsigned int count = 0;
	size_t length;
	DIR *dir;

	must(fence_marker_path_split(path, &split, NULL) == 0, "split the path");
	length = strlen(split.name);
	dir = opendir(split.dir);
	must(dir != NULL, "open the folder");
	for (const struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] == '.' &&
			 strncmp(entry->d_name + 1, split.name, length) == 0;
	(void)closedir(dir);
	return count;
}

#endif
