/* marker_torn: a step of a marker's life under a tracer, again and again, each time
 * killed, failed or looked at at another of its system calls.
 *
 *   marker_torn kill STEP PATH         killed before each system call, and after it;
 *                                      another process reads all the time
 *   marker_torn fail STEP PATH         each call from the first that names the marker's
 *                                      folder on fails with EIO, ENOSPC, EINTR, EACCES;
 *                                      and answers EIO although it was done
 *   marker_torn cut STEP PATH IMAGE FOLDER N [forced]
 *                                      after each call IMAGE, which the folder's file
 *                                      system lies on, is copied to FOLDER/NUMBER when
 *                                      it changed; fsync number N (0: none) is only
 *                                      pretended; forced: somebody else makes the file
 *                                      system write its journal after each call
 *   marker_torn read CHANGE PATH       fence-marker reads the marker, and after one of its
 *                                      calls the file grows or shrinks, or is swapped
 *                                      for the next state, or a copy or link is put there
 *   marker_torn do STEP PATH           what `over` or `naive` does, as a program
 *   marker_torn seed STEP PATH         makes what STEP starts from
 *   marker_torn state PATH             "none", or the attempt, status and seq of the
 *                                      authentic marker; else the rule, and exit 1
 *
 * STEP is what fence-marker is told to do: `create` a marker, `replace` one; or, by the
 * library, to make one `over` an ended one; or `naive`, the control: to write the next
 * state into the file itself, which can be seen half done. Each round starts from a fresh
 * state of the attempt "old"; a creation is of the attempt "new".
 *
 *   marker_torn probe                  exit 77: there is no tracer for this processor
 *
 * Prints what it counted. Exit status: 0 all is as it must be, 1 not, 2 usage. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fence/attempt.h"
#include "fence/marker_compose.h"
#include "fence/own.h"
#include "fence/sys.h"

#define OUTPUT_BYTES 8192
#define LOCK_WAIT_MS 10000

/* A sanitizer's start makes hundreds of calls of its own, each of which the tracer stops
 * at: a program that starts like that is killed before each call only, and from its
 * update on; and of the ways to fail each call gets one, and the next call the next. */
#define SLOW_START 100

/* --- steps -------------------------------------------------------------------------- */

enum step { STEP_CREATE, STEP_REPLACE, STEP_OVER, STEP_NAIVE, STEPS, STEP_READ };
static const char *const step_words[] = { "create", "replace", "over", "naive" };

struct round {
	enum step step;
	const char *path;
	char approved[512];
	struct fence_marker old; /* text_bytes 0: there is none */
};

static void die(const char *what, const struct fence_err *err)
{
	fprintf(stderr, "marker_torn: %s: %s: %s\n", what, err->what,
		err->why[0] ? err->why : fence_errno_words(err->code));
	exit(1);
}

