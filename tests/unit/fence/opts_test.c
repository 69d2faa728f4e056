#include "fence/opts.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define WORDS	 12

struct conf {
	long long timeout_ms;
	long long count;
	bool quiet;
	int verbose;
	const char *mode;
};

static int set_timeout(void *arg, const char *value, struct fence_err *err)
{
	return fence_opt_duration(value, &((struct conf *)arg)->timeout_ms, err);
}

static int set_count(void *arg, const char *value, struct fence_err *err)
{
	return fence_opt_number(value, 1, 9, &((struct conf *)arg)->count, err);
}

static int set_verbose(void *arg, const char *value, struct fence_err *err)
{
	(void)err;
	assert_null(value);
	((struct conf *)arg)->verbose++;
	return 0;
}

static int set_wordless(void *arg, const char *value, struct fence_err *err)
{
	(void)arg;
	(void)value;
	(void)err;
	return -ERANGE;
}

static const struct fence_opt opts[] = {
	{ 't', "timeout", "DURATION", "end it after so long", .set = set_timeout },
	{ 'n', "count", "N", "how often", .set = set_count },
	{ 'q', "quiet", NULL, "say nothing", FENCE_OPT_TRUE(struct conf, quiet) },
	{ 'v', "verbose", NULL, "say more, it's \"all\" [here]: \\", .set = set_verbose },
	{ 0, "mode", "MODE", "what to do", FENCE_OPT_KEEP(struct conf, mode),
	  .choices = "kill|wait|leave" },
	{ 0, "wordless", "X", "fails without words", .set = set_wordless },
};
static const struct fence_opt shared[] = {
	{ 's', "shared", "N", "of two programs", .set = set_count },
	{ .name = NULL },
};
static const struct fence_cli cli = {
	.program = "fence-test",
	.summary = "tests itself",
	.operands = "-- COMMAND",
	.opts = opts,
	.count = N(opts),
	.notes = "a note\n",
};
static const struct fence_cli run_cli = {
	.program = "fence-test",
	.verb = "run",
	.summary = "runs it",
	.operands = "-- COMMAND",
	.opts = opts,
	.count = N(opts),
};
static const struct fence_cli stop_cli = {
	.program = "fence-test",
	.verb = "stop",
	.summary = "stops it",
	.opts = opts,
	.count = 1,
	.shared = shared,
};
static const struct fence_cli *const verbs[] = { &run_cli, &stop_cli };
static const struct fence_cli_set set = { "fence-test", "has verbs", verbs, N(verbs), NULL };

struct run {
	struct conf conf;
	struct fence_text text;
	struct fence_err err;
	char buf[8192];
	char words[256];
	int rest;
	int rc;
};

/* Words after the program's name, separated by single spaces. */
static int split(const char *words, char *copy, size_t copy_bytes, char **argv)
{
	static char program[] = "fence-test";
	int argc = 0;

	argv[argc++] = program;
	(void)snprintf(copy, copy_bytes, "%s", words);
	while (*copy != '\0' && argc < WORDS - 1) {
		argv[argc++] = copy;
		copy += strcspn(copy, " ");
		if (*copy == ' ')
			*copy++ = '\0';
	}
	argv[argc] = NULL;
	return argc;
}

static void parse(struct run *run, const char *words)
{
	char *argv[WORDS];
	int argc;

	memset(run, 0, sizeof(*run));
	argc = split(words, run->words, sizeof(run->words), argv);
	run->rest = -1;
	fence_text_init(&run->text, run->buf, sizeof(run->buf));
	run->rc = fence_opts_parse(&cli, argc, argv, &run->conf, &run->rest, &run->text, &run->err);
}

static void says(const struct run *run, const char *wanted)
{
	char line[1200];

	assert_int_equal(run->rc < 0, 1);
	fence_err_line(&run->err, "fence-test", line, sizeof(line));
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(line, wanted);
}

static void every_form_of_an_option_is_understood(void **state)
{
	static const char *const forms[] = {
		"--timeout 5s x", "--timeout=5s x",	    "-t 5s x", "-t5s x", "-qt 5s x",
		"-qvt5s x",	  "--timeout 1s -t 5s -- x"
	};
	struct run run;

	(void)state;
	for (size_t i = 0; i < N(forms); i++) {
		parse(&run, forms[i]);
		assert_int_equal(run.rc, FENCE_OPTS_PARSED);
		assert_int_equal(run.conf.timeout_ms, 5000);
		assert_true(run.rest > 0);
	}
}

