/* fence-chromium: a browser executable for clients (Playwright, Puppeteer,
 * ChromeDriver). It becomes the real Chromium with Chromium's own sandbox on, as a
 * user that is not root, and proves it from outside.
 *
 * A client decides the command line, so every option of ours begins with --fence-,
 * which no option of Chromium does, and may stand among Chromium's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/err.h"
#include "fence/loop.h"
#include "fence/opts.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "guard/browser/browser.h"
#include "guard/browser/flags.h"

#define OURS "fence-"

static int set_uid(void *conf, const char *value, struct fence_err *err)
{
	return fence_opt_number(value, 1, 4294967294, &((struct browser_conf *)conf)->uid, err);
}

static int set_evidence_fd(void *conf, const char *value, struct fence_err *err)
{
	long long fd;
	int rc = fence_opt_number(value, 5, 65535, &fd, err);

	if (rc == 0)
		((struct browser_conf *)conf)->evidence_fd = (int)fd;
	return rc;
}

static int set_vocabulary(void *conf, const char *value, struct fence_err *err)
{
	(void)err;
	((struct browser_conf *)conf)->vocabulary =
		strcmp(value, "two") == 0 ? REASON_VOCABULARY_TWO : REASON_VOCABULARY_FULL;
	return 0;
}

static int set_prove(void *conf, const char *value, struct fence_err *err)
{
	long long pid;
	int rc = fence_opt_number(value, 1, 4194304, &pid, err);

	if (rc == 0)
		((struct browser_conf *)conf)->prove_pid = (pid_t)pid;
	return rc;
}

static const struct fence_opt opts[] = {
	{ 0, "fence-browser", "PATH", "the Chromium to start, or a wrapper script to look through",
	  FENCE_OPT_KEEP(struct browser_conf, browser) },
	{ 0, "fence-uid", "UID", "as root: the uid, and gid, that the browser gets (default 60600)",
	  .set = set_uid },
	{ 0, "fence-evidence", "FILE", "write evidence to a file, replaced whenever there is more",
	  FENCE_OPT_KEEP(struct browser_conf, evidence) },
	{ 0, "fence-evidence-fd", "FD",
	  "write a line of evidence to a descriptor (5 or above) at each new state",
	  .set = set_evidence_fd },
	{ 0, "fence-strict", NULL, "refuse --no-sandbox and its like instead of leaving them out",
	  FENCE_OPT_TRUE(struct browser_conf, is_strict) },
	{ 0, "fence-reason-vocabulary", "WORDS", "how finely reasons are told",
	  .set = set_vocabulary, .choices = "full|two" },
	{ 0, "fence-prove", "PID",
	  "start nothing: prove a browser that runs already, print the record", .set = set_prove },
};

static const struct fence_cli cli = {
	.program = "fence-chromium",
	.summary = "Be Chromium, with its own sandbox on and proven from outside.",
	.operands = "[CHROMIUM OPTION | URL]...",
	.opts = opts,
	.count = sizeof(opts) / sizeof(opts[0]),
	.notes = "Options of ours begin with --fence-, take a value only after =, and may stand\n"
		 "anywhere before a bare --; all others are Chromium's. As the first word --help,\n"
		 "--completions and --print-options are ours. Chromium's own version is shown by\n"
		 "--version, ours by --fence-version. Variables give the same options:\n"
		 "FENCE_CHROMIUM_BROWSER, _UID, _EVIDENCE, _EVIDENCE_FD, _REASON_VOCABULARY and\n"
		 "_STRICT=1.\n"
		 "\n"
		 "Exit status: Chromium's; 77 refused, 125 failed, 126 cannot execute it,\n"
		 "127 not found\n",
};

/* What a client cannot write on the command line comes by these. */
static const struct {
	const char *variable;
	const char *option;
} variables[] = {
	{ "FENCE_CHROMIUM_BROWSER", "--fence-browser" },
	{ "FENCE_CHROMIUM_UID", "--fence-uid" },
	{ "FENCE_CHROMIUM_EVIDENCE", "--fence-evidence" },
	{ "FENCE_CHROMIUM_EVIDENCE_FD", "--fence-evidence-fd" },
	{ "FENCE_CHROMIUM_REASON_VOCABULARY", "--fence-reason-vocabulary" },
};
#define VARIABLE_COUNT (sizeof(variables) / sizeof(variables[0]))

/* The command line in two: our words, each as `--fence-NAME[=VALUE]`, and the
 * browser's. Both lists have room for all. */
struct split {
	char **ours;
	int our_count;
	char **browsers;
	size_t browser_count;
};

static int add_ours(struct split *split, const char *dashes, const char *name, int name_length,
		    const char *value)
{
	int rc = value == NULL ? asprintf(&split->ours[split->our_count], "%s%.*s", dashes,
					  name_length, name)
			       : asprintf(&split->ours[split->our_count], "%s%.*s=%s", dashes,
					  name_length, name, value);

	if (rc < 0)
		return -ENOMEM;
	split->our_count++;
	return 0;
}

