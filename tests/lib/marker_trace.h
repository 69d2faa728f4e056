/* A tracer (ptrace(2)) for one step of a marker's life: it can kill the program before or
 * after any of its system calls, prevent a call, change its answer, or do something after
 * each. The programs are found by PATH. */
#ifndef TESTS_MARKER_TRACE_H
#define TESTS_MARKER_TRACE_H

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/marker_step.h"

#define OUTPUT_BYTES 8192

static inline void run_step(const struct round *round)
{
	const char *path = round->path;
	char pid[16];

	(void)snprintf(pid, sizeof(pid), "%d", getppid());
	if (round->step == STEP_CREATE)
		(void)execlp("fence-marker", "fence-marker", "create", path, "--attempt", "new",
			     "--pid", pid, "--json", (char *)NULL);
	if (round->step == STEP_REPLACE)
		(void)execlp("fence-marker", "fence-marker", "replace", path, "--attempt", "old",
			     "--approved", round->approved, "--status", "active", "--json",
			     (char *)NULL);
	if (round->step == STEP_READ)
		(void)execlp("fence-marker", "fence-marker", "read", path, "--explain", "--json",
			     (char *)NULL);
	if (round->step == STEP_OVER || round->step == STEP_NAIVE)
		(void)execlp("marker_step", "marker_step",
			     round->step == STEP_OVER ? "over" : "naive", path, (char *)NULL);
	_exit(127);
}

/* One system call of the tracee, numbered from 0. */
struct call {
	unsigned int number;
	uint64_t nr;
	uint64_t args[6];
	bool is_entry;
};

/* What to do with one call, and what came of it. */
struct trace {
	unsigned int at;
	enum { WATCH, KILL_BEFORE, KILL_AFTER, FAIL, PRETEND, FAIL_DONE } how;
	int code; /* of FAIL, positive */
	void (*after)(void *arg, unsigned int number);
	void *arg;

	unsigned int calls, first; /* the first that names the folder */
	uint64_t nrs[4096];
	bool was_done; /* the tracee got as far as `at` */
	int status;    /* from wait */
	char out[OUTPUT_BYTES], err[OUTPUT_BYTES];
};

static inline bool names_folder(pid_t pid, const struct call *call, const char *folder)
{
	char text[PATH_MAX + sizeof(long)];
#ifdef SYS_open
	bool is_at = call->nr != SYS_open && call->nr != SYS_stat && call->nr != SYS_lstat;
#else
	bool is_at = true;
#endif
	uint64_t at = call->args[is_at];

	/* A word at a time, as any tracer may: process_vm_readv(2) is refused to who is
	 * confined. */
	for (size_t i = 0; i <= strlen(folder); i += sizeof(long)) {
		long word;

		errno = 0;
		word = ptrace(PTRACE_PEEKDATA, pid, (void *)(uintptr_t)(at + i), NULL);
		if (errno != 0)
			return false;
		memcpy(text + i, &word, sizeof(word));
	}
	return memcmp(text, folder, strlen(folder)) == 0;
}

static inline bool next_stop(pid_t pid, struct trace *trace, struct call *call)
{
	struct __ptrace_syscall_info info;

	for (;;) {
		/* It cannot be told to go on when it was just killed. */
		(void)ptrace(PTRACE_SYSCALL, pid, 0, 0);
		if (waitpid(pid, &trace->status, 0) != pid || !WIFSTOPPED(trace->status))
			return false;
		if (WSTOPSIG(trace->status) != (SIGTRAP | 0x80))
			continue; /* exec itself; no signal is sent to it */
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0)
			return false;
		call->is_entry = info.op == PTRACE_SYSCALL_INFO_ENTRY;
		if (call->is_entry) {
			call->nr = info.entry.nr;
			memcpy(call->args, info.entry.args, sizeof(call->args));
		}
		return true;
	}
}

/* Before the call: number -1 is none, so it is not done. After it: its answer. */
static inline void set_register(pid_t pid, bool is_answer, long value)
{
#if defined(__x86_64__)
	struct user_regs_struct regs;

	must(ptrace(PTRACE_GETREGS, pid, 0, &regs) == 0, "read registers");
	if (is_answer)
		regs.rax = (unsigned long long)value;
	else
		regs.orig_rax = (unsigned long long)value;
	must(ptrace(PTRACE_SETREGS, pid, 0, &regs) == 0, "write registers");
#else
	(void)pid;
	(void)is_answer;
	(void)value;
	errno = ENOSYS;
	must(false, "set a register of this processor");
#endif
}