static void the_rest_belongs_to_the_next_program(void **state)
{
	static const struct {
		const char *words;
		int rest;
	} cases[] = {
		{ "", 1 },	     { "make", 1 },	{ "make -q --timeout 1", 1 },
		{ "-q make -v", 2 }, { "-q -- -v", 3 }, { "--", 2 },
		{ "-- --", 2 },	     { "- -q", 1 },
	};
	struct run run;

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		parse(&run, cases[i].words);
		assert_int_equal(run.rc, FENCE_OPTS_PARSED);
		assert_int_equal(run.rest, cases[i].rest);
		assert_int_equal(run.conf.verbose, 0);
	}
}

static void letters_may_be_bundled(void **state)
{
	struct run run;

	(void)state;
	parse(&run, "-qvq -vn3");
	assert_int_equal(run.rc, FENCE_OPTS_PARSED);
	assert_true(run.conf.quiet);
	assert_int_equal(run.conf.verbose, 2);
	assert_int_equal(run.conf.count, 3);
}

static void a_mistake_is_one_clear_line(void **state)
{
	static const struct {
		const char *words, *line;
	} cases[] = {
		{ "--tiemout 5s",
		  "fence-test: --tiemout: unknown option; did you mean --timeout?" },
		{ "--tiemout=5s",
		  "fence-test: --tiemout: unknown option; did you mean --timeout?" },
		{ "--xyzzyxyzzy",
		  "fence-test: --xyzzyxyzzy: unknown option; see fence-test --help" },
		{ "--time 5s", "fence-test: --time: unknown option; see fence-test --help" },
		{ "-qx", "fence-test: -x: unknown option; see fence-test --help" },
		{ "--quiet=yes", "fence-test: --quiet: takes no value" },
		{ "--timeout", "fence-test: --timeout DURATION: needs a value" },
		{ "-t", "fence-test: -t DURATION: needs a value" },
		{ "--timeout soon",
		  "fence-test: --timeout \"soon\": not a duration; write a number and a unit, like "
		  "250ms, 5s or 10m; at most 1000d" },
		{ "--count 0",
		  "fence-test: --count \"0\": out of range; write a whole number from 1 to 9" },
		{ "--mode end",
		  "fence-test: --mode end: not a choice; use one of kill|wait|leave" },
		{ "--mode=", "fence-test: --mode : not a choice; use one of kill|wait|leave" },
		{ "--wordless 1", "fence-test: --wordless 1: Numerical result out of range" },
	};
	struct run run;

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		parse(&run, cases[i].words);
		says(&run, cases[i].line);
	}
}

static void a_choice_is_a_whole_word(void **state)
{
	(void)state;
	assert_int_equal(fence_opt_choice("kill|wait|leave", "kill"), 0);
	assert_int_equal(fence_opt_choice("kill|wait|leave", "leave"), 2);
	assert_int_equal(fence_opt_choice("kill|wait|leave", "wai"), -1);
	assert_int_equal(fence_opt_choice("kill|wait|leave", "waits"), -1);
	assert_int_equal(fence_opt_choice("kill|wait|leave", "kill|wait"), -1);
	assert_int_equal(fence_opt_choice("kill|wait|leave", ""), -1);
	assert_int_equal(fence_opt_choice("kill", "kill"), 0);
}

static void the_nearest_word_is_near_or_none(void **state)
{
	static const char *const words[] = { "timeout", "grace", "no-reap" };

	(void)state;
	assert_string_equal(fence_nearest("timout", words, 3), "timeout");
	assert_string_equal(fence_nearest("garce", words, 3), "grace");
	assert_string_equal(fence_nearest("noreap", words, 3), "no-reap");
	assert_null(fence_nearest("completely-different", words, 3));
	assert_null(fence_nearest("a-word-that-is-longer-than-any-option-will-ever-be", words, 3));
	assert_null(fence_nearest("timeout", words, 0));
}

static void help_names_every_option(void **state)
{
	struct run run;

	(void)state;
	parse(&run, "--help");
	assert_int_equal(run.rc, FENCE_OPTS_TEXT);
	assert_false(run.text.truncated);
	assert_non_null(strstr(run.buf, "usage: fence-test [options] -- COMMAND\ntests itself\n"));
	for (size_t i = 0; i < N(opts); i++)
		assert_non_null(strstr(run.buf, opts[i].name));
	assert_non_null(strstr(run.buf, "--print-options"));
	assert_non_null(strstr(run.buf, "\na note\n"));
	parse(&run, "-q --version --nonsense");
	assert_int_equal(run.rc, FENCE_OPTS_TEXT);
	assert_string_equal(run.buf, "fence-test " FENCE_VERSION "\n");
	parse(&run, "--print-options");
	assert_string_equal(run.buf, "--timeout\n--count\n--quiet\n--verbose\n--mode\n--wordless\n"
				     "--help\n--version\n--completions\n--print-options\n");
}

