/* Any words as a command line: durations, sizes, numbers and choices within their
 * bounds, or an error in one line. Words are separated by NUL bytes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fence/clock.h"
#include "fence/opts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

#define WORDS	   16
#define LONGEST_MS (INT64_C(1000) * 24 * 60 * 60 * 1000)

static void must(bool claim)
{
	if (!claim)
		abort();
}

static int set_duration(void *conf, const char *value, struct fence_err *err)
{
	long long ms = -1;
	int rc = fence_opt_duration(value, &ms, err);

	(void)conf;
	must(rc < 0 || (ms >= 0 && ms <= LONGEST_MS));
	return rc;
}

static int set_size(void *conf, const char *value, struct fence_err *err)
{
	unsigned long long bytes;

	(void)conf;
	return fence_opt_size(value, &bytes, err);
}

static int set_number(void *conf, const char *value, struct fence_err *err)
{
	long long number = 0;
	int rc = fence_opt_number(value, -5, 1000, &number, err);

	(void)conf;
	must(rc < 0 || (number >= -5 && number <= 1000));
	return rc;
}

static int set_flag(void *conf, const char *value, struct fence_err *err)
{
	(void)conf;
	(void)err;
	must(value == NULL);
	return 0;
}

static int set_choice(void *conf, const char *value, struct fence_err *err)
{
	(void)conf;
	(void)err;
	must(fence_opt_choice("kill|wait|leave", value) >= 0);
	return 0;
}

static const struct fence_opt opts[] = {
	{ 't', "timeout", "DURATION", "a duration", set_duration, NULL },
	{ 's', "size", "SIZE", "a size", set_size, NULL },
	{ 0, "number", "N", "a number", set_number, NULL },
	{ 'q', "quiet", NULL, "a flag", set_flag, NULL },
	{ 'c', "choice", "WORD", "a choice", set_choice, "kill|wait|leave" },
};

static const struct fence_cli cli = {
	"fence-fuzz", "run", "is fuzzed", "-- COMMAND", opts, sizeof(opts) / sizeof(opts[0]), NULL,
};
static const struct fence_cli *const verbs[] = { &cli };
static const struct fence_cli_set set = { "fence-fuzz", "is fuzzed", verbs, 1, NULL };

static void check_error(const struct fence_err *err)
{
	char line[1200];
	size_t length = fence_err_line(err, "fence-fuzz", line, sizeof(line));

	must(length > 0 && length < sizeof(line) && line[length] == '\0');
	must(strchr(line, '\n') == line + length - 1);
}

static void parse(int argc, char **argv)
{
	const struct fence_cli *verb = NULL;
	struct fence_err err = { 0 };
	struct fence_text text;
	char buf[8192];
	int rest = -1, rc;

	fence_text_init(&text, buf, sizeof(buf));
	rc = fence_opts_verb(&set, argc, argv, &verb, &text, &err);
	if (rc == FENCE_OPTS_PARSED) {
		must(verb == &cli);
		rc = fence_opts_parse(verb, argc - 1, argv + 1, NULL, &rest, &text, &err);
		must(rc != FENCE_OPTS_PARSED || (rest >= 1 && rest <= argc - 1));
	}
	if (rc < 0)
		check_error(&err);
	must(strlen(buf) == text.length_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char *argv[WORDS + 2] = { NULL };
	char program[] = "fence-fuzz";
	char *text = malloc(size_bytes + 1);
	int argc = 1;

	if (!text)
		return 0;
	memcpy(text, data, size_bytes);
	text[size_bytes] = '\0';
	argv[0] = program;
	for (size_t at = 0; at < size_bytes && argc < WORDS; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	parse(argc, argv);
	free(text);
	return 0;
}
