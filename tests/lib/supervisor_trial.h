/* One attempt at a time for supervisor_race: what is started, what it says and leaves, and
 * the faults that are found in that. */
#ifndef TESTS_SUPERVISOR_TRIAL_H
#define TESTS_SUPERVISOR_TRIAL_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fence/attempt.h"
#include "fence/attempt_left.h"
#include "fence/clock.h"
#include "fence/jsonw.h"
#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "fence/tree.h"

#define LIMIT_MS     1000  /* by then nothing runs any more */
#define PATIENCE_MS  20000 /* for what has no limit of its own */
#define GRACE	     "20ms"
#define ARGS	     32
#define FAULTS_SHOWN 20

extern char **environ;

/* What both this program and the executor know. */
struct shared {
	pid_t supervisor;
};

struct trial {
	int number;
	char marker[256];
	pid_t supervisor, executor;
	int pipe_fd; /* our end; everything of the attempt has the other one as 2 */
	int end_fd;  /* the other end */
	bool at_end;
	char text[8192]; /* what was said there */
	size_t text_bytes;
	int command_pidfd, daemon_pidfd; /* -1: not seen, or gone when it was */
	bool command_ran, daemon_ran;
	bool supervisor_reaped;
	struct fence_exit supervisor_exit;
	bool broken, is_contained;
};

struct race {
	const char *folder;
	const char *contain; /* NULL: as the supervisor has it by itself */
	unsigned long long seed;
	uint64_t random;
	struct shared *shared;
	int null_fd;
	int faults;
	int64_t span_us; /* from the start until the daemon runs, and somewhat more */
	int64_t worst_us;
	unsigned int happened[16];
};

/* --- small things ------------------------------------------------------------------- */

static inline void __attribute__((noreturn)) die(const char *what, int error)
{
	fprintf(stderr, "supervisor_race: %s: %s\n", what, strerror(error < 0 ? -error : error));
	exit(2);
}

static inline void __attribute__((format(printf, 3, 4)))
fault(struct race *race, struct trial *trial, const char *form, ...)
{
	va_list args;

	trial->broken = true;
	if (++race->faults > FAULTS_SHOWN)
		return;
	printf("FAULT seed %llu attempt %d: ", race->seed, trial->number);
	va_start(args, form);
	(void)vprintf(form, args);
	va_end(args);
	printf("\n  it said: %.*s\n", (int)trial->text_bytes, trial->text);
	(void)fflush(stdout);
}

/* xorshift64*: the same moments again for the same seed. */
static inline int64_t below(struct race *race, int64_t limit)
{
	race->random ^= race->random >> 12;
	race->random ^= race->random << 25;
	race->random ^= race->random >> 27;
	return limit <= 0 ? 0
			  : (int64_t)((race->random * UINT64_C(2685821657736338717) >> 1) %
				      (uint64_t)limit);
}

static inline void fill(char *argv[ARGS], const char *const *words)
{
	size_t count = 0;

	for (; words[count] != NULL; count++)
		argv[count] = (char *)(uintptr_t)words[count];
	argv[count] = NULL;
}

static inline pid_t start(const char *const *words, const int stdio[3])
{
	char *argv[ARGS];
	char path[4096];
	struct fence_spawn_plan plan = { .file = path,
					 .argv = argv,
					 .envp = environ,
					 .umask = -1,
					 .stdio = { stdio[0], stdio[1], stdio[2] } };
	enum fence_spawn_step step;
	pid_t pid;
	int rc;

	fill(argv, words);
	rc = fence_spawn_find(argv[0], getenv("PATH"), NULL, path, sizeof(path));
	if (rc < 0)
		die(argv[0], rc);
	rc = fence_spawn_exec(&plan, &pid, NULL, &step);
	if (rc < 0)
		die(argv[0], rc);
	return pid;
}

/* --- an attempt ------------------------------------------------------------------------ */

