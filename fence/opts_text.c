#include <string.h>

#include "fence/opts_priv.h"

/* --- help --------------------------------------------------------------------------- */

#define HELP_COLUMN 26
#define HELP_WIDTH  79

/* Adds words from column `column` on, wrapped to the width, and a newline. */
static void add_wrapped(struct fence_text *text, const char *words, size_t column)
{
	size_t at = column;

	while (*words != '\0') {
		size_t length = strcspn(words, " ");

		if (at > column && at + 1 + length > HELP_WIDTH) {
			fence_text_add(text, "\n%*s", (int)column, "");
			at = column;
		}
		fence_text_add(text, "%s%.*s", at > column ? " " : "", (int)length, words);
		at += length + (at > column);
		words += length;
		words += strspn(words, " ");
	}
	fence_text_add(text, "\n");
}

static void add_help_row(struct fence_text *text, const struct fence_opt *opt)
{
	size_t start = text->length_bytes;
	size_t width;

	fence_text_add(text, opt->letter ? "  -%c, " : "      ", opt->letter);
	fence_text_add(text, "--%s%s%s", opt->name, opt->arg ? " " : "", opt->arg ? opt->arg : "");
	width = text->length_bytes - start;
	if (width + 2 > HELP_COLUMN) {
		fence_text_add(text, "\n");
		width = 0;
	}
	fence_text_add(text, "%*s", (int)(HELP_COLUMN - width), "");
	add_wrapped(text, opt->help, HELP_COLUMN);
	if (opt->choices != NULL)
		fence_text_add(text, "%*s(%s)\n", HELP_COLUMN, "", opt->choices);
}

static void write_help(const struct fence_cli *cli, struct fence_text *text)
{
	fence_text_add(text, "usage: %s%s%s [options]%s%s\n", cli->program, cli->verb ? " " : "",
		       cli->verb ? cli->verb : "", cli->operands ? " " : "",
		       cli->operands ? cli->operands : "");
	add_wrapped(text, cli->summary, 0);
	fence_text_add(text, "\n");
	for (size_t i = 0; i < fence_opts_count(cli); i++)
		add_help_row(text, fence_opts_row(cli, i));
	if (cli->notes != NULL)
		fence_text_add(text, "\n%s", cli->notes);
}

/* --- completions ----------------------------------------------------------------------- */

/* "fence-guard" and "exec" as one identifier: fence_guard_exec. */
static void add_function_name(struct fence_text *text, const char *program)
{
	for (; *program != '\0'; program++)
		fence_text_add_bytes(text, *program == '-' ? "_" : program, 1);
}

static void add_choices(struct fence_text *text, const char *choices)
{
	for (; *choices != '\0'; choices++)
		fence_text_add_bytes(text, *choices == '|' ? " " : choices, 1);
}

/* What follows `--name`: words of a closed list, or file names. */
static void add_bash_values(struct fence_text *text, const struct fence_cli *cli)
{
	for (size_t i = 0; i < fence_opts_count(cli); i++) {
		const struct fence_opt *opt = fence_opts_row(cli, i);

		if (opt->arg == NULL)
			continue;
		fence_text_add(text, "\t--%s) ", opt->name);
		if (opt->choices != NULL) {
			fence_text_add(text, "COMPREPLY=($(compgen -W '");
			add_choices(text, opt->choices);
			fence_text_add(text, "' -- \"$cur\")); return;;\n");
		} else {
			fence_text_add(text, "COMPREPLY=($(compgen -f -- \"$cur\")); return;;\n");
		}
	}
}

static void add_bash(struct fence_text *text, const struct fence_cli *cli)
{
	fence_text_add(text, "\tcase \"$prev\" in\n");
	add_bash_values(text, cli);
	fence_text_add(text, "\tesac\n\tcase \"$cur\" in\n\t-*) COMPREPLY=($(compgen -W '");
	for (size_t i = 0; i < fence_opts_count(cli); i++)
		fence_text_add(text, "%s--%s", i ? " " : "", fence_opts_row(cli, i)->name);
	fence_text_add(text, "' -- \"$cur\"));;\n\t*) COMPREPLY=($(compgen -c -f -- \"$cur\"));;\n"
			     "\tesac\n");
}

static void add_zsh_quoted(struct fence_text *text, const char *words)
{
	for (; *words != '\0'; words++) {
		if (*words == '\'')
			fence_text_add(text, "'\\''");
		else if (strchr("[]:", *words) != NULL)
			fence_text_add(text, "\\%c", *words);
		else
			fence_text_add_bytes(text, words, 1);
	}
}

static void add_zsh(struct fence_text *text, const struct fence_cli *cli)
{
	fence_text_add(text, "_arguments -S");
	for (size_t i = 0; i < fence_opts_count(cli); i++) {
		const struct fence_opt *opt = fence_opts_row(cli, i);

		fence_text_add(text, " \\\n\t'--%s[", opt->name);
		add_zsh_quoted(text, opt->help);
		fence_text_add(text, "]");
		if (opt->arg != NULL && opt->choices != NULL) {
			fence_text_add(text, ":%s:(", opt->arg);
			add_choices(text, opt->choices);
			fence_text_add(text, ")");
		} else if (opt->arg != NULL) {
			fence_text_add(text, ":%s:_files", opt->arg);
		}
		fence_text_add(text, "'");
	}
	fence_text_add(text, " \\\n\t'*:: :_normal'\n");
}

static void add_fish_quoted(struct fence_text *text, const char *words)
{
	for (; *words != '\0'; words++) {
		if (*words == '\'' || *words == '\\')
			fence_text_add(text, "\\");
		fence_text_add_bytes(text, words, 1);
	}
}

