/* marker_reuse: gives the pids of an attempt that ended to strangers, and lets
 * fence-marker loose on its marker.
 *
 *   marker_reuse ROUNDS PATH FENCE_MARKER
 *
 * To be run where it may write /proc/sys/kernel/ns_last_pid: in a pid namespace of its
 * own. In each round a supervisor and a group's leader are started, named in a marker,
 * killed and reaped; then two strangers get the same pids, each leading a group of that
 * number, with all signals blocked; then `cancel` and `repair --apply` run. In every
 * second round the group is published without its id. Prints
 *
 *   ROUNDS reused N shared N signalled N dead N repaired N unproven N
 *
 * where `shared` counts pairs of processes that had pid and start tick in common, and
 * `signalled` and `dead` strangers. Exit status: 0 all rounds were done, and a signal
 * would have been seen; 1 not. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/attempt.h"
#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "fence/tree.h"

struct counts {
	int reused, shared, signalled, dead, repaired, unproven;
};

/* A process that leads a session and blocks every signal but KILL. */
static pid_t start_process(void)
{
	pid_t pid = -1;
	int rc = fence_spawn_fork(0, &pid, NULL);

	if (rc == 0) {
		(void)setsid();
		for (;;)
			(void)pause();
	}
	while (rc > 0 && getpgid(pid) != pid)
		(void)sched_yield();
	return rc < 0 ? -1 : pid;
}

static void end_process(pid_t pid)
{
	struct fence_exit how;

	(void)kill(pid, SIGKILL);
	(void)fence_reap_wait(pid, &how, NULL);
}

static pid_t start_as(pid_t pid)
{
	owned_fd fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	char text[16];
	int length = snprintf(text, sizeof(text), "%d", (int)pid - 1);

	if (fd < 0 || fence_write_full(fd, text, (size_t)length) < 0)
		return -1;
	return start_process();
}

static bool has_pending(pid_t pid)
{
	char path[64], text[4096];
	const char *at;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (fence_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
		return true;
	at = strstr(text, "\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\n");
	return at == NULL;
}

static bool is_running(pid_t pid)
{
	struct fence_proc_stat stat;

	return fence_proc_stat(pid, &stat) == 0 && stat.state != 'Z' && stat.state != 'X';
}

static uint64_t start_ticks(pid_t pid)
{
	struct fence_proc_stat stat = { 0 };

	(void)fence_proc_stat(pid, &stat);
	return stat.start_ticks;
}

/* A signal to such a process is seen: the control of it all. */
static bool is_seen(void)
{
	pid_t pid = start_process();
	bool before = has_pending(pid), after;

	(void)kill(pid, SIGTERM);
	after = has_pending(pid);
	end_process(pid);
	return !before && after;
}

/* The exit status of fence-marker VERB PATH, its output nowhere. */
static int run_marker(const char *program, const char *verb, const char *path)
{
	char *argv[] = { (char *)program,
			 (char *)verb,
			 (char *)path,
			 (char *)"--durable",
			 (char *)"none",
			 NULL,
			 NULL,
			 NULL,
			 NULL };
	char *envp[] = { (char *)"ASAN_OPTIONS=detect_leaks=0", NULL };
	owned_fd null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct fence_spawn_plan plan = { .file = program,
					 .argv = argv,
					 .envp = envp,
					 .stdio = { null_fd, null_fd, null_fd },
					 .umask = -1 };
	enum fence_spawn_step step;
	struct fence_exit how;
	pid_t pid;

	if (strcmp(verb, "repair") == 0) {
		argv[5] = (char *)"--apply";
		argv[6] = (char *)"--grace";
		argv[7] = (char *)"50ms";
	}
	if (fence_spawn_exec(&plan, &pid, NULL, &step) < 0 || fence_reap_wait(pid, &how, NULL) < 0)
		return -1;
	return fence_exit_status(&how);
}

/* The marker of a supervisor and its group, both dead and reaped. */
static int make_marker(const char *path, bool with_id, pid_t *ret_supervisor, pid_t *ret_group,
		       uint64_t ticks[2])
{
	pid_t supervisor = start_process(), group = start_process();
	const struct fence_marker_birth birth = { .attempt_id = "a",
						  .supervisor_pid = supervisor,
						  .by = FENCE_MARKER_BY_EXECUTOR,
						  .durable = FENCE_MARKER_DURABLE_NONE };
	struct fence_ident leader;
	struct fence_attempt_step step = { .attempt_id = "a",
					   .by = FENCE_MARKER_BY_GROUP_RUNNER,
					   .group = &leader,
					   .durable = FENCE_MARKER_DURABLE_NONE };
	struct fence_marker_writer writer;
	enum fence_marker_answer answer;
	struct fence_marker marker;
	struct fence_err err = { 0 };
	bool made;
	int rc = fence_marker_writer_open(path, &writer, &err);

	(void)unlink(path);
	if (rc == 0)
		rc = fence_marker_create(&writer, &birth, &marker, &made, &err);
	if (rc == 0)
		rc = fence_ident_of_pid(group, &leader, NULL);
	if (!with_id)
		leader.id = 0;
	if (rc == 0)
		rc = fence_attempt_advance(&writer, &step, &marker, &answer, &err);
	fence_marker_writer_close(&writer);
	if (rc < 0)
		fprintf(stderr, "marker_reuse: %s: %s\n", err.what, strerror(-rc));
	ticks[0] = start_ticks(supervisor);
	ticks[1] = start_ticks(group);
	end_process(supervisor);
	end_process(group);
	*ret_supervisor = supervisor;
	*ret_group = group;
	return rc;
}

static int play_round(const char *path, const char *program, bool with_id, struct counts *counts)
{
	uint64_t ticks[2];
	pid_t pids[2], strangers[2];
	int status;

	if (make_marker(path, with_id, &pids[0], &pids[1], ticks) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		strangers[i] = start_as(pids[i]);
		counts->reused += strangers[i] == pids[i];
		counts->shared += strangers[i] == pids[i] && start_ticks(pids[i]) == ticks[i];
	}
	if (run_marker(program, "cancel", path) != 0)
		return -1;
	status = run_marker(program, "repair", path);
	counts->repaired += status == 0;
	counts->unproven += status == 1;
	for (int i = 0; i < 2; i++) {
		counts->dead += !is_running(strangers[i]);
		counts->signalled += has_pending(strangers[i]);
		end_process(strangers[i]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct counts counts = { 0 };
	long rounds = argc == 4 ? strtol(argv[1], NULL, 10) : 0;
	sigset_t all;

	if (rounds <= 0) {
		fprintf(stderr, "marker_reuse: see the top of its source\n");
		return 2;
	}
	fence_sigset_fill(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	if (!is_seen())
		return 1;
	for (long i = 0; i < rounds; i++)
		if (play_round(argv[2], argv[3], i % 2 == 0, &counts) < 0)
			return 1;
	printf("%ld reused %d shared %d signalled %d dead %d repaired %d unproven %d\n", rounds,
	       counts.reused, counts.shared, counts.signalled, counts.dead, counts.repaired,
	       counts.unproven);
	return 0;
}