static void must(bool claim, const char *what)
{
	if (!claim) {
		fprintf(stderr, "marker_torn: %s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static int make(const char *path, const char *attempt, struct fence_err *err)
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

static int advance(const char *path, const struct fence_marker *from,
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
static int look(const char *path, struct fence_marker *ret, enum fence_marker_rule *ret_rule)
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

static void read_old(struct round *round)
{
	enum fence_marker_rule rule;

	if (look(round->path, &round->old, &rule) != 1) {
		fprintf(stderr, "marker_torn: seed: rule %s\n", fence_marker_rule_word(rule));
		exit(1);
	}
}

/* What the step starts from. Nothing that it does can be seen as a torn state. */
static void seed(struct round *round)
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

static bool is_old(const struct round *round, int there, const struct fence_marker *marker)
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

static bool is_new(const struct round *round, int there, const struct fence_marker *marker)
{
	int64_t seq = round->old.text_bytes > 0 ? round->old.seq + 1 : 1;

	return there == 1 && strcmp(marker->attempt_id, attempt_of(round)) == 0 &&
	       marker->seq == seq && marker->status == FENCE_MARKER_ACTIVE;
}

/* The writer that comes after: an update of whatever is there. */
static void next_writer(const struct round *round)
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
static unsigned int count_temporaries(const char *path)
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

/* --- the step as a program ------------------------------------------------------------- */

static int do_over(const char *path)
{
	struct fence_err err = { 0 };
	const struct fence_marker_birth birth = { .attempt_id = "new",
						  .supervisor_pid = getppid(),
						  .over_ended = true,
						  .lock_wait_ms = LOCK_WAIT_MS };
	struct fence_marker_writer writer;
	struct fence_marker marker;
	bool made = false;
	char line[1200];
	int rc = fence_marker_writer_open(path, &writer, &err);

	if (rc == 0) {
		rc = fence_marker_create(&writer, &birth, &marker, &made, &err);
		fence_marker_writer_close(&writer);
	}
	if (rc == 0)
		return 0;
	(void)fence_write_full(STDOUT_FILENO, made ? "not-durable" : "not-created", 11);
	(void)fence_write_full(STDERR_FILENO, line,
			       fence_err_line(&err, "marker_torn", line, sizeof(line)));
	return made ? 1 : 77;
}

static int do_naive(const char *path)
{
	struct fence_marker_news news = { .status = FENCE_MARKER_ACTIVE };
	struct fence_marker old, next;
	enum fence_marker_rule rule;
	owned_fd fd = -1;

	if (look(path, &old, &rule) != 1)
		return 2;
	news.place = old.place;
	news.seq = old.seq + 1;
	memset(news.nonce, "0123456789abcdef"[news.seq % 16], sizeof(news.nonce) - 1);
	must(fence_marker_compose(old.text, old.text_bytes, old.format, &news, &next, NULL) == 0,
	     "compose");
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	must(fd >= 0, "open");
	must(fence_write_full(fd, next.text, next.text_bytes) == 0, "write");
	return 0;
}

static void run_step(const struct round *round)
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
		(void)execl("/proc/self/exe", "marker_torn", "do", step_words[round->step], path,
			    (char *)NULL);
	_exit(127);
}

/* --- tracing ----------------------------------------------------------------------------- */

#if !defined(__x86_64__)
int main(void)
{
	fprintf(stderr, "marker_torn: no tracer for this processor\n");
	return 77;
}
#else

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

static bool names_folder(pid_t pid, const struct call *call, const char *folder)
{
	char text[PATH_MAX] = "";
	uint64_t at = call->nr == SYS_open || call->nr == SYS_stat || call->nr == SYS_lstat
			      ? call->args[0]
			      : call->args[1];
	struct iovec here = { text, strlen(folder) };
	struct iovec there = { (void *)(uintptr_t)at, strlen(folder) };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)strlen(folder) &&
	       strcmp(text, folder) == 0;
}

static bool next_stop(pid_t pid, struct trace *trace, struct call *call)
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
static void set_register(pid_t pid, bool is_answer, long value)
{
	struct user_regs_struct regs;

	must(ptrace(PTRACE_GETREGS, pid, 0, &regs) == 0, "read registers");
	if (is_answer)
		regs.rax = (unsigned long long)value;
	else
		regs.orig_rax = (unsigned long long)value;
	must(ptrace(PTRACE_SETREGS, pid, 0, &regs) == 0, "write registers");
}

static void act(pid_t pid, struct trace *trace, const struct call *call)
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

static void follow(pid_t pid, struct trace *trace, const char *folder)
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

static void take_output(int fd, char *ret)
{
	ssize_t got = pread(fd, ret, OUTPUT_BYTES - 1, 0);

	ret[got > 0 ? got : 0] = '\0';
	(void)close(fd);
}

/* The step, once. */
static void run_traced(const struct round *round, struct trace *trace)
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

static void approve(struct round *round)
{
	struct fence_jsonw w;

	fence_jsonw_init(&w, round->approved, sizeof(round->approved) - 1);
	fence_jsonw_open(&w, NULL, '{');
	fence_marker_approved_write(&w, &round->old);
	fence_jsonw_close(&w, '}');
	round->approved[w.length_bytes] = '\0';
}

/* A trace that only looks: how many calls there are, which, and that all goes well. */
static void rehearse(struct round *round, struct trace *trace)
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
		fprintf(stderr, "marker_torn: it does not work undisturbed: status 0x%x: %s\n",
			(unsigned int)trace->status, trace->err);
		exit(1);
	}
}

/* --- killing ------------------------------------------------------------------------------- */

/* The reader's, in memory of both. */
struct seen {
	volatile bool stop;
	volatile uint64_t looks;
	uint64_t states, absent, torn;
	char last[FENCE_MARKER_NONCE_BYTES];
	char rule[32];
};

static struct seen *start_reader(const char *path, pid_t *ret_pid)
{
	struct seen *seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct fence_marker marker;
	enum fence_marker_rule rule;

