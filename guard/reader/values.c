/* Small values of a policy file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence/opts.h"
#include "guard/reader/reader_int.h"

struct guard_place guard_reader_place(const struct fence_yaml_node *node)
{
	return (struct guard_place){ .line = node->line, .column = node->column };
}

const char *guard_reader_text(struct fence_yaml *yaml, const struct fence_yaml_node *value,
			      const char *what)
{
	if (value->kind != FENCE_YAML_SCALAR)
		fence_yaml_fault(yaml, value->line, value->column, "%s must be a scalar, not %s",
				 what, fence_yaml_kind_name(value->kind));
	else if (value->text[0] == '\0')
		fence_yaml_fault(yaml, value->line, value->column, "%s is empty", what);
	else
		return value->text;
	return NULL;
}

bool guard_reader_flag(struct fence_yaml *yaml, const struct fence_yaml_node *value, bool *ret)
{
	static const char *const words[] = { "false", "true" };
	int number = fence_yaml_choice(yaml, value, words, 2);

	if (number >= 0)
		*ret = number == 1;
	return number >= 0;
}

const char *guard_reader_path(struct guard_reader *reader, const struct fence_yaml_node *value)
{
	struct fence_yaml *yaml = reader->yaml;
	const char *text = guard_reader_text(yaml, value, "a path");
	size_t size_bytes;
	char *path;

	if (!text || text[0] != '~')
		return text;
	if (text[1] != '\0' && text[1] != '/') {
		fence_yaml_fault(yaml, value->line, value->column,
				 "\"%.64s\" is another user's home folder; write it out, "
				 "or ./~ for a name that begins so",
				 text);
		return NULL;
	}
	if (!reader->home || reader->home[0] != '/') {
		fence_yaml_fault(yaml, value->line, value->column,
				 "~ is not known, for HOME is no absolute path; set it");
		return NULL;
	}
	size_bytes = strlen(reader->home) + strlen(text);
	path = fence_yaml_alloc(yaml, size_bytes);
	if (!path) {
		fence_yaml_fault(yaml, value->line, value->column, "out of memory");
		return NULL;
	}
	(void)snprintf(path, size_bytes, "%s%s", reader->home, text + 1);
	return path;
}

/* --- paths that are named twice --------------------------------------------------- */

static int compare_named(const void *left, const void *right)
{
	const struct guard_named *a = left;
	const struct guard_named *b = right;
	int order = strcmp(a->path, b->path);

	if (order != 0)
		return order;
	if (a->place.line != b->place.line)
		return a->place.line < b->place.line ? -1 : 1;
	return a->place.column < b->place.column ? -1 : a->place.column > b->place.column;
}

void guard_reader_twice(struct fence_yaml *yaml, struct guard_named *named, size_t count)
{
	if (count == 0)
		return;
	qsort(named, count, sizeof(*named), compare_named);
	for (size_t i = 1; i < count; i++)
		if (strcmp(named[i].path, named[i - 1].path) == 0)
			fence_yaml_fault(yaml, named[i].place.line, named[i].place.column,
					 "\"%.64s\" is to be %s here and %s on line %u already",
					 named[i].path, guard_access_word(named[i].access),
					 guard_access_word(named[i - 1].access),
					 named[i - 1].place.line);
}
