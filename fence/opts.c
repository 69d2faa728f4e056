#include "fence/opts.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fence/clock.h"

/* What every program understands, beside its table. */
static const struct fence_opt common[] = {
	{ 0, "help", NULL, "show this help and exit", NULL, NULL },
	{ 0, "version", NULL, "show the version and exit", NULL, NULL },
	{ 0, "completions", "SHELL", "print completions for a shell and exit", NULL,
	  "bash|zsh|fish" },
	{ 0, "print-options", NULL, "print the names of all options and exit", NULL, NULL },
};
#define COMMON_COUNT (sizeof(common) / sizeof(common[0]))

/* --- nearest word -------------------------------------------------------------- */

#define WORD_MAX 40

/* Edit distance (Levenshtein 1965), row by row; words are short. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[WORD_MAX + 1];
	size_t length = strlen(b);

	if (length > WORD_MAX || strlen(a) > WORD_MAX)
		return UINT32_MAX;
	for (size_t k = 0; k <= length; k++)
		row[k] = (unsigned int)k;
	for (size_t i = 0; a[i] != '\0'; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i + 1;
		for (size_t k = 0; k < length; k++) {
			unsigned int best = diagonal + (a[i] != b[k]);

			diagonal = row[k + 1];
			if (row[k] + 1 < best)
				best = row[k] + 1;
			if (diagonal + 1 < best)
				best = diagonal + 1;
			row[k + 1] = best;
		}
	}
	return row[length];
}

const char *fence_nearest(const char *word, const char *const *words, size_t count)
{
	const char *best = NULL;
	unsigned int best_distance = (unsigned int)strlen(word) / 3 + 2;

	for (size_t i = 0; i < count; i++) {
		unsigned int d = distance(word, words[i]);

		if (d < best_distance) {
			best_distance = d;
			best = words[i];
		}
	}
	return best;
}

/* --- parsing --------------------------------------------------------------------- */

static const struct fence_opt *row_at(const struct fence_cli *cli, size_t i)
{
	return i < cli->count ? &cli->opts[i] : &common[i - cli->count];
}

static size_t row_count(const struct fence_cli *cli)
{
	return cli->count + COMMON_COUNT;
}

static const struct fence_opt *find_long(const struct fence_cli *cli, const char *name, size_t length)
{
	for (size_t i = 0; i < row_count(cli); i++) {
		const struct fence_opt *opt = row_at(cli, i);

		if (strncmp(opt->name, name, length) == 0 && opt->name[length] == '\0')
			return opt;
	}
	return NULL;
}

static const struct fence_opt *find_letter(const struct fence_cli *cli, char letter)
{
	for (size_t i = 0; i < cli->count; i++)
		if (cli->opts[i].letter == letter)
			return &cli->opts[i];
	return NULL;
}

static int fail_unknown(const struct fence_cli *cli, const char *word, size_t length,
			struct fence_err *err)
{
	const char *names[128];
	const char *nearest;
	char name[WORD_MAX + 1] = "";
	size_t count = 0;

	for (; count < row_count(cli) && count < 128; count++)
		names[count] = row_at(cli, count)->name;
	if (length > 2 && length - 2 <= WORD_MAX)
		memcpy(name, word + 2, length - 2);
	fence_fail_why(err, -EINVAL, "unknown option", "%.*s", (int)length, word);
	nearest = name[0] == '\0' ? NULL : fence_nearest(name, names, count);
	if (nearest != NULL)
		return fence_hint(err, "did you mean --%s?", nearest), -EINVAL;
	(void)fence_hint(err, "see %s%s%s --help", cli->program, cli->verb ? " " : "",
			 cli->verb ? cli->verb : "");
	return -EINVAL;
}

/* A set function need not know which option it serves: the name is put before its
 * words, or stands for them when it gave none. */
static void name_option(const struct fence_opt *opt, const char *value, int rc,
			struct fence_err *err)
{
	char words[sizeof(err->what)];

	if (err == NULL)
		return;
	if (err->code == 0) {
		fence_fail(err, rc, "--%s%s%s", opt->name, value ? " " : "", value ? value : "");
	} else if (strncmp(err->what, "--", 2) != 0) {
		memcpy(words, err->what, sizeof(words));
		(void)snprintf(err->what, sizeof(err->what), "--%s ", opt->name);
		(void)strncat(err->what, words, sizeof(err->what) - strlen(err->what) - 1);
	}
}

