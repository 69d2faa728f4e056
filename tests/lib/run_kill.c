/* run_kill: KILL to the processes of a runner, and proof of what is left.
 *
 *   run_kill after MS VICTIM COMMAND...   starts COMMAND, and MS milliseconds later kills
 *   run_kill steps VICTIM COMMAND...      kills at the victim's first system call after
 *                                         the monitor was forked (before there is nobody
 *                                         but the launcher), and again from the beginning
 *                                         at the second, and so on until it has started
 *
 * VICTIM: launcher, the process that COMMAND is; monitor, its first child; both at once,
 * neither of which can then do anything about the other.
 *
 * COMMAND and all that comes of it hold the write end of a pipe as descriptor 9 (a runner
 * has to be told to let it through), and orphans are ours. Nothing is left when the pipe
 * is at its end and there are no children: that must be so within a second. Prints how
 * often it killed and the longest time that took. Exit status: 0; 1 something was left,
 * which is said and ended; 2 it could not be tried. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/tree.h"

#define HELD_FD	    9
#define LEFT_MS	    1000
#define QUIET_MS    60 /* so long without a system call: it has started */
#define STEPS_MAX   2000
#define TRACE_FLAGS ((void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK))

enum victim { LAUNCHER, MONITOR, BOTH };

struct trial {
	enum victim victim;
	char **command;
	pid_t launcher, monitor;
	int held_fd; /* our end */
	int64_t worst_ms;
	unsigned int kills;
};

static void end_all(void)
{
	while (waitpid(-1, NULL, WNOHANG | __WALL) >= 0) {
		(void)fence_tree_kill_children(NULL);
		(void)poll(NULL, 0, 1);
	}
}

static void __attribute__((noreturn)) die(const char *what)
{
	perror(what);
	end_all();
	_exit(2);
}

static void start(struct trial *trial, bool traced)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		die("pipe2");
	trial->monitor = 0;
	trial->launcher = fork();
	if (trial->launcher < 0)
		die("fork");
	if (trial->launcher == 0) {
		if (dup2(ends[1], HELD_FD) < 0)
			die("dup2");
		if (traced && (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || raise(SIGSTOP) != 0))
			die("ptrace");
		(void)execvp(trial->command[0], trial->command);
		die(trial->command[0]);
	}
	(void)close(ends[1]);
	trial->held_fd = ends[0];
}

/* The launcher's first child, as soon as it has one. */
static void find_monitor(struct trial *trial)
{
	int64_t stop_at_ms = fence_now_ms() + LEFT_MS;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)trial->launcher,
		       (int)trial->launcher);
	while (trial->monitor == 0 && fence_now_ms() < stop_at_ms) {
		FILE *children = fopen(path, "re");
		int pid;

		if (children != NULL && fscanf(children, "%d", &pid) == 1)
			trial->monitor = pid;
		if (children != NULL)
			(void)fclose(children);
	}
	if (trial->monitor == 0)
		die("find the monitor");
}

static void kill_victims(const struct trial *trial)
{
	/* Stopped ones do not see each other die. */
	if (trial->victim == BOTH) {
		(void)kill(trial->monitor, SIGSTOP);
		(void)kill(trial->launcher, SIGSTOP);
	}
	if (trial->victim != MONITOR)
		(void)kill(trial->launcher, SIGKILL);
	if (trial->victim != LAUNCHER)
		(void)kill(trial->monitor, SIGKILL);
}

static bool is_at_end(int fd)
{
	struct pollfd event = { .fd = fd, .events = POLLIN };
	char byte;

	return poll(&event, 1, 0) == 1 && read(fd, &byte, 1) == 0;
}

static int say_left(const struct fence_proc_stat *proc, void *arg)
{
	if (proc->parent == getpid())
		fprintf(stderr, "left: %d (%s)\n", (int)proc->pid, proc->name);
	(void)arg;
	return 0;
}

