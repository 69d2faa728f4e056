/* Network rules: `net[:ports]`.
 *
 *   net    IPv4, IPv4/length, [IPv6], [IPv6/length], * or a host's name
 *   ports  a number, a range n-m, several of them with commas; none: every port
 *
 * Bits below the mask must be zero: 10.0.0.5/8 is an error, for it is no net. An IPv4
 * address in IPv6's clothes (::ffff:a.b.c.d) is the IPv4 one. A name is compared as
 * it is written, without case; it is not looked up. */
#ifndef GUARD_POLICY_NETRULE_H
#define GUARD_POLICY_NETRULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUARD_NET_NAME_MAX   253
#define GUARD_NET_RULE_PORTS 32

enum guard_net_kind {
	GUARD_NET_ANY,
	GUARD_NET_V4,
	GUARD_NET_V6,
	GUARD_NET_NAME,
};

struct guard_net_ports {
	uint16_t first, last;
};

struct guard_net_rule {
	enum guard_net_kind kind;
	uint8_t address[16]; /* V4: the first four */
	unsigned int prefix; /* its bits that count */
	char name[GUARD_NET_NAME_MAX + 1];
	struct guard_net_ports ports[GUARD_NET_RULE_PORTS];
	size_t port_count; /* 0: every port */
};

/* NULL when `text` is a rule; else what is wrong, in words. */
const char *guard_net_rule_parse(const char *text, struct guard_net_rule *ret);

/* What is asked about: one address or name, and one port (0: any). */
struct guard_net_target {
	enum guard_net_kind kind; /* not ANY */
	uint8_t address[16];
	char name[GUARD_NET_NAME_MAX + 1];
	uint16_t port;
};

/* "host", "host:port", "[IPv6]:port" or a bare IPv6 address. NULL or the words. */
const char *guard_net_target_parse(const char *text, struct guard_net_target *ret);

/* Every port that is asked about must be the rule's when it allows (`all`); when it
 * denies, one is enough. */
bool guard_net_rule_matches(const struct guard_net_rule *rule,
			    const struct guard_net_target *target, bool all);

#endif
