#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

#include "guard/policy/policy.h"

static const char *value_of(char **list, const char *name)
{
	size_t length = strlen(name);

	for (; *list != NULL; list++)
		if (strncmp(*list, name, length) == 0 && (*list)[length] == '=')
			return *list + length + 1;
	return NULL;
}

static char *const caller[] = {
	(char *)(uintptr_t) "PATH=/bin",	 (char *)(uintptr_t) "HOME=/home/u",
	(char *)(uintptr_t) "LD_PRELOAD=x.so",	 (char *)(uintptr_t) "GIT_DIR=/x",
	(char *)(uintptr_t) "NODE_OPTIONS=-r x", (char *)(uintptr_t) "PATHX=1",
	(char *)(uintptr_t) "CI=true",		 NULL,
};

struct made {
	struct guard_policy policy;
	struct guard_environ environment;
	char **list;
};

static void make(struct made *made, bool all, const char *const *env, const char *unset)
{
	guard_policy_init(&made->policy);
	made->policy.env_all = all;
	for (; env != NULL && *env != NULL; env++)
		assert_int_equal(guard_policy_add_env(&made->policy, *env, false, NULL), 0);
	if (unset != NULL)
		assert_int_equal(guard_policy_add_env(&made->policy, unset, true, NULL), 0);
	assert_int_equal(guard_policy_environ(&made->policy, caller, &made->environment), 0);
	made->list = made->environment.list;
}

static void drop(struct made *made)
{
	guard_environ_free(&made->environment);
	guard_policy_free(&made->policy);
}

static void only_the_list_passes_unnamed(void **state)
{
	struct made made;

	(void)state;
	make(&made, false, NULL, NULL);
	assert_string_equal(value_of(made.list, "PATH"), "/bin");
	assert_string_equal(value_of(made.list, "HOME"), "/home/u");
	assert_null(value_of(made.list, "PATHX"));
	assert_null(value_of(made.list, "LD_PRELOAD"));
	assert_null(value_of(made.list, "GIT_DIR"));
	assert_null(value_of(made.list, "NODE_OPTIONS"));
	assert_null(value_of(made.list, "CI"));
	drop(&made);
}

static void a_named_variable_passes_or_gets_its_value(void **state)
{
	static const char *const env[] = { "CI", "NEW=a=b", "HOME=/else", "ABSENT", NULL };
	struct made made;

	(void)state;
	make(&made, false, env, NULL);
	assert_string_equal(value_of(made.list, "CI"), "true");
	assert_string_equal(value_of(made.list, "NEW"), "a=b");
	assert_string_equal(value_of(made.list, "HOME"), "/else");
	assert_null(value_of(made.list, "ABSENT"));
	drop(&made);
}

static void the_last_word_about_a_variable_counts(void **state)
{
	static const char *const env[] = { "X=1", "X=2", NULL };
	struct made made;
	size_t seen = 0;

	(void)state;
	make(&made, true, env, "HOME");
	assert_string_equal(value_of(made.list, "X"), "2");
	assert_null(value_of(made.list, "HOME"));
	assert_string_equal(value_of(made.list, "LD_PRELOAD"), "x.so");
	for (char **at = made.list; *at != NULL; at++)
		seen += strncmp(*at, "X=", 2) == 0;
	assert_int_equal(seen, 1);
	drop(&made);
}

static void a_name_that_is_none_is_refused(void **state)
{
	struct guard_policy policy;

	(void)state;
	guard_policy_init(&policy);
	assert_int_equal(guard_policy_add_env(&policy, "=x", false, NULL), -EINVAL);
	assert_int_equal(guard_policy_add_env(&policy, "", false, NULL), -EINVAL);
	assert_int_equal(guard_policy_add_env(&policy, "A=b", true, NULL), -EINVAL);
	assert_int_equal(guard_policy_add_rule(&policy, GUARD_RW, "", NULL), -EINVAL);
	guard_policy_free(&policy);
}

static void kept_descriptors_are_ascending_and_single(void **state)
{
	static const int given[] = { 9, 3, 9, 100, 5, 3 };
	static const int wanted[] = { 3, 5, 9, 100 };
	struct guard_policy policy;

	(void)state;
	guard_policy_init(&policy);
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		assert_int_equal(guard_policy_keep_fd(&policy, given[i], NULL), 0);
	assert_int_equal(policy.keep_count, 4);
	assert_memory_equal(policy.keep_fds, wanted, sizeof(wanted));
	for (int fd = 200; policy.keep_count < GUARD_KEEP_FDS; fd++)
		assert_int_equal(guard_policy_keep_fd(&policy, fd, NULL), 0);
	assert_int_equal(guard_policy_keep_fd(&policy, 1000, NULL), -E2BIG);
	guard_policy_free(&policy);
}

static void capabilities_are_known_by_name(void **state)
{
	(void)state;
	assert_int_equal(guard_cap_number("CAP_CHOWN"), CAP_CHOWN);
	assert_int_equal(guard_cap_number("setuid"), CAP_SETUID);
	assert_int_equal(guard_cap_number("cap_sys_admin"), CAP_SYS_ADMIN);
	assert_int_equal(guard_cap_number("CHECKPOINT_RESTORE"), CAP_LAST_CAP);
	assert_int_equal(guard_cap_number("audit_control"), CAP_AUDIT_CONTROL);
	assert_int_equal(guard_cap_number("root"), -1);
	assert_int_equal(guard_cap_number(""), -1);
}

static void a_profile_without_confinement_takes_no_rules(void **state)
{
	struct guard_policy policy;

	(void)state;
	guard_policy_init(&policy);
	assert_int_equal(guard_policy_set_profile(&policy, "none", NULL), 0);
	assert_int_equal(guard_policy_check(&policy, NULL), 0);
	assert_int_equal(guard_policy_add_rule(&policy, GUARD_DENY, "/x", NULL), 0);
	assert_true(guard_policy_check(&policy, &(struct fence_err){ 0 }) < 0);
	assert_int_equal(guard_policy_set_profile(&policy, "gate", NULL), 0);
	assert_int_equal(guard_policy_check(&policy, NULL), 0);
	assert_int_equal(guard_policy_set_profile(&policy, "Gate", NULL), -EINVAL);
	guard_policy_free(&policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_list_passes_unnamed),
		cmocka_unit_test(a_named_variable_passes_or_gets_its_value),
		cmocka_unit_test(the_last_word_about_a_variable_counts),
		cmocka_unit_test(a_name_that_is_none_is_refused),
		cmocka_unit_test(kept_descriptors_are_ascending_and_single),
		cmocka_unit_test(capabilities_are_known_by_name),
		cmocka_unit_test(a_profile_without_confinement_takes_no_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
