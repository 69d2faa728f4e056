#include "fence/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

static void durations_are_rounded_up_to_a_millisecond(void **state)
{
	static const struct {
		const char *text;
		int rc;
		int64_t ms;
	} cases[] = {
		{ "0", 0, 0 },
		{ "0s", 0, 0 },
		{ "0.000ms", 0, 0 },
		{ "0e9999999999d", 0, 0 },
		{ "5", 0, 5000 },
		{ "250ms", 0, 250 },
		{ "5s", 0, 5000 },
		{ "10m", 0, 600000 },
		{ "2h", 0, 7200000 },
		{ "1000d", 0, INT64_C(86400000000) },
		{ "1.5", 0, 1500 },
		{ ".5s", 0, 500 },
		{ "1.s", 0, 1000 },
		{ "1e3", 0, 1000000 },
		{ "2.5e-3s", 0, 3 },
		{ "1E+1ms", 0, 10 },
		{ "1ns", 0, 1 },
		{ "1us", 0, 1 },
		{ "999us", 0, 1 },
		{ "1001us", 0, 2 },
		{ "1e-30s", 0, 1 },
		{ "1e-999999999999s", 0, 1 },
		{ "0.0000000000000000000000000001ns", 0, 1 },
		{ "1.00000000000000000000000000000d", 0, 86400000 },
		{ "1.00000000000000000d", 0, 86400000 },
		{ "1.000000000000000001d", 0, 86400001 },
		{ "000000000000000000000000005s", 0, 5000 },
		{ "86400000000000000000000ns", -ERANGE, 0 },
		{ "86400000000000000ns", 0, INT64_C(86400000000) },
		{ "86400000000000001ns", -ERANGE, 0 },
		{ "1000.00001d", -ERANGE, 0 },
		{ "1001d", -ERANGE, 0 },
		{ "99999999999999999999999999", -ERANGE, 0 },
		{ "1e400", -ERANGE, 0 },
		{ "-1s", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ ".", -EINVAL, 0 },
		{ ".s", -EINVAL, 0 },
		{ " 1s", -EINVAL, 0 },
		{ "1s ", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ "+1s", -EINVAL, 0 },
		{ "1S", -EINVAL, 0 },
		{ "1min", -EINVAL, 0 },
		{ "1m30s", -EINVAL, 0 },
		{ "1.2.3", -EINVAL, 0 },
		{ "1e", -EINVAL, 0 },
		{ "1e+s", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1,5s", -EINVAL, 0 },
		{ "inf", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		int64_t ms = 0;
		int rc = fence_parse_duration(cases[i].text, &ms);

		if (rc != cases[i].rc || ms != cases[i].ms)
			fail_msg("%s: %d, %" PRId64 "; wanted %d, %" PRId64, cases[i].text, rc, ms,
				 cases[i].rc, cases[i].ms);
	}
}

static void sizes_are_whole_and_have_exact_units(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t bytes;
	} cases[] = {
		{ "0", 0, 0 },
		{ "1024", 0, 1024 },
		{ "7B", 0, 7 },
		{ "64KiB", 0, 65536 },
		{ "3MiB", 0, 3145728 },
		{ "4GiB", 0, UINT64_C(4294967296) },
		{ "2kB", 0, 2000 },
		{ "2MB", 0, 2000000 },
		{ "2GB", 0, 2000000000 },
		{ "9223372036854775807", 0, INT64_MAX },
		{ "9223372036854775808", -ERANGE, 0 },
		{ "8589934591GiB", 0, UINT64_C(9223372035781033984) },
		{ "8589934592GiB", -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "-1", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "KiB", -EINVAL, 0 },
		{ "1.5MiB", -EINVAL, 0 },
		{ "1K", -EINVAL, 0 },
		{ "1KB", -EINVAL, 0 },
		{ "1kib", -EINVAL, 0 },
		{ "1 KiB", -EINVAL, 0 },
		{ "1KiB ", -EINVAL, 0 },
		{ "0x1", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		uint64_t bytes = 0;
		int rc = fence_parse_size(cases[i].text, &bytes);

		if (rc != cases[i].rc || bytes != cases[i].bytes)
			fail_msg("%s: %d, %" PRIu64, cases[i].text, rc, bytes);
	}
}

static void numbers_have_nothing_before_or_after(void **state)
{
	static const struct {
		const char *text;
		int rc;
		int64_t number;
	} cases[] = {
		{ "0", 0, 0 },
		{ "-0", 0, 0 },
		{ "007", 0, 7 },
		{ "-10", 0, -10 },
		{ "100", 0, 100 },
		{ "101", -ERANGE, 0 },
		{ "-11", -ERANGE, 0 },
		{ "9223372036854775808", -ERANGE, 0 },
		{ "99999999999999999999999", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "-", -EINVAL, 0 },
		{ "--1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "1\n", -EINVAL, 0 },
		{ "1.0", -EINVAL, 0 },
		{ "0x1", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		int64_t number = 0;
		int rc = fence_parse_number(cases[i].text, -10, 100, &number);

		if (rc != cases[i].rc || number != cases[i].number)
			fail_msg("%s: %d, %" PRId64, cases[i].text, rc, number);
	}
}

static void a_deadline_lies_ahead_and_no_limit_is_never(void **state)
{
	int64_t before = fence_now_ms(), deadline = fence_deadline_ms(5000);

	(void)state;
	assert_true(deadline >= before + 5000 && deadline <= fence_now_ms() + 5000);
	assert_true(fence_deadline_ms(0) == FENCE_NEVER);
	assert_true(fence_now_us() / 1000 >= before);
}

static void a_stamp_is_utc_with_milliseconds(void **state)
{
	char stamp[25];
	unsigned int year, month, day, hour, minute, second, ms;
	int used = 0;

	(void)state;
	fence_wall_stamp(stamp);
	assert_int_equal(strlen(stamp), 24);
	assert_int_equal(sscanf(stamp, "%4u-%2u-%2uT%2u:%2u:%2u.%3uZ%n", &year, &month, &day, &hour,
				&minute, &second, &ms, &used),
			 7);
	assert_int_equal(used, 24);
	assert_true(year >= 2024 && month >= 1 && month <= 12 && day >= 1 && day <= 31);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_rounded_up_to_a_millisecond),
		cmocka_unit_test(sizes_are_whole_and_have_exact_units),
		cmocka_unit_test(numbers_have_nothing_before_or_after),
		cmocka_unit_test(a_deadline_lies_ahead_and_no_limit_is_never),
		cmocka_unit_test(a_stamp_is_utc_with_milliseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
