#include "gate/guard_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct gate_guard_status parse(const char *text)
{
	struct gate_guard_status status;

	gate_guard_status_parse(text, strlen(text), &status);
	return status;
}

static void a_command_that_ran_and_ended(void **state)
{
	struct gate_guard_status status =
		parse("{\"event\":\"exec\",\"layers\":{\"mounts\":\"enforced\"}}\n"
		      "{\"event\":\"exit\",\"code\":3}\n");

	(void)state;
	assert_true(status.executed);
	assert_true(status.ended);
	assert_false(status.signalled);
	assert_int_equal(status.number, 3);
	assert_string_equal(status.layers, "{\"mounts\":\"enforced\"}");
	assert_false(status.garbled);
}

static void a_command_that_died_of_a_signal(void **state)
{
	struct gate_guard_status status =
		parse("{\"event\":\"exec\"}\n{\"event\":\"exit\",\"signal\":11}\n");

	(void)state;
	assert_true(status.signalled);
	assert_int_equal(status.number, 11);
}

static void a_failure_and_its_remedy(void **state)
{
	struct gate_guard_status status = parse(
		"{\"event\":\"failure\",\"stage\":\"mount\",\"errno\":1,"
		"\"what\":\"mount it\",\"why\":\"no\",\"path\":\"/proc\",\"hint\":\"do this\"}\n");

	(void)state;
	assert_true(status.failed);
	assert_false(status.executed);
	assert_string_equal(status.failed_stage, "mount");
	assert_int_equal(status.failed_errno, 1);
	assert_string_equal(status.failed_what, "mount it");
	assert_string_equal(status.failed_why, "no");
	assert_string_equal(status.failed_path, "/proc");
	assert_string_equal(status.failed_hint, "do this");
}

static void what_was_discarded_and_where_it_is(void **state)
{
	struct gate_guard_status status =
		parse("{\"event\":\"exit\",\"code\":0,\"discarded\":[\"/x/.git\",\"/y/.git\"],"
		      "\"kept\":[{\"path\":\"/y/.git\",\"folder\":\"/k/1\",\"why\":null},"
		      "{\"path\":\"/z/.git\",\"folder\":\"/k/2\",\"why\":null}]}\n");

	(void)state;
	assert_string_equal(status.discarded, "/y/.git");
	assert_string_equal(status.kept, "/k/1");
	status = parse("{\"event\":\"exit\",\"code\":0,\"discarded\":[\"/x/.git\"],"
		       "\"kept\":[{\"path\":\"/x/.git\",\"folder\":null,\"why\":\"no\"}]}\n");
	assert_string_equal(status.discarded, "/x/.git");
	assert_string_equal(status.kept, "");
	assert_false(status.garbled);
	status = parse("{\"event\":\"exit\",\"code\":0,\"discarded\":[],\"kept\":[1]}\n");
	assert_string_equal(status.discarded, "");
	assert_string_equal(status.kept, "");
}

static void lines_that_are_not_ours_are_not_believed(void **state)
{
	static const char *const texts[] = { "{\"event\":\"exec\"}", "exec\n", "{}\n",
					     "{\"event\":\"exec\",\"event\":\"exec\"}\n", "\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct gate_guard_status status = parse(texts[i]);

		assert_false(status.executed);
		assert_true(status.garbled);
	}
	assert_false(parse("{\"event\":\"exit\",\"code\":\"0\"}\n").ended);
	assert_false(parse("{\"event\":\"exit\",\"code\":-1}\n").ended);
	assert_false(parse("{\"event\":\"exit\"}\n").ended);
}

static void an_event_that_we_do_not_know_is_passed_over(void **state)
{
	struct gate_guard_status status = parse("{\"event\":\"new\"}\n{\"event\":\"exec\"}\n");

	(void)state;
	assert_true(status.executed);
	assert_false(status.garbled);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_that_ran_and_ended),
		cmocka_unit_test(a_command_that_died_of_a_signal),
		cmocka_unit_test(a_failure_and_its_remedy),
		cmocka_unit_test(what_was_discarded_and_where_it_is),
		cmocka_unit_test(lines_that_are_not_ours_are_not_believed),
		cmocka_unit_test(an_event_that_we_do_not_know_is_passed_over),
	};

	return cmocka_run_group_tests_name("gate/guard_status", tests, NULL, NULL);
}