static void add_fish(struct fence_text *text, const struct fence_cli *cli)
{
	for (size_t i = 0; i < fence_opts_count(cli); i++) {
		const struct fence_opt *opt = fence_opts_row(cli, i);

		fence_text_add(text, "complete -c %s", cli->program);
		if (cli->verb != NULL)
			fence_text_add(text, " -n '__fish_seen_subcommand_from %s'", cli->verb);
		fence_text_add(text, " -l %s", opt->name);
		if (opt->letter != 0)
			fence_text_add(text, " -s %c", opt->letter);
		if (opt->arg != NULL)
			fence_text_add(text, " -r");
		if (opt->choices != NULL) {
			fence_text_add(text, " -a '");
			add_choices(text, opt->choices);
			fence_text_add(text, "'");
		}
		fence_text_add(text, " -d '");
		add_fish_quoted(text, opt->help);
		fence_text_add(text, "'\n");
	}
}

static void write_bash_set(const char *program, const struct fence_cli *const *verbs, size_t count,
			   struct fence_text *text)
{
	fence_text_add(text, "# bash completion for %s\n", program);
	add_function_name(text, program);
	fence_text_add(text, "()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} "
			     "prev=${COMP_WORDS[COMP_CWORD-1]}\n");
	if (verbs[0]->verb == NULL) {
		add_bash(text, verbs[0]);
	} else {
		fence_text_add(text, "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
				     "\tCOMPREPLY=($(compgen -W '--help --version");
		for (size_t i = 0; i < count; i++)
			fence_text_add(text, " %s", verbs[i]->verb);
		fence_text_add(text,
			       "' -- \"$cur\")); return\n\tfi\n\tcase \"${COMP_WORDS[1]}\" in\n");
		for (size_t i = 0; i < count; i++) {
			fence_text_add(text, "\t%s)\n", verbs[i]->verb);
			add_bash(text, verbs[i]);
			fence_text_add(text, "\t;;\n");
		}
		fence_text_add(text, "\tesac\n");
	}
	fence_text_add(text, "}\ncomplete -F ");
	add_function_name(text, program);
	fence_text_add(text, " %s\n", program);
}

static void write_zsh_set(const char *program, const struct fence_cli *const *verbs, size_t count,
			  struct fence_text *text)
{
	fence_text_add(text, "#compdef %s\n", program);
	if (verbs[0]->verb == NULL) {
		add_zsh(text, verbs[0]);
		return;
	}
	fence_text_add(text, "if (( CURRENT == 2 )); then\n\t_values verb");
	for (size_t i = 0; i < count; i++) {
		fence_text_add(text, " '%s[", verbs[i]->verb);
		add_zsh_quoted(text, verbs[i]->summary);
		fence_text_add(text, "]'");
	}
	fence_text_add(text, "\n\treturn\nfi\nlocal verb=$words[2]\nshift words\n(( CURRENT-- ))\n"
			     "case $verb in\n");
	for (size_t i = 0; i < count; i++) {
		fence_text_add(text, "%s)\n", verbs[i]->verb);
		add_zsh(text, verbs[i]);
		fence_text_add(text, ";;\n");
	}
	fence_text_add(text, "esac\n");
}

static void write_fish_set(const char *program, const struct fence_cli *const *verbs, size_t count,
			   struct fence_text *text)
{
	fence_text_add(text, "# fish completion for %s\n", program);
	for (size_t i = 0; i < count; i++) {
		if (verbs[i]->verb != NULL) {
			fence_text_add(text, "complete -c %s -n __fish_use_subcommand -a %s -d '",
				       program, verbs[i]->verb);
			add_fish_quoted(text, verbs[i]->summary);
			fence_text_add(text, "'\n");
		}
		add_fish(text, verbs[i]);
	}
}

void fence_opts_write_completions(const char *program, const struct fence_cli *const *verbs,
				  size_t count, const char *shell, struct fence_text *text)
{
	static void (*const writers[])(const char *, const struct fence_cli *const *, size_t,
				       struct fence_text *) = {
		write_bash_set,
		write_zsh_set,
		write_fish_set,
	};

	writers[fence_opt_choice("bash|zsh|fish", shell)](program, verbs, count, text);
}

static void write_names(const struct fence_cli *cli, struct fence_text *text)
{
	for (size_t i = 0; i < fence_opts_count(cli); i++)
		fence_text_add(text, "--%s\n", fence_opts_row(cli, i)->name);
}

static void write_version(const char *program, struct fence_text *text)
{
	fence_text_add(text, "%s %s\n", program, FENCE_VERSION);
}

void fence_opts_write(const struct fence_cli *cli, const struct fence_opt *opt, const char *value,
		      struct fence_text *text)
{
	if (strcmp(opt->name, "help") == 0)
		write_help(cli, text);
	else if (strcmp(opt->name, "version") == 0)
		write_version(cli->program, text);
	else if (strcmp(opt->name, "completions") == 0)
		fence_opts_write_completions(cli->program, &cli, 1, value, text);
	else
		write_names(cli, text);
}

void fence_opts_write_set_help(const struct fence_cli_set *set, struct fence_text *text)
{
	fence_text_add(text, "usage: %s VERB [options] ...\n", set->program);
	add_wrapped(text, set->summary, 0);
	fence_text_add(text, "\n");
	for (size_t i = 0; i < set->count; i++) {
		fence_text_add(text, "  %-14s", set->verbs[i]->verb);
		add_wrapped(text, set->verbs[i]->summary, 16);
	}
	fence_text_add(text, "\n%s VERB --help tells the options of a verb.\n", set->program);
	if (set->notes != NULL)
		fence_text_add(text, "\n%s", set->notes);
}
