#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "guard/confine/trial.h"

struct host {
	struct guard_finding findings[GUARD_TRIAL_COUNT];
};

static struct host whole_host(void)
{
	struct host host;

	memset(&host, 0, sizeof(host));
	host.findings[GUARD_TRIAL_LANDLOCK].number = 7;
	return host;
}

static struct guard_outlook look(const struct host *host, const char *profile, bool privileged)
{
	struct guard_outlook outlook;

	guard_outlook(host->findings, guard_profile_find(profile), privileged, &outlook);
	return outlook;
}

static void where_everything_works_every_layer_is_enforced(void **state)
{
	struct host host = whole_host();
	struct guard_outlook gate = look(&host, "gate", false);

	(void)state;
	assert_true(gate.starts);
	assert_true(gate.whole);
	for (int i = 0; i < GUARD_LAYER_COUNT; i++)
		assert_int_equal(gate.layers[i], GUARD_LAYER_ENFORCED);
}

static void each_required_step_that_fails_is_a_refusal(void **state)
{
	static const enum guard_trial required[] = {
		GUARD_TRIAL_USERNS, GUARD_TRIAL_MAP,	GUARD_TRIAL_PIDNS,
		GUARD_TRIAL_NETNS,  GUARD_TRIAL_LO,	GUARD_TRIAL_MOUNTNS,
		GUARD_TRIAL_MOUNTS, GUARD_TRIAL_FILTER, GUARD_TRIAL_OTHERNS,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
		struct host host = whole_host();
		struct guard_outlook gate;

		host.findings[required[i]].rc = -EPERM;
		gate = look(&host, "gate", false);
		assert_false(gate.starts);
		assert_false(gate.whole);
		assert_true(gate.lacks[required[i]]);
		assert_int_equal(gate.layers[GUARD_LAYER_SECCOMP], GUARD_LAYER_OFF);
	}
}

static void without_a_cgroup_namespace_it_starts_with_less(void **state)
{
	struct host host = whole_host();
	struct guard_outlook gate;

	(void)state;
	host.findings[GUARD_TRIAL_CGROUPNS].rc = -EPERM;
	gate = look(&host, "gate", false);
	assert_true(gate.starts);
	assert_false(gate.whole);
	assert_int_equal(gate.layers[GUARD_LAYER_NAMESPACES], GUARD_LAYER_DEGRADED);
	assert_true(look(&host, "none", false).whole);
	host.findings[GUARD_TRIAL_CGROUPNS].rc = -ENOSPC;
	assert_false(look(&host, "gate", false).starts);
}

static void root_needs_no_user_namespace(void **state)
{
	struct host host = whole_host();

	(void)state;
	host.findings[GUARD_TRIAL_USERNS].rc = -ENOSPC;
	host.findings[GUARD_TRIAL_MAP].rc = -ENOSPC;
	assert_true(look(&host, "gate", true).whole);
	assert_false(look(&host, "gate", false).starts);
}

static void landlock_counts_by_its_version(void **state)
{
	static const struct {
		int abi;
		enum guard_layer layer;
	} cases[] = {
		{ 1, GUARD_LAYER_OFF },
		{ 2, GUARD_LAYER_DEGRADED },
		{ 5, GUARD_LAYER_DEGRADED },
		{ 6, GUARD_LAYER_ENFORCED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct host host = whole_host();
		struct guard_outlook gate;

		host.findings[GUARD_TRIAL_LANDLOCK].number = cases[i].abi;
		gate = look(&host, "gate", false);
		assert_true(gate.starts);
		assert_int_equal(gate.layers[GUARD_LAYER_LANDLOCK], cases[i].layer);
		assert_int_equal(gate.whole, cases[i].layer == GUARD_LAYER_ENFORCED);
	}
}

static void a_hidden_proc_is_less_for_gate_and_a_refusal_for_none(void **state)
{
	struct host host = whole_host();

	(void)state;
	host.findings[GUARD_TRIAL_PROC].rc = -EPERM;
	assert_true(look(&host, "gate", false).starts);
	assert_int_equal(look(&host, "gate", false).layers[GUARD_LAYER_MOUNTS],
			 GUARD_LAYER_DEGRADED);
	assert_false(look(&host, "none", false).starts);
}

static void what_no_profile_needs_changes_nothing(void **state)
{
	struct host host = whole_host();

	(void)state;
	host.findings[GUARD_TRIAL_CGROUP].rc = -EACCES;
	host.findings[GUARD_TRIAL_NOTIFIER].rc = -EBUSY;
	host.findings[GUARD_TRIAL_BROWSER].rc = -EPERM;
	assert_true(look(&host, "gate", false).whole);
}

static void profile_landlock_needs_no_namespace_and_all_of_landlock(void **state)
{
	struct host host = whole_host();

	(void)state;
	host.findings[GUARD_TRIAL_USERNS].rc = -EPERM;
	host.findings[GUARD_TRIAL_MOUNTS].rc = -EPERM;
	host.findings[GUARD_TRIAL_PROC].rc = -EPERM;
	assert_true(look(&host, "landlock", false).whole);
	assert_int_equal(look(&host, "landlock", false).layers[GUARD_LAYER_MOUNTS],
			 GUARD_LAYER_OFF);
	host.findings[GUARD_TRIAL_LANDLOCK].number = 5;
	assert_false(look(&host, "landlock", false).starts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_everything_works_every_layer_is_enforced),
		cmocka_unit_test(each_required_step_that_fails_is_a_refusal),
		cmocka_unit_test(without_a_cgroup_namespace_it_starts_with_less),
		cmocka_unit_test(root_needs_no_user_namespace),
		cmocka_unit_test(landlock_counts_by_its_version),
		cmocka_unit_test(a_hidden_proc_is_less_for_gate_and_a_refusal_for_none),
		cmocka_unit_test(what_no_profile_needs_changes_nothing),
		cmocka_unit_test(profile_landlock_needs_no_namespace_and_all_of_landlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
