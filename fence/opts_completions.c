/* Completions for bash, zsh and fish, from the option tables. tests/docs/completions.t asks
 * the shells themselves what they offer. */
#include <string.h>

#include "fence/opts_priv.h"

static bool runs_a_command(const struct fence_cli *cli)
{
	return cli->operands != NULL && strstr(cli->operands, "COMMAND") != NULL;
}

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

/* After `--` comes the next program with words of its own, which bash-completion knows how
 * to complete; without it, names of commands and of files. */
static void add_bash_command(struct fence_text *text)
{
	fence_text_add(text, "\tlocal at\n\tfor ((at = 1; at < COMP_CWORD; at++)); do\n"
			     "\t[ \"${COMP_WORDS[at]}\" = -- ] || continue\n"
			     "\tif declare -F _command_offset >/dev/null; then "
			     "_command_offset $((at + 1))\n"
			     "\telse COMPREPLY=($(compgen -c -f -- \"$cur\")); fi\n"
			     "\treturn\n\tdone\n");
}

static void add_bash(struct fence_text *text, const struct fence_cli *cli)
{
	if (runs_a_command(cli))
		add_bash_command(text);
	fence_text_add(text, "\tcase \"$prev\" in\n");
	add_bash_values(text, cli);
	fence_text_add(text, "\tesac\n\tcase \"$cur\" in\n\t-*) COMPREPLY=($(compgen -W '");
	for (size_t i = 0; i < fence_opts_count(cli); i++)
		fence_text_add(text, "%s--%s", i ? " " : "", fence_opts_row(cli, i)->name);
	fence_text_add(
		text, "' -- \"$cur\"));;\n\t*) COMPREPLY=($(compgen%s -f -- \"$cur\"));;\n\tesac\n",
		runs_a_command(cli) ? " -c" : "");
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

/* What is after `--` is the next program's, as if it stood alone: _arguments loses the
 * command when `--` is the first word of all. */
static void add_zsh_command(struct fence_text *text)
{
	fence_text_add(text, "integer at=${words[(ie)--]}\n"
			     "if (( at < CURRENT )); then\n"
			     "\twords=(\"${(@)words[at+1,-1]}\")\n"
			     "\t(( CURRENT -= at ))\n"
			     "\t_normal\n\treturn\nfi\n");
}

static void add_zsh_name(struct fence_text *text, const struct fence_opt *opt)
{
	if (opt->letter != 0)
		fence_text_add(text, " \\\n\t'(-%c --%s)'{-%c,--%s}'[", opt->letter, opt->name,
			       opt->letter, opt->name);
	else
		fence_text_add(text, " \\\n\t'--%s[", opt->name);
}

static void add_zsh(struct fence_text *text, const struct fence_cli *cli)
{
	if (runs_a_command(cli))
		add_zsh_command(text);
	fence_text_add(text, "_arguments -S");
	for (size_t i = 0; i < fence_opts_count(cli); i++) {
		const struct fence_opt *opt = fence_opts_row(cli, i);

		add_zsh_name(text, opt);
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
	fence_text_add(text, " \\\n\t'%s'\n", runs_a_command(cli) ? "*:: :_normal" : "*: :_files");
}

static void add_fish_quoted(struct fence_text *text, const char *words)
{
	for (; *words != '\0'; words++) {
		if (*words == '\'' || *words == '\\')
			fence_text_add(text, "\\");
		fence_text_add_bytes(text, words, 1);
	}
}

static void add_fish_start(struct fence_text *text, const struct fence_cli *cli)
{
	fence_text_add(text, "complete -c %s", cli->program);
	if (cli->verb != NULL)
		fence_text_add(text, " -n '__fish_seen_subcommand_from %s'", cli->verb);
}

/* The function is fish's own; it is told whose value is not the command. Its own options
 * begin with two dashes and a letter, and a single dash ends them. */
static void add_fish_command(struct fence_text *text, const struct fence_cli *cli)
{
	add_fish_start(text, cli);
	fence_text_add(text, " -x -a '(__fish_complete_subcommand --fcs-skip=%d -",
		       cli->verb != NULL ? 2 : 1);
	for (size_t i = 0; i < fence_opts_count(cli); i++) {
		const struct fence_opt *opt = fence_opts_row(cli, i);

		if (opt->arg == NULL)
			continue;
		fence_text_add(text, " --%s", opt->name);
		if (opt->letter != 0)
			fence_text_add(text, " -%c", opt->letter);
	}
	fence_text_add(text, ")'\n");
}

static void add_fish(struct fence_text *text, const struct fence_cli *cli)
{
	for (size_t i = 0; i < fence_opts_count(cli); i++) {
		const struct fence_opt *opt = fence_opts_row(cli, i);

		add_fish_start(text, cli);
		fence_text_add(text, " -l %s", opt->name);
		if (opt->letter != 0)
			fence_text_add(text, " -s %c", opt->letter);
		if (opt->choices != NULL) {
			fence_text_add(text, " -x -a '");
			add_choices(text, opt->choices);
			fence_text_add(text, "'");
		} else if (opt->arg != NULL) {
			fence_text_add(text, " -r");
		}
		fence_text_add(text, " -d '");
		add_fish_quoted(text, opt->help);
		fence_text_add(text, "'\n");
	}
	if (runs_a_command(cli))
		add_fish_command(text, cli);
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
			fence_text_add(text,
				       "complete -c %s -n __fish_use_subcommand -f -a %s -d '",
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
