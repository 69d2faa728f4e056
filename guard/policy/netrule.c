#include "guard/policy/netrule.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "fence/clock.h"

#define DIGITS	"0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* --- ports ------------------------------------------------------------------------ */

/* A port at *text, which is moved behind it. */
static bool take_port(const char **text, uint16_t *ret)
{
	size_t digits = strspn(*text, DIGITS);
	unsigned int port = 0;

	if (digits == 0 || digits > 5 || (*text)[0] == '0')
		return false;
	for (size_t i = 0; i < digits; i++)
		port = 10 * port + (unsigned int)((*text)[i] - '0');
	if (port > UINT16_MAX)
		return false;
	*text += digits;
	*ret = (uint16_t)port;
	return true;
}

static const char *parse_ports(const char *text, struct guard_net_rule *rule)
{
	for (;; text++) {
		struct guard_net_ports *ports = &rule->ports[rule->port_count];

		if (rule->port_count == GUARD_NET_RULE_PORTS)
			return "more than 32 ports and ranges";
		if (!take_port(&text, &ports->first))
			return "a port is a number from 1 to 65535";
		ports->last = ports->first;
		if (*text == '-') {
			text++;
			if (!take_port(&text, &ports->last))
				return "a range of ports is n-m";
			if (ports->last < ports->first)
				return "the range of ports ends before it begins";
		}
		rule->port_count++;
		if (*text == '\0')
			return NULL;
		if (*text != ',')
			return "after a port comes a comma or nothing";
	}
}

/* --- nets ------------------------------------------------------------------------- */

static bool has_host_bits(const uint8_t *address, size_t size_bytes, unsigned int prefix)
{
	for (size_t bit = prefix; bit < 8 * size_bytes; bit++)
		if (address[bit / 8] & (0x80 >> (bit % 8)))
			return true;
	return false;
}

/* An IPv4 address that IPv6 carries is the same host, reached the same way. */
static void unmap(struct guard_net_rule *rule)
{
	static const uint8_t mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

	if (rule->kind != GUARD_NET_V6 || rule->prefix < 96 ||
	    memcmp(rule->address, mapped, sizeof(mapped)) != 0)
		return;
	rule->kind = GUARD_NET_V4;
	rule->prefix -= 96;
	memmove(rule->address, rule->address + 12, 4);
	memset(rule->address + 4, 0, 12);
}

/* `text` is "address" or "address/length". */
static const char *parse_net(const char *text, int family, struct guard_net_rule *rule)
{
	size_t size_bytes = family == AF_INET ? 4 : 16;
	char address[64];
	size_t length = strcspn(text, "/");
	int64_t prefix = (int64_t)(8 * size_bytes);

	if (length >= sizeof(address))
		return "not an address";
	memcpy(address, text, length);
	address[length] = '\0';
	if (inet_pton(family, address, rule->address) != 1)
		return family == AF_INET ? "not an IPv4 address" : "not an IPv6 address";
	if (text[length] == '/' && fence_parse_number(text + length + 1, 0, prefix, &prefix) < 0)
		return family == AF_INET ? "the length of a mask is 0 to 32"
					 : "the length of a mask is 0 to 128";
	rule->kind = family == AF_INET ? GUARD_NET_V4 : GUARD_NET_V6;
	rule->prefix = (unsigned int)prefix;
	if (has_host_bits(rule->address, size_bytes, rule->prefix))
		return "bits below the mask are set";
	unmap(rule);
	return NULL;
}

static const char *parse_name(const char *text, struct guard_net_rule *rule)
{
	const char *label = text;

	for (;;) {
		size_t length = strcspn(label, ".");

		if (length == 0 || length > 63 || strspn(label, LETTERS DIGITS "-_") < length ||
		    label[0] == '-' || label[length - 1] == '-')
			return "neither an address nor a host's name";
		if (label[length] == '\0')
			break;
		label += length + 1;
	}
	/* 10.0.0 and 1.2.3.4.5 are mistyped addresses; so is what inet_aton(3) takes. */
	if (strspn(label, DIGITS) == strlen(label) || strncasecmp(label, "0x", 2) == 0)
		return "not an IPv4 address";
	rule->kind = GUARD_NET_NAME;
	memcpy(rule->name, text, strlen(text) + 1);
	return NULL;
}

