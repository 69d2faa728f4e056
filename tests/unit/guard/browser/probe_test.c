#include "guard/browser/probe.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct probe_surroundings bare = { .seccomp_mode = 0,
						.unprivileged_userns_clone = -1,
						.apparmor_restricts_userns = -1 };

static void the_step_and_its_errno_decide_the_reason(void **state)
{
	static const struct {
		enum probe_step step;
		int code;
		enum reason reason;
	} cases[] = {
		{ PROBE_BECOME, -EPERM, REASON_RUNNING_AS_ROOT },
		{ PROBE_BECOME, -EINVAL, REASON_USERNS_UNMAPPED_ID },
		{ PROBE_USERNS, -ENOSPC, REASON_USERNS_LIMIT },
		{ PROBE_USERNS, -EUSERS, REASON_USERNS_LIMIT },
		{ PROBE_NESTED, -ENOSPC, REASON_USERNS_LIMIT },
		{ PROBE_USERNS, -EPERM, REASON_USERNS_UNMAPPED_ID },
		{ PROBE_USERNS, -EACCES, REASON_USERNS_DENIED_APPARMOR },
		{ PROBE_USERNS, -ENOSYS, REASON_NO_USABLE_SANDBOX },
		{ PROBE_USERNS, -EIO, REASON_NO_USABLE_SANDBOX },
		{ PROBE_UID_MAP, -EROFS, REASON_PROC_UNAVAILABLE },
		{ PROBE_SETGROUPS, -ENOENT, REASON_PROC_UNAVAILABLE },
		{ PROBE_GID_MAP, -EPERM, REASON_USERNS_UNMAPPED_ID },
		{ PROBE_NAMESPACES, -EPERM, REASON_PID_OR_NET_NS_DENIED },
		{ PROBE_NAMESPACES, -ENOSPC, REASON_PID_OR_NET_NS_DENIED },
		{ PROBE_CHROOT, -EPERM, REASON_CHROOT_DENIED },
		{ PROBE_CHROOT, -ENOENT, REASON_PROC_UNAVAILABLE },
		{ PROBE_SECCOMP, -EINVAL, REASON_SECCOMP_BPF_MISSING },
		{ PROBE_EXECUTABLE, -EACCES, REASON_EXECUTABLE_DENIED },
		{ PROBE_INSTALL, -EACCES, REASON_INSTALL_UNREADABLE },
		{ PROBE_PROFILE, -EACCES, REASON_PROFILE_NOT_WRITABLE },
		{ PROBE_PROFILE, -ENOTDIR, REASON_PROFILE_INVALID },
		{ PROBE_ROOT, -EACCES, REASON_TMP_NOT_WRITABLE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(probe_classify(cases[i].step, cases[i].code, &bare),
				 cases[i].reason);
}

static void what_is_around_us_tells_causes_of_one_errno_apart(void **state)
{
	struct probe_surroundings at;

	(void)state;
	at = bare, at.seccomp_mode = 2;
	assert_int_equal(probe_classify(PROBE_USERNS, -EPERM, &at), REASON_USERNS_DENIED_SECCOMP);
	assert_int_equal(probe_classify(PROBE_USERNS, -ENOSYS, &at), REASON_USERNS_DENIED_SECCOMP);
	at.is_chrooted = true;
	assert_int_equal(probe_classify(PROBE_USERNS, -EPERM, &at), REASON_USERNS_DENIED_CHROOT);
	at.unprivileged_userns_clone = 0;
	assert_int_equal(probe_classify(PROBE_USERNS, -EPERM, &at), REASON_USERNS_DENIED_SYSCTL);
	at = bare, at.unprivileged_userns_clone = 1;
	assert_int_equal(probe_classify(PROBE_USERNS, -EPERM, &at), REASON_USERNS_UNMAPPED_ID);
	at = bare, at.apparmor_restricts_userns = 1;
	assert_int_equal(probe_classify(PROBE_USERNS, -EPERM, &at), REASON_USERNS_DENIED_APPARMOR);
	assert_int_equal(probe_classify(PROBE_UID_MAP, -EPERM, &at), REASON_USERNS_DENIED_APPARMOR);
}

static void every_reason_has_a_word_and_a_refusal_a_remedy(void **state)
{
	(void)state;
	for (enum reason it = REASON_OK; it < REASON_COUNT; it++) {
		assert_non_null(reason_word(it, REASON_VOCABULARY_FULL));
		assert_non_null(reason_remedy(it));
		if (it > REASON_WEAKENED && it != REASON_UNKNOWN)
			assert_true(reason_remedy(it)[0] != '\0');
		for (enum reason other = REASON_OK; other < it; other++)
			assert_string_not_equal(reason_word(it, REASON_VOCABULARY_FULL),
						reason_word(other, REASON_VOCABULARY_FULL));
	}
}

static void the_vocabulary_of_two_keeps_the_states(void **state)
{
	(void)state;
	assert_string_equal(reason_word(REASON_OK, REASON_VOCABULARY_TWO), "ok");
	assert_string_equal(reason_word(REASON_USERNS_LIMIT, REASON_VOCABULARY_TWO),
			    "sandbox_unavailable");
	assert_string_equal(reason_word(REASON_EXECUTABLE_MISSING, REASON_VOCABULARY_TWO),
			    "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_step_and_its_errno_decide_the_reason),
		cmocka_unit_test(what_is_around_us_tells_causes_of_one_errno_apart),
		cmocka_unit_test(every_reason_has_a_word_and_a_refusal_a_remedy),
		cmocka_unit_test(the_vocabulary_of_two_keeps_the_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
