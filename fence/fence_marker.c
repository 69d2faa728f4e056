/* fence-marker: make, read and replace a marker. Each verb says one sentence, or one
 * JSON line, and differs by its exit status. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/marker.h"
#include "fence/opts.h"
#include "fence/sys.h"

#define PROGRAM "fence-marker"

enum {
	STATUS_DONE = 0,
	STATUS_OTHER_STATE = 1, /* authentic, but not in the asked state */
	STATUS_NO_MARKER = 2,
	STATUS_USAGE = 64,
	STATUS_BUSY = 75,
	STATUS_REFUSED = 77,
};

struct conf {
	const char *path;
	const char *attempt_id;
	long long pid;
	enum fence_marker_format format;
	bool has_approved;
	struct fence_marker_approved approved;
	bool has_status;
	enum fence_marker_status status;
	enum fence_marker_durable durable;
	long long lock_wait_ms;
	bool json;
	bool explain;
};

/* --- options ----------------------------------------------------------------------------- */

static int set_attempt(void *arg, const char *value, struct fence_err *err)
{
	struct conf *conf = arg;

	if (!fence_marker_is_attempt_id(value))
		return fence_fail_why(err, -EINVAL, "must be 1 to 128 of A-Za-z0-9._-",
				      "--attempt");
	conf->attempt_id = value;
	return 0;
}

static int set_pid(void *arg, const char *value, struct fence_err *err)
{
	struct conf *conf = arg;

	return fence_opt_number(value, 1, INT32_MAX, &conf->pid, err);
}

static int set_format(void *arg, const char *value, struct fence_err *err)
{
	struct conf *conf = arg;

	(void)err;
	conf->format = (enum fence_marker_format)fence_opt_choice(FENCE_MARKER_FORMATS, value);
	return 0;
}

static int set_approved(void *arg, const char *value, struct fence_err *err)
{
	struct conf *conf = arg;

	conf->has_approved = true;
	return fence_marker_approved_parse(value, &conf->approved, err);
}

static int set_status(void *arg, const char *value, struct fence_err *err)
{
	struct conf *conf = arg;

	(void)err;
	conf->has_status = true;
	conf->status = (enum fence_marker_status)fence_opt_choice(FENCE_MARKER_STATUSES, value);
	return 0;
}

static int set_durable(void *arg, const char *value, struct fence_err *err)
{
	struct conf *conf = arg;

	(void)err;
	conf->durable = (enum fence_marker_durable)fence_opt_choice(FENCE_MARKER_DURABLES, value);
	return 0;
}

static int set_lock_wait(void *arg, const char *value, struct fence_err *err)
{
	struct conf *conf = arg;

	return fence_opt_duration(value, &conf->lock_wait_ms, err);
}

static int set_json(void *arg, const char *value, struct fence_err *err)
{
	struct conf *conf = arg;

	(void)value;
	(void)err;
	conf->json = true;
	return 0;
}

static int set_explain(void *arg, const char *value, struct fence_err *err)
{
	struct conf *conf = arg;

	(void)value;
	(void)err;
	conf->explain = true;
	return 0;
}

#define OPT_FORMAT                                                                                 \
	{                                                                                          \
		0, "format", "FORMAT", "the marker's format (default fence-marker/v1)",            \
			set_format, FENCE_MARKER_FORMATS                                           \
	}
#define OPT_JSON                                                                                   \
	{                                                                                          \
		0, "json", NULL, "one JSON line instead of a sentence", set_json, NULL             \
	}
#define OPT_LOCK_WAIT                                                                              \
	{                                                                                          \
		0, "lock-wait", "DURATION", "how long to wait for another writer (default 5s)",    \
			set_lock_wait, NULL                                                        \
	}

static const struct fence_opt create_opts[] = {
	{ 0, "attempt", "ID", "the attempt: 1 to 128 of A-Za-z0-9._-", set_attempt, NULL },
	{ 0, "pid", "PID", "the supervisor, which must be running", set_pid, NULL },
	OPT_FORMAT,
	OPT_LOCK_WAIT,
	OPT_JSON,
};

static const struct fence_opt read_opts[] = {
	{ 0, "attempt", "ID", "exit 1 unless it is this attempt's", set_attempt, NULL },
	OPT_FORMAT,
	{ 0, "explain", NULL, "say which rule of reading is broken", set_explain, NULL },
	OPT_JSON,
};

