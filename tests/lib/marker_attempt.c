/* marker_attempt: a supervisor that can be killed at any moment, for tests of what
 * others make of its marker.
 *
 *   marker_attempt run PATH ATTEMPT [OPTION...] [-- COMMAND...]
 *       makes the marker, names itself its supervisor, starts the command in a session
 *       of its own, publishes its group and prints "SUPERVISOR GROUP" (0: none; "0 0": it failed).
 * Then it publishes what its input says, a line each: STATUS [CAUSE REAP SURVIVORS], answers
 * "published" or what failed, and ends with its input. It never signals anybody. Options:
 *         --own        takes byte 1 of the lock
 *         --blocked    blocks all signals, so that those that come stay pending
 *         --no-stamp   the command's environment does not name the supervisor
 *         --no-group   the group is not published
 *         --no-id      ... without its id, as on a kernel that has none
 *         --cgroup DIR ... with this cgroup
 *         --cockpit    the marker is of that format
 *   marker_attempt own PATH          takes byte 1 of the marker's lock, says "owned",
 *                                    keeps it until its input ends
 *   marker_attempt headless          a process whose first thread has ended
 *   marker_attempt swap A B COUNT    exchanges two names, COUNT times
 *   marker_attempt rewrite PATH      truncates the file, says "empty", and once its
 *                                    input has a line writes the old bytes again
 *
 * Exit status: 0 done, 1 it failed, 2 usage. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/attempt.h"
#include "fence/own.h"
#include "fence/spawn.h"
#include "fence/sys.h"

struct run {
	const char *path, *attempt, *cgroup;
	char **command;
	bool own, blocked, no_stamp, no_group, no_id;
	enum fence_marker_format format;
	struct fence_marker_writer writer;
	struct fence_marker marker;
};

static int give_up(const char *what, const struct fence_err *err)
{
	fprintf(stderr, "marker_attempt: %s: %s: %s\n", what, err->what,
		err->why[0] ? err->why : strerror(-err->code));
	return 1;
}

/* Waits for its word, as a real command does until its group is published. */
static void become_command(const struct run *run, int go_fd)
{
	char stamp[FENCE_ATTEMPT_STAMP_BYTES], go;
	sigset_t none;

	(void)setsid();
	if (fence_read_full(go_fd, &go, 1) < 0)
		_exit(127);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)fence_signal_default(SIGCHLD);
	fence_attempt_stamp(&run->marker.supervisor, stamp);
	if (run->no_stamp)
		(void)unsetenv(FENCE_ATTEMPT_VARIABLE);
	else
		(void)setenv(FENCE_ATTEMPT_VARIABLE, stamp, 1);
	(void)execvp(run->command[0], run->command);
	_exit(127);
}

static int step_to(struct run *run, const struct fence_attempt_step *how, struct fence_err *err)
{
	struct fence_attempt_step step = *how;
	enum fence_marker_answer answer;

	step.format = run->format;
	step.attempt_id = run->attempt;
	step.durable = FENCE_MARKER_DURABLE_NONE;
	step.lock_wait_ms = 20000;
	return fence_attempt_advance(&run->writer, &step, &run->marker, &answer, err);
}

static int publish_group(struct run *run, struct fence_ident *group, struct fence_err *err)
{
	struct fence_attempt_step step = { .status = FENCE_MARKER_ACTIVE,
					   .by = FENCE_MARKER_BY_GROUP_RUNNER,
					   .group = group };
	struct stat st;

	if (run->cgroup && stat(run->cgroup, &st) == 0)
		step.group_cgroup = st.st_ino;
	if (run->no_id)
		group->id = 0;
	return run->no_group ? 0 : step_to(run, &step, err);
}

static int start(struct run *run, pid_t *ret_group, struct fence_err *err)
{
	struct fence_ident group;
	owned_fd pidfd = -1;
	int rc, pair[2];
	char word = 0;

	*ret_group = 0;
	if (!run->command[0])
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return fence_fail(err, -errno, "socketpair");
	rc = fence_spawn_fork(0, ret_group, &pidfd);
	if (rc == 0) {
		(void)close(pair[0]);
		become_command(run, pair[1]);
	}
	(void)close(pair[1]);
	if (rc > 0)
		rc = fence_ident_of_pidfd(pidfd, &group);
	if (rc == 0)
		rc = publish_group(run, &group, err);
	if (rc == 0)
		rc = fence_write_full(pair[0], &word, 1);
	(void)fence_read_some(pair[0], &word, 1); /* closed when the command is there */
	(void)close(pair[0]);
	return rc < 0 ? fence_fail(err, rc, "start") : 0;
}

