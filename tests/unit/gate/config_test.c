#include "gate/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define STAGE(id) "  - {id: " id ", command: [\"true\"]}\n"
#define GATE	  "gates:\n  - {id: full, stages: [a]}\n"

static void parse(const char *text, struct gate_config *ret)
{
	assert_int_equal(gate_config_parse(text, strlen(text), ret), 0);
}

/* The file has exactly this fault. */
static void assert_fault(const char *text, const char *line)
{
	struct gate_config config;
	char first[400];

	parse(text, &config);
	assert_int_equal(config.yaml->error_total, 1);
	fence_yaml_fault_line(&config.yaml->faults[0], "f", first, sizeof(first));
	assert_string_equal(first, line);
	gate_config_free(&config);
}

/* The same for what a stage says beside its id and command. */
static void assert_stage_fault(const char *keys, const char *line)
{
	char text[600];

	(void)snprintf(text, sizeof(text),
		       "version: 1\nstages:\n  - id: a\n    command: [\"true\"]\n%s\n" GATE, keys);
	assert_fault(text, line);
}

static void assert_stage_good(const char *keys, struct gate_config *ret)
{
	char text[600];

	(void)snprintf(text, sizeof(text),
		       "version: 1\nstages:\n  - id: a\n    command: [\"true\"]\n%s\n" GATE, keys);
	parse(text, ret);
	assert_int_equal(ret->yaml->error_total, 0);
}

static void a_stage_has_its_defaults(void **state)
{
	struct gate_config config;

	(void)state;
	assert_stage_good("", &config);
	assert_int_equal(config.stage_count, 1);
	assert_int_equal(config.stages[0].timeout_ms, 600000);
	assert_int_equal(config.stages[0].grace_ms, 5000);
	assert_int_equal(config.stages[0].idle_timeout_ms, 0);
	assert_int_equal(config.stages[0].sandbox, GATE_SANDBOX_GATE);
	assert_false(config.stages[0].leaks_fail);
	assert_ptr_equal(gate_config_find(&config, "full"), &config.gates[0]);
	assert_null(gate_config_find(&config, "other"));
	gate_config_free(&config);
}

static void everything_of_a_stage_is_read(void **state)
{
	struct gate_config config;
	const struct gate_stage *stage;

	(void)state;
	assert_stage_good("    timeout: 1h\n    idleTimeout: 2m\n    grace: 250ms\n"
			  "    sandbox: none\n    leaks: fail\n"
			  "    env: {keep: [A_1, B], set: {LANG: C.UTF-8, X: 'no'}}\n",
			  &config);
	stage = &config.stages[0];
	assert_int_equal(stage->timeout_ms, 3600000);
	assert_int_equal(stage->idle_timeout_ms, 120000);
	assert_int_equal(stage->grace_ms, 250);
	assert_int_equal(stage->sandbox, GATE_SANDBOX_NONE);
	assert_true(stage->leaks_fail);
	assert_int_equal(stage->env_keep.count, 2);
	assert_string_equal(stage->env_keep.at[1].text, "B");
	assert_int_equal(stage->env_set.count, 2);
	assert_string_equal(stage->env_set.at[0].text, "LANG=C.UTF-8");
	assert_string_equal(stage->env_set.at[1].text, "X=no");
	gate_config_free(&config);
}

static void words_of_a_command_are_strings_and_lint_warns(void **state)
{
	struct gate_config config;
	const char *text = "version: 1\nstages:\n  - id: a\n"
			   "    command: [pytest, -k, no, 3.10, 010, '010']\n" GATE;

	(void)state;
	parse(text, &config);
	assert_int_equal(config.yaml->error_total, 0);
	assert_int_equal(config.yaml->warning_total, 3);
	assert_string_equal(config.yaml->faults[0].text,
			    "warning: \"no\" stays the string \"no\"; quote it to say so");
	assert_int_equal(config.stages[0].argc, 6);
	assert_string_equal(config.stages[0].argv[2], "no");
	assert_string_equal(config.stages[0].argv[3], "3.10");
	assert_string_equal(config.stages[0].argv[4], "010");
	assert_null(config.stages[0].argv[6]);
	gate_config_free(&config);
}