static int apply(const struct fence_opt *opt, const char *value, void *conf, struct fence_err *err)
{
	int rc;

	if (opt->choices != NULL && fence_opt_choice(opt->choices, value) < 0) {
		fence_fail_why(err, -EINVAL, "not a choice", "--%s %s", opt->name, value);
		(void)fence_hint(err, "use one of %s", opt->choices);
		return -EINVAL;
	}
	if (opt->set == NULL)
		return 0;
	rc = opt->set(conf, value, err);
	if (rc >= 0)
		return 0;
	name_option(opt, value, rc, err);
	return rc;
}

static bool is_text_option(const struct fence_opt *opt)
{
	return opt >= common && opt < common + COMMON_COUNT;
}

static void write_text(const struct fence_cli *cli, const struct fence_opt *opt, const char *value,
		       struct fence_text *text);

/* One word that begins with "--": moves *at past its value. */
static int parse_long(const struct fence_cli *cli, int argc, char *const *argv, int *at, void *conf,
		      struct fence_text *text, struct fence_err *err)
{
	const char *word = argv[*at];
	size_t length = strcspn(word, "=");
	const struct fence_opt *opt = find_long(cli, word + 2, length - 2);
	const char *value = word[length] == '=' ? word + length + 1 : NULL;
	int rc;

	if (opt == NULL)
		return fail_unknown(cli, word, length, err);
	if (opt->arg == NULL && value != NULL)
		return fence_fail_why(err, -EINVAL, "takes no value", "--%s", opt->name);
	if (opt->arg != NULL && value == NULL) {
		if (*at + 1 >= argc)
			return fence_fail_why(err, -EINVAL, "needs a value", "--%s %s", opt->name,
					      opt->arg);
		value = argv[++*at];
	}
	(*at)++;
	rc = apply(opt, value, conf, err);
	if (rc < 0)
		return rc;
	if (!is_text_option(opt))
		return FENCE_OPTS_PARSED;
	write_text(cli, opt, value, text);
	return FENCE_OPTS_TEXT;
}

/* One word of letters: the last one may take a value. */
static int parse_letters(const struct fence_cli *cli, int argc, char *const *argv, int *at,
			 void *conf, struct fence_err *err)
{
	const char *letter = argv[*at] + 1;
	int rc;

	(*at)++;
	for (; *letter != '\0'; letter++) {
		const struct fence_opt *opt = find_letter(cli, *letter);
		const char *value = NULL;

		if (opt == NULL)
			return fail_unknown(cli, (char[]){ '-', *letter, '\0' }, 2, err);
		if (opt->arg != NULL) {
			value = letter[1] != '\0' ? letter + 1 : *at < argc ? argv[(*at)++] : NULL;
			if (value == NULL)
				return fence_fail_why(err, -EINVAL, "needs a value", "-%c %s", *letter,
						      opt->arg);
		}
		rc = apply(opt, value, conf, err);
		if (rc < 0)
			return rc;
		if (opt->arg != NULL)
			break;
	}
	return 0;
}

