#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "guard/policy/netrule.h"

static void every_form_of_a_rule_is_read(void **state)
{
	static const struct {
		const char *text;
		enum guard_net_kind kind;
		unsigned int prefix;
		size_t ports;
	} rows[] = {
		{ "*", GUARD_NET_ANY, 0, 0 },
		{ "*:443", GUARD_NET_ANY, 0, 1 },
		{ "10.0.0.5", GUARD_NET_V4, 32, 0 },
		{ "10.0.0.5:443", GUARD_NET_V4, 32, 1 },
		{ "10.0.0.0/8:1-1023,8080", GUARD_NET_V4, 8, 2 },
		{ "0.0.0.0/0", GUARD_NET_V4, 0, 0 },
		{ "[::1]", GUARD_NET_V6, 128, 0 },
		{ "[2001:db8::/32]:443", GUARD_NET_V6, 32, 1 },
		{ "[::ffff:10.0.0.5]:80", GUARD_NET_V4, 32, 1 },
		{ "[::ffff:10.0.0.0/104]", GUARD_NET_V4, 8, 0 },
		{ "[::/0]", GUARD_NET_V6, 0, 0 },
		{ "deb.debian.org:80,443", GUARD_NET_NAME, 0, 2 },
		{ "localhost", GUARD_NET_NAME, 0, 0 },
		{ "1and1.com", GUARD_NET_NAME, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct guard_net_rule rule;

		assert_null(guard_net_rule_parse(rows[i].text, &rule));
		assert_int_equal(rule.kind, rows[i].kind);
		assert_int_equal(rule.prefix, rows[i].prefix);
		assert_int_equal(rule.port_count, rows[i].ports);
	}
}

static void what_is_no_rule_is_refused_with_the_reason(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "neither an address nor a host's name" },
		{ "10.0.0.5/8", "bits below the mask are set" },
		{ "[2001:db8::1/32]", "bits below the mask are set" },
		{ "[::ffff:10.0.0.5/104]", "bits below the mask are set" },
		{ "10.0.0.0/33", "the length of a mask is 0 to 32" },
		{ "10.0.0.0/", "the length of a mask is 0 to 32" },
		{ "[::/129]", "the length of a mask is 0 to 128" },
		{ "10.0.0", "not an IPv4 address" },
		{ "010.0.0.1", "not an IPv4 address" },
		{ "10.0.0.256", "not an IPv4 address" },
		{ "1.2.3.4.5", "not an IPv4 address" },
		{ "0x7f.1", "not an IPv4 address" },
		{ "0x7f", "not an IPv4 address" },
		{ "::1", "an IPv6 address stands in brackets" },
		{ "2001:db8::/32", "an IPv6 address stands in brackets" },
		{ "[::1", "the bracket is not closed" },
		{ "[10.0.0.1]", "not an IPv6 address" },
		{ "[::1]443", "after the bracket come a colon and ports, or nothing" },
		{ "10.0.0.1:", "a port is a number from 1 to 65535" },
		{ "10.0.0.1:0", "a port is a number from 1 to 65535" },
		{ "10.0.0.1:65536", "a port is a number from 1 to 65535" },
		{ "10.0.0.1:080", "a port is a number from 1 to 65535" },
		{ "10.0.0.1:1,", "a port is a number from 1 to 65535" },
		{ "10.0.0.1:9-1", "the range of ports ends before it begins" },
		{ "10.0.0.1:1-", "a range of ports is n-m" },
		{ "10.0.0.1:1;2", "after a port comes a comma or nothing" },
		{ "*.example.org", "neither an address nor a host's name" },
		{ "a..b", "neither an address nor a host's name" },
		{ "example.org.", "neither an address nor a host's name" },
		{ "-a.org", "neither an address nor a host's name" },
		{ "a b", "neither an address nor a host's name" },
		{ "http://a.org", "a port is a number from 1 to 65535" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct guard_net_rule rule;
		const char *why = guard_net_rule_parse(rows[i].text, &rule);

		if (why == NULL)
			fail_msg("%s is taken", rows[i].text);
		assert_string_equal(why, rows[i].why);
	}
}

static void a_rule_matches_what_it_names_and_nothing_else(void **state)
{
	static const struct {
		const char *rule, *target;
		bool allows, denies;
	} rows[] = {
		{ "*", "1.2.3.4:5", true, true },
		{ "*:443", "example.org:443", true, true },
		{ "*:443", "example.org:80", false, false },
		{ "10.0.0.0/8", "10.255.0.1", true, true },
		{ "10.0.0.0/8", "11.0.0.1", false, false },
		{ "10.128.0.0/9", "10.127.0.1", false, false },
		{ "127.0.0.0/8", "[::ffff:127.0.0.1]:80", true, true },
		{ "127.0.0.0/8", "::ffff:127.0.0.1", true, true },
		{ "[::/0]", "1.2.3.4", false, false },
		{ "[2001:db8::/33]", "2001:db8:7fff::1", true, true },
		{ "[2001:db8::/33]", "2001:db8:8000::1", false, false },
		{ "Example.org:443", "eXample.ORG:443", true, true },
		{ "example.org", "www.example.org", false, false },
		{ "10.0.0.5:80-90", "10.0.0.5:85", true, true },
		{ "10.0.0.5:80-90", "10.0.0.5:91", false, false },
		/* Without a port: is every one allowed, is one denied? */
		{ "10.0.0.5:80", "10.0.0.5", false, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct guard_net_rule rule;
		struct guard_net_target target;

		assert_null(guard_net_rule_parse(rows[i].rule, &rule));
		assert_null(guard_net_target_parse(rows[i].target, &target));
		assert_int_equal(guard_net_rule_matches(&rule, &target, true), rows[i].allows);
		assert_int_equal(guard_net_rule_matches(&rule, &target, false), rows[i].denies);
	}
}

static void a_net_is_no_host(void **state)
{
	static const char *const texts[] = { "*", "10.0.0.0/8", "[::/0]", "10.0.0.1:1-2",
					     "10.0.0.1:1,2" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct guard_net_target target;

		assert_non_null(guard_net_target_parse(texts[i], &target));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_a_rule_is_read),
		cmocka_unit_test(what_is_no_rule_is_refused_with_the_reason),
		cmocka_unit_test(a_rule_matches_what_it_names_and_nothing_else),
		cmocka_unit_test(a_net_is_no_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