static inline void act(pid_t pid, struct trace *trace, const struct call *call)
{
	switch (trace->how) {
	case KILL_BEFORE:
	case KILL_AFTER:
		if (call->is_entry == (trace->how == KILL_BEFORE))
			must(kill(pid, SIGKILL) == 0, "kill");
		break;
	case FAIL:
	case PRETEND:
		if (call->is_entry)
			set_register(pid, false, -1);
		else
			set_register(pid, true, trace->how == FAIL ? -trace->code : 0);
		break;
	case FAIL_DONE:
		if (!call->is_entry)
			set_register(pid, true, -trace->code);
		break;
	case WATCH:
		break;
	}
}

static inline void follow(pid_t pid, struct trace *trace, const char *folder)
{
	struct call call = { .number = 0 };

	trace->calls = 0;
	trace->first = UINT32_MAX;
	trace->was_done = false;
	while (next_stop(pid, trace, &call)) {
		if (call.is_entry) {
			call.number = trace->calls++;
			must(trace->calls < 4096, "so many calls");
			trace->nrs[call.number] = call.nr;
			if (trace->first == UINT32_MAX && names_folder(pid, &call, folder))
				trace->first = call.number;
		}
		if (call.number == trace->at) {
			trace->was_done = true;
			act(pid, trace, &call);
		}
		if (!call.is_entry && trace->after)
			trace->after(trace->arg, call.number);
	}
}

static inline void take_output(int fd, char *ret)
{
	ssize_t got = pread(fd, ret, OUTPUT_BYTES - 1, 0);

	ret[got > 0 ? got : 0] = '\0';
	(void)close(fd);
}

/* The step, once. */
static inline void run_traced(const struct round *round, struct trace *trace)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	struct fence_marker_path split;
	pid_t pid;

	must(out >= 0 && err >= 0 && fence_marker_path_split(round->path, &split, NULL) == 0,
	     "prepare a tracee");
	pid = fork();
	must(pid >= 0, "fork");
	if (pid == 0) {
		(void)dup2(out, STDOUT_FILENO);
		(void)dup2(err, STDERR_FILENO);
		(void)ptrace(PTRACE_TRACEME, 0, 0, 0);
		(void)raise(SIGSTOP);
		run_step(round);
	}
	must(waitpid(pid, &trace->status, 0) == pid && WIFSTOPPED(trace->status) &&
		     ptrace(PTRACE_SETOPTIONS, pid, 0,
			    PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC) == 0,
	     "trace");
	/* Up to and including execve's own end it is ours, not the program's. */
	do {
		must(ptrace(PTRACE_CONT, pid, 0, 0) == 0 &&
			     waitpid(pid, &trace->status, 0) == pid && WIFSTOPPED(trace->status),
		     "start the program");
	} while (trace->status >> 8 != (SIGTRAP | (PTRACE_EVENT_EXEC << 8)));
	{
		struct call end;

		must(next_stop(pid, trace, &end), "start the program");
	}
	follow(pid, trace, split.dir);
	take_output(out, trace->out);
	take_output(err, trace->err);
}

static inline void approve(struct round *round)
{
	struct fence_jsonw w;

	fence_jsonw_init(&w, round->approved, sizeof(round->approved) - 1);
	fence_jsonw_open(&w, NULL, '{');
	fence_marker_approved_write(&w, &round->old);
	fence_jsonw_close(&w, '}');
	round->approved[w.length_bytes] = '\0';
}

/* A trace that only looks: how many calls there are, which, and that all goes well. */
static inline void rehearse(struct round *round, struct trace *trace)
{
	struct fence_marker marker;
	enum fence_marker_rule rule;

	seed(round);
	approve(round);
	*trace = (struct trace){ .at = UINT32_MAX };
	run_traced(round, trace);
	if (!WIFEXITED(trace->status) || WEXITSTATUS(trace->status) != 0 ||
	    trace->first == UINT32_MAX ||
	    !is_new(round, look(round->path, &marker, &rule), &marker)) {
		fprintf(stderr, "marker tests: it does not work undisturbed: status 0x%x: %s\n",
			(unsigned int)trace->status, trace->err);
		exit(1);
	}
}

static inline bool is_one_line(const char *text, const char *words)
{
	const char *end = strchr(text, '\n');

	return end && end[1] == '\0' && (!words || strstr(text, words));
}

#endif
