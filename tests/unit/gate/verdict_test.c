#include "gate/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static enum gate_verdict_kind judge_outcomes(const enum gate_outcome *outcomes, size_t count,
					     struct gate_verdict *ret)
{
	struct gate_stage_seen stages[8] = { 0 };
	struct gate_seen seen = { .stages = stages, .stage_count = count, .declared_count = count };

	for (size_t i = 0; i < count; i++)
		stages[i] = (struct gate_stage_seen){ .id = "s", .outcome = outcomes[i] };
	gate_judge(&seen, ret);
	return ret->kind;
}

/* The rules once more, written as the specification has them and not as the code. */
static enum gate_verdict_kind rule_of(enum gate_outcome outcome)
{
	switch (outcome) {
	case GATE_PASSED:
		return GATE_PASS;
	case GATE_FAILED:
	case GATE_SIGNALLED:
	case GATE_LEAKED:
		return GATE_FAIL;
	default:
		return GATE_DEGRADED;
	}
}

static void every_outcome_alone_has_its_verdict(void **state)
{
	(void)state;
	for (int i = 0; i < GATE_OUTCOMES; i++) {
		enum gate_outcome outcome = (enum gate_outcome)i;
		struct gate_verdict verdict;

		assert_int_equal(judge_outcomes(&outcome, 1, &verdict), rule_of(outcome));
		assert_int_equal(verdict.reason_count, outcome == GATE_PASSED ? 0 : 1);
		if (outcome != GATE_PASSED)
			assert_string_equal(verdict.reasons[0].stage, "s");
	}
}

static void of_every_pair_and_triple_the_first_rule_wins(void **state)
{
	(void)state;
	for (int a = 0; a < GATE_OUTCOMES; a++)
		for (int b = 0; b < GATE_OUTCOMES; b++)
			for (int c = 0; c < GATE_OUTCOMES; c++) {
				enum gate_outcome all[] = { (enum gate_outcome)a,
							    (enum gate_outcome)b,
							    (enum gate_outcome)c };
				enum gate_verdict_kind wanted = GATE_PASS;
				struct gate_verdict verdict;
				size_t matching = 0;

				for (size_t i = 0; i < 3; i++)
					if (rule_of(all[i]) == GATE_FAIL)
						wanted = GATE_FAIL;
				for (size_t i = 0; i < 3 && wanted == GATE_PASS; i++)
					if (rule_of(all[i]) == GATE_DEGRADED)
						wanted = GATE_DEGRADED;
				for (size_t i = 0; i < 3; i++)
					matching +=
						wanted != GATE_PASS && rule_of(all[i]) == wanted;
				assert_int_equal(judge_outcomes(all, 3, &verdict), wanted);
				assert_int_equal(verdict.reason_total, matching);
			}
}

/* Every combination of the other observations around one stage. */
static void the_whole_table_of_observations(void **state)
{
	static const char *const files[] = { "src/a.c", "src/b.c" };
	static const enum gate_outcome outcomes[] = { GATE_PASSED, GATE_FAILED, GATE_TIMED_OUT };

	(void)state;
	for (unsigned int bits = 0; bits < 256; bits++)
		for (size_t k = 0; k < 3; k++) {
			struct gate_stage_seen stage = { .id = "unit",
							 .outcome = outcomes[k],
							 .retried = bits & 1 };
			struct gate_seen seen = { .stages = &stage,
						  .stage_count = 1,
						  .flaky_passes = bits & 2,
						  .cancelled = bits & 4,
						  .changed_files = files,
						  .changed_count = bits & 8 ? 2 : 0,
						  .stale_files = files,
						  .stale_count = bits & 16 ? 1 : 0,
						  .has_selection = bits & 32,
						  .is_staged = bits & 64,
						  .declared_count = bits & 128 ? 2 : 1 };
			bool flaky = outcomes[k] == GATE_PASSED && (bits & 1) && !(bits & 2);
			enum gate_verdict_kind wanted = GATE_PASS;
			struct gate_verdict verdict;

			if (bits & (32 | 64 | 128))
				wanted = GATE_PARTIAL;
			if (bits & (8 | 16))
				wanted = GATE_VOID;
			if (flaky || (bits & 4) || outcomes[k] == GATE_TIMED_OUT)
				wanted = GATE_DEGRADED;
			if (outcomes[k] == GATE_FAILED)
				wanted = GATE_FAIL;
			gate_judge(&seen, &verdict);
			assert_int_equal(verdict.kind, wanted);
			assert_int_equal(verdict.reason_total > 0, wanted != GATE_PASS);
		}
}

