#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guard/policy/load.h"
#include "guard/policy/wire.h"

static const struct guard_place at = { .line = 3, .column = 5 };

/* What fence-policy would write of a small file. */
static void write_policy(struct guard_wire *wire)
{
	*wire = (struct guard_wire){ 0 };
	guard_wire_begin(wire);
	guard_wire_add(wire, GUARD_WIRE_FILE, at, "/p.yaml", NULL, NULL);
	guard_wire_add(wire, GUARD_WIRE_PROFILE, at, "build", "gate", NULL);
	guard_wire_add(wire, GUARD_WIRE_RULE, at, "deny", "key", "secret");
	guard_wire_add(wire, GUARD_WIRE_KEEP, at, "PATH", NULL, NULL);
	guard_wire_add(wire, GUARD_WIRE_SET, at, "CI=true", NULL, NULL);
	guard_wire_add(wire, GUARD_WIRE_COMMAND, at, "ask", "why", NULL);
	guard_wire_add(wire, GUARD_WIRE_WORD, at, "git", NULL, NULL);
	guard_wire_add(wire, GUARD_WIRE_WORD, at, "push", NULL, NULL);
	guard_wire_add(wire, GUARD_WIRE_END, at, NULL, NULL, NULL);
	assert_int_equal(wire->rc, 0);
}

static void what_was_written_is_taken(void **state)
{
	struct guard_policy policy;
	struct guard_wire wire;

	(void)state;
	guard_policy_init(&policy);
	write_policy(&wire);
	assert_int_equal(guard_policy_take(&policy, wire.bytes, wire.count, NULL), 0);
	assert_string_equal(policy.profile_name, "build");
	assert_string_equal(policy.profile->name, "gate");
	assert_int_equal(policy.rule_count, 1);
	assert_string_equal(policy.rules[0].path, "key");
	assert_string_equal(policy.rules[0].reason, "secret");
	assert_int_equal(policy.rules[0].place.line, 3);
	assert_true(policy.env_keep_only);
	assert_int_equal(policy.command_count, 1);
	assert_int_equal(policy.commands[0].count, 2);
	assert_int_equal(policy.limits[GUARD_LIMIT_MEMORY], GUARD_UNLIMITED);
	guard_policy_free(&policy);
}

static void an_option_is_the_last_word_about_a_variable(void **state)
{
	static char *const from[] = { NULL };
	struct guard_policy policy;
	struct guard_wire wire;
	struct guard_environ environment;

	(void)state;
	guard_policy_init(&policy);
	assert_int_equal(guard_policy_add_env(&policy, "CI=false", false, NULL), 0);
	write_policy(&wire);
	assert_int_equal(guard_policy_take(&policy, wire.bytes, wire.count, NULL), 0);
	assert_int_equal(guard_policy_environ(&policy, from, &environment), 0);
	assert_string_equal(environment.list[0], "CI=false");
	assert_null(environment.list[1]);
	guard_environ_free(&environment);
	guard_policy_free(&policy);
}

static void what_was_cut_off_anywhere_is_no_policy(void **state)
{
	struct guard_wire wire;

	(void)state;
	write_policy(&wire);
	for (size_t length = 0; length < wire.count; length++) {
		struct guard_policy policy;
		char *bytes = malloc(length + 1);

		assert_non_null(bytes);
		memcpy(bytes, wire.bytes, length);
		guard_policy_init(&policy);
		assert_int_equal(guard_policy_take(&policy, bytes, length, NULL), -EPROTO);
		guard_policy_free(&policy);
	}
	guard_wire_free(&wire);
}

static void what_comes_after_the_end_or_from_elsewhere_is_none_either(void **state)
{
	static const char other[] = "fence-policy-compiled/1\0"
				    "0.0.0\0"
				    "end\0"
				    "0\0"
				    "0";
	struct guard_policy policy;
	struct guard_wire wire;
	char *bytes = malloc(sizeof(other));

	(void)state;
	write_policy(&wire);
	guard_wire_add(&wire, GUARD_WIRE_END, at, NULL, NULL, NULL);
	guard_policy_init(&policy);
	assert_int_equal(guard_policy_take(&policy, wire.bytes, wire.count, NULL), -EPROTO);
	guard_policy_free(&policy);

	assert_non_null(bytes);
	memcpy(bytes, other, sizeof(other));
	guard_policy_init(&policy);
	assert_int_equal(guard_policy_take(&policy, bytes, sizeof(other), NULL), -EPROTO);
	guard_policy_free(&policy);
}

static void a_fault_is_said_with_its_place(void **state)
{
	struct guard_wire wire = { 0 };
	struct guard_policy policy;
	struct fence_err err = { 0 };
	char line[512];

	(void)state;
	guard_wire_begin(&wire);
	guard_wire_add(&wire, GUARD_WIRE_FAULT, at, "p.yaml:3:5",
		       "unknown key \"a\"; did you mean \"b\"", "3");
	guard_wire_add(&wire, GUARD_WIRE_END, at, NULL, NULL, NULL);
	guard_policy_init(&policy);
	assert_int_equal(guard_policy_take(&policy, wire.bytes, wire.count, &err), -EINVAL);
	(void)fence_err_line(&err, "x", line, sizeof(line));
	assert_string_equal(line, "x: p.yaml:3:5: unknown key \"a\"; did you mean \"b\"; "
				  "fence-policy shows all 3 faults\n");
	guard_policy_free(&policy);
}

/* Not even when the program that reads the file says so. */
static void what_no_policy_may_say_of_a_call_is_not_taken(void **state)
{
	static const struct {
		const char *name, *error;
		int rc;
	} rows[] = {
		{ "ptrace", "1", 0 },	      { "keyctl", "0", 0 },
		{ "mount", "0", -EPROTO },    { "ioctl", "0", -EPROTO },
		{ "openat", "0", -EPROTO },   { "chroot", "0", -EPROTO },
		{ "read", "1", -EPROTO },     { "mouny", "1", -EPROTO },
		{ "ptrace", "134", -EPROTO }, { "ptrace", "-1", -EPROTO },
		{ "ptrace", "", -EPROTO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct guard_wire wire = { 0 };
		struct guard_policy policy;

		guard_wire_begin(&wire);
		guard_wire_add(&wire, GUARD_WIRE_FILE, at, "/p.yaml", NULL, NULL);
		guard_wire_add(&wire, GUARD_WIRE_PROFILE, at, "build", "gate", NULL);
		guard_wire_add(&wire, GUARD_WIRE_CALL, at, rows[i].name, rows[i].error, NULL);
		guard_wire_add(&wire, GUARD_WIRE_END, at, NULL, NULL, NULL);
		guard_policy_init(&policy);
		assert_int_equal(guard_policy_take(&policy, wire.bytes, wire.count, NULL),
				 rows[i].rc);
		guard_policy_free(&policy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_taken),
		cmocka_unit_test(an_option_is_the_last_word_about_a_variable),
		cmocka_unit_test(what_was_cut_off_anywhere_is_no_policy),
		cmocka_unit_test(what_comes_after_the_end_or_from_elsewhere_is_none_either),
		cmocka_unit_test(a_fault_is_said_with_its_place),
		cmocka_unit_test(what_no_policy_may_say_of_a_call_is_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
