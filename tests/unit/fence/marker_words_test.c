/* The words and names that markers are made of. */
#include "tests/unit/fence/marker_fixture.h"

static void only_these_states_follow_each_other(void **state)
{
	static const char *const allowed[] = { "aa", "at", "ac", "tt", "td", "tc", "cc" };
	static const char letters[] = "atdc"; /* active, terminating, terminated, cancelled */
	int count = 0;

	(void)state;
	for (int from = 0; from < 4; from++) {
		for (int to = 0; to < 4; to++) {
			const char pair[] = { letters[from], letters[to], '\0' };
			bool wanted = false;

			for (size_t i = 0; i < N(allowed); i++)
				wanted |= strcmp(pair, allowed[i]) == 0;
			assert_int_equal(fence_marker_may_become((enum fence_marker_status)from,
								 (enum fence_marker_status)to),
					 wanted);
			count += wanted;
		}
	}
	assert_int_equal(count, N(allowed));
}

static void attempt_ids_are_plain_and_short(void **state)
{
	char longest[130];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[128] = '\0';
	assert_true(fence_marker_is_attempt_id("aZ09._-"));
	assert_true(fence_marker_is_attempt_id(longest));
	longest[128] = 'x';
	longest[129] = '\0';
	assert_false(fence_marker_is_attempt_id(longest));
	assert_false(fence_marker_is_attempt_id(""));
	assert_false(fence_marker_is_attempt_id("a/b"));
	assert_false(fence_marker_is_attempt_id("\xc3\xa9"));
}

static void an_approved_marker_is_named_whole_or_not_at_all(void **state)
{
#define FOUR "\"markerDev\":\"1\",\"markerIno\":\"2\",\"parentDev\":\"3\",\"parentIno\":\"4\""
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"7",
		"{" FOUR "}",
		"{\"supervisorPid\":5}",
		"{\"supervisorPid\":\"5\"," FOUR "}",
		"{\"supervisorPid\":5," FOUR ",\"x\":1}",
		"{\"supervisorPid\":5," FOUR ",\"status\":\"active\"}",
		"{\"supervisorPid\":5," FOUR ",\"seq\":0}",
		"{\"supervisorPid\":5," FOUR "} x",
		"{\"supervisorPid\":5," FOUR ",\"markerDev\":\"1\"}",
		"{\"supervisorPid\":5," FOUR ",\"nonce\":\"\"}",
		"{\"supervisorPid\":5,\"markerDev\":1,\"markerIno\":\"2\",\"parentDev\":\"3\"}",
	};
	struct fence_marker_approved approved;
	struct fence_err err;

	(void)state;
	for (size_t i = 0; i < N(bad); i++)
		if (fence_marker_approved_parse(bad[i], &approved, &err) != -EINVAL)
			fail_msg("not refused: %s", bad[i]);
	assert_int_equal(fence_marker_approved_parse("{\"supervisorPid\":5," FOUR "}", &approved,
						     &err),
			 0);
	assert_int_equal(approved.supervisor_pid, 5);
	assert_int_equal(approved.place.parent_ino, 4);
	assert_int_equal(approved.seq, 0);
	assert_string_equal(approved.nonce, "");
	assert_int_equal(fence_marker_approved_parse("{\"supervisorPid\":5," FOUR ",\"seq\":6}",
						     &approved, &err),
			 0);
	assert_int_equal(approved.seq, 6);
}

static void every_writer_has_its_word(void **state)
{
	(void)state;
	assert_string_equal(fence_marker_by_word(FENCE_MARKER_BY_EXECUTOR), "executor");
	assert_string_equal(fence_marker_by_word(FENCE_MARKER_BY_REPAIR), "repair");
	assert_string_equal(fence_marker_format_word(FENCE_MARKER_COCKPIT_V1),
			    "cockpit-executor/v1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_these_states_follow_each_other),
		cmocka_unit_test(attempt_ids_are_plain_and_short),
		cmocka_unit_test(an_approved_marker_is_named_whole_or_not_at_all),
		cmocka_unit_test(every_writer_has_its_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
