/* Any bytes at all: the reader ends, its tree is within its bounds, every node has a
 * place, a mapping has each key once, and a tree comes only without a stop. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fence/conf/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void must(bool claim)
{
	if (!claim)
		abort();
}

static void check_keys(const struct fence_yaml_node *mapping)
{
	for (const struct fence_yaml_node *at = mapping->first; at; at = at->next) {
		must(at->key && at->key_line > 0 && at->key_column > 0);
		for (const struct fence_yaml_node *other = at->next; other; other = other->next)
			must(strcmp(at->key, other->key) != 0);
	}
}

static size_t walk(const struct fence_yaml_node *node, unsigned int depth)
{
	size_t nodes = 1, children = 0;

	must(depth <= FENCE_YAML_MAX_DEPTH && node->line > 0 && node->column > 0 && node->text);
	(void)fence_yaml_is_ambiguous(node);
	if (node->kind == FENCE_YAML_MAPPING)
		check_keys(node);
	for (const struct fence_yaml_node *at = node->first; at; at = at->next, children++)
		nodes += walk(at, depth + 1);
	must(children == node->count);
	must(node->kind != FENCE_YAML_SCALAR || children == 0);
	return nodes;
}

static void check_faults(const struct fence_yaml *yaml)
{
	must(yaml->fault_count <= FENCE_YAML_MAX_FAULTS);
	must(yaml->fault_count <= yaml->error_total + yaml->warning_total);
	for (size_t i = 0; i < yaml->fault_count; i++) {
		char line[1400];

		fence_yaml_fault_line(&yaml->faults[i], "f", line, sizeof(line));
		for (const char *at = line; *at; at++)
			must(*at >= 0x20 && *at < 0x7f);
		must(i == 0 || yaml->faults[i - 1].line <= yaml->faults[i].line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct fence_yaml *yaml = NULL;

	if (fence_yaml_parse((const char *)data, size_bytes, &yaml) < 0)
		return 0;
	check_faults(yaml);
	must(yaml->root || yaml->error_total > 0);
	if (yaml->root)
		must(walk(yaml->root, 0) <= FENCE_YAML_MAX_NODES);
	fence_yaml_free(yaml);
	return 0;
}
