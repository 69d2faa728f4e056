#include "guard/policy/ports.h"

#include <string.h>

/* A number at *text, which is moved behind it. */
static bool take_port(const char **text, uint16_t *ret)
{
	size_t digits = strspn(*text, "0123456789");
	unsigned int port = 0;

	if (digits == 0 || digits > 5 || (digits > 1 && (*text)[0] == '0'))
		return false;
	for (size_t i = 0; i < digits; i++)
		port = 10 * port + (unsigned int)((*text)[i] - '0');
	if (port > UINT16_MAX)
		return false;
	*text += digits;
	*ret = (uint16_t)port;
	return true;
}

static const char *take_range(const char **text, struct guard_port_range *ret)
{
	if (!take_port(text, &ret->first))
		return "a port is a number from 1 to 65535";
	ret->last = ret->first;
	if (**text == '-') {
		++*text;
		if (!take_port(text, &ret->last))
			return "a range of ports is n-m";
	}
	if (ret->last < ret->first)
		return "the range of ports ends before it begins";
	if (**text != '\0' && **text != ',')
		return "after a port comes a comma or nothing";
	return NULL;
}

static size_t count_ports(const struct guard_port_list *list)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += (size_t)(list->ranges[i].last - list->ranges[i].first) + 1;
	return count;
}

static const char *take_item(const char **text, struct guard_ports *ports)
{
	bool bind = strncmp(*text, "bind:", 5) == 0;
	struct guard_port_list *list = bind ? &ports->bind : &ports->connect;
	struct guard_port_range range = { 0, 0 };
	const char *wrong;

	*text += bind ? 5 : 0;
	wrong = take_range(text, &range);
	if (wrong != NULL)
		return wrong;
	/* For connecting there is no such port; for bind(2) it is a choice of the kernel's. */
	if (range.first == 0 && (!bind || range.last != 0))
		return "a port is a number from 1 to 65535";
	if (list->count == GUARD_PORT_RANGES)
		return "more than 64 ports and ranges";
	list->ranges[list->count++] = range;
	if (count_ports(&ports->connect) + count_ports(&ports->bind) > GUARD_PORTS_MAX)
		return "more than 4096 ports";
	return NULL;
}

const char *guard_ports_parse(const char *spec, struct guard_ports *ports)
{
	for (;; spec++) {
		const char *wrong = take_item(&spec, ports);

		if (wrong != NULL || *spec == '\0')
			return wrong;
	}
}

bool guard_ports_have(const struct guard_port_list *list, uint16_t port)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->ranges[i].first <= port && port <= list->ranges[i].last)
			return true;
	return false;
}
