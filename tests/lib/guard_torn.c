/* guard_torn WATCHED COMMAND...: runs COMMAND, a launch of fence-guard, again and again, and
 * kills it at its first system call, at its second, and so on through all of them until the
 * command is executed and ended: the launcher or init, whichever makes the call. After
 * each it waits until nothing of the launch is left, looks whether WATCHED is there, starts
 * COMMAND once more, unharmed, and looks again.
 *
 * Prints "moments N left N litter N": how many moments there were, after how many WATCHED
 * was there, and after how many it still was when the next launch had ended. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |  \
	 PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

#define PROCESSES 8

struct run {
	pid_t launcher;
	pid_t command; /* it is not ours to kill */
	pid_t inside[PROCESSES];
	unsigned long calls; /* so far */
	unsigned long kill_at;
	bool killed;
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* Somebody else's launch may be about to sweep it, and so keep ours from doing so. */
static bool stays(const char *path)
{
	for (int i = 0; i < 200 && exists(path); i++)
		(void)poll(NULL, 0, 10);
	return exists(path);
}

static pid_t start(char **argv, bool traced)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	if (traced && ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
		_exit(2);
	if (traced && (freopen("/dev/null", "w", stderr) == NULL || raise(SIGSTOP) != 0))
		_exit(2);
	(void)execvp(argv[0], argv);
	_exit(2);
}

/* Entries alternate with exits, for each process. */
static bool is_entry(struct run *run, pid_t pid)
{
	for (int i = 0; i < PROCESSES; i++) {
		if (run->inside[i] == pid) {
			run->inside[i] = 0;
			return false;
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		if (run->inside[i] == 0) {
			run->inside[i] = pid;
			return true;
		}
	}
	return false;
}

static void on_stop(struct run *run, pid_t pid, int status)
{
	int sig = WSTOPSIG(status);

	if (status >> 16 == PTRACE_EVENT_EXEC && pid != run->launcher)
		run->command = pid;
	if (sig == (SIGTRAP | 0x80)) {
		if (pid != run->command && is_entry(run, pid) && !run->killed &&
		    ++run->calls == run->kill_at) {
			run->killed = true;
			(void)kill(pid, SIGKILL);
			return;
		}
		sig = 0;
	}
	if (status >> 16 != 0 || sig == SIGSTOP || sig == SIGTRAP)
		sig = 0;
	(void)ptrace(PTRACE_SYSCALL, pid, 0, sig);
}

/* True: it was killed at that moment; false: it ended before. */
static bool run_torn(char **argv, unsigned long kill_at)
{
	struct run run = { .kill_at = kill_at };
	int status;
	int last = 0;
	pid_t pid;

	run.launcher = start(argv, true);
	if (waitpid(run.launcher, &status, __WALL) != run.launcher || !WIFSTOPPED(status))
		die("start");
	if (ptrace(PTRACE_SETOPTIONS, run.launcher, 0, OPTIONS) < 0)
		die("trace");
	(void)ptrace(PTRACE_SYSCALL, run.launcher, 0, 0);
	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (pid > 0 && WIFSTOPPED(status))
			on_stop(&run, pid, status);
		else if (pid == run.launcher)
			last = status;
	}
	if (!run.killed && last != 0) {
		fprintf(stderr, "guard_torn: a launch that was not killed failed: %x\n",
			(unsigned int)last);
		exit(1);
	}
	return run.killed;
}

static void run_unharmed(char **argv)
{
	pid_t pid = start(argv, false);
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "guard_torn: the launch after it failed: %x\n",
			(unsigned int)status);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	unsigned long left = 0;
	unsigned long litter = 0;
	unsigned long at = 1;

	if (argc < 3) {
		fprintf(stderr, "usage: guard_torn WATCHED COMMAND...\n");
		return 2;
	}
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		die("subreaper");
	for (; run_torn(argv + 2, at); at++) {
		left += exists(argv[1]);
		run_unharmed(argv + 2);
		litter += stays(argv[1]);
	}
	printf("moments %lu left %lu litter %lu\n", at - 1, left, litter);
	return litter == 0 ? 0 : 1;
}
