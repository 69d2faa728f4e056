#include "gate/verdict.h"

#include <stdio.h>

/* Every outcome: its word, the rule that it matches, what is said of it when the
 * observation has no words of its own, and the field that changes it. */
static const struct outcome_row {
	const char *word;
	enum gate_verdict_kind matches;
	const char *text;
	const char *raise;
	const char *hint;
} outcomes[GATE_OUTCOMES] = {
	[GATE_PASSED] = { "passed", GATE_PASS, "passed", NULL, NULL },
	[GATE_FAILED] = { "failed", GATE_FAIL, "failed", NULL, NULL },
	[GATE_SIGNALLED] = { "signalled", GATE_FAIL, "died of a signal", NULL, NULL },
	[GATE_LEAKED] = { "leaked", GATE_FAIL, "left processes behind", "leaks",
			  "end them in the stage, or set leaks: warn" },
	[GATE_NOT_EXECUTED] = { "not-executed", GATE_DEGRADED, "could not be executed", "command",
				NULL },
	[GATE_TIMED_OUT] = { "timed-out", GATE_DEGRADED, "timed out", "timeout",
			     "raise timeout if the stage needs longer" },
	[GATE_IDLE_TIMED_OUT] = { "idle-timed-out", GATE_DEGRADED, "was silent for too long",
				  "idleTimeout",
				  "raise idleTimeout if the stage is silent longer" },
	[GATE_CANCELLED] = { "cancelled", GATE_DEGRADED, "was cancelled", NULL, "run it again" },
	[GATE_NOT_STARTED] = { "not-started", GATE_DEGRADED, "was not started", NULL,
			       "run it again" },
	[GATE_BLOCKED] = { "blocked", GATE_DEGRADED, "was not run", "needs", NULL },
	[GATE_LOST] = { "lost", GATE_DEGRADED, "ended unseen", NULL, "run it again" },
	[GATE_SURVIVED] = { "survived", GATE_DEGRADED, "left processes that outlived SIGKILL", NULL,
			    NULL },
	[GATE_NOT_SELECTABLE] = { "not-selectable", GATE_DEGRADED, "cannot take the selection",
				  "select", "add an entry to select" },
	[GATE_BAD_EVIDENCE] = { "bad-evidence", GATE_DEGRADED,
				"gave no evidence that its tests ran", "expect",
				"correct the stage's report, or expect" },
	[GATE_STACK_ABSENT] = { "stack-absent", GATE_DEGRADED, "needs a stack that is not there",
				"requiresStack", "start the stack" },
};

const char *gate_outcome_word(enum gate_outcome outcome)
{
	return outcomes[outcome].word;
}

static const struct {
	const char *word;
	int exit_status;
} verdicts[] = {
	[GATE_PASS] = { "PASS", 0 },	     [GATE_FAIL] = { "FAIL", 1 },
	[GATE_DEGRADED] = { "DEGRADED", 3 }, [GATE_VOID] = { "VOID", 4 },
	[GATE_PARTIAL] = { "PARTIAL", 5 },
};

const char *gate_verdict_word(enum gate_verdict_kind kind)
{
	return verdicts[kind].word;
}

int gate_verdict_exit(enum gate_verdict_kind kind)
{
	return verdicts[kind].exit_status;
}

/* The next reason to fill in; one that is not kept is counted all the same. */
static struct gate_reason *next_reason(struct gate_verdict *verdict)
{
	verdict->reason_total++;
	if (verdict->reason_count == GATE_MAX_REASONS)
		return NULL;
	return &verdict->reasons[verdict->reason_count++];
}

static void add_reason(struct gate_verdict *verdict, const char *stage, const char *raise,
		       const char *text, const char *hint)
{
	struct gate_reason *reason = next_reason(verdict);

	if (!reason)
		return;
	reason->stage = stage;
	reason->raise = raise;
	(void)snprintf(reason->text, sizeof(reason->text), "%s%s%s", text, hint ? "; " : "",
		       hint ? hint : "");
}

/* Rules 1 and 2 as far as they concern one stage. */
static void match_stages(const struct gate_seen *seen, enum gate_verdict_kind kind,
			 struct gate_verdict *verdict)
{
	for (size_t i = 0; i < seen->stage_count; i++) {
		const struct gate_stage_seen *stage = &seen->stages[i];
		const struct outcome_row *row = &outcomes[stage->outcome];

		if (row->matches != kind)
			continue;
		add_reason(verdict, stage->id, row->raise,
			   stage->detail ? stage->detail : row->text,
			   stage->hint ? stage->hint : row->hint);
	}
}

static void match_failed(const struct gate_seen *seen, struct gate_verdict *verdict)
{
	match_stages(seen, GATE_FAIL, verdict);
}

static void match_missing(const struct gate_seen *seen, struct gate_verdict *verdict)
{
	if (seen->cancelled)
		add_reason(verdict, NULL, NULL, "the run was cancelled", "run it again");
	match_stages(seen, GATE_DEGRADED, verdict);
	for (size_t i = 0; i < seen->stage_count && !seen->flaky_passes; i++)
		if (seen->stages[i].outcome == GATE_PASSED && seen->stages[i].retried)
			add_reason(verdict, seen->stages[i].id, "flaky",
				   "passed only when it was run again",
				   "mend it, or set flaky: pass");
	if (seen->stage_count == 0)
		add_reason(verdict, NULL, "stages", "no stage was run", NULL);
}

static void add_files(struct gate_verdict *verdict, const char *const *files, size_t count,
		      const char *what)
{
	for (size_t i = 0; i < count; i++) {
		struct gate_reason *reason = next_reason(verdict);

		if (reason)
			(void)snprintf(reason->text, sizeof(reason->text), "%s %s", files[i], what);
	}
}

static void match_changed(const struct gate_seen *seen, struct gate_verdict *verdict)
{
	add_files(verdict, seen->changed_files, seen->changed_count, "changed during the run");
	add_files(verdict, seen->stale_files, seen->stale_count, "is stale");
}

static void match_part(const struct gate_seen *seen, struct gate_verdict *verdict)
{
	struct gate_reason *reason;

	if (seen->has_selection)
		add_reason(verdict, NULL, NULL, "only a selection was run", NULL);
	if (seen->is_staged)
		add_reason(verdict, NULL, NULL, "staged content was judged", NULL);
	if (seen->stage_count >= seen->declared_count)
		return;
	reason = next_reason(verdict);
	if (reason)
		(void)snprintf(reason->text, sizeof(reason->text), "%zu of %zu stages were run",
			       seen->stage_count, seen->declared_count);
}

/* In the order of the rules: the first that finds a reason decides. */
static const struct {
	enum gate_verdict_kind kind;
	void (*match)(const struct gate_seen *seen, struct gate_verdict *verdict);
} rules[] = {
	{ GATE_FAIL, match_failed },
	{ GATE_DEGRADED, match_missing },
	{ GATE_VOID, match_changed },
	{ GATE_PARTIAL, match_part },
};

void gate_judge(const struct gate_seen *seen, struct gate_verdict *ret)
{
	*ret = (struct gate_verdict){ .kind = GATE_PASS };
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		rules[i].match(seen, ret);
		if (ret->reason_total > 0) {
			ret->kind = rules[i].kind;
			return;
		}
	}
}
