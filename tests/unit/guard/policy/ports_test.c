#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "guard/policy/ports.h"

static void numbers_and_ranges_are_for_connecting_or_for_listening(void **state)
{
	struct guard_ports ports = { 0 };

	(void)state;
	assert_null(guard_ports_parse("443,8000-8010,bind:0,bind:9000-9001,65535", &ports));
	assert_int_equal(ports.connect.count, 3);
	assert_int_equal(ports.connect.ranges[0].first, 443);
	assert_int_equal(ports.connect.ranges[0].last, 443);
	assert_int_equal(ports.connect.ranges[1].first, 8000);
	assert_int_equal(ports.connect.ranges[1].last, 8010);
	assert_int_equal(ports.connect.ranges[2].last, 65535);
	assert_int_equal(ports.bind.count, 2);
	assert_int_equal(ports.bind.ranges[0].last, 0);
	assert_int_equal(ports.bind.ranges[1].first, 9000);
}

static void what_is_no_port_is_refused(void **state)
{
	static const char *const wrong[] = {
		"",	   ",",	       "0",	 "65536",	"99999999999", "-1",	  "+1",
		" 1",	   "1 ",       "1-",	 "-",		"2-1",	       "1-65536", "01",
		"1,",	   ",1",       "1,,2",	 "1;2",		"0x10",	       "bind:",	  "bind",
		"bind:-1", "bind:0-1", "Bind:1", "bind:bind:1", "1-2-3",       "1/tcp",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct guard_ports ports = { 0 };

		assert_non_null(guard_ports_parse(wrong[i], &ports));
	}
}

static void there_are_at_most_as_many_as_the_kernel_should_be_told(void **state)
{
	struct guard_ports ports = { 0 };

	(void)state;
	assert_null(guard_ports_parse("1-2048,bind:1-2048", &ports));
	assert_non_null(guard_ports_parse("3000", &ports));
	ports = (struct guard_ports){ 0 };
	assert_non_null(guard_ports_parse("1-4097", &ports));
	ports = (struct guard_ports){ 0 };
	for (int i = 0; i < GUARD_PORT_RANGES; i++)
		assert_null(guard_ports_parse("7", &ports));
	assert_non_null(guard_ports_parse("7", &ports));
	assert_null(guard_ports_parse("bind:7", &ports));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_and_ranges_are_for_connecting_or_for_listening),
		cmocka_unit_test(what_is_no_port_is_refused),
		cmocka_unit_test(there_are_at_most_as_many_as_the_kernel_should_be_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