	must(seen != MAP_FAILED && (*ret_pid = fork()) >= 0, "start a reader");
	if (*ret_pid > 0)
		return seen;
	while (!seen->stop && getppid() != 1) {
		int there = look(path, &marker, &rule);

		seen->looks++;
		seen->absent += there == 0;
		if (there < 0) {
			seen->torn++;
			(void)snprintf(seen->rule, sizeof(seen->rule), "%s",
				       fence_marker_rule_word(rule));
		}
		if (there == 1 && strcmp(seen->last, marker.nonce) != 0) {
			memcpy(seen->last, marker.nonce, sizeof(seen->last));
			seen->states++;
		}
	}
	_exit(0);
}

/* Until it has looked at what is there now. */
static void await_reader(const struct seen *seen, pid_t reader)
{
	uint64_t looks = seen->looks;

	while (seen->looks < looks + 2 && kill(reader, 0) == 0)
		(void)sched_yield();
}

struct count {
	unsigned int rounds, old, new, torn, left, littered, survived;
};

static void kill_once(struct round *round, struct trace *trace, const struct seen *seen,
		      pid_t reader, struct count *count)
{
	struct fence_marker marker;
	enum fence_marker_rule rule;
	int there;

	seed(round);
	approve(round);
	run_traced(round, trace);
	if (!trace->was_done || !WIFSIGNALED(trace->status)) {
		count->survived++;
		return;
	}
	count->rounds++;
	await_reader(seen, reader);
	there = look(round->path, &marker, &rule);
	if (is_old(round, there, &marker)) {
		count->old++;
	} else if (is_new(round, there, &marker)) {
		count->new ++;
	} else {
		count->torn++;
		printf("torn %s call %u\n", trace->how == KILL_BEFORE ? "before" : "after",
		       trace->at);
	}
	count->left += count_temporaries(round->path) > 0;
	next_writer(round);
	count->littered += count_temporaries(round->path) > 0;
}

/* `absent` is a state of its own only where there need be no marker. */
static bool is_reader_content(const struct round *round, const struct seen *seen)
{
	printf("reader: looks %" PRIu64 " states %" PRIu64 " absent %" PRIu64 " torn %" PRIu64
	       " %s\n",
	       seen->looks, seen->states, seen->absent, seen->torn, seen->rule);
	return seen->torn == 0 && seen->looks > 0 && seen->states > 1 &&
	       (seen->absent > 0) == (round->step == STEP_CREATE);
}

static int run_kill(struct round *round)
{
	static struct trace trace;
	struct count count = { 0 };
	unsigned int calls, first;
	struct seen *seen;
	pid_t reader;
	bool is_content, is_slow;

	rehearse(round, &trace);
	calls = trace.calls;
	is_slow = trace.first > SLOW_START;
	first = is_slow ? trace.first - 10 : 0;
	if (round->step == STEP_CREATE)
		seed(round);
	seen = start_reader(round->path, &reader);
	for (unsigned int at = first; at < calls; at++) {
		trace = (struct trace){ .at = at, .how = KILL_BEFORE };
		kill_once(round, &trace, seen, reader, &count);
		/* Nothing comes after exit_group. */
		if (is_slow || at + 1 == calls)
			continue;
		trace = (struct trace){ .at = at, .how = KILL_AFTER };
		kill_once(round, &trace, seen, reader, &count);
	}
	seen->stop = true;
	(void)waitpid(reader, NULL, 0);
	is_content = is_reader_content(round, seen);
	printf("calls %u from %u each %u rounds %u old %u new %u torn %u survived %u temporaries "
	       "%u "
	       "littered %u\n",
	       calls, first, is_slow ? 1 : 2, count.rounds, count.old, count.new, count.torn,
	       count.survived, count.left, count.littered);
	return is_content && count.torn == 0 && count.littered == 0 && count.survived == 0 &&
			       count.old > 0 && count.new > 0 && count.left > 0
		       ? 0
		       : 1;
}

/* --- failing ------------------------------------------------------------------------------- */

/* Memory, threads, signals and the end are the C library's own (or a sanitizer's). */
static bool is_own_business(uint64_t nr)
{
	static const uint64_t theirs[] = { SYS_mmap,	    SYS_munmap,	      SYS_brk,
					   SYS_mprotect,    SYS_madvise,      SYS_mremap,
					   SYS_exit,	    SYS_exit_group,   SYS_futex,
					   SYS_sigaltstack, SYS_rt_sigaction, SYS_rt_sigprocmask,
					   SYS_readlink,    SYS_getpid,	      SYS_sched_yield,
					   SYS_prctl };

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		if (theirs[i] == nr)
			return true;
	return false;
}