/* STATUS [CAUSE REAP SURVIVORS] */
static void publish_line(struct run *run, char *line)
{
	static const char *const statuses[] = { "active", "terminating", "terminated",
						"cancelled" };
	char *words[4] = { NULL }, *rest = line;
	struct fence_marker_result result = { .code = -1 };
	struct fence_attempt_step step = { .by = FENCE_MARKER_BY_SUPERVISOR };
	struct fence_err err = { 0 };

	for (int i = 0; i < 4; i++)
		words[i] = strsep(&rest, " \n");
	for (unsigned int i = 0; i < 4; i++)
		if (words[0] && strcmp(words[0], statuses[i]) == 0)
			step.status = (enum fence_marker_status)i;
	if (words[3]) {
		result.cause = (enum fence_cause)fence_cause_find(words[1]);
		result.reap = (enum fence_reap)fence_reap_find(words[2]);
		result.survivors = (unsigned int)strtoul(words[3], NULL, 10);
		step.result = &result;
	}
	if (step_to(run, &step, &err) < 0)
		printf("%s\n", err.what);
	else
		printf("published\n");
	(void)fflush(stdout);
}

static int serve(struct run *run)
{
	const struct fence_marker_birth birth = { .format = run->format,
						  .attempt_id = run->attempt,
						  .supervisor_pid = getpid(),
						  .by = FENCE_MARKER_BY_SUPERVISOR,
						  .durable = FENCE_MARKER_DURABLE_NONE,
						  .over_ended = true,
						  .lock_wait_ms = 20000 };
	struct fence_err err = { 0 };
	const struct sigaction ignored = { .sa_handler = SIG_IGN };
	char line[128];
	sigset_t all;
	bool made;
	pid_t group;

	(void)sigfillset(&all);
	if (run->blocked)
		(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)sigaction(SIGCHLD, &ignored, NULL); /* whoever ends is reaped at once */
	if (fence_marker_writer_open(run->path, &run->writer, &err) < 0 ||
	    (run->own && fence_attempt_own(&run->writer, NULL, &err) < 0) ||
	    fence_marker_create(&run->writer, &birth, &run->marker, &made, &err) < 0 ||
	    start(run, &group, &err) < 0) {
		printf("0 0\n");
		return give_up("run", &err);
	}
	printf("%d %d\n", (int)getpid(), (int)group);
	(void)fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		publish_line(run, line);
	return 0;
}

static int run_attempt(char **words)
{
	struct run run = { .path = words[0], .attempt = words[1] };
	char **at = words + 2;

	for (; *at && strcmp(*at, "--") != 0; at++) {
		run.own |= strcmp(*at, "--own") == 0;
		run.blocked |= strcmp(*at, "--blocked") == 0;
		run.no_stamp |= strcmp(*at, "--no-stamp") == 0;
		run.no_group |= strcmp(*at, "--no-group") == 0;
		run.no_id |= strcmp(*at, "--no-id") == 0;
		if (strcmp(*at, "--cockpit") == 0)
			run.format = FENCE_MARKER_COCKPIT_V1;
		if (strcmp(*at, "--cgroup") == 0 && at[1])
			run.cgroup = *++at;
	}
	run.command = *at ? at + 1 : at;
	return serve(&run);
}

static int swap(const char *a, const char *b, long count)
{
	for (; count > 0; count--)
		if (fence_renameat2(AT_FDCWD, a, AT_FDCWD, b, 2 /* RENAME_EXCHANGE */) < 0)
			return 1;
	return 0;
}

static int own(const char *path)
{
	struct fence_marker_writer writer;
	struct fence_err err = { 0 };
	char rest;

	if (fence_marker_writer_open(path, &writer, &err) < 0 ||
	    fence_attempt_own(&writer, NULL, &err) < 0)
		return give_up("own", &err);
	printf("owned\n");
	(void)fflush(stdout);
	while (fence_read_some(STDIN_FILENO, &rest, 1) > 0)
		;
	return 0;
}

static void *stay(void *arg)
{
	for (;;)
		(void)pause();
	return arg;
}

static int lose_head(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, stay, NULL) != 0)
		return 1;
	pthread_exit(NULL);
}

static int rewrite(const char *path)
{
	char text[4096], line[16];
	ssize_t length = fence_read_file(AT_FDCWD, path, text, sizeof(text));
	owned_fd fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (length < 0 || fd < 0)
		return 1;
	printf("empty\n");
	(void)fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	return fence_write_full(fd, text, (size_t)length) < 0;
}

int main(int argc, char **argv)
{
	if (argc >= 4 && strcmp(argv[1], "run") == 0)
		return run_attempt(argv + 2);
	if (argc == 3 && strcmp(argv[1], "own") == 0)
		return own(argv[2]);
	if (argc == 2 && strcmp(argv[1], "headless") == 0)
		return lose_head();
	if (argc == 5 && strcmp(argv[1], "swap") == 0)
		return swap(argv[2], argv[3], strtol(argv[4], NULL, 10));
	if (argc == 3 && strcmp(argv[1], "rewrite") == 0)
		return rewrite(argv[2]);
	fprintf(stderr, "marker_attempt: see the top of its source\n");
	return 2;
}