static void completions_are_for_three_shells(void **state)
{
	static const char *const shells[] = { "bash", "zsh", "fish" };
	struct run run;
	char words[40];

	(void)state;
	for (size_t i = 0; i < N(shells); i++) {
		(void)snprintf(words, sizeof(words), "--completions %s", shells[i]);
		parse(&run, words);
		assert_int_equal(run.rc, FENCE_OPTS_TEXT);
		assert_non_null(strstr(run.buf, "kill wait leave"));
	}
	parse(&run, "--completions csh");
	says(&run, "fence-test: --completions csh: not a choice; use one of bash|zsh|fish");
}

static void a_shared_table_is_read_after_the_programs_own(void **state)
{
	char words[64];
	char *argv[WORDS];
	struct run run;
	int argc = split("--shared 3 -s4 --timeout=1s", words, sizeof(words), argv);

	(void)state;
	memset(&run, 0, sizeof(run));
	fence_text_init(&run.text, run.buf, sizeof(run.buf));
	run.rc = fence_opts_parse(&stop_cli, argc, argv, &run.conf, &run.rest, &run.text, &run.err);
	assert_int_equal(run.rc, FENCE_OPTS_PARSED);
	assert_int_equal(run.conf.count, 4);
	assert_int_equal(run.rest, 5);
	argc = split("--help", words, sizeof(words), argv);
	run.rc = fence_opts_parse(&stop_cli, argc, argv, &run.conf, &run.rest, &run.text, &run.err);
	assert_int_equal(run.rc, FENCE_OPTS_TEXT);
	assert_true(strstr(run.buf, "--shared N") > strstr(run.buf, "--timeout DURATION"));
	assert_true(strstr(run.buf, "--help") > strstr(run.buf, "--shared N"));
}

static void verb(struct run *run, const char *words, const struct fence_cli **ret)
{
	char *argv[WORDS];
	int argc;

	memset(run, 0, sizeof(*run));
	argc = split(words, run->words, sizeof(run->words), argv);
	*ret = NULL;
	fence_text_init(&run->text, run->buf, sizeof(run->buf));
	run->rc = fence_opts_verb(&set, argc, argv, ret, &run->text, &run->err);
}

static void a_verb_is_found_or_the_nearest_named(void **state)
{
	const struct fence_cli *found;
	struct run run;

	(void)state;
	verb(&run, "stop --timeout 1", &found);
	assert_int_equal(run.rc, FENCE_OPTS_PARSED);
	assert_ptr_equal(found, &stop_cli);
	verb(&run, "stpo", &found);
	says(&run, "fence-test: stpo: unknown verb; did you mean stop?");
	verb(&run, "", &found);
	says(&run, "fence-test: usage: no verb given; see fence-test --help");
	verb(&run, "--hlep", &found);
	says(&run, "fence-test: --hlep: unknown option; did you mean --help?");
	verb(&run, "-x", &found);
	assert_int_equal(run.rc, -EINVAL);
	verb(&run, "--", &found);
	assert_int_equal(run.rc, -EINVAL);
	verb(&run, "--help", &found);
	assert_int_equal(run.rc, FENCE_OPTS_TEXT);
	assert_non_null(strstr(run.buf, "  run           runs it\n"));
	for (int form = 0; form < 2; form++) {
		verb(&run, form ? "--completions=bash" : "--completions bash", &found);
		assert_int_equal(run.rc, FENCE_OPTS_TEXT);
		assert_non_null(strstr(run.buf, "stop)"));
	}
	verb(&run, "--completions", &found);
	says(&run, "fence-test: --completions SHELL: needs a value");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_an_option_is_understood),
		cmocka_unit_test(the_rest_belongs_to_the_next_program),
		cmocka_unit_test(letters_may_be_bundled),
		cmocka_unit_test(a_mistake_is_one_clear_line),
		cmocka_unit_test(a_choice_is_a_whole_word),
		cmocka_unit_test(the_nearest_word_is_near_or_none),
		cmocka_unit_test(help_names_every_option),
		cmocka_unit_test(completions_are_for_three_shells),
		cmocka_unit_test(a_shared_table_is_read_after_the_programs_own),
		cmocka_unit_test(a_verb_is_found_or_the_nearest_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