static void a_pipe_without_pipefail_is_warned_of(void **state)
{
	static const struct {
		const char *command;
		size_t warnings;
	} rows[] = {
		{ "[sh, -c, 'false | tee log']", 1 },
		{ "[/bin/bash, -ec, 'false | tee log']", 1 },
		{ "[bash, -o, pipefail, -c, 'false | tee log']", 0 },
		{ "[bash, -c, 'set -o pipefail; false | tee log']", 0 },
		{ "[sh, -c, 'false || exit 1']", 0 },
		{ "[echo, -c, 'a | b']", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gate_config config;
		char text[400];

		(void)snprintf(text, sizeof(text),
			       "version: 1\nstages:\n  - id: a\n    command: %s\n" GATE,
			       rows[i].command);
		parse(text, &config);
		assert_int_equal(config.yaml->error_total, 0);
		assert_int_equal(config.yaml->warning_total, rows[i].warnings);
		gate_config_free(&config);
	}
}

static void durations_have_limits(void **state)
{
	(void)state;
	assert_stage_fault("    timeout: 0",
			   "f:5:14: \"timeout\" is \"0\"; it must be more than 0 and at most 24h");
	assert_stage_fault("    timeout: 25h", "f:5:14: \"timeout\" is \"25h\"; it must be more "
					       "than 0 and at most 24h");
	assert_stage_fault("    timeout: -1s", "f:5:14: \"timeout\" is \"-1s\"; it must be more "
					       "than 0 and at most 24h");
	assert_stage_fault("    timeout: soon", "f:5:14: \"timeout\" is no duration: \"soon\"; "
						"write 250ms, 5s or 10m");
	assert_stage_fault("    timeout:", "f:5:13: \"timeout\" is no duration: \"\"; "
					   "write 250ms, 5s or 10m");
	assert_stage_fault("    grace: 11m",
			   "f:5:12: \"grace\" is \"11m\"; it must be at most 10m");
}

static void unknown_keys_and_words_name_the_nearest(void **state)
{
	(void)state;
	assert_stage_fault("    timout: 5s",
			   "f:5:5: unknown key \"timout\"; did you mean \"timeout\"");
	assert_stage_fault("    sandbox: nune",
			   "f:5:14: \"sandbox\" cannot be \"nune\"; did you mean \"none\"");
	assert_stage_fault("    sandbox: xxxxxxxxx", "f:5:14: \"sandbox\" cannot be \"xxxxxxxxx\"; "
						     "use one of gate, chromium, none");
	assert_stage_fault("    env: {kep: [A]}",
			   "f:5:11: unknown key \"kep\"; did you mean \"keep\"");
}

static void keys_of_a_later_version_are_unknown(void **state)
{
	static const char *const keys[] = { "slowAfter", "requiresStack", "select", "expect",
					    "uses",	 "artifacts",	  "retries" };

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char line[100], expected[200];

		(void)snprintf(line, sizeof(line), "    %s: 1", keys[i]);
		(void)snprintf(expected, sizeof(expected),
			       "f:5:5: unknown key \"%s\"; this version cannot do that yet",
			       keys[i]);
		assert_stage_fault(line, expected);
	}
}

static void names_of_stages_are_resolved(void **state)
{
	(void)state;
	assert_stage_fault("    needs: [b]",
			   "f:5:13: needs unknown stage \"b\"; did you mean \"a\"");
	assert_fault("version: 1\nstages:\n" STAGE(
			     "build") "gates:\n  - {id: g, stages: [biuld]}\n",
		     "f:5:22: names the unknown stage \"biuld\"; did you mean \"build\"");
}

static void a_cycle_prints_its_path(void **state)
{
	(void)state;
	assert_fault("version: 1\nstages:\n"
		     "  - {id: x, command: [\"true\"], needs: [a]}\n"
		     "  - {id: a, command: [\"true\"], needs: [b]}\n"
		     "  - {id: b, command: [\"true\"], needs: [c]}\n"
		     "  - {id: c, command: [\"true\"], needs: [a]}\n" GATE,
		     "f:6:40: needs go in a circle: a -> b -> c -> a");
	assert_stage_fault("    needs: [a]", "f:5:13: needs go in a circle: a -> a");
}

static void ids_are_given_once(void **state)
{
	(void)state;
	assert_fault("version: 1\nstages:\n" STAGE("a") STAGE("a") GATE,
		     "f:4:10: stage \"a\" on line 4 is on line 3 already");
	assert_fault("version: 1\nstages:\n" STAGE("a") "gates:\n  - {id: g, stages: [a]}\n"
							"  - {id: g, stages: [a]}\n",
		     "f:6:10: gate \"g\" on line 6 is on line 5 already");
	assert_fault("version: 1\nstages:\n" STAGE("a") "gates:\n  - {id: g, stages: [a, a]}\n",
		     "f:5:25: stage \"a\" is named twice in this list");
}

static void an_id_is_no_path_and_no_option(void **state)
{
	static const char *const ids[] = { "../x", "a/b", ".hidden", "-x", "''", "'a b'" };

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct gate_config config;
		char text[200];

		(void)snprintf(text, sizeof(text),
			       "version: 1\nstages:\n  - {id: %s, command: [x]}\n"
			       "gates:\n  - {id: g, stages: []}\n",
			       ids[i]);
		parse(text, &config);
		assert_int_equal(config.yaml->error_total, 2);
		assert_non_null(strstr(config.yaml->faults[0].text, "is no id"));
		gate_config_free(&config);
	}
}