static inline void open_trial(struct race *race, struct trial *trial, int number)
{
	int ends[2];

	*trial = (struct trial){ .number = number,
				 .command_pidfd = -1,
				 .daemon_pidfd = -1,
				 .is_contained = race->contain != NULL };
	(void)snprintf(trial->marker, sizeof(trial->marker), "%s/m%d.json", race->folder, number);
	if (pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
		die("pipe", errno);
	trial->pipe_fd = ends[0];
	trial->end_fd = ends[1];
	race->shared->supervisor = 0;
}

static inline void close_trial(struct trial *trial)
{
	fence_close_fd(&trial->pipe_fd);
	fence_close_fd(&trial->end_fd);
	fence_close_fd(&trial->command_pidfd);
	fence_close_fd(&trial->daemon_pidfd);
}

/* In a pid namespace of its own the command does not know the pid that we see. */
static inline void look_for(const struct trial *trial, const char *word, int *pidfd, bool *seen)
{
	const char *at = strstr(trial->text, word);

	if (at == NULL || *seen || strchr(at, '\n') == NULL)
		return;
	*seen = true;
	if (!trial->is_contained)
		*pidfd = fence_pidfd_open((pid_t)strtol(at + strlen(word), NULL, 10), 0);
}

/* Takes what is there to read. */
static inline void hear(struct trial *trial)
{
	size_t room = sizeof(trial->text) - 1 - trial->text_bytes;
	ssize_t got =
		room == 0 ? -EAGAIN
			  : fence_read_some(trial->pipe_fd, trial->text + trial->text_bytes, room);

	if (got == -EAGAIN)
		return;
	if (got <= 0) {
		trial->at_end = true;
		return;
	}
	trial->text_bytes += (size_t)got;
	trial->text[trial->text_bytes] = '\0';
	look_for(trial, "command ", &trial->command_pidfd, &trial->command_ran);
	look_for(trial, "daemon ", &trial->daemon_pidfd, &trial->daemon_ran);
}

/* Until that moment, or the end of the pipe; it listens meanwhile. */
static inline void wait_until(struct trial *trial, int64_t at_us)
{
	for (;;) {
		int64_t left_us = at_us - fence_now_us();
		struct timespec left = { .tv_sec = left_us / 1000000,
					 .tv_nsec = left_us % 1000000 * 1000 };
		struct pollfd event = { .fd = trial->at_end ? -1 : trial->pipe_fd,
					.events = POLLIN };

		if (left_us <= 0)
			return;
		if (ppoll(&event, 1, &left, NULL) > 0)
			hear(trial);
	}
}

static inline void reap_dead(struct trial *trial, bool *ret_none_left)
{
	struct fence_exit how;
	int rc;

	while ((rc = fence_reap_look(&how)) == 1) {
		if (fence_reap_take(how.pid, &how, NULL) < 0)
			continue;
		if (how.pid == trial->supervisor) {
			trial->supervisor_reaped = true;
			trial->supervisor_exit = how;
		}
	}
	*ret_none_left = rc == -ECHILD;
}

/* Until nothing of it is left, and says whether it came to that. */
static inline bool await_end(struct trial *trial, int64_t stop_at_us)
{
	bool none_left;

	for (;;) {
		struct pollfd event = { .fd = trial->pipe_fd, .events = POLLIN };

		if (!trial->at_end && poll(&event, 1, 0) > 0)
			hear(trial);
		reap_dead(trial, &none_left);
		if (trial->at_end && none_left)
			return true;
		if (fence_now_us() >= stop_at_us)
			return false;
		if (trial->at_end)
			(void)poll(NULL, 0, 1);
		else
			(void)poll(&event, 1, 1);
	}
}

static inline bool has_ended(int pidfd)
{
	struct pollfd event = { .fd = pidfd, .events = POLLIN };

	return pidfd < 0 || poll(&event, 1, 0) == 1;
}

static inline void check_ended(struct race *race, struct trial *trial, int64_t since_us,
			       int64_t limit_ms)
{
	bool ended = await_end(trial, since_us + limit_ms * 1000);
	int64_t took_us = fence_now_us() - since_us;

	if (took_us > race->worst_us)
		race->worst_us = took_us;
	if (!ended)
		fault(race, trial, "after %lld ms something of it runs%s", (long long)limit_ms,
		      trial->at_end ? "" : " and has the pipe");
	else if (!has_ended(trial->command_pidfd) || !has_ended(trial->daemon_pidfd))
		fault(race, trial, "the pipe has ended, but not the command or the daemon");
}

/* A fault must not spoil the attempts after it. */
static inline void clean_up(struct trial *trial)
{
	int64_t stop_at_us = fence_now_us() + PATIENCE_MS * INT64_C(1000);
	bool none_left;

	for (reap_dead(trial, &none_left); !none_left; reap_dead(trial, &none_left)) {
		(void)fence_tree_kill_children(NULL);
		(void)poll(NULL, 0, 1);
		if (fence_now_us() >= stop_at_us)
			die("end what a faulty attempt left", ETIMEDOUT);
	}
}

static inline void check_folder(struct race *race, struct trial *trial)
{
	DIR *dir = opendir(race->folder);
	const char *name = strrchr(trial->marker, '/') + 1;
	struct dirent *entry;

	if (dir == NULL)
		die(race->folder, errno);
	while ((entry = readdir(dir)) != NULL) {
		size_t length = strlen(name);
		const char *rest = entry->d_name + length;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (strncmp(entry->d_name, name, length) != 0 ||
		    (*rest != '\0' && strcmp(rest, ".lock") != 0))
			fault(race, trial, "%s is left in the folder", entry->d_name);
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	}
	(void)closedir(dir);
}

/* --- a program that answers -------------------------------------------------------------- */

/* fence-marker VERB MARKER ...: its exit status, and the beginning of what it said. */
static inline int ask(const char *const *words, char ret[512])
{
	int stdio[3] = { -1, -1, -1 };
	struct fence_exit how;
	size_t length = 0;
	int ends[2];
	pid_t pid;
	int rc;

	if (pipe2(ends, O_CLOEXEC) < 0)
		die("pipe", errno);
	stdio[1] = stdio[2] = ends[1];
	pid = start(words, stdio);
	(void)close(ends[1]);
	/* What it ends may be ours to reap; it does not wait for that. */
	for (;;) {
		ssize_t got = fence_read_some(ends[0], ret + length, 511 - length);

		if (got <= 0)
			break;
		length += (size_t)got;
		if (length == 511)
			break;
	}
	ret[length] = '\0';
	(void)close(ends[0]);
	rc = fence_reap_wait(pid, &how, NULL);
	if (rc < 0)
		die(words[0], rc);
	return fence_exit_status(&how);
}

/* --- the executor ------------------------------------------------------------------------- */

static inline void read_line(int fd, char *line, size_t room)
{
	size_t length = 0;

	while (length + 1 < room && fence_read_some(fd, line + length, 1) == 1 &&
	       line[length] != '\n')
		length++;
	line[length] = '\0';
}

static inline void release(int fd, const struct fence_marker *marker)
{
	char buf[1024];
	struct fence_jsonw w;

	fence_jsonw_init(&w, buf, sizeof(buf));
	fence_jsonw_open(&w, NULL, '{');
	fence_jsonw_open(&w, "release", '{');
	fence_marker_approved_write(&w, marker);
	fence_jsonw_close(&w, '}');
	fence_jsonw_close(&w, '}');
	(void)fence_jsonw_line(&w, fd);
}

/* As any executor does it: start, ready, marker, release; then it listens. */
static inline void __attribute__((noreturn))
execute(struct race *race, struct trial *trial, const char *const *words)
{
	const struct fence_marker_birth birth = { .attempt_id = "a",
						  .by = FENCE_MARKER_BY_EXECUTOR,
						  .durable = FENCE_MARKER_DURABLE_NONE,
						  .lock_wait_ms = 5000 };
	struct fence_marker_birth named = birth;
	struct fence_marker_writer writer;
	struct fence_marker marker;
	struct fence_err err = { 0 };
	char line[4096];
	int in[2], out[2];
	int stdio[3];
	bool made;

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		_exit(3);
	stdio[0] = in[0];
	stdio[1] = out[1];
	stdio[2] = trial->end_fd;
	__atomic_store_n(&race->shared->supervisor, start(words, stdio), __ATOMIC_RELEASE);
	(void)close(in[0]);
	(void)close(out[1]);
	(void)close(trial->end_fd);
	named.supervisor_pid = race->shared->supervisor;
	read_line(out[0], line, sizeof(line));
	if (fence_marker_writer_open(trial->marker, &writer, &err) < 0 ||
	    fence_marker_create(&writer, &named, &marker, &made, &err) < 0)
		_exit(4);
	release(in[1], &marker);
	while (line[0] != '\0')
		read_line(out[0], line, sizeof(line));
	_exit(0);
}

/* A process that is only there to die. */
static inline void __attribute__((noreturn)) idle(struct trial *trial)
{
	(void)close(trial->end_fd);
	for (;;)
		(void)pause();
}

static inline pid_t start_executor(struct race *race, struct trial *trial, const char *const *words)
{
	pid_t pid;
	int rc = fence_spawn_fork(0, &pid, NULL);

	if (rc < 0)
		die("fork", rc);
	if (rc == 0 && words != NULL)
		execute(race, trial, words);
	if (rc == 0)
		idle(trial);
	return pid;
}

#endif
