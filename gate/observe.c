#include "gate/observe.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fence/text.h"

__attribute__((format(printf, 3, 4))) static void
say(struct gate_observation *seen, enum gate_outcome outcome, const char *format, ...)
{
	va_list args;

	seen->outcome = outcome;
	va_start(args, format);
	(void)vsnprintf(seen->detail, sizeof(seen->detail), format, args);
	va_end(args);
}

__attribute__((format(printf, 2, 3))) static void advise(struct gate_observation *seen,
							 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(seen->hint, sizeof(seen->hint), format, args);
	va_end(args);
}

void gate_observe_not_executed(const char *detail, const char *hint, struct gate_observation *ret)
{
	*ret = (struct gate_observation){ 0 };
	say(ret, GATE_NOT_EXECUTED, "could not be executed: %s", detail);
	advise(ret, "%s", hint);
}

/* "600 s", "1.5 s", "250 ms". */
static void length_words(int64_t ms, char *buf, size_t size_bytes)
{
	if (ms < 1000)
		(void)snprintf(buf, size_bytes, "%" PRId64 " ms", ms);
	else if (ms % 1000 == 0)
		(void)snprintf(buf, size_bytes, "%" PRId64 " s", ms / 1000);
	else
		(void)snprintf(buf, size_bytes, "%.1f s", (double)ms / 1000.0);
}

/* --- what ended it before it ended itself -------------------------------------- */

static bool observe_ended_by_us(const struct gate_stage *stage,
				const struct fence_group_result *result,
				struct gate_observation *seen)
{
	char length[32];

	switch (result->cause) {
	case FENCE_CAUSE_TIMEOUT:
		length_words(stage->timeout_ms, length, sizeof(length));
		say(seen, GATE_TIMED_OUT, "timed out after %s", length);
		return true;
	case FENCE_CAUSE_IDLE_TIMEOUT:
		length_words(stage->idle_timeout_ms, length, sizeof(length));
		say(seen, GATE_IDLE_TIMED_OUT, "printed nothing for %s", length);
		return true;
	case FENCE_CAUSE_TERMINATE_REQUEST:
	case FENCE_CAUSE_CANCELLED:
	case FENCE_CAUSE_EXECUTOR_GONE:
		say(seen, GATE_CANCELLED, "was cancelled");
		return true;
	case FENCE_CAUSE_SUPERVISOR_SIGNAL: /* we cancel by the cause above */
		say(seen, GATE_LOST, "ended unseen: its monitor was killed");
		return true;
	case FENCE_CAUSE_NOT_STARTED:
		say(seen, GATE_NOT_EXECUTED, "could not be executed: %s: %s",
		    fence_spawn_step_name(result->failed_step),
		    fence_errno_words(result->failed_errno));
		return true;
	default:
		return false;
	}
}

/* --- a confined stage --------------------------------------------------------------- */

static void observe_guard_failure(const struct gate_guard_status *status,
				  struct gate_observation *seen)
{
	const char *why = status->failed_why;

	if (!why[0])
		why = status->failed_errno ? fence_errno_words(status->failed_errno) : "failed";
	say(seen, GATE_NOT_EXECUTED, "could not be executed: %.80s: %.40s",
	    status->failed_what[0] ? status->failed_what : status->failed_stage, why);
	advise(seen, "%s", status->failed_hint);
}

/* True when the guard itself, not the command, decided the outcome. */
static bool observe_guard(const struct fence_group_result *result,
			  const struct gate_guard_status *status, struct gate_observation *seen)
{
	int handed_on = status->signalled ? 128 + status->number : status->number;

	if (!status->executed) {
		if (status->failed)
			observe_guard_failure(status, seen);
		else
			say(seen, GATE_NOT_EXECUTED,
			    "could not be executed: fence-guard ended with %s %d before the "
			    "command ran",
			    result->exit.signalled ? "signal" : "status", result->exit.number);
		return true;
	}
	/* What the guard handed on and what it wrote down must be the same, or one of
	 * them is not the command's. */
	if (status->garbled || !status->ended || result->exit.signalled ||
	    result->exit.number != handed_on) {
		say(seen, GATE_LOST, "ended unseen: fence-guard ended with %s %d",
		    result->exit.signalled ? "signal" : "status", result->exit.number);
		return true;
	}
	seen->signalled = status->signalled;
	seen->number = status->number;
	return false;
}

