/* launch_cost COMMAND...: what a launcher that COMMAND starts costs beside the command that
 * it launches: prints "calls N peakKiB N".
 *
 * System calls are those of all processes, but for the calls of a process from its
 * execve(2) on when it is not the first: that is the launched command, whose own they are.
 * Memory is the peak of resident pages (VmHWM) of each of the other processes, added up:
 * pages that they share count twice. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |  \
	 PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL)

#define PROCESSES 32

struct process {
	pid_t pid;
	bool inside;  /* a system call */
	bool command; /* it is what was launched */
};

struct cost {
	struct process processes[PROCESSES];
	pid_t first;
	unsigned long calls;
	unsigned long peak_kib;
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static struct process *find(struct cost *cost, pid_t pid)
{
	for (int i = 0; i < PROCESSES; i++) {
		struct process *process = &cost->processes[i];

		if (process->pid == 0)
			*process = (struct process){ .pid = pid };
		if (process->pid == pid)
			return process;
	}
	die("too many processes");
	return NULL;
}

static unsigned long peak_of(pid_t pid)
{
	char line[256];
	unsigned long kib = 0;
	FILE *file;

	(void)snprintf(line, sizeof(line), "/proc/%d/status", (int)pid);
	file = fopen(line, "re");
	if (file == NULL)
		die(line);
	while (fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, "VmHWM:", 6) == 0)
			kib = strtoul(line + 6, NULL, 10);
	(void)fclose(file);
	return kib;
}

static void on_stop(struct cost *cost, pid_t pid, int status)
{
	struct process *process = find(cost, pid);
	int event = status >> 16;
	int sig = WSTOPSIG(status);

	if (event == PTRACE_EVENT_EXEC && pid != cost->first) {
		process->command = true;
		cost->calls--; /* the execve(2) itself, which a shell would make as well */
	}
	if (event == PTRACE_EVENT_EXIT && !process->command)
		cost->peak_kib += peak_of(pid);
	if (sig == (SIGTRAP | 0x80)) {
		process->inside = !process->inside;
		if (process->inside && !process->command)
			cost->calls++;
	}
	if (event != 0 || sig == SIGSTOP || sig == SIGTRAP || sig == (SIGTRAP | 0x80))
		sig = 0;
	(void)ptrace(PTRACE_SYSCALL, pid, 0, sig);
}

int main(int argc, char **argv)
{
	struct cost cost = { .calls = 1 }; /* the first process's execve(2) */
	int status;
	int last = 0;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: launch_cost COMMAND...\n");
		return 2;
	}
	cost.first = fork();
	if (cost.first < 0)
		die("fork");
	if (cost.first == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
			_exit(2);
		(void)execvp(argv[1], argv + 1);
		_exit(127);
	}
	/* It stops behind its execve(2). */
	if (waitpid(cost.first, &status, __WALL) != cost.first || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, cost.first, 0, OPTIONS) < 0)
		die("trace");
	(void)ptrace(PTRACE_SYSCALL, cost.first, 0, 0);
	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (pid > 0 && WIFSTOPPED(status))
			on_stop(&cost, pid, status);
		else if (pid == cost.first)
			last = status;
	}
	if (!WIFEXITED(last) || WEXITSTATUS(last) != 0) {
		fprintf(stderr, "launch_cost: it failed: %x\n", (unsigned int)last);
		return 1;
	}
	printf("calls %lu peakKiB %lu\n", cost.calls, cost.peak_kib);
	return 0;
}
