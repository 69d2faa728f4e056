/* `commands` and `opaque`: advice about commands. The examples of a rule are run when
 * the file is read: a rule that does not do what its writer thinks does not load. */
#include <stdio.h>
#include <string.h>

#include "guard/policy/words.h"
#include "guard/reader/reader_int.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct command {
	struct guard_reader *reader;
	const char *words[GUARD_WORDS_MAX];
	size_t count;
	const char *verdict, *reason;
	const struct fence_yaml_node *match, *not_match;
};

static void take_argv(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct command *command = arg;

	if (value->count == 0)
		fence_yaml_fault(yaml, value->line, value->column, "\"argv\" is empty");
	if (value->count > GUARD_WORDS_MAX) {
		fence_yaml_fault(yaml, value->line, value->column,
				 "\"argv\" has more than %d words", GUARD_WORDS_MAX);
		return;
	}
	for (const struct fence_yaml_node *item = value->first; item; item = item->next) {
		const char *word = guard_reader_text(yaml, item, "a word of \"argv\"");

		if (word)
			command->words[command->count++] = word;
	}
}

static void take_verdict(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	static const char *const verdicts[] = { "allow", "deny", "ask", "opaque" };

	if (fence_yaml_choice(yaml, value, verdicts, COUNT(verdicts)) >= 0)
		((struct command *)arg)->verdict = value->text;
}

static void take_reason(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	((struct command *)arg)->reason = guard_reader_text(yaml, value, "a reason");
}

static void take_match(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	((struct command *)arg)->match = value;
}

static void take_not_match(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	((struct command *)arg)->not_match = value;
}

static const struct fence_yaml_key command_keys[] = {
	{ "argv", FENCE_YAML_LIST, true, take_argv },
	{ "verdict", FENCE_YAML_SCALAR, true, take_verdict },
	{ "reason", FENCE_YAML_SCALAR, false, take_reason },
	{ "match", FENCE_YAML_LIST, false, take_match },
	{ "notMatch", FENCE_YAML_LIST, false, take_not_match },
};

static void try_example(const struct command *command, const struct fence_yaml_node *item,
			bool wanted)
{
	struct fence_yaml *yaml = command->reader->yaml;
	const char *text = guard_reader_text(yaml, item, "an example");
	const char *words[GUARD_WORDS_MAX];
	size_t count = 0;
	const char *wrong;
	char *buf;

	if (!text)
		return;
	buf = fence_yaml_alloc(yaml, strlen(text) + 1);
	if (!buf) {
		fence_yaml_fault(yaml, item->line, item->column, "out of memory");
		return;
	}
	wrong = guard_words_split(text, buf, words, &count);
	if (wrong)
		fence_yaml_fault(yaml, item->line, item->column,
				 "example \"%.64s\" is no simple command: %s", text, wrong);
	else if (guard_words_match(command->words, command->count, words, count) != wanted)
		fence_yaml_fault(yaml, item->line, item->column,
				 wanted ? "example \"%.64s\" is not matched by this rule"
					: "example \"%.64s\" is matched by this rule, and must not",
				 text);
}

static void try_examples(const struct command *command, const struct fence_yaml_node *list,
			 bool wanted)
{
	for (const struct fence_yaml_node *item = list ? list->first : NULL; item;
	     item = item->next)
		try_example(command, item, wanted);
}

static void take_command(struct guard_reader *reader, const struct fence_yaml_node *node)
{
	struct command command = { .reader = reader };
	size_t faults = reader->yaml->error_total;

	fence_yaml_take(reader->yaml, node, "a command", command_keys, COUNT(command_keys),
			&command);
	/* Half a rule would only fail every example once more. */
	if (reader->yaml->error_total != faults)
		return;
	try_examples(&command, command.match, true);
	try_examples(&command, command.not_match, false);
	guard_wire_add(&reader->body, GUARD_WIRE_COMMAND, guard_reader_place(node), command.verdict,
		       command.reason, NULL);
	for (size_t i = 0; i < command.count; i++)
		guard_wire_add(&reader->body, GUARD_WIRE_WORD, guard_reader_place(node),
			       command.words[i], NULL, NULL);
}

void guard_reader_commands(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	if (value->count > GUARD_READER_COMMANDS) {
		fence_yaml_fault(yaml, value->line, value->column, "more than %d commands",
				 GUARD_READER_COMMANDS);
		return;
	}
	for (const struct fence_yaml_node *at = value->first; at; at = at->next)
		take_command(arg, at);
}

/* --- what cannot be told ---------------------------------------------------------- */

static void take_opaque(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	static const char *const verdicts[] = { "allow", "deny", "ask" };
	struct guard_reader *reader = arg;

	if (fence_yaml_choice(yaml, value, verdicts, COUNT(verdicts)) >= 0)
		guard_wire_add(&reader->body, GUARD_WIRE_OPAQUE, guard_reader_place(value),
			       value->key, value->text, NULL);
}

static const struct fence_yaml_key opaque_keys[] = {
	{ "sandboxed", FENCE_YAML_SCALAR, false, take_opaque },
	{ "unsandboxed", FENCE_YAML_SCALAR, false, take_opaque },
	{ "headless", FENCE_YAML_SCALAR, false, take_opaque },
};

void guard_reader_opaque(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	fence_yaml_take(yaml, value, "opaque", opaque_keys, COUNT(opaque_keys), arg);
}