struct verdict {
	unsigned int rounds, fine, undone, unsure, wrong;
};

static bool is_one_line(const char *text, const char *words)
{
	const char *end = strchr(text, '\n');

	return end && end[1] == '\0' && (!words || strstr(text, words));
}

/* What is wrong with how it ended; NULL: nothing. */
static const char *judge(const struct round *round, const struct trace *trace, uint64_t nr,
			 struct verdict *verdict)
{
	int status = WIFEXITED(trace->status) ? WEXITSTATUS(trace->status) : -1;
	struct fence_marker marker;
	enum fence_marker_rule rule;
	int there = look(round->path, &marker, &rule);
	bool old = is_old(round, there, &marker), new = is_new(round, there, &marker);

	if (count_temporaries(round->path) > 0)
		return "a temporary is left";
	if (!old && !new)
		return "the marker is torn";
	if (status == 0) {
		verdict->fine++;
		if (nr == SYS_fsync)
			return "a sync that failed counts as done";
		return !new	       ? "done, it says, but the old state is there"
		       : trace->err[0] ? "it complains"
				       : NULL;
	}
	/* fdopendir(3) calls fcntl and may have words of its own. */
	if (!is_one_line(trace->err, nr == SYS_fcntl ? NULL : strerror(trace->code)))
		return "the error is not one line that says what the kernel said";
	if (status == 1) {
		verdict->unsure++;
		if (!strstr(trace->out, "not-durable") && nr != SYS_write)
			return "it does not say not-durable";
		return new ? NULL : "not known to be durable, but the old state is there";
	}
	if (status != 77 && status != 75 && status != 2)
		return "its exit status is none of its own";
	verdict->undone++;
	return old ? NULL : "nothing changed, it says, but the new state is there";
}

static void fail_once(struct round *round, struct trace *trace, uint64_t nr,
		      struct verdict *verdict)
{
	const char *wrong;

	seed(round);
	approve(round);
	run_traced(round, trace);
	verdict->rounds++;
	wrong = trace->was_done ? judge(round, trace, nr, verdict) : "it did not come to that call";
	if (!wrong)
		return;
	verdict->wrong++;
	printf("wrong: call %u, which is %" PRIu64
	       ", answers %s%s: %s: status 0x%x out %s err %s\n",
	       trace->at, nr, strerrorname_np(trace->code),
	       trace->how == FAIL_DONE ? ", done all the same" : "", wrong,
	       (unsigned int)trace->status, trace->out, trace->err);
}

static int run_fail(struct round *round)
{
	enum { CODES = 4 };
	static const int codes[CODES] = { EIO, ENOSPC, EINTR, EACCES };
	static struct trace plan, trace;
	struct verdict verdict = { 0 };
	unsigned int tried = 0, ways;

	rehearse(round, &plan);
	ways = plan.first > SLOW_START ? 1 : CODES;
	for (unsigned int at = plan.first; at < plan.calls; at++) {
		uint64_t nr = plan.nrs[at];

		if (is_own_business(nr))
			continue;
		tried++;
		for (size_t i = 0; i < ways; i++) {
			trace = (struct trace){ .at = at,
						.how = FAIL,
						.code = codes[(tried + i) % CODES] };
			fail_once(round, &trace, nr, &verdict);
		}
		trace = (struct trace){ .at = at, .how = FAIL_DONE, .code = EIO };
		fail_once(round, &trace, nr, &verdict);
	}
	printf("calls %u each %u rounds %u fine %u undone %u unsure %u wrong %u\n", tried, ways + 1,
	       verdict.rounds, verdict.fine, verdict.undone, verdict.unsure, verdict.wrong);
	return verdict.wrong == 0 && verdict.undone > 0 && verdict.unsure > 0 ? 0 : 1;
}

/* --- power cuts ------------------------------------------------------------------------------ */

struct cut {
	const char *image, *folder;
	unsigned int first; /* call */
	int force_fd;	    /* -1: nobody forces it */
	uint64_t last;
	unsigned int copies;
};