static const struct fence_opt replace_opts[] = {
	{ 0, "attempt", "ID", "the attempt that it must be of", set_attempt, NULL },
	{ 0, "approved", "JSON", "the state to replace, as create and read print it", set_approved,
	  NULL },
	{ 0, "status", "STATUS", "the new status", set_status, FENCE_MARKER_STATUSES },
	{ 0, "durable", "HOW", "what is synced: file and folder, file, nothing (default full)",
	  set_durable, FENCE_MARKER_DURABLES },
	OPT_FORMAT,
	OPT_LOCK_WAIT,
	OPT_JSON,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define EXITS                                                                                      \
	"exit status: 0 done; 1 authentic, but not as asked; 2 no authentic marker;\n"             \
	"64 usage; 75 another writer was busy for too long; 77 refused, nothing changed\n"

static const struct fence_cli create_cli = {
	PROGRAM, "create",    "make an active marker where no file of that name is",
	"PATH",	 create_opts, COUNT(create_opts),
	EXITS,
};
static const struct fence_cli read_cli = {
	PROGRAM,	  "read", "read a marker: authentic, or nothing", "PATH", read_opts,
	COUNT(read_opts), EXITS,
};
static const struct fence_cli replace_cli = {
	PROGRAM, "replace",    "give a marker its next state, if it is still the approved one",
	"PATH",	 replace_opts, COUNT(replace_opts),
	EXITS,
};
static const struct fence_cli *const verbs[] = { &create_cli, &read_cli, &replace_cli };

static const struct fence_cli_set cli_set = {
	PROGRAM, "make, read and replace the marker of an attempt", verbs, COUNT(verbs), EXITS,
};

/* --- saying it ------------------------------------------------------------------------------ */

/* White space between the marker's members could be newlines, and a record is one
 * line. */
static void write_marker(struct fence_jsonw *w, const struct fence_marker *marker)
{
	char line[FENCE_MARKER_BYTES];
	size_t length = 0;
	bool in_string = false;

	for (size_t i = 0; i < marker->text_bytes; i++) {
		char c = marker->text[i];

		if (!in_string && strchr(" \t\r\n", c))
			continue;
		line[length++] = c;
		if (in_string && c == '\\')
			line[length++] = marker->text[++i];
		else if (c == '"')
			in_string = !in_string;
	}
	fence_jsonw_raw(w, "marker", line, length);
}

/* What a verb found out, for either way of saying it. */
struct outcome {
	const char *word; /* "replaced": a closed list for each verb */
	int status;
	bool changed;			   /* the file: what goes wrong afterwards is no refusal */
	const struct fence_marker *marker; /* NULL: there is none to show */
	const char *rule;		   /* NULL: not asked for */
	struct fence_err err;		   /* code 0: nothing went wrong */
};

static int say_json(const struct conf *conf, const struct outcome *out, const char *schema)
{
	char line[16384];
	struct fence_jsonw w;

	fence_jsonw_init(&w, line, sizeof(line));
	fence_jsonw_open(&w, NULL, '{');
	fence_jsonw_head(&w, schema, PROGRAM);
	fence_jsonw_string(&w, "path", conf->path);
	fence_jsonw_string(&w, "outcome", out->word);
	if (out->marker) {
		write_marker(&w, out->marker);
		fence_jsonw_open(&w, "identity", '{');
		fence_marker_place_write(&w, &out->marker->place);
		fence_jsonw_close(&w, '}');
		fence_jsonw_open(&w, "approved", '{');
		fence_marker_approved_write(&w, out->marker);
		fence_jsonw_close(&w, '}');
	}
	if (out->rule)
		fence_jsonw_string(&w, "rule", out->rule);
	if (out->err.code < 0) {
		fence_jsonw_string(&w, "what", out->err.what);
		fence_jsonw_string(&w, "why",
				   out->err.why[0] ? out->err.why
						   : fence_errno_words(out->err.code));
	}
	fence_jsonw_close(&w, '}');
	return fence_jsonw_line(&w, STDOUT_FILENO);
}

static int say_sentence(const struct conf *conf, const struct outcome *out)
{
	char buf[PATH_MAX * 4 + 512];
	struct fence_text text;

	if (!out->marker)
		return 0;
	fence_text_init(&text, buf, sizeof(buf));
	fence_text_add_safe(&text, conf->path, strlen(conf->path));
	fence_text_add(&text, ": %s: attempt %s is %s, supervisor pid %d", out->word,
		       out->marker->attempt_id, fence_marker_status_word(out->marker->status),
		       out->marker->supervisor.pid);
	if (out->marker->seq != 0)
		fence_text_add(&text, ", seq %lld", (long long)out->marker->seq);
	fence_text_add(&text, "\n");
	return fence_write_full(STDOUT_FILENO, text.buf, text.length_bytes);
}

static int complain(const struct fence_err *err, int status)
{
	char line[1200];
	size_t length = fence_err_line(err, PROGRAM, line, sizeof(line));

	(void)fence_write_full(STDERR_FILENO, line, length); /* there is nowhere else to say it */
	return status;
}

static int say(const struct conf *conf, const struct outcome *out, const char *schema)
{
	struct fence_err err;
	int rc = conf->json ? say_json(conf, out, schema) : say_sentence(conf, out);

	if (out->err.code < 0)
		(void)complain(&out->err, out->status);
	if (rc == 0)
		return out->status;
	(void)fence_fail(&err, rc, "write to standard output");
	if (!out->changed)
		return complain(&err, STATUS_REFUSED);
	(void)fence_hint(&err, "the marker was written all the same: read it");
	return complain(&err, STATUS_OTHER_STATE);
}

/* --- verbs ------------------------------------------------------------------------------------ */

static int run_create(const struct conf *conf)
{
	const struct fence_marker_birth birth = {
		.format = conf->format,
		.attempt_id = conf->attempt_id,
		.supervisor_pid = (pid_t)conf->pid,
		.by = FENCE_MARKER_BY_EXECUTOR,
		.lock_wait_ms = conf->lock_wait_ms,
	};
	struct outcome out = { .word = "created" };
	struct fence_marker_writer writer;
	struct fence_marker marker;
	bool made = false;
	int rc = fence_marker_writer_open(conf->path, &writer, &out.err);

	if (rc == 0) {
		rc = fence_marker_create(&writer, &birth, &marker, &made, &out.err);
		fence_marker_writer_close(&writer);
	}
	out.changed = made;
	if (made)
		out.marker = &marker;
	if (rc < 0) {
		out.word = made ? "not-durable" : rc == -EAGAIN ? "busy" : "not-created";
		out.status = made	     ? STATUS_OTHER_STATE
			     : rc == -EAGAIN ? STATUS_BUSY
					     : STATUS_REFUSED;
	}
	return say(conf, &out, "fence-marker-create/v1");
}

static int run_read(const struct conf *conf)
{
	struct outcome out = { .word = "authentic" };
	struct fence_marker marker;
	enum fence_marker_rule rule;
	struct fence_err why = { 0 };

	if (fence_marker_read(conf->path, conf->format, &marker, &rule, &why) < 0) {
		out.word = "none";
		out.status = STATUS_NO_MARKER;
		out.rule = conf->explain ? fence_marker_rule_word(rule) : NULL;
		if (conf->explain) {
			(void)fence_fail_why(&out.err, -EBADMSG,
					     why.why[0] ? why.why : fence_errno_words(why.code),
					     "%s: no authentic marker: rule %s: %s", conf->path,
					     out.rule, why.what);
		} else {
			(void)fence_fail_why(&out.err, -EBADMSG, "no authentic marker", "%s",
					     conf->path);
			(void)fence_hint(&out.err, "--explain says which rule is broken");
		}
		return say(conf, &out, "fence-marker-read/v1");
	}
	out.marker = &marker;
	if (conf->attempt_id && strcmp(conf->attempt_id, marker.attempt_id) != 0) {
		out.word = "other-attempt";
		out.status = STATUS_OTHER_STATE;
	}
	return say(conf, &out, "fence-marker-read/v1");
}

static int run_replace(const struct conf *conf)
{
	const struct fence_marker_change change = {
		.format = conf->format,
		.attempt_id = conf->attempt_id,
		.approved = &conf->approved,
		.status = conf->status,
		.by = FENCE_MARKER_BY_EXECUTOR,
		.durable = conf->durable,
		.lock_wait_ms = conf->lock_wait_ms,
	};
	enum fence_marker_answer answer = FENCE_MARKER_NOT_REPLACED;
	struct outcome out = { .word = "replaced" };
	struct fence_marker_writer writer;
	struct fence_marker marker;
	int rc = fence_marker_writer_open(conf->path, &writer, &out.err);

	if (rc == 0) {
		rc = fence_marker_replace(&writer, &change, &marker, &answer, &out.err);
		fence_marker_writer_close(&writer);
	}
	out.changed = answer != FENCE_MARKER_NOT_REPLACED;
	if (out.changed)
		out.marker = &marker;
	if (answer == FENCE_MARKER_NOT_REPLACED) {
		out.word = rc == -EAGAIN ? "busy" : rc == -EBADMSG ? "none" : "not-replaced";
		out.status = rc == -EAGAIN    ? STATUS_BUSY
			     : rc == -EBADMSG ? STATUS_NO_MARKER
					      : STATUS_REFUSED;
	} else if (answer == FENCE_MARKER_NOT_DURABLE) {
		out.word = "not-durable";
		out.status = STATUS_OTHER_STATE;
	}
	return say(conf, &out, "fence-marker-replace/v1");
}

/* --- main ----------------------------------------------------------------------------------------
 */

static int check_conf(const struct fence_cli *cli, const struct conf *conf, struct fence_err *err)
{
	const char *missing = NULL;

	if (!conf->path)
		missing = "PATH";
	else if (cli != &read_cli && !conf->attempt_id)
		missing = "--attempt ID";
	else if (cli == &create_cli && conf->pid == 0)
		missing = "--pid PID";
	else if (cli == &replace_cli && !conf->has_approved)
		missing = "--approved JSON";
	else if (cli == &replace_cli && !conf->has_status)
		missing = "--status STATUS";
	if (!missing)
		return 0;
	(void)fence_fail_why(err, -EINVAL, "missing", "%s: %s", cli->verb, missing);
	return fence_hint(err, "see " PROGRAM " %s --help", cli->verb);
}

/* PATH may come before the options or after them. */
static int parse(const struct fence_cli *cli, int argc, char *const *argv, struct conf *conf,
		 struct fence_text *text, struct fence_err *err)
{
	int rest, rc;

	if (argc > 1 && argv[1][0] != '-') {
		conf->path = argv[1];
		argc--;
		argv++;
	}
	rc = fence_opts_parse(cli, argc, argv, conf, &rest, text, err);
	if (rc != FENCE_OPTS_PARSED)
		return rc;
	if (rest < argc && !conf->path)
		conf->path = argv[rest++];
	if (rest < argc)
		return fence_fail_why(err, -EINVAL, "one word too many", "%s: \"%s\"", cli->verb,
				      argv[rest]);
	return check_conf(cli, conf, err);
}

static int run(const struct fence_cli *cli, const struct conf *conf)
{
	if (cli == &create_cli)
		return run_create(conf);
	return cli == &read_cli ? run_read(conf) : run_replace(conf);
}

int main(int argc, char **argv)
{
	struct conf conf = { .lock_wait_ms = 5000 };
	const struct fence_cli *cli = NULL;
	struct fence_err err = { 0 };
	struct fence_text text;
	char buf[16384];
	int rc = fence_fix_stdio();

	if (rc < 0) {
		(void)fence_fail(&err, rc, "open standard streams");
		return complain(&err, STATUS_REFUSED);
	}
	fence_text_init(&text, buf, sizeof(buf));
	rc = fence_opts_verb(&cli_set, argc, argv, &cli, &text, &err);
	if (rc == FENCE_OPTS_PARSED)
		rc = parse(cli, argc - 1, argv + 1, &conf, &text, &err);
	if (rc < 0)
		return complain(&err, STATUS_USAGE);
	if (rc == FENCE_OPTS_PARSED)
		return run(cli, &conf);
	rc = fence_write_full(STDOUT_FILENO, text.buf, text.length_bytes);
	if (rc == 0)
		return STATUS_DONE;
	(void)fence_fail(&err, rc, "write to standard output");
	return complain(&err, STATUS_REFUSED);
}
