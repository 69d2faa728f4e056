#include "fence/opts.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fence/clock.h"
#include "fence/opts_priv.h"

/* What every program understands, beside its table. */
static const struct fence_opt common[] = {
	{ 0, "help", NULL, "show this help and exit", .set = NULL },
	{ 0, "version", NULL, "show the version and exit", .set = NULL },
	{ 0, "completions", "SHELL", "print completions for a shell and exit",
	  .choices = "bash|zsh|fish" },
	{ 0, "print-options", NULL, "print the names of all options and exit", .set = NULL },
};
#define COMMON_COUNT (sizeof(common) / sizeof(common[0]))

/* --- parsing --------------------------------------------------------------------- */

static size_t shared_count(const struct fence_cli *cli)
{
	size_t count = 0;

	while (cli->shared != NULL && cli->shared[count].name != NULL)
		count++;
	return count;
}

const struct fence_opt *fence_opts_row(const struct fence_cli *cli, size_t i)
{
	size_t shared = shared_count(cli);

	if (i < cli->count)
		return &cli->opts[i];
	i -= cli->count;
	return i < shared ? &cli->shared[i] : &common[i - shared];
}

size_t fence_opts_count(const struct fence_cli *cli)
{
	return cli->count + shared_count(cli) + COMMON_COUNT;
}

static const struct fence_opt *find_long(const struct fence_cli *cli, const char *name,
					 size_t length)
{
	for (size_t i = 0; i < fence_opts_count(cli); i++) {
		const struct fence_opt *opt = fence_opts_row(cli, i);

		if (strncmp(opt->name, name, length) == 0 && opt->name[length] == '\0')
			return opt;
	}
	return NULL;
}

static const struct fence_opt *find_letter(const struct fence_cli *cli, char letter)
{
	for (size_t i = 0; i < fence_opts_count(cli); i++)
		if (fence_opts_row(cli, i)->letter == letter)
			return fence_opts_row(cli, i);
	return NULL;
}

static int fail_unknown(const struct fence_cli *cli, const char *word, size_t length,
			struct fence_err *err)
{
	const char *names[128];
	const char *nearest;
	char name[FENCE_WORD_MAX + 1] = "";
	size_t count = 0;

	for (; count < fence_opts_count(cli) && count < 128; count++)
		names[count] = fence_opts_row(cli, count)->name;
	if (length > 2 && length - 2 <= FENCE_WORD_MAX)
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

/* -ENOSYS: the row has a function for it, or there is no conf, as with common rows only. */
static int store(const struct fence_opt *opt, const char *value, void *conf)
{
	char *at;
	bool yes = true;

	if (conf == NULL)
		return -ENOSYS;
	at = (char *)conf + opt->offset;
	switch (opt->kind) {
	case FENCE_OPT_SETS_TRUE:
		memcpy(at, &yes, sizeof(yes));
		return 0;
	case FENCE_OPT_KEEPS:
		memcpy(at, &value, sizeof(value));
		return 0;
	case FENCE_OPT_CALLS:
		break;
	}
	return -ENOSYS;
}

static int apply(const struct fence_opt *opt, const char *value, void *conf, struct fence_err *err)
{
	int rc;

	if (opt->choices != NULL && value != NULL && fence_opt_choice(opt->choices, value) < 0) {
		fence_fail_why(err, -EINVAL, "not a choice", "--%s %s", opt->name, value);
		(void)fence_hint(err, "use one of %s", opt->choices);
		return -EINVAL;
	}
	if (store(opt, value, conf) == 0 || opt->set == NULL)
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
	fence_opts_write(cli, opt, value, text);
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
				return fence_fail_why(err, -EINVAL, "needs a value", "-%c %s",
						      *letter, opt->arg);
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

/* --- verbs -------------------------------------------------------------------------- */

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
	const struct fence_cli whole = { .program = set->program, .summary = set->summary };
	int at = 1;
	int rc;

	if (strcmp(argv[1], "--help") == 0)
		return fence_opts_write_set_help(set, text), FENCE_OPTS_TEXT;
	rc = parse_long(&whole, argc, argv, &at, NULL, text, err);
	if (rc == FENCE_OPTS_TEXT && strncmp(argv[1], "--completions", 13) == 0) {
		const char *shell = argv[1][13] == '=' ? argv[1] + 14 : argv[2];

		fence_text_init(text, text->buf, text->size_bytes);
		fence_opts_write_completions(set->program, set->verbs, set->count, shell, text);
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
		return fail_value(
			err, rc, value, "not a duration",
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
