/* What a YAML tree has against what a format wants. */
#include <string.h>
#include <strings.h>

#include "fence/conf/yaml.h"
#include "fence/opts.h"
#include "fence/text.h"

/* --- a mapping against its table ---------------------------------------------- */

const char *fence_yaml_kind_name(enum fence_yaml_kind kind)
{
	static const char *const names[] = {
		[FENCE_YAML_SCALAR] = "a scalar",
		[FENCE_YAML_LIST] = "a list",
		[FENCE_YAML_MAPPING] = "a mapping",
		[FENCE_YAML_ANY] = "a value",
	};

	return names[kind];
}

/* Nothing at all after a key or a dash is an empty scalar to YAML; people call it
 * empty. */
static const char *what_it_is(const struct fence_yaml_node *node)
{
	return node->plain && !node->text[0] ? "empty" : fence_yaml_kind_name(node->kind);
}

#define NEAREST_KEYS 64

static void refuse_unknown(struct fence_yaml *yaml, const struct fence_yaml_node *value,
			   const struct fence_yaml_key *keys, size_t count)
{
	const char *names[NEAREST_KEYS];
	const char *nearest;
	size_t known = 0;

	for (size_t i = 0; i < count && known < NEAREST_KEYS; i++)
		if (keys[i].take)
			names[known++] = keys[i].name;
	nearest = fence_nearest(value->key, names, known);
	if (nearest)
		fence_yaml_fault(yaml, value->key_line, value->key_column,
				 "unknown key \"%.64s\"; did you mean \"%s\"", value->key, nearest);
	else
		fence_yaml_fault(yaml, value->key_line, value->key_column, "unknown key \"%.64s\"",
				 value->key);
}

static void take_entry(struct fence_yaml *yaml, const struct fence_yaml_node *value,
		       const struct fence_yaml_key *keys, size_t count, void *arg)
{
	const struct fence_yaml_key *row = NULL;

	for (size_t i = 0; i < count && !row; i++)
		if (strcmp(keys[i].name, value->key) == 0)
			row = &keys[i];
	if (!row) {
		refuse_unknown(yaml, value, keys, count);
		return;
	}
	if (!row->take) {
		fence_yaml_fault(yaml, value->key_line, value->key_column,
				 "unknown key \"%s\"; this version cannot do that yet", row->name);
		return;
	}
	if (row->kind != FENCE_YAML_ANY && row->kind != value->kind) {
		fence_yaml_fault(yaml, value->line, value->column, "\"%s\" must be %s, not %s",
				 row->name, fence_yaml_kind_name(row->kind), what_it_is(value));
		return;
	}
	row->take(arg, yaml, value);
}

static bool has_key(const struct fence_yaml_node *node, const char *name)
{
	for (const struct fence_yaml_node *at = node->first; at; at = at->next)
		if (strcmp(at->key, name) == 0)
			return true;
	return false;
}

void fence_yaml_take(struct fence_yaml *yaml, const struct fence_yaml_node *node, const char *what,
		     const struct fence_yaml_key *keys, size_t count, void *arg)
{
	if (node->kind != FENCE_YAML_MAPPING) {
		fence_yaml_fault(yaml, node->line, node->column, "%s must be a mapping, not %s",
				 what, what_it_is(node));
		return;
	}
	for (const struct fence_yaml_node *at = node->first; at; at = at->next)
		take_entry(yaml, at, keys, count, arg);
	for (size_t i = 0; i < count; i++)
		if (keys[i].required && !has_key(node, keys[i].name))
			fence_yaml_fault(yaml, node->line, node->column, "%s needs the key \"%s\"",
					 what, keys[i].name);
}

/* --- one of some words ---------------------------------------------------------------- */

int fence_yaml_choice(struct fence_yaml *yaml, const struct fence_yaml_node *value,
		      const char *const *words, size_t count)
{
	char all[128];
	struct fence_text text;
	const char *nearest;

	fence_text_init(&text, all, sizeof(all));
	for (size_t i = 0; i < count; i++) {
		if (strcmp(words[i], value->text) == 0)
			return (int)i;
		fence_text_add(&text, "%s%s", i > 0 ? ", " : "", words[i]);
	}
	nearest = fence_nearest(value->text, words, count);
	if (nearest)
		fence_yaml_fault(yaml, value->line, value->column,
				 "\"%s\" cannot be \"%.64s\"; did you mean \"%s\"", value->key,
				 value->text, nearest);
	else
		fence_yaml_fault(yaml, value->line, value->column,
				 "\"%s\" cannot be \"%.64s\"; use one of %s", value->key,
				 value->text, all);
	return -1;
}

/* --- scalars that other readers would change ------------------------------------ */

static bool is_typed_word(const char *text)
{
	static const char *const words[] = { "y",    "n",     "yes",  "no", "on",   "off",
					     "true", "false", "null", "~",  ".nan", ".inf" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(text, words[i]) == 0)
			return true;
	return false;
}

/* A number whose usual spelling is another one: 010, 3.10, 1e3, 1_000, 0x1f, 12:30. */
static bool is_number_respelt(const char *text)
{
	const char *at = text + (text[0] == '-' || text[0] == '+' ? 1 : 0);
	size_t digits = strspn(at, "0123456789");
	size_t length = strlen(at);
	const char *rest = at + digits;

	if (digits == 0)
		return false;
	if (*rest == '\0')
		return digits > 1 && at[0] == '0';
	if (strspn(at, "0123456789_") == length || strspn(at, "0123456789:") == length)
		return true;
	if (at[0] == '0' && digits == 1 && strchr("xXob", *rest))
		return true;
	if (strspn(at, "0123456789.") == length && *rest == '.' && !strchr(rest + 1, '.'))
		return at[length - 1] == '0' || at[length - 1] == '.' ||
		       (digits > 1 && at[0] == '0');
	return strspn(at, "0123456789.eE+-") == length && strpbrk(at, "eE") != NULL;
}

bool fence_yaml_is_ambiguous(const struct fence_yaml_node *node)
{
	return node->kind == FENCE_YAML_SCALAR && node->plain &&
	       (is_typed_word(node->text) || is_number_respelt(node->text));
}