int fence_opts_parse(const struct fence_cli *cli, int argc, char *const *argv, void *conf,
		     int *ret_rest, struct fence_text *text, struct fence_err *err)
{
	int at = 1;

	if (err != NULL)
		*err = (struct fence_err){ 0 };
	while (at < argc && argv[at][0] == '-' && argv[at][1] != '\0') {
		int rc;

		if (strcmp(argv[at], "--") == 0) {
			at++;
			break;
		}
		rc = argv[at][1] == '-' ? parse_long(cli, argc, argv, &at, conf, text, err)
					: parse_letters(cli, argc, argv, &at, conf, err);
		if (rc != 0)
			return rc;
	}
	*ret_rest = at;
	return FENCE_OPTS_PARSED;
}

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
	for (size_t i = 0; i < row_count(cli); i++)
		add_help_row(text, row_at(cli, i));
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
	for (size_t i = 0; i < row_count(cli); i++) {
		const struct fence_opt *opt = row_at(cli, i);

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
	for (size_t i = 0; i < row_count(cli); i++)
		fence_text_add(text, "%s--%s", i ? " " : "", row_at(cli, i)->name);
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
	for (size_t i = 0; i < row_count(cli); i++) {
		const struct fence_opt *opt = row_at(cli, i);

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
	for (size_t i = 0; i < row_count(cli); i++) {
		const struct fence_opt *opt = row_at(cli, i);

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
		fence_text_add(text, "' -- \"$cur\")); return\n\tfi\n\tcase \"${COMP_WORDS[1]}\" in\n");
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

static void write_completions(const char *program, const struct fence_cli *const *verbs,
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
	for (size_t i = 0; i < row_count(cli); i++)
		fence_text_add(text, "--%s\n", row_at(cli, i)->name);
}

static void write_version(const char *program, struct fence_text *text)
{
	fence_text_add(text, "%s %s\n", program, FENCE_VERSION);
}

static void write_text(const struct fence_cli *cli, const struct fence_opt *opt, const char *value,
		       struct fence_text *text)
{
	if (strcmp(opt->name, "help") == 0)
		write_help(cli, text);
	else if (strcmp(opt->name, "version") == 0)
		write_version(cli->program, text);
	else if (strcmp(opt->name, "completions") == 0)
		write_completions(cli->program, &cli, 1, value, text);
	else
		write_names(cli, text);
}

/* --- verbs -------------------------------------------------------------------------- */

static void write_set_help(const struct fence_cli_set *set, struct fence_text *text)
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

static int fail_verb(const struct fence_cli_set *set, const char *word, struct fence_err *err)
{
	const char *names[16];
	const char *nearest;
	size_t count = 0;

	for (; count < set->count && count < 16; count++)
		names[count] = set->verbs[count]->verb;
	fence_fail_why(err, -EINVAL, "unknown verb", "%s", word);
	nearest = fence_nearest(word, names, count);
	if (nearest != NULL)
		(void)fence_hint(err, "did you mean %s?", nearest);
	else
		(void)fence_hint(err, "see %s --help", set->program);
	return -EINVAL;
}

/* --help, --version and --completions without a verb. */
static int answer_for_set(const struct fence_cli_set *set, int argc, char *const *argv,
			  struct fence_text *text, struct fence_err *err)
{
	const struct fence_cli whole = { .program = set->program };
	int at = 1;
	int rc;

	if (strcmp(argv[1], "--help") == 0)
		return write_set_help(set, text), FENCE_OPTS_TEXT;
	rc = parse_long(&whole, argc, argv, &at, NULL, text, err);
	if (rc == FENCE_OPTS_TEXT && strncmp(argv[1], "--completions", 13) == 0) {
		const char *shell = argv[1][13] == '=' ? argv[1] + 14 : argv[2];

		fence_text_init(text, text->buf, text->size_bytes);
		write_completions(set->program, set->verbs, set->count, shell, text);
	}
	return rc;
}

int fence_opts_verb(const struct fence_cli_set *set, int argc, char *const *argv,
		    const struct fence_cli **ret_verb, struct fence_text *text,
		    struct fence_err *err)
{
	if (err != NULL)
		*err = (struct fence_err){ 0 };
	if (argc < 2) {
		fence_fail_why(err, -EINVAL, "no verb given", "usage");
		(void)fence_hint(err, "see %s --help", set->program);
		return -EINVAL;
	}
	if (strncmp(argv[1], "--", 2) == 0 && argv[1][2] != '\0')
		return answer_for_set(set, argc, argv, text, err);
	for (size_t i = 0; i < set->count; i++) {
		if (strcmp(argv[1], set->verbs[i]->verb) == 0) {
			*ret_verb = set->verbs[i];
			return FENCE_OPTS_PARSED;
		}
	}
	return fail_verb(set, argv[1], err);
}

/* --- values --------------------------------------------------------------------------- */

static int fail_value(struct fence_err *err, int rc, const char *value, const char *kind,
		      const char *hint)
{
	fence_fail_why(err, rc, rc == -ERANGE ? "out of range" : kind, "\"%s\"", value);
	(void)fence_hint(err, "%s", hint);
	return rc;
}

int fence_opt_duration(const char *value, long long *ret_ms, struct fence_err *err)
{
	int64_t ms;
	int rc = fence_parse_duration(value, &ms);

	if (rc < 0)
		return fail_value(err, rc, value, "not a duration",
				  "write a number and a unit, like 250ms, 5s or 10m; at most 1000d");
	*ret_ms = ms;
	return 0;
}

int fence_opt_size(const char *value, unsigned long long *ret_bytes, struct fence_err *err)
{
	uint64_t bytes;
	int rc = fence_parse_size(value, &bytes);

	if (rc < 0)
		return fail_value(err, rc, value, "not a size",
				  "write a whole number and a unit, like 64KiB or 4GiB");
	*ret_bytes = bytes;
	return 0;
}

int fence_opt_number(const char *value, long long min, long long max, long long *ret,
		     struct fence_err *err)
{
	int64_t number;
	int rc = fence_parse_number(value, min, max, &number);

	if (rc < 0) {
		fail_value(err, rc, value, "not a number", "");
		(void)fence_hint(err, "write a whole number from %lld to %lld", min, max);
		return rc;
	}
	*ret = number;
	return 0;
}

int fence_opt_choice(const char *choices, const char *value)
{
	size_t length = strlen(value);

	for (int i = 0; length > 0; i++) {
		size_t span = strcspn(choices, "|");

		if (span == length && memcmp(choices, value, length) == 0)
			return i;
		if (choices[span] == '\0')
			return -1;
		choices += span + 1;
	}
	return -1;
}