static void a_run_of_nothing_is_degraded(void **state)
{
	struct gate_seen seen = { .declared_count = 0 };
	struct gate_verdict verdict;

	(void)state;
	gate_judge(&seen, &verdict);
	assert_int_equal(verdict.kind, GATE_DEGRADED);
	assert_string_equal(verdict.reasons[0].text, "no stage was run");
	assert_string_equal(verdict.reasons[0].raise, "stages");
}

static void a_reason_names_the_stage_and_the_field_to_raise(void **state)
{
	static const struct {
		enum gate_outcome outcome;
		const char *raise;
		const char *text;
	} rows[] = {
		{ GATE_TIMED_OUT, "timeout", "timed out; raise timeout if the stage needs longer" },
		{ GATE_IDLE_TIMED_OUT, "idleTimeout",
		  "was silent for too long; raise idleTimeout if the stage is silent longer" },
		{ GATE_LEAKED, "leaks",
		  "left processes behind; end them in the stage, or set leaks: warn" },
		{ GATE_NOT_EXECUTED, "command", "could not be executed" },
		{ GATE_NOT_SELECTABLE, "select",
		  "cannot take the selection; add an entry to select" },
		{ GATE_BAD_EVIDENCE, "expect",
		  "gave no evidence that its tests ran; correct the stage's report, or expect" },
		{ GATE_STACK_ABSENT, "requiresStack",
		  "needs a stack that is not there; start the stack" },
		{ GATE_BLOCKED, "needs", "was not run" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gate_verdict verdict;

		(void)judge_outcomes(&rows[i].outcome, 1, &verdict);
		assert_string_equal(verdict.reasons[0].raise, rows[i].raise);
		assert_string_equal(verdict.reasons[0].text, rows[i].text);
	}
}

static void void_names_the_files(void **state)
{
	static const char *const changed[] = { "src/a.c" };
	static const char *const stale[] = { "gates.yaml" };
	struct gate_stage_seen stage = { .id = "unit" };
	struct gate_seen seen = { .stages = &stage,
				  .stage_count = 1,
				  .declared_count = 1,
				  .changed_files = changed,
				  .changed_count = 1,
				  .stale_files = stale,
				  .stale_count = 1 };
	struct gate_verdict verdict;

	(void)state;
	gate_judge(&seen, &verdict);
	assert_int_equal(verdict.kind, GATE_VOID);
	assert_string_equal(verdict.reasons[0].text, "src/a.c changed during the run");
	assert_string_equal(verdict.reasons[1].text, "gates.yaml is stale");
}

static void reasons_are_bounded_and_counted(void **state)
{
	static struct gate_stage_seen stages[100];
	struct gate_seen seen = { .stages = stages, .stage_count = 100, .declared_count = 100 };
	struct gate_verdict verdict;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		stages[i] = (struct gate_stage_seen){ .id = "s", .outcome = GATE_FAILED };
	gate_judge(&seen, &verdict);
	assert_int_equal(verdict.reason_count, GATE_MAX_REASONS);
	assert_int_equal(verdict.reason_total, 100);
}

static void each_verdict_has_its_word_and_exit_status(void **state)
{
	static const struct {
		enum gate_verdict_kind kind;
		const char *word;
		int status;
	} rows[] = { { GATE_PASS, "PASS", 0 },
		     { GATE_FAIL, "FAIL", 1 },
		     { GATE_DEGRADED, "DEGRADED", 3 },
		     { GATE_VOID, "VOID", 4 },
		     { GATE_PARTIAL, "PARTIAL", 5 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_string_equal(gate_verdict_word(rows[i].kind), rows[i].word);
		assert_int_equal(gate_verdict_exit(rows[i].kind), rows[i].status);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_outcome_alone_has_its_verdict),
		cmocka_unit_test(of_every_pair_and_triple_the_first_rule_wins),
		cmocka_unit_test(the_whole_table_of_observations),
		cmocka_unit_test(a_run_of_nothing_is_degraded),
		cmocka_unit_test(a_reason_names_the_stage_and_the_field_to_raise),
		cmocka_unit_test(void_names_the_files),
		cmocka_unit_test(reasons_are_bounded_and_counted),
		cmocka_unit_test(each_verdict_has_its_word_and_exit_status),
	};

	return cmocka_run_group_tests_name("gate/verdict", tests, NULL, NULL);
}
