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
