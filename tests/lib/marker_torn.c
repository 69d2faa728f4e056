/* marker_torn: a step of a marker's life under a tracer, again and again, each time killed
 * or failed at another of its system calls.
 *
 *   marker_torn kill STEP PATH  killed before each system call, and after it; another
 *                               process reads all the time
 *   marker_torn fail STEP PATH  each call from the first that names the marker's folder on
 *                               fails with EIO, ENOSPC, EINTR and EACCES; and answers EIO
 *                               although it was done
 *
 * STEP is what fence-marker is told to do: `create` a marker, `replace` one; or, by the
 * library, to make one `over` an ended one; or `naive`, the control: to write the next
 * state into the file itself, which can be seen half done.
 *
 * Prints what it counted. Exit status: 0 all is as it must be, 1 not, 2 usage. */
#include <sched.h>

#include "tests/lib/marker_trace.h"

/* A sanitizer's start makes hundreds of calls of its own, each of which the tracer stops
 * at: a program that starts like that is killed before each call only, and from its
 * update on; and of the ways to fail each call gets one, and the next call the next. */
#define SLOW_START 100

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

/* --- main ------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	struct round round = { .step = argc == 4 ? step_of(argv[2]) : STEPS };

	if (round.step != STEPS)
		round.path = argv[3];
	if (round.step != STEPS && strcmp(argv[1], "kill") == 0)
		return run_kill(&round);
	if (round.step != STEPS && strcmp(argv[1], "fail") == 0)
		return run_fail(&round);
	fprintf(stderr, "marker_torn: see the top of its source\n");
	return 2;
}
