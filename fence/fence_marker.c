/* fence-marker: make, read and replace a marker, wait for its state, cancel its
 * attempt, repair what a dead supervisor left. The verbs are in fence/cli. */
#include <errno.h>
#include <linux/limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "fence/cli/marker_cli.h"
#include "fence/sys.h"

static const struct marker_verb *const verbs[] = {
	&marker_create_verb, &marker_read_verb,	  &marker_replace_verb,
	&marker_wait_verb,   &marker_cancel_verb, &marker_repair_verb,
};
static const struct fence_cli *const clis[] = {
	&marker_create_verb.cli, &marker_read_verb.cli,	  &marker_replace_verb.cli,
	&marker_wait_verb.cli,	 &marker_cancel_verb.cli, &marker_repair_verb.cli,
};

static const struct fence_cli_set cli_set = {
	MARKER_PROGRAM, "the marker that says where an attempt stands", clis, COUNT(clis),
	MARKER_EXITS,
};

static int check_conf(const struct marker_verb *verb, const struct marker_conf *conf,
		      struct fence_err *err)
{
	const struct {
		unsigned int need;
		bool is_there;
		const char *what;
	} needs[] = {
		{ MARKER_NEEDS_ATTEMPT, conf->attempt_id != NULL, "--attempt ID" },
		{ MARKER_NEEDS_PID, conf->pid != 0, "--pid PID" },
		{ MARKER_NEEDS_APPROVED, conf->has_approved, "--approved JSON" },
		{ MARKER_NEEDS_STATUS, conf->has_status, "--status STATUS" },
		{ MARKER_NEEDS_GOAL, conf->statuses != 0 || conf->over,
		  "--status STATUS or --over" },
	};
	const char *missing = conf->path ? NULL : "PATH";

	for (size_t i = 0; !missing && i < COUNT(needs); i++)
		if ((verb->needs & needs[i].need) != 0 && !needs[i].is_there)
			missing = needs[i].what;
	if (missing) {
		(void)fence_fail_why(err, -EINVAL, "missing", "%s: %s", verb->cli.verb, missing);
		return fence_hint(err, "see " MARKER_PROGRAM " %s --help", verb->cli.verb);
	}
	if (strlen(conf->path) >= PATH_MAX)
		return fence_fail(err, -ENAMETOOLONG, "%s: PATH", verb->cli.verb);
	if (conf->statuses != 0 && conf->over)
		return fence_fail_why(err, -EINVAL, "only one of them", "--status and --over");
	return 0;
}

/* PATH may come before the options or after them. */
static int parse(const struct marker_verb *verb, int argc, char *const *argv,
		 struct marker_conf *conf, struct fence_text *text, struct fence_err *err)
{
	int rest, rc;

	if (argc > 1 && argv[1][0] != '-') {
		conf->path = argv[1];
		argc--;
		argv++;
	}
	rc = fence_opts_parse(&verb->cli, argc, argv, conf, &rest, text, err);
	if (rc != FENCE_OPTS_PARSED)
		return rc;
	if (rest < argc && !conf->path)
		conf->path = argv[rest++];
	if (rest < argc)
		return fence_fail_why(err, -EINVAL, "one word too many", "%s: \"%s\"",
				      verb->cli.verb, argv[rest]);
	return check_conf(verb, conf, err);
}

static const struct marker_verb *verb_of(const struct fence_cli *cli)
{
	size_t i = 0;

	while (i + 1 < COUNT(clis) && clis[i] != cli)
		i++;
	return verbs[i];
}

/* Under a limit on file sizes a write is to fail like any other, and its temporary to go. */
static void survive_file_limit(void)
{
	sigset_t too_large;

	(void)sigemptyset(&too_large);
	(void)sigaddset(&too_large, SIGXFSZ);
	(void)sigprocmask(SIG_BLOCK, &too_large, NULL);
}

int main(int argc, char **argv)
{
	struct marker_conf conf = { .lock_wait_ms = 5000, .appear_ms = 5000, .grace_ms = 5000 };
	const struct marker_verb *verb = NULL;
	const struct fence_cli *cli = NULL;
	struct fence_err err = { 0 };
	struct fence_text text;
	char buf[16384];
	int rc = fence_fix_stdio();

	survive_file_limit();
	if (rc < 0) {
		(void)fence_fail(&err, rc, "open standard streams");
		return marker_complain(&err, STATUS_REFUSED);
	}
	fence_text_init(&text, buf, sizeof(buf));
	rc = fence_opts_verb(&cli_set, argc, argv, &cli, &text, &err);
	if (rc == FENCE_OPTS_PARSED) {
		verb = verb_of(cli);
		rc = parse(verb, argc - 1, argv + 1, &conf, &text, &err);
	}
	if (rc < 0)
		return marker_complain(&err, STATUS_USAGE);
	if (rc == FENCE_OPTS_PARSED)
		return verb->run(&conf);
	rc = fence_write_full(STDOUT_FILENO, text.buf, text.length_bytes);
	if (rc == 0)
		return STATUS_DONE;
	(void)fence_fail(&err, rc, "write to standard output");
	return marker_complain(&err, STATUS_REFUSED);
}
