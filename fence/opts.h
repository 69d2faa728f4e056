/* Options: one row of a table is the option everywhere. The same row feeds the
 * parser, --help, the completions of bash, zsh and fish, and the manual's list
 * (`--print-options`, which tests/docs compares with the manual).
 *
 * Forms: `--name VALUE`, `--name=VALUE`, `-x VALUE`, `-xVALUE`; options without
 * an argument may be bundled (`-qv`). Abbreviations of names are not accepted.
 * The first word that is no option, or `--`, ends our options; the rest is the
 * next program's. */
#ifndef FENCE_OPTS_H
#define FENCE_OPTS_H

#include <stdbool.h>
#include <stddef.h>

#include "fence/err.h"
#include "fence/text.h"

/* What a row does without a function of its own. */
enum fence_opt_kind {
	FENCE_OPT_CALLS, /* `set` */
	FENCE_OPT_SETS_TRUE,
	FENCE_OPT_KEEPS, /* the value itself, which is argv's */
};

struct fence_opt {
	char letter;	  /* 0: none */
	const char *name; /* long name, without the dashes */
	const char *arg;  /* the argument's name in help (`DURATION`), or NULL */
	const char *help; /* one sentence, lower case, no full stop */
	/* For FENCE_OPT_CALLS: stores the value in the program's struct conf. -EINVAL and
	 * friends with words in `err`. `value` is NULL for an option without argument. */
	int (*set)(void *conf, const char *value, struct fence_err *err);
	const char *choices; /* "kill|wait|leave": checked by the parser, offered by completions */
	enum fence_opt_kind kind;
	size_t offset; /* of what is set, in the program's struct conf */
};

/* Where a member is; the compiler refuses one that is not of the `wanted` type. */
#define FENCE_OPT_AT(type, member, wanted)                                                         \
	_Generic(((type *)NULL)->member, wanted : offsetof(type, member))

/* The end of a row that stands for a `bool` or a `const char *` of `type`. */
#define FENCE_OPT_TRUE(type, member)                                                               \
	.kind = FENCE_OPT_SETS_TRUE, .offset = FENCE_OPT_AT(type, member, bool)
#define FENCE_OPT_KEEP(type, member)                                                               \
	.kind = FENCE_OPT_KEEPS, .offset = FENCE_OPT_AT(type, member, const char *)

/* A program, or one verb of a program. */
struct fence_cli {
	const char *program;  /* "fence-guard" */
	const char *verb;     /* "exec", or NULL */
	const char *summary;  /* one line: what it does */
	const char *operands; /* "-- COMMAND [ARG...]" or NULL */
	const struct fence_opt *opts;
	size_t count;
	const char *notes; /* printed after the options in --help: examples, exit status */
	/* A second table, after the first, which ends with a row without a name: what
	 * programs share. What its rows fill must be what each program's conf begins with. */
	const struct fence_opt *shared;
};

/* The verbs of one program, for help and completions; `verbs` has `count` rows. */
struct fence_cli_set {
	const char *program;
	const char *summary;
	const struct fence_cli *const *verbs;
	size_t count;
	const char *notes;
};

enum fence_opts_answer {
	FENCE_OPTS_PARSED, /* go on: argv[*ret_rest] is the first operand */
	FENCE_OPTS_TEXT, /* --help, --version, --completions, --print-options: print the text, exit
			    0 */
};

/* Parses argv[1..]. `--help`, `--version`, `--completions SHELL` and
 * `--print-options` are understood for every program and not part of a table.
 * Returns an enum fence_opts_answer, or -EINVAL with words: an unknown option
 * names the nearest known one. */
int fence_opts_parse(const struct fence_cli *cli, int argc, char *const *argv, void *conf,
		     int *ret_rest, struct fence_text *text, struct fence_err *err);

/* For a program with verbs: finds the verb in argv[1], so that the caller
 * parses (argc - 1, argv + 1) with it. Answers as above: PARSED with *ret_verb,
 * TEXT for the program's own --help, --version and --completions. */
int fence_opts_verb(const struct fence_cli_set *set, int argc, char *const *argv,
		    const struct fence_cli **ret_verb, struct fence_text *text,
		    struct fence_err *err);

/* The nearest of `count` words, or NULL when none is near enough to be meant. Words
 * longer than FENCE_WORD_MAX are near to nothing. */
#define FENCE_WORD_MAX 40
const char *fence_nearest(const char *word, const char *const *words, size_t count);

/* What set functions share: parse into a field, with words on failure. */
int fence_opt_duration(const char *value, long long *ret_ms, struct fence_err *err);
int fence_opt_size(const char *value, unsigned long long *ret_bytes, struct fence_err *err);
int fence_opt_number(const char *value, long long min, long long max, long long *ret,
		     struct fence_err *err);

/* The number of `value` in "a|b|c" (0-based), or -1. */
int fence_opt_choice(const char *choices, const char *value);

#endif