static void a_command_is_words_never_a_shell_line(void **state)
{
	(void)state;
	assert_fault("version: 1\nstages:\n  - {id: a, command: make test}\n" GATE,
		     "f:3:22: \"command\" must be a list, not a scalar");
	assert_fault("version: 1\nstages:\n  - {id: a, command: []}\n" GATE,
		     "f:3:22: \"command\" must have 1 to 4096 words");
	assert_fault("version: 1\nstages:\n  - {id: a, command: [x, [y]]}\n" GATE,
		     "f:3:26: a word of \"command\" must be a scalar, not a list");
}

static void the_version_is_checked(void **state)
{
	(void)state;
	assert_fault("version: 2\nstages:\n" STAGE("a") GATE,
		     "f:1:10: version \"2\" is not known; this program reads version 1");
	assert_fault("stages:\n" STAGE("a") GATE, "f:1:1: the file needs the key \"version\"");
}

static void a_thousand_stages_in_a_row_are_no_cycle(void **state)
{
	static char text[FENCE_YAML_MAX_BYTES];
	struct gate_config config;
	size_t at;

	(void)state;
	at = (size_t)snprintf(text, sizeof(text), "version: 1\nstages:\n" STAGE("a"));
	for (int i = 1; i < GATE_MAX_STAGES; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "  - {id: s%d, command: [x], needs: [%s%d]}\n", i,
				       i == 1 ? "a, s" : "s",
				       i == 1	? 2
				       : i == 2 ? 3
						: i - 1);
	(void)snprintf(text + at, sizeof(text) - at, GATE);
	parse(text, &config);
	/* s1 -> s2 -> s3 -> s2: one circle, found once. */
	assert_int_equal(config.stage_count, GATE_MAX_STAGES);
	assert_int_equal(config.yaml->error_total, 1);
	assert_non_null(strstr(config.yaml->faults[0].text, "s2 -> s3 -> s2"));
	gate_config_free(&config);
}

static void every_bad_word_of_a_command_is_named(void **state)
{
	struct gate_config config;

	(void)state;
	parse("version: 1\nstages:\n  - {id: a, command: [x, [y], {z: 1}, ok]}\n  -\n" GATE,
	      &config);
	assert_int_equal(config.yaml->error_total, 3);
	assert_int_equal(config.yaml->faults[0].column, 26);
	assert_int_equal(config.yaml->faults[1].column, 31);
	assert_string_equal(config.yaml->faults[2].text, "a stage must be a mapping, not empty");
	gate_config_free(&config);
}

static void the_nearest_of_many_stages_is_found(void **state)
{
	static char text[8192];
	struct gate_config config;
	size_t at = (size_t)snprintf(text, sizeof(text), "version: 1\nstages:\n");

	(void)state;
	for (int i = 0; i < 100; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "  - {id: other%d, command: [\"true\"]}\n", i);
	(void)snprintf(text + at, sizeof(text) - at,
		       STAGE("zebra") "gates: [{id: full, stages: [zebar]}]\n");
	parse(text, &config);
	assert_int_equal(config.yaml->error_total, 1);
	assert_string_equal(config.yaml->faults[0].text,
			    "names the unknown stage \"zebar\"; did you mean \"zebra\"");
	gate_config_free(&config);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stage_has_its_defaults),
		cmocka_unit_test(everything_of_a_stage_is_read),
		cmocka_unit_test(words_of_a_command_are_strings_and_lint_warns),
		cmocka_unit_test(a_pipe_without_pipefail_is_warned_of),
		cmocka_unit_test(durations_have_limits),
		cmocka_unit_test(unknown_keys_and_words_name_the_nearest),
		cmocka_unit_test(keys_of_a_later_version_are_unknown),
		cmocka_unit_test(names_of_stages_are_resolved),
		cmocka_unit_test(a_cycle_prints_its_path),
		cmocka_unit_test(ids_are_given_once),
		cmocka_unit_test(an_id_is_no_path_and_no_option),
		cmocka_unit_test(a_command_is_words_never_a_shell_line),
		cmocka_unit_test(the_version_is_checked),
		cmocka_unit_test(a_thousand_stages_in_a_row_are_no_cycle),
		cmocka_unit_test(every_bad_word_of_a_command_is_named),
		cmocka_unit_test(the_nearest_of_many_stages_is_found),
	};

	return cmocka_run_group_tests_name("gate/config", tests, NULL, NULL);
}