/* Copies what there is and returns a sum of it. Holes stay holes. */
static uint64_t copy_image(const char *from, const char *to)
{
	owned_fd in = open(from, O_RDONLY | O_CLOEXEC);
	owned_fd out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint64_t sum = UINT64_C(14695981039346656037);
	static uint64_t block[8192];
	struct stat st;
	off_t at = 0;

	must(in >= 0 && out >= 0 && fstat(in, &st) == 0 && ftruncate(out, st.st_size) == 0,
	     "copy the image");
	while ((at = lseek(in, at, SEEK_DATA)) >= 0) {
		off_t end = lseek(in, at, SEEK_HOLE);

		while (at < end) {
			size_t want = (size_t)(end - at) < sizeof(block) ? (size_t)(end - at)
									 : sizeof(block);
			ssize_t got = pread(in, block, want, at);

			must(got > 0 && pwrite(out, block, (size_t)got, at) == got, "copy");
			for (size_t i = 0; i < (size_t)got / sizeof(block[0]); i++)
				if (block[i] != 0)
					sum = (sum ^ block[i] ^ (uint64_t)at ^ i) *
					      UINT64_C(1099511628211);
			at += got;
		}
	}
	must(errno == ENXIO, "look for data");
	return sum;
}

/* The image is what the device has been told so far. The file system's own threads may
 * be writing, so a copy counts only when a second one is the same. */
static void cut_power(void *arg, unsigned int number)
{
	struct cut *cut = arg;
	char name[PATH_MAX];
	uint64_t sum, again;

	if (number < cut->first)
		return;
	if (cut->force_fd >= 0)
		must(fsync(cut->force_fd) == 0, "write the journal");
	(void)snprintf(name, sizeof(name), "%s/%04u", cut->folder, number);
	sum = copy_image(cut->image, name);
	while ((again = copy_image(cut->image, name)) != sum)
		sum = again;
	if (sum == cut->last) {
		must(unlink(name) == 0, "remove a copy");
		return;
	}
	cut->last = sum;
	cut->copies++;
}