static int add_variables(struct split *split)
{
	const char *strict = getenv("FENCE_CHROMIUM_STRICT");
	int rc = 0;

	for (size_t i = 0; i < VARIABLE_COUNT && rc == 0; i++) {
		const char *value = getenv(variables[i].variable);

		if (value != NULL && value[0] != '\0')
			rc = add_ours(split, "", variables[i].option,
				      (int)strlen(variables[i].option), value);
	}
	if (rc == 0 && strict != NULL && strcmp(strict, "1") == 0)
		rc = add_ours(split, "--", "fence-strict", 12, NULL);
	return rc;
}

/* `--fence-version` and the like are the general options of every program. */
static int add_word(struct split *split, const struct flag *flag)
{
	static const char *const general[] = { "fence-version", "fence-help" };
	int length = (int)flag->name_length;
	int rest = flag->value == NULL ? length : length + 1 + (int)flag->value_length;

	for (size_t i = 0; i < 2; i++)
		if (strlen(general[i]) == flag->name_length &&
		    memcmp(flag->name, general[i], flag->name_length) == 0)
			return add_ours(split, "--", flag->name + strlen(OURS),
					rest - (int)strlen(OURS), NULL);
	return add_ours(split, "--", flag->name, rest, NULL);
}

/* Words are read as Chromium reads them, so that one with a blank before it, which
 * Chromium would take for a switch, cannot slip past us. */
static int split_words(struct split *split, int argc, char **argv)
{
	bool reads_switches = true;

	split->ours[split->our_count++] = argv[0];
	if (add_variables(split) < 0)
		return -ENOMEM;
	for (int i = 1; i < argc; i++) {
		struct flag flag;

		reads_switches = reads_switches && !flag_ends_switches(argv[i]);
		if (!reads_switches || !flag_parse(argv[i], &flag) ||
		    flag.name_length < strlen(OURS) || memcmp(flag.name, OURS, strlen(OURS)) != 0)
			split->browsers[split->browser_count++] = argv[i];
		else if (add_word(split, &flag) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool is_text_request(int argc, char **argv)
{
	return argc > 1 &&
	       (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "--print-options") == 0 ||
		strncmp(argv[1], "--completions", 13) == 0);
}

static int complain(const struct fence_err *err, int status)
{
	char line[1200];
	size_t length = fence_err_line(err, "fence-chromium", line, sizeof(line));

	(void)fence_write_full(2, line, length);
	return status;
}

static int print(const char *text, size_t length)
{
	int rc = fence_write_full(1, text, length);
	struct fence_err err;

	if (rc == 0)
		return 0;
	(void)fence_fail(&err, rc, "write to standard output");
	return complain(&err, BROWSER_EXIT_FAILED);
}

static int prove(const struct browser_conf *conf, struct fence_err *err)
{
	const size_t size_bytes = 128 << 10;
	owned_mem char *record = malloc(size_bytes);
	struct fence_jsonw w;
	int status;

	if (record == NULL) {
		(void)fence_fail(err, -ENOMEM, "prove");
		return complain(err, BROWSER_EXIT_FAILED);
	}
	fence_jsonw_init(&w, record, size_bytes - 1);
	status = browser_prove(conf, &w, err);
	if (w.length_bytes == 0 || w.overflow)
		return complain(err, status);
	record[w.length_bytes++] = '\n';
	return print(record, w.length_bytes) == 0 ? status : BROWSER_EXIT_FAILED;
}

static int run(const struct browser_conf *conf, const struct split *split, struct fence_err *err)
{
	sigset_t all, mask;

	if (conf->prove_pid != 0)
		return prove(conf, err);
	fence_sigset_fill(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &mask);
	return complain(err,
			browser_start(conf, split->browsers, split->browser_count, &mask, err));
}

static int parse_and_run(struct split *split, int argc, char **argv, struct fence_err *err)
{
	struct browser_conf conf = { .uid = -1, .evidence_fd = -1 };
	char buf[16384];
	struct fence_text text;
	int rest = 0, rc;

	fence_text_init(&text, buf, sizeof(buf));
	if (is_text_request(argc, argv)) {
		rc = fence_opts_parse(&cli, argc, argv, &conf, &rest, &text, err);
	} else {
		rc = split_words(split, argc, argv);
		if (rc < 0)
			(void)fence_fail(err, rc, "read the command line");
		else
			rc = fence_opts_parse(&cli, split->our_count, split->ours, &conf, &rest,
					      &text, err);
	}
	if (rc < 0)
		return complain(err, BROWSER_EXIT_FAILED);
	if (rc == FENCE_OPTS_TEXT)
		return print(text.buf, text.length_bytes);
	return run(&conf, split, err);
}

static int start(int argc, char **argv)
{
	size_t room = (size_t)argc + VARIABLE_COUNT + 3;
	struct fence_err err = { 0 };
	owned_mem char **lists = calloc(2 * room, sizeof(*lists));
	struct split split = { .ours = lists };
	int status;

	if (lists == NULL) {
		(void)fence_fail(&err, -ENOMEM, "read the command line");
		return complain(&err, BROWSER_EXIT_FAILED);
	}
	split.browsers = lists + room;
	status = parse_and_run(&split, argc, argv, &err);
	/* The first is argv[0], the others were made from options and variables. */
	for (int i = 1; i < split.our_count; i++)
		free(split.ours[i]);
	return status;
}

int main(int argc, char **argv)
{
	if (fence_fix_stdio() < 0)
		return BROWSER_EXIT_FAILED;
	return start(argc, argv);
}