/* A tracee that stops meanwhile goes on. */
static bool reap_all(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
		if (WIFSTOPPED(status))
			(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return pid < 0 && errno == ECHILD;
}

/* True: nothing is left. */
static bool settle(struct trial *trial)
{
	int64_t killed_at_ms = fence_now_ms();
	bool gone = false;

	trial->kills++;
	while (!gone && fence_now_ms() - killed_at_ms < LEFT_MS) {
		gone = reap_all() && is_at_end(trial->held_fd);
		if (!gone)
			(void)poll(NULL, 0, 1);
	}
	if (fence_now_ms() - killed_at_ms > trial->worst_ms)
		trial->worst_ms = fence_now_ms() - killed_at_ms;
	if (!gone) {
		(void)fence_proc_each(say_left, NULL);
		end_all();
	}
	(void)close(trial->held_fd);
	return gone;
}

static bool kill_after(struct trial *trial, int ms)
{
	start(trial, false);
	if (trial->victim != LAUNCHER)
		find_monitor(trial);
	if (ms > 0)
		(void)poll(NULL, 0, ms);
	kill_victims(trial);
	return settle(trial);
}

/* Waits for a stop of `pid`: its status, or -1 when it sleeps and nothing wakes it. One
 * that has to wait for a processor is in no hurry, but not asleep. */
static int next_stop(pid_t pid)
{
	int64_t stop_at_ms = fence_now_ms() + QUIET_MS;
	struct fence_proc_stat stat;
	int status;

	while (fence_now_ms() < stop_at_ms) {
		if (waitpid(pid, &status, WNOHANG | __WALL) == pid)
			return status;
		if (fence_proc_stat(pid, &stat) == 0 && stat.state != 'S')
			stop_at_ms = fence_now_ms() + QUIET_MS;
	}
	return -1;
}

/* From the start of the launcher to its fork. From there on only the victim is traced,
 * and none of its children: its pid, or -1. */
static pid_t follow_to_fork(struct trial *trial)
{
	unsigned long pid;
	pid_t traced, other;
	int status;

	if (ptrace(PTRACE_CONT, trial->launcher, NULL, NULL) < 0)
		return -1;
	for (;;) {
		status = next_stop(trial->launcher);
		if (status < 0 || !WIFSTOPPED(status))
			return -1;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_FORK << 8))
			break;
		(void)ptrace(PTRACE_CONT, trial->launcher, NULL, NULL);
	}
	if (ptrace(PTRACE_GETEVENTMSG, trial->launcher, NULL, &pid) < 0)
		return -1;
	trial->monitor = (pid_t)pid;
	if (next_stop(trial->monitor) < 0)
		return -1;
	traced = trial->victim == LAUNCHER ? trial->launcher : trial->monitor;
	other = trial->victim == LAUNCHER ? trial->monitor : trial->launcher;
	if (ptrace(PTRACE_SETOPTIONS, traced, NULL, (void *)PTRACE_O_TRACESYSGOOD) < 0 ||
	    ptrace(PTRACE_DETACH, other, NULL, NULL) < 0)
		return -1;
	return traced;
}

/* 1: killed at system call `at`; 0: it has started before it came to that; -1: failed. */
static int kill_at(struct trial *trial, unsigned int at)
{
	unsigned int stops = 0;
	pid_t pid;
	int status;

	start(trial, true);
	pid = trial->launcher;
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, TRACE_FLAGS) < 0)
		die("trace");
	pid = follow_to_fork(trial);
	if (pid < 0)
		die("follow to the fork");
	/* Each call stops it twice. */
	while (stops < 2 * at - 1) {
		(void)ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
		status = next_stop(pid);
		if (status < 0 || !WIFSTOPPED(status))
			break;
		stops += WSTOPSIG(status) == (SIGTRAP | 0x80);
	}
	kill_victims(trial);
	return settle(trial) ? stops >= 2 * at - 1 : -1;
}

static bool kill_at_each(struct trial *trial)
{
	int rc = 1;

	for (unsigned int at = 1; rc == 1 && at < STEPS_MAX; at++)
		rc = kill_at(trial, at);
	return rc == 0;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "launcher", "monitor", "both" };
	bool steps = argc > 3 && strcmp(argv[1], "steps") == 0;
	char **rest = argv + (steps ? 2 : 3);
	struct trial trial = { .command = rest + 1 };
	bool gone;
	int at = 0;

	if (argc < 5 - steps)
		return 2;
	while (at < 3 && strcmp(rest[0], names[at]) != 0)
		at++;
	if (at == 3 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return 2;
	trial.victim = (enum victim)at;
	gone = steps ? kill_at_each(&trial) : kill_after(&trial, (int)strtol(argv[2], NULL, 10));
	printf("killed %u times, longest %d ms\n", trial.kills, (int)trial.worst_ms);
	return gone ? 0 : 1;
}
