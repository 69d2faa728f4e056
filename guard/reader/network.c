/* `network` of the whole file: lists of connections. */
#include "fence/clock.h"
#include "guard/policy/netrule.h"
#include "guard/reader/reader_int.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool fits(struct fence_yaml *yaml, const struct fence_yaml_node *list)
{
	if (list->count <= GUARD_READER_NET)
		return true;
	fence_yaml_fault(yaml, list->line, list->column, "\"%s\" has more than %d entries",
			 list->key, GUARD_READER_NET);
	return false;
}

static void take_rule(struct guard_reader *reader, const struct fence_yaml_node *item,
		      const char *list)
{
	const char *text = guard_reader_text(reader->yaml, item, "a rule");
	struct guard_net_rule rule;
	const char *wrong = text ? guard_net_rule_parse(text, &rule) : NULL;

	if (wrong)
		fence_yaml_fault(reader->yaml, item->line, item->column, "\"%.64s\" is no net: %s",
				 text, wrong);
	else if (text)
		guard_wire_add(&reader->body, GUARD_WIRE_NET_RULE, guard_reader_place(item), list,
			       text, NULL);
}

static void take_list(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	if (!fits(yaml, value))
		return;
	for (const struct fence_yaml_node *item = value->first; item; item = item->next)
		take_rule(arg, item, value->key);
}

static void take_exposed(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct guard_reader *reader = arg;

	if (!fits(yaml, value))
		return;
	for (const struct fence_yaml_node *item = value->first; item; item = item->next) {
		const char *text = guard_reader_text(yaml, item, "a port");
		int64_t port;

		if (text && fence_parse_number(text, 1, 65535, &port) < 0)
			fence_yaml_fault(yaml, item->line, item->column,
					 "\"%.64s\" is no port; use a number from 1 to 65535",
					 text);
		else if (text)
			guard_wire_add(&reader->body, GUARD_WIRE_NET_RULE, guard_reader_place(item),
				       "expose", text, NULL);
	}
}

static const struct fence_yaml_key network_keys[] = {
	{ "allow", FENCE_YAML_LIST, false, take_list },
	{ "deny", FENCE_YAML_LIST, false, take_list },
	{ "exposeDebugPorts", FENCE_YAML_LIST, false, take_exposed },
};

void guard_reader_network(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	fence_yaml_take(yaml, value, "network", network_keys, COUNT(network_keys), arg);
}
