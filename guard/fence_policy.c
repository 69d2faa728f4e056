/* fence-policy: reads and checks policy files. See fence-policy(1). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence/err.h"
#include "fence/opts.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "guard/reader/reader.h"
#include "guard/reader/trust.h"

#define TEXT_BYTES   16384
#define STATUS_USAGE 64
#define STATUS_DATA  65

struct conf {
	const char *profile;
	bool compiled;
};

static const struct fence_opt options[] = {
	{ 0, "profile", "NAME", "the profile that must be there (gate)",
	  FENCE_OPT_KEEP(struct conf, profile) },
	{ 0, "compiled", NULL, "write what fence-guard reads",
	  FENCE_OPT_TRUE(struct conf, compiled) },
};

static const struct fence_cli cli = {
	.program = "fence-policy",
	.summary = "check a policy file",
	.operands = "FILE",
	.opts = options,
	.count = sizeof(options) / sizeof(options[0]),
	.notes = "Prints every fault with its file, line and column, and nothing when there is\n"
		 "none. fence-guard starts it for --policy.\n"
		 "\n"
		 "Exit status: 0 the policy is good, 65 it is not, 64 usage.\n",
};

static void complain(const struct fence_err *err)
{
	char line[1200];
	size_t length = fence_err_line(err, cli.program, line, sizeof(line));

	(void)fence_write_full(2, line, length);
}

static int read_file(const char *file, char ret_path[PATH_MAX], struct fence_yaml **ret,
		     struct fence_err *err)
{
	owned_fd fd = guard_trust_open(file, ret_path, err);
	owned_mem char *text = NULL;
	size_t count = 0;
	int rc;

	if (fd < 0)
		return fd;
	text = malloc(FENCE_YAML_MAX_BYTES + 1);
	if (!text)
		return fence_fail(err, -ENOMEM, "read %s", file);
	while (count <= FENCE_YAML_MAX_BYTES) {
		ssize_t got = fence_read_some(fd, text + count, FENCE_YAML_MAX_BYTES + 1 - count);

		if (got < 0)
			return fence_fail(err, (int)got, "read %s", file);
		if (got == 0)
			break;
		count += (size_t)got;
	}
	if (count > FENCE_YAML_MAX_BYTES)
		return fence_fail_why(err, -EFBIG, "larger than 256 KiB", "read %s", file);
	rc = fence_yaml_parse(text, count, ret);
	return rc < 0 ? fence_fail(err, rc, "read %s", file) : 0;
}

static void show_faults(const struct fence_yaml *yaml, const char *file)
{
	for (size_t i = 0; i < yaml->fault_count; i++) {
		char line[1024];

		fence_yaml_fault_line(&yaml->faults[i], file, line, sizeof(line));
		(void)fprintf(stderr, "%s: %s\n", cli.program, line);
	}
	if (yaml->error_total > yaml->fault_count)
		(void)fprintf(stderr, "%s: %s: and %zu faults more\n", cli.program, file,
			      yaml->error_total - yaml->fault_count);
}

/* The caller has no place to show more than one line: what keeps the file from being
 * read goes the way of a fault. */
static int compile_error(const char *file, const struct fence_err *err, struct guard_wire *wire)
{
	char words[sizeof(err->what) + sizeof(err->hint) + 8];
	const char *why = err->why[0] == '\0' ? fence_errno_words(err->code) : err->why;

	(void)file;
	(void)snprintf(words, sizeof(words), "%s%s%s", why, err->hint[0] == '\0' ? "" : "; ",
		       err->hint);
	guard_wire_begin(wire);
	guard_wire_add(wire, GUARD_WIRE_FAULT, (struct guard_place){ 0 }, err->what, words, "1");
	guard_wire_add(wire, GUARD_WIRE_END, (struct guard_place){ 0 }, NULL, NULL, NULL);
	return wire->rc;
}

static int write_wire(struct guard_wire *wire, struct fence_err *err)
{
	int rc = wire->rc < 0 ? wire->rc : fence_write_full(1, wire->bytes, wire->count);

	guard_wire_free(wire);
	return rc < 0 ? fence_fail(err, rc, "write the policy") : 0;
}

static int answer_error(const struct conf *conf, const char *file, struct fence_err *err)
{
	struct guard_wire wire = { 0 };

	if (!conf->compiled)
		return STATUS_DATA;
	(void)compile_error(file, err, &wire);
	err->code = 0;
	return write_wire(&wire, err) < 0 ? 1 : STATUS_DATA;
}

static int check(const struct conf *conf, const char *file, struct fence_err *err)
{
	struct guard_reader reader = { .profile = conf->profile, .home = getenv("HOME") };
	struct guard_wire wire = { 0 };
	char path[PATH_MAX];
	int status;
	int rc = read_file(file, path, &reader.yaml, err);

	if (rc < 0)
		return answer_error(conf, file, err);
	rc = guard_reader_check(&reader);
	status = reader.yaml->error_total > 0 ? STATUS_DATA : 0;
	if (rc == 0 && conf->compiled)
		rc = guard_reader_compile(&reader, file, path, &wire);
	if (rc < 0) {
		fence_fail(err, rc, "read %s", file);
		status = answer_error(conf, file, err);
	} else if (conf->compiled) {
		status = write_wire(&wire, err) < 0 ? 1 : status;
	} else {
		show_faults(reader.yaml, file);
	}
	guard_wire_free(&wire);
	guard_reader_free(&reader);
	return status;
}

static int run(int argc, char **argv, struct fence_text *text, struct fence_err *err)
{
	struct conf conf = { .profile = "gate" };
	int rest = 0;
	int answer = fence_opts_parse(&cli, argc, argv, &conf, &rest, text, err);

	if (answer == FENCE_OPTS_TEXT)
		return 0;
	if (answer == FENCE_OPTS_PARSED && rest + 1 == argc)
		return check(&conf, argv[rest], err);
	if (answer == FENCE_OPTS_PARSED) {
		fence_fail_why(err, -EINVAL, rest == argc ? "no file" : "more than one file",
			       "what to check");
		(void)fence_hint(err, "see fence-policy --help");
	}
	return STATUS_USAGE;
}

int main(int argc, char **argv)
{
	char buf[TEXT_BYTES];
	struct fence_text text;
	struct fence_err err = { 0 };
	int status;

	if (fence_fix_stdio() < 0)
		return 1;
	fence_text_init(&text, buf, sizeof(buf));
	status = run(argc, argv, &text, &err);
	if (err.code != 0)
		complain(&err);
	if (text.length_bytes > 0 && fence_write_full(1, text.buf, text.length_bytes) < 0)
		return 1;
	return status;
}
