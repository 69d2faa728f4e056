/* `seccomp` of a profile: a word, or a mapping with lists of system calls. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fence/err.h"
#include "fence/opts.h"
#include "guard/reader/reader_int.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct lists {
	struct guard_wire *out; /* NULL: checked alone */
	const struct fence_yaml_node *allow, *deny, *error;
	const struct fence_yaml_node **named; /* of both lists */
	size_t named_count;
	int denial; /* the errno of those that are denied */
};

static void write_out(struct guard_wire *out, enum guard_wire_kind kind,
		      const struct fence_yaml_node *node, const char *first, const char *second)
{
	if (out)
		guard_wire_add(out, kind, guard_reader_place(node), first, second, NULL);
}

static void take_base(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	static const char *const filters[] = { "default", "strict" };

	if (fence_yaml_choice(yaml, value, filters, COUNT(filters)) >= 0)
		write_out(((struct lists *)arg)->out, GUARD_WIRE_SECCOMP, value, value->text, NULL);
}

static void take_allow(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	((struct lists *)arg)->allow = value;
}

static void take_deny(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	((struct lists *)arg)->deny = value;
}

static void take_error(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct lists *lists = arg;

	lists->error = value;
	for (int code = 1; code <= GUARD_ERRNO_MAX; code++) {
		const char *name = fence_errno_name(code);

		if (name && strcmp(name, value->text) == 0) {
			lists->denial = code;
			return;
		}
	}
	fence_yaml_fault(yaml, value->line, value->column,
			 "\"%.64s\" is no errno; use a name such as EPERM or ENOSYS", value->text);
}

static const struct fence_yaml_key keys[] = {
	{ "base", FENCE_YAML_SCALAR, false, take_base },
	{ "allow", FENCE_YAML_LIST, false, take_allow },
	{ "deny", FENCE_YAML_LIST, false, take_deny },
	{ "errno", FENCE_YAML_SCALAR, false, take_error },
};

static void refuse_unknown(struct fence_yaml *yaml, const struct fence_yaml_node *item)
{
	const char *nearest = guard_call_nearest(item->text);

	if (guard_call_is_foreign(item->text))
		fence_yaml_fault(yaml, item->line, item->column,
				 "other machines have a system call \"%.64s\", this one has not; "
				 "leave it out",
				 item->text);
	else
		fence_yaml_fault(yaml, item->line, item->column,
				 "no system call \"%.64s\" is known%s%s%s", item->text,
				 nearest ? "; did you mean \"" : "", nearest ? nearest : "",
				 nearest ? "\"" : "");
}

static bool is_named(struct lists *lists, struct fence_yaml *yaml,
		     const struct fence_yaml_node *item)
{
	for (size_t i = 0; i < lists->named_count; i++) {
		if (strcmp(lists->named[i]->text, item->text) != 0)
			continue;
		fence_yaml_fault(yaml, item->line, item->column,
				 "system call \"%.64s\" is named on line %u already", item->text,
				 lists->named[i]->line);
		return true;
	}
	lists->named[lists->named_count++] = item;
	return false;
}

/* Whether the file may say that of the call. */
static bool may(struct fence_yaml *yaml, const struct fence_yaml_node *item, bool allow)
{
	const char *kept = allow ? guard_call_kept(item->text) : NULL;

	if (kept)
		fence_yaml_fault(yaml, item->line, item->column, "\"%.64s\" cannot be allowed: %s",
				 item->text, kept);
	else if (!allow && guard_call_is_ours(item->text))
		fence_yaml_fault(yaml, item->line, item->column,
				 "\"%.64s\" cannot be denied: no command is started and ended "
				 "without it",
				 item->text);
	else
		return true;
	return false;
}

static void take_calls(struct lists *lists, struct fence_yaml *yaml,
		       const struct fence_yaml_node *list, bool allow)
{
	char answer[16];

	(void)snprintf(answer, sizeof(answer), "%d", allow ? 0 : lists->denial);
	for (const struct fence_yaml_node *item = list ? list->first : NULL; item;
	     item = item->next) {
		if (!guard_reader_text(yaml, item, "a system call"))
			continue;
		if (guard_call_number(item->text) < 0)
			refuse_unknown(yaml, item);
		else if (!is_named(lists, yaml, item) && may(yaml, item, allow))
			write_out(lists->out, GUARD_WIRE_CALL, item, item->text, answer);
	}
}

void guard_reader_seccomp(struct guard_reader *reader, struct guard_wire *out,
			  const struct fence_yaml_node *value)
{
	struct fence_yaml *yaml = reader->yaml;
	struct lists lists = { .out = out, .denial = EPERM };
	size_t room = 0;

	if (value->kind == FENCE_YAML_SCALAR) {
		take_base(&lists, yaml, value);
		return;
	}
	if (value->kind != FENCE_YAML_MAPPING) {
		fence_yaml_fault(yaml, value->line, value->column,
				 "\"seccomp\" must be default, strict or a mapping, not %s",
				 fence_yaml_kind_name(value->kind));
		return;
	}
	for (const struct fence_yaml_node *at = value->first; at; at = at->next)
		room += at->kind == FENCE_YAML_LIST ? at->count : 0;
	lists.named = fence_yaml_alloc(yaml, (room + 1) * sizeof(const struct fence_yaml_node *));
	if (!lists.named) {
		fence_yaml_fault(yaml, value->line, value->column, "out of memory");
		return;
	}
	fence_yaml_take(yaml, value, "seccomp", keys, COUNT(keys), &lists);
	take_calls(&lists, yaml, lists.allow, true);
	take_calls(&lists, yaml, lists.deny, false);
	if (lists.error && !lists.deny)
		fence_yaml_fault(yaml, lists.error->line, lists.error->column,
				 "\"errno\" is what \"deny\" answers, and there is none");
}