static const char *parse_host(const char *text, struct guard_net_rule *rule)
{
	if (strcmp(text, "*") == 0) {
		rule->kind = GUARD_NET_ANY;
		return NULL;
	}
	if (text[0] != '\0' && strspn(text, DIGITS "./") == strlen(text))
		return parse_net(text, AF_INET, rule);
	return parse_name(text, rule);
}

const char *guard_net_rule_parse(const char *text, struct guard_net_rule *ret)
{
	struct guard_net_rule rule = { .kind = GUARD_NET_ANY };
	char host[GUARD_NET_NAME_MAX + 1];
	const char *skip = text[0] == '[' ? text + 1 : text;
	size_t length = strcspn(skip, skip == text ? ":" : "]");
	const char *rest = skip + length;
	const char *wrong;

	if (length >= sizeof(host))
		return "longer than a host's name can be";
	memcpy(host, skip, length);
	host[length] = '\0';
	if (skip != text && *rest++ != ']')
		return "the bracket is not closed";
	if (*rest != '\0' && *rest != ':')
		return "after the bracket come a colon and ports, or nothing";
	if (skip == text && strchr(*rest == ':' ? rest + 1 : rest, ':') != NULL)
		return "an IPv6 address stands in brackets";
	wrong = skip != text ? parse_net(host, AF_INET6, &rule) : parse_host(host, &rule);
	if (wrong == NULL && *rest == ':')
		wrong = parse_ports(rest + 1, &rule);
	if (wrong == NULL)
		*ret = rule;
	return wrong;
}

/* --- one host --------------------------------------------------------------------- */

static bool is_whole(const struct guard_net_rule *rule)
{
	return rule->kind == GUARD_NET_NAME || (rule->kind == GUARD_NET_V4 && rule->prefix == 32) ||
	       (rule->kind == GUARD_NET_V6 && rule->prefix == 128);
}

const char *guard_net_target_parse(const char *text, struct guard_net_target *ret)
{
	struct guard_net_rule rule = { .kind = GUARD_NET_ANY };
	const char *colon = strchr(text, ':');
	const char *wrong;

	if (text[0] != '[' && colon != NULL && strchr(colon + 1, ':') != NULL)
		wrong = parse_net(text, AF_INET6, &rule);
	else
		wrong = guard_net_rule_parse(text, &rule);
	if (wrong != NULL)
		return wrong;
	if (!is_whole(&rule))
		return "one address or name is asked about";
	if (rule.port_count > 1 ||
	    (rule.port_count == 1 && rule.ports[0].first != rule.ports[0].last))
		return "one port is asked about";
	*ret = (struct guard_net_target){ .kind = rule.kind, .port = rule.ports[0].first };
	memcpy(ret->address, rule.address, sizeof(ret->address));
	memcpy(ret->name, rule.name, sizeof(ret->name));
	return NULL;
}

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int rest = bits % 8;

	if (memcmp(a, b, bits / 8) != 0)
		return false;
	return rest == 0 || (a[bits / 8] ^ b[bits / 8]) >> (8 - rest) == 0;
}

static bool matches_port(const struct guard_net_rule *rule, uint16_t port, bool all)
{
	if (rule->port_count == 0)
		return true;
	if (port == 0)
		return !all;
	for (size_t i = 0; i < rule->port_count; i++)
		if (rule->ports[i].first <= port && port <= rule->ports[i].last)
			return true;
	return false;
}

bool guard_net_rule_matches(const struct guard_net_rule *rule,
			    const struct guard_net_target *target, bool all)
{
	if (!matches_port(rule, target->port, all))
		return false;
	if (rule->kind == GUARD_NET_ANY)
		return true;
	if (rule->kind != target->kind)
		return false;
	if (rule->kind == GUARD_NET_NAME)
		return strcasecmp(rule->name, target->name) == 0;
	return same_bits(rule->address, target->address, rule->prefix);
}
