#include "gate/plan.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fence/err.h"
#include "gate/environ.h"

static const char text[] = "version: 1\nstages:\n"
			   "  - {id: lint, command: [x]}\n"
			   "  - {id: unit, command: [x], needs: [build]}\n"
			   "  - {id: build, command: [x], needs: [setup]}\n"
			   "  - {id: setup, command: [x]}\n"
			   "  - {id: other, command: [x]}\n"
			   "gates:\n"
			   "  - {id: full, stages: [unit, lint, build]}\n"
			   "  - {id: one, stages: [lint]}\n";

static void assert_order(const char *gate, const char *const *ids, size_t count)
{
	struct gate_config config;
	struct gate_plan plan;

	assert_int_equal(gate_config_parse(text, strlen(text), &config), 0);
	assert_int_equal(config.yaml->error_total, 0);
	assert_int_equal(gate_plan_make(&config, gate_config_find(&config, gate), &plan), 0);
	assert_int_equal(plan.count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(gate_plan_stage(&plan, i)->id, ids[i]);
	gate_plan_free(&plan);
	gate_config_free(&config);
}

static void needs_come_first_and_are_taken_along(void **state)
{
	static const char *const full[] = { "setup", "build", "unit", "lint" };
	static const char *const one[] = { "lint" };

	(void)state;
	assert_order("full", full, 4);
	assert_order("one", one, 1);
}

/* --- environment ---------------------------------------------------------------- */

static char *entry(const char *text_of_entry)
{
	return (char *)(uintptr_t)text_of_entry;
}

static char *ours[] = { (char *)(uintptr_t) "PATH=/bin",
			(char *)(uintptr_t) "HOME=/h",
			(char *)(uintptr_t) "LANG=C",
			(char *)(uintptr_t) "GIT_DIR=/x",
			(char *)(uintptr_t) "MAKEFLAGS=-j --jobserver-auth=3,4",
			(char *)(uintptr_t) "LD_PRELOAD=/x",
			(char *)(uintptr_t) "AWS_SECRET_ACCESS_KEY=x",
			(char *)(uintptr_t) "PATHX=1",
			(char *)(uintptr_t) "JAVA_HOME=/j",
			NULL };

static void the_environment_is_exactly_what_is_named(void **state)
{
	static struct gate_name keep[] = { { .text = "JAVA_HOME" }, { .text = "NOT_SET" } };
	static struct gate_name set[] = { { .text = "LANG=C.UTF-8" }, { .text = "CI=true" } };
	static const char *const wanted[] = { "PATH=/bin", "HOME=/h", "LANG=C.UTF-8",
					      "JAVA_HOME=/j", "CI=true" };
	struct gate_stage stage = { .id = "a", .env_keep = { keep, 2 }, .env_set = { set, 2 } };
	char **environment;
	size_t count = 0;

	(void)state;
	assert_int_equal(gate_environ_make(&stage, ours, &environment, NULL), 0);
	for (; environment[count]; count++)
		assert_string_equal(environment[count], wanted[count]);
	assert_int_equal(count, 5);
	free(environment);
}

static void a_missing_path_is_an_error(void **state)
{
	char *without[] = { entry("HOME=/h"), NULL };
	char *empty[] = { entry("PATH="), NULL };
	static struct gate_name set[] = { { .text = "PATH=/usr/bin" } };
	struct gate_stage stage = { .id = "a" };
	struct fence_err err = { 0 };
	char **environment;

	(void)state;
	assert_int_equal(gate_environ_make(&stage, without, &environment, &err), -EINVAL);
	assert_string_equal(err.why, "PATH is not set");
	assert_int_equal(gate_environ_make(&stage, empty, &environment, &err), -EINVAL);
	stage.env_set = (struct gate_names){ set, 1 };
	assert_int_equal(gate_environ_make(&stage, without, &environment, &err), 0);
	free(environment);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(needs_come_first_and_are_taken_along),
		cmocka_unit_test(the_environment_is_exactly_what_is_named),
		cmocka_unit_test(a_missing_path_is_an_error),
	};

	return cmocka_run_group_tests_name("gate/plan", tests, NULL, NULL);
}