/* --- the command's own end ------------------------------------------------------------ */

/* In a sandbox the guard's own init saw them; outside, the stage's monitor did. */
static void take_leftover(const struct fence_group_result *result,
			  const struct gate_guard_status *status, struct gate_leftover *ret)
{
	if (status) {
		*ret = status->leftover;
		return;
	}
	ret->count = result->leftover_count;
	for (unsigned int i = 0; i < ret->count && i < FENCE_GROUP_PIDS; i++) {
		ret->first[i].pid = result->leftover_pids[i];
		memcpy(ret->first[i].name, result->leftover_names[i], sizeof(ret->first[i].name));
	}
}

static void name_leftover(const struct gate_leftover *left, char *buf, size_t size_bytes)
{
	struct fence_text text;

	fence_text_init(&text, buf, size_bytes);
	for (unsigned int i = 0; i < left->count && left->first[i].name[0]; i++) {
		fence_text_add(&text, "%s", i > 0 ? ", " : "");
		fence_text_add_safe(&text, left->first[i].name, strlen(left->first[i].name));
		fence_text_add(&text, "[%d]", left->first[i].pid);
	}
}

/* Said of a stage that passed too: what it left was ended, and is named. */
static void observe_leftover(const struct gate_stage *stage, struct gate_observation *seen)
{
	enum gate_outcome outcome = stage->leaks_fail ? GATE_LEAKED : GATE_PASSED;
	unsigned int count = seen->leftover.count;
	char names[120];

	name_leftover(&seen->leftover, names, sizeof(names));
	if (count > 0)
		say(seen, outcome, "left %u %s behind: %s", count,
		    count == 1 ? "process" : "processes", names);
	else
		say(seen, outcome, "its output was still held open after it had ended");
}

static void observe_exit(const struct gate_stage *stage, const struct fence_group_result *result,
			 const struct gate_guard_status *status, struct gate_observation *seen)
{
	seen->has_exit = true;
	if (seen->signalled) {
		const char *name = sigabbrev_np(seen->number);

		say(seen, GATE_SIGNALLED, "died of signal %d%s%s", seen->number, name ? " SIG" : "",
		    name ? name : "");
	} else if (seen->number != 0) {
		say(seen, GATE_FAILED, "exited with status %d", seen->number);
	} else if (seen->leftover.count > 0 || result->leaked) {
		observe_leftover(stage, seen);
	} else if (status && status->kept[0]) {
		/* The path last, which may be too long. */
		say(seen, GATE_PASSED, "what git did is in %s, not in %s", status->kept,
		    status->discarded);
	} else if (status && status->discarded[0]) {
		say(seen, GATE_PASSED, "what git did in %s was not kept", status->discarded);
	} else {
		seen->outcome = GATE_PASSED;
	}
}

void gate_observe(const struct gate_stage *stage, const struct fence_group_result *result,
		  const struct gate_guard_status *status, struct gate_observation *ret)
{
	bool has_printed = result->output_bytes[0] + result->output_bytes[1] > 0;
	struct gate_observation seen = { .wall_us = result->wall_us, .has_printed = has_printed };

	*ret = seen;
	take_leftover(result, status, &ret->leftover);
	if (observe_ended_by_us(stage, result, ret))
		return;
	if (!result->exit_known) {
		say(ret, GATE_LOST, "ended unseen: its monitor was killed");
		return;
	}
	ret->signalled = result->exit.signalled;
	ret->number = result->exit.number;
	if (status && observe_guard(result, status, ret))
		return;
	observe_exit(stage, result, status, ret);
	if (result->survivor_count > 0 && ret->outcome == GATE_PASSED)
		say(ret, GATE_SURVIVED, "%u of its processes outlived SIGKILL, the first is %d",
		    result->survivor_count, (int)result->survivor_pids[0]);
}
