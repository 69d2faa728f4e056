/* The verdict: one pure function over what was observed. It guesses nothing and
 * averages nothing; the first rule that matches decides:
 *
 *   1. a check ran and failed                                   FAIL
 *   2. anything is missing: not executed, timed out, cancelled,
 *      blocked, no evidence, flaky, nothing ran                 DEGRADED
 *   3. files changed during the run, or are stale               VOID
 *   4. a selection, staged content, fewer stages than declared  PARTIAL
 *   5. else                                                     PASS
 *
 * It knows observations that this version cannot make yet (selection, staged
 * content, evidence, changed files), so that the rules stand in one place. */
#ifndef GATE_VERDICT_H
#define GATE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

enum gate_verdict_kind {
	GATE_PASS,
	GATE_FAIL,
	GATE_DEGRADED,
	GATE_VOID,
	GATE_PARTIAL,
};

/* How one stage went. */
enum gate_outcome {
	GATE_PASSED,
	/* It ran and failed. */
	GATE_FAILED,	/* exited with a status other than 0 */
	GATE_SIGNALLED, /* died of a signal that we did not send */
	GATE_LEAKED,	/* exited with 0, left something behind, and says leaks: fail */
	/* Something is missing. */
	GATE_NOT_EXECUTED, /* the command, or its sandbox, could not be started */
	GATE_TIMED_OUT,
	GATE_IDLE_TIMED_OUT,
	GATE_CANCELLED,
	GATE_NOT_STARTED, /* the run stopped before its turn */
	GATE_BLOCKED,	  /* a stage that it needs did not pass */
	GATE_LOST,	  /* it ran, and nobody saw how it ended */
	GATE_SURVIVED,	  /* something of it outlived SIGKILL */
	GATE_NOT_SELECTABLE,
	GATE_BAD_EVIDENCE,
	GATE_STACK_ABSENT,
};
#define GATE_OUTCOMES (GATE_STACK_ABSENT + 1)

/* "passed", "timed-out", "not-executed": the closed list of the record. */
const char *gate_outcome_word(enum gate_outcome outcome);

struct gate_stage_seen {
	const char *id;
	enum gate_outcome outcome;
	bool retried;	    /* it passed, but not the first time */
	const char *detail; /* "exited with status 1"; NULL: the outcome's own words */
	const char *hint;   /* what to do; NULL: the outcome's own words */
};

struct gate_seen {
	const struct gate_stage_seen *stages;
	size_t stage_count;
	size_t declared_count; /* stages that the gate has */
	bool cancelled;	       /* the run was asked to stop */
	const char *const *changed_files;
	size_t changed_count;
	const char *const *stale_files;
	size_t stale_count;
	bool has_selection;
	bool is_staged;
	bool flaky_passes; /* the gate says flaky: pass */
};

#define GATE_MAX_REASONS 32

struct gate_reason {
	const char *stage; /* NULL: the run as a whole */
	const char *raise; /* the field of gates.yaml to change; NULL: none */
	char text[256];
};

struct gate_verdict {
	enum gate_verdict_kind kind;
	size_t reason_count; /* kept */
	size_t reason_total; /* found */
	struct gate_reason reasons[GATE_MAX_REASONS];
};

void gate_judge(const struct gate_seen *seen, struct gate_verdict *ret);

/* "PASS", "FAIL" ... */
const char *gate_verdict_word(enum gate_verdict_kind kind);

/* 0 PASS, 1 FAIL, 3 DEGRADED, 4 VOID, 5 PARTIAL. */
int gate_verdict_exit(enum gate_verdict_kind kind);

/* The code that every verdict but PASS carries. */
#define GATE_UNSATISFIED "TEST_GATE_UNSATISFIED"

#endif