static int run_cut(struct round *round, const char *image, const char *folder, long pretend,
		   bool is_forced)
{
	static struct trace plan, trace;
	struct cut cut = { .image = image, .folder = folder };
	struct fence_marker_path split;
	owned_fd fd = -1;

	rehearse(round, &plan);
	cut.first = plan.first;
	seed(round);
	approve(round);
	must(fence_marker_path_split(round->path, &split, NULL) == 0 &&
		     (fd = open(split.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0 &&
		     syncfs(fd) == 0,
	     "make the old state safe");
	cut.force_fd = is_forced ? fd : -1;
	trace = (struct trace){ .at = UINT32_MAX, .how = PRETEND, .after = cut_power, .arg = &cut };
	for (unsigned int at = plan.first; at < plan.calls && pretend > 0; at++)
		if (plan.nrs[at] == SYS_fsync && --pretend == 0)
			trace.at = at;
	run_traced(round, &trace);
	cut.last = 0;
	cut_power(&cut, 9999);
	printf("calls %u copies %u old %" PRId64 " status %d\n", trace.calls, cut.copies,
	       round->old.text_bytes > 0 ? round->old.seq : 0,
	       WIFEXITED(trace.status) ? WEXITSTATUS(trace.status) : -1);
	return WIFEXITED(trace.status) && WEXITSTATUS(trace.status) == 0 ? 0 : 1;
}

/* --- changes while it is read ------------------------------------------------------------------
 */

enum change { GROW, SHRINK, SWAP, COPY, LINK, CHANGES };
static const char *const change_words[] = { "grow", "shrink", "swap", "copy", "link" };

struct during {
	const struct round *round;
	enum change change;
	unsigned int at;
	char next[FENCE_MARKER_NONCE_BYTES]; /* of the state that SWAP put there */
};

static void put_copy(const struct round *round)
{
	char name[PATH_MAX];
	owned_fd fd = -1;

	(void)snprintf(name, sizeof(name), "%s.copy", round->path);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0 && fence_write_full(fd, round->old.text, round->old.text_bytes) == 0 &&
		     rename(name, round->path) == 0,
	     "put a copy there");
}

static void put_link(const struct round *round)
{
	char name[PATH_MAX];

	(void)snprintf(name, sizeof(name), "%s.kept", round->path);
	must(rename(round->path, name) == 0 && symlink(name, round->path) == 0, "put a link there");
}

static void change_file(void *arg, unsigned int number)
{
	struct during *during = arg;
	const struct round *round = during->round;
	struct fence_err err = { 0 };
	struct fence_marker now;
	owned_fd fd = -1;

	if (number != during->at)
		return;
	switch (during->change) {
	case GROW:
		fd = open(round->path, O_WRONLY | O_APPEND | O_CLOEXEC);
		must(fd >= 0 && fence_write_full(fd, " ", 1) == 0, "make it grow");
		break;
	case SHRINK:
		must(truncate(round->path, (off_t)round->old.text_bytes - 1) == 0, "shrink it");
		break;
	case SWAP:
		if (advance(round->path, &round->old, FENCE_MARKER_ACTIVE, &err) < 0 ||
		    fence_marker_read(round->path, FENCE_MARKER_V1, &now, NULL, &err) < 0)
			die("swap it", &err);
		memcpy(during->next, now.nonce, sizeof(during->next));
		break;
	case COPY:
		put_copy(round);
		break;
	case LINK:
		put_link(round);
		break;
	case CHANGES:
		break;
	}
}

/* What was read is the old state or, when that is what came, the next one. */
static bool is_sound(const struct during *during, const struct trace *trace)
{
	const struct round *round = during->round;
	int status = WIFEXITED(trace->status) ? WEXITSTATUS(trace->status) : -1;

	if (status == 2)
		return during->change != SWAP && is_one_line(trace->err, NULL) &&
		       strstr(trace->out, "\"outcome\":\"none\"");
	return status == 0 && trace->err[0] == '\0' &&
	       (strstr(trace->out, round->old.nonce) ||
		(during->next[0] != '\0' && strstr(trace->out, during->next)));
}

static int run_read(struct round *round, enum change change)
{
	static struct trace plan, trace;
	unsigned int rounds = 0, taken = 0, next = 0, wrong = 0;

	round->step = STEP_READ;
	(void)unlink(round->path);
	seed(round);
	plan = (struct trace){ .at = UINT32_MAX };
	run_traced(round, &plan);
	for (unsigned int at = plan.first; at + 1 < plan.calls; at++, rounds++) {
		struct during during = { .round = round, .change = change, .at = at };

		(void)unlink(round->path);
		seed(round);
		trace = (struct trace){ .at = UINT32_MAX, .after = change_file, .arg = &during };
		run_traced(round, &trace);
		taken += WIFEXITED(trace.status) && WEXITSTATUS(trace.status) == 0;
		next += during.next[0] != '\0' && strstr(trace.out, during.next);
		if (is_sound(&during, &trace))
			continue;
		wrong++;
		printf("wrong: after call %u: status 0x%x out %s err %s\n", at,
		       (unsigned int)trace.status, trace.out, trace.err);
	}
	printf("rounds %u taken %u next %u wrong %u\n", rounds, taken, next, wrong);
	return wrong == 0 && rounds > 5 ? 0 : 1;
}

/* --- main ------------------------------------------------------------------------------------- */

static int say_state(const char *path)
{
	struct fence_marker marker;
	enum fence_marker_rule rule;

	switch (look(path, &marker, &rule)) {
	case 0:
		printf("none\n");
		return 0;
	case 1:
		printf("%s %s %" PRId64 "\n", marker.attempt_id,
		       fence_marker_status_word(marker.status), marker.seq);
		return 0;
	default:
		printf("torn: rule %s\n", fence_marker_rule_word(rule));
		return 1;
	}
}

static int usage(void)
{
	fprintf(stderr, "marker_torn: see the top of its source\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct round round = { .step = STEP_CREATE };

	if (argc == 2 && strcmp(argv[1], "probe") == 0)
		return 0;
	if (argc == 3 && strcmp(argv[1], "state") == 0)
		return say_state(argv[2]);
	if (argc < 4)
		return usage();
	round.path = argv[3];
	if (argc == 4 && strcmp(argv[1], "read") == 0) {
		for (int change = GROW; change < CHANGES; change++)
			if (strcmp(argv[2], change_words[change]) == 0)
				return run_read(&round, (enum change)change);
		return usage();
	}
	while (strcmp(argv[2], step_words[round.step]) != 0)
		if (++round.step == STEPS)
			return usage();
	if (argc == 4 && strcmp(argv[1], "do") == 0 && round.step == STEP_OVER)
		return do_over(round.path);
	if (argc == 4 && strcmp(argv[1], "do") == 0 && round.step == STEP_NAIVE)
		return do_naive(round.path);
	if (argc == 4 && strcmp(argv[1], "seed") == 0) {
		seed(&round);
		return 0;
	}
	if (argc == 4 && strcmp(argv[1], "kill") == 0)
		return run_kill(&round);
	if (argc == 4 && strcmp(argv[1], "fail") == 0)
		return run_fail(&round);
	if ((argc == 7 || argc == 8) && strcmp(argv[1], "cut") == 0)
		return run_cut(&round, argv[4], argv[5], strtol(argv[6], NULL, 10), argc == 8);
	return usage();
}
#endif
