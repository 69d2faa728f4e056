/* The options of fence-run: the table, and what its rows store. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence/limit.h"
#include "supervisor/run.h"

#define TERM_SCOPES "leader|group|tree"
#define LEFTOVERS   "kill|wait|fail|leave"
#define CONTAINS    "pidns|cgroup|subreaper|best" /* enum fence_group_contain */

void run_conf_init(struct run_conf *conf)
{
	*conf = (struct run_conf){
		.grace_ms = 5000,
		.term_scope = FENCE_TERM_GROUP,
		.leftover = FENCE_LEFTOVER_KILL,
		.contain = FENCE_GROUP_SUBREAPER,
		.result_fd = -1,
		.events_fd = -1,
		.umask = -1,
	};
}

static int set_timeout(void *conf, const char *value, struct fence_err *err)
{
	return fence_opt_duration(value, &((struct run_conf *)conf)->timeout_ms, err);
}

static int set_idle_timeout(void *conf, const char *value, struct fence_err *err)
{
	return fence_opt_duration(value, &((struct run_conf *)conf)->idle_timeout_ms, err);
}

static int set_cpu_timeout(void *conf, const char *value, struct fence_err *err)
{
	return fence_opt_duration(value, &((struct run_conf *)conf)->cpu_timeout_ms, err);
}

static int set_clock(void *conf, const char *value, struct fence_err *err)
{
	(void)err;
	((struct run_conf *)conf)->boottime = strcmp(value, "boottime") == 0;
	return 0;
}

static int set_grace(void *conf, const char *value, struct fence_err *err)
{
	return fence_opt_duration(value, &((struct run_conf *)conf)->grace_ms, err);
}

static int set_term_scope(void *conf, const char *value, struct fence_err *err)
{
	(void)err;
	((struct run_conf *)conf)->term_scope =
		(enum fence_term_scope)fence_opt_choice(TERM_SCOPES, value);
	return 0;
}

static int set_leftover(void *conf, const char *value, struct fence_err *err)
{
	(void)err;
	((struct run_conf *)conf)->leftover =
		(enum fence_leftover)fence_opt_choice(LEFTOVERS, value);
	return 0;
}

static int set_contain(void *conf, const char *value, struct fence_err *err)
{
	(void)err;
	((struct run_conf *)conf)->contain =
		(enum fence_group_contain)fence_opt_choice(CONTAINS, value);
	return 0;
}

static int set_kept(struct run_conf *conf, const char *value, unsigned long long *ret_bytes,
		    struct fence_err *err)
{
	int rc = fence_opt_size(value, ret_bytes, err);

	if (rc < 0)
		return rc;
	if (*ret_bytes > RUN_CAPTURE_MAX)
		return fence_fail_why(err, -ERANGE, "more than 256MiB", "\"%s\"", value);
	conf->captures = true;
	return 0;
}

static int set_capture(void *conf, const char *value, struct fence_err *err)
{
	return set_kept(conf, value, &((struct run_conf *)conf)->tail_bytes, err);
}

static int set_capture_head(void *conf, const char *value, struct fence_err *err)
{
	return set_kept(conf, value, &((struct run_conf *)conf)->head_bytes, err);
}

static int set_stdout(void *conf, const char *value, struct fence_err *err)
{
	(void)err;
	((struct run_conf *)conf)->stream_paths[0] = value;
	return 0;
}

static int set_stderr(void *conf, const char *value, struct fence_err *err)
{
	(void)err;
	((struct run_conf *)conf)->stream_paths[1] = value;
	return 0;
}

static int set_leak(void *conf, const char *value, struct fence_err *err)
{
	(void)err;
	((struct run_conf *)conf)->leak_fails = strcmp(value, "fail") == 0;
	return 0;
}

/* A number that names nothing yet would soon name something of ours. */
static int parse_open_fd(const char *value, int min, int *ret, struct fence_err *err)
{
	long long fd;
	int rc = fence_opt_number(value, min, 1048575, &fd, err);

	if (rc < 0)
		return rc;
	if (fcntl((int)fd, F_GETFD) < 0)
		return fence_fail_why(err, -EBADF, "not an open descriptor", "%s", value);
	*ret = (int)fd;
	return 0;
}

static int parse_writable_fd(const char *value, int *ret, struct fence_err *err)
{
	int rc = parse_open_fd(value, 0, ret, err);
	int flags;

	if (rc < 0)
		return rc;
	flags = fcntl(*ret, F_GETFL);
	if (flags < 0 || (flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_RDONLY)
		return fence_fail_why(err, -EBADF, "not open for writing", "%s", value);
	return 0;
}

static int set_result_fd(void *conf, const char *value, struct fence_err *err)
{
	return parse_writable_fd(value, &((struct run_conf *)conf)->result_fd, err);
}

static int set_events_fd(void *conf, const char *value, struct fence_err *err)
{
	return parse_writable_fd(value, &((struct run_conf *)conf)->events_fd, err);
}

static int set_keep_fd(void *arg, const char *value, struct fence_err *err)
{
	struct run_conf *conf = arg;
	size_t at = conf->keep_count;
	int fd = -1;
	int rc = parse_open_fd(value, 3, &fd, err);

	if (rc < 0)
		return rc;
	if (at == RUN_FDS_MAX)
		return fence_fail_why(err, -E2BIG, "given more than 64 times", "--keep-fd");
	while (at > 0 && conf->keep_fds[at - 1] > fd) {
		conf->keep_fds[at] = conf->keep_fds[at - 1];
		at--;
	}
	conf->keep_fds[at] = fd;
	conf->keep_count++;
	return 0;
}

static int set_umask(void *conf, const char *value, struct fence_err *err)
{
	char *end;
	unsigned long mask = strtoul(value, &end, 8);

	if (value[0] < '0' || value[0] > '7' || *end != '\0' || mask > 0777) {
		(void)fence_fail_why(err, -EINVAL, "not a file mode mask", "\"%s\"", value);
		return fence_hint(err, "write an octal number from 0 to 777");
	}
	((struct run_conf *)conf)->umask = (int)mask;
	return 0;
}

static int set_nice(void *conf, const char *value, struct fence_err *err)
{
	return fence_opt_number(value, -40, 40, &((struct run_conf *)conf)->nice, err);
}

static int set_limit(void *arg, const char *value, struct fence_err *err)
{
	struct run_conf *conf = arg;

	if (conf->limit_count == RUN_LIMITS_MAX)
		return fence_fail_why(err, -E2BIG, "given more than 16 times", "--limit");
	return fence_limit_parse(value, &conf->limits[conf->limit_count++], err);
}

int run_conf_edit_env(struct run_conf *conf, const char *text, bool unset, struct fence_err *err)
{
	if (text[0] == '\0' || text[0] == '=' || (unset && strchr(text, '=') != NULL))
		return fence_fail_why(err, -EINVAL, "not a variable's name", "\"%s\"", text);
	if (conf->env_edit_count == RUN_ENV_EDITS_MAX)
		return fence_fail_why(err, -E2BIG, "given more than 256 times", "\"%s\"", text);
	conf->env_edits[conf->env_edit_count++] =
		(struct run_env_edit){ .text = text, .unset = unset };
	return 0;
}

static int set_env(void *conf, const char *value, struct fence_err *err)
{
	return run_conf_edit_env(conf, value, false, err);
}

static int set_unset(void *conf, const char *value, struct fence_err *err)
{
	return run_conf_edit_env(conf, value, true, err);
}

static int set_fence(void *conf, const char *value, struct fence_err *err)
{
	struct fence_marker_path path;

	((struct run_conf *)conf)->fence_path = value;
	return fence_marker_path_split(value, &path, err);
}

static int set_attempt(void *conf, const char *value, struct fence_err *err)
{
	if (!fence_marker_is_attempt_id(value))
		return fence_fail_why(err, -EINVAL, "must be 1 to 128 of A-Za-z0-9._-", "\"%s\"",
				      value);
	((struct run_conf *)conf)->attempt_id = value;
	return 0;
}

static int set_format(void *conf, const char *value, struct fence_err *err)
{
	(void)err;
	((struct run_conf *)conf)->format =
		(enum fence_marker_format)fence_opt_choice(FENCE_MARKER_FORMATS, value);
	return 0;
}

static int set_approved(void *arg, const char *value, struct fence_err *err)
{
	struct run_conf *conf = arg;

	conf->has_approved = true;
	return fence_marker_approved_parse(value, &conf->approved, err);
}

static const struct fence_opt own_options[] = {
	{ 0, "reraise", NULL, "die of the signal that the command died of",
	  FENCE_OPT_TRUE(struct run_conf, reraise) },
	{ 0, "foreground", NULL, "leave it in our process group, so that it has our terminal",
	  FENCE_OPT_TRUE(struct run_conf, foreground) },
	{ 0, "pty", NULL, "give it a terminal of its own, relayed to our input and output",
	  FENCE_OPT_TRUE(struct run_conf, pty) },
	{ 0, "progress", NULL, "on a terminal: show time, processes and memory meanwhile",
	  FENCE_OPT_TRUE(struct run_conf, progress) },
	{ 0, "fence", "MARKER", "start only while this marker is the approved one and active",
	  .set = set_fence },
	{ 0, "attempt", "ID", "with --fence: the attempt that it must be of", .set = set_attempt },
	{ 0, "approved", "JSON", "with --fence: the state that it must be in",
	  .set = set_approved },
	{ 0, "format", "FORMAT", "with --fence: the marker's format (fence-marker/v1)",
	  .set = set_format, .choices = FENCE_MARKER_FORMATS },
};

const struct fence_opt run_options[] = {
	{ 't', "timeout", "DURATION", "end the command after so long; exit 124",
	  .set = set_timeout },
	{ 0, "idle-timeout", "DURATION", "end it after so long without a byte of output; exit 124",
	  .set = set_idle_timeout },
	{ 0, "cpu-timeout", "DURATION",
	  "end it after so much processor time, of all that it started together; exit 124",
	  .set = set_cpu_timeout },
	{ 0, "clock", "CLOCK", "what --timeout counts: boottime goes on in a suspended machine",
	  .set = set_clock, .choices = "monotonic|boottime" },
	{ 0, "grace", "DURATION", "between TERM and KILL (5s)", .set = set_grace },
	{ 0, "term-scope", "SCOPE", "who gets the TERM (group); KILL is always for all",
	  .set = set_term_scope, .choices = TERM_SCOPES },
	{ 0, "leftover", "ACTION",
	  "what the command leaves behind is ended (kill), waited for, ended and a "
	  "failure, or left running",
	  .set = set_leftover, .choices = LEFTOVERS },
	{ 0, "contain", "HOW", "what makes the end certain (subreaper); see the manual",
	  .set = set_contain, .choices = CONTAINS },
	{ 0, "capture", "SIZE", "keep the last SIZE bytes of each output stream for the record",
	  .set = set_capture },
	{ 0, "capture-head", "SIZE", "keep the first SIZE bytes as well", .set = set_capture_head },
	{ 0, "tee", NULL, "pass captured output on as well", FENCE_OPT_TRUE(struct run_conf, tee) },
	{ 0, "log", "FILE", "write all output to FILE", FENCE_OPT_KEEP(struct run_conf, log_path) },
	{ 0, "stdout", "FILE", "let the command write its standard output to FILE",
	  .set = set_stdout },
	{ 0, "stderr", "FILE", "let it write its standard error to FILE", .set = set_stderr },
	{ 0, "leak", "ACTION", "output still held open after the end: report it, or fail",
	  .set = set_leak, .choices = "report|fail" },
	{ 0, "result", "FILE", "write the result record to FILE (- for standard output)",
	  FENCE_OPT_KEEP(struct run_conf, result_path) },
	{ 0, "result-fd", "N", "write the result record to descriptor N", .set = set_result_fd },
	{ 0, "events-fd", "N", "write an event a line to descriptor N while it runs",
	  .set = set_events_fd },
	{ 0, "cwd", "DIR", "run it in DIR", FENCE_OPT_KEEP(struct run_conf, dir) },
	{ 0, "umask", "MODE", "run it with this file mode mask (octal)", .set = set_umask },
	{ 0, "nice", "N", "add N to its nice value", .set = set_nice },
	{ 0, "limit", "NAME=N[:HARD]", "set a resource limit, as nofile=1024 or core=0",
	  .set = set_limit },
	{ 0, "keep-fd", "N", "leave descriptor N open for it (all above 2 are closed)",
	  .set = set_keep_fd },
	{ 0, "env-allow", NULL,
	  "start from PATH HOME USER LOGNAME TMPDIR LANG LC_ALL LC_CTYPE TZ "
	  "alone",
	  FENCE_OPT_TRUE(struct run_conf, env_allow) },
	{ 0, "env", "NAME[=VALUE]", "set a variable, or let ours through", .set = set_env },
	{ 0, "unset", "NAME", "remove a variable", .set = set_unset },
	{ 0, "keep-signals", NULL, "leave ignored and blocked signals as they were given to us",
	  FENCE_OPT_TRUE(struct run_conf, keep_signals) },
	{ 'q', "quiet", NULL, "say nothing about time-outs, leftovers and leaks",
	  FENCE_OPT_TRUE(struct run_conf, quiet) },
	{ .name = NULL },
};

const struct fence_cli run_cli = {
	.program = "fence-run",
	.summary = "run one command, end all of it, say how it went",
	.operands = "-- COMMAND [ARG...]",
	.opts = own_options,
	.count = sizeof(own_options) / sizeof(own_options[0]),
	.shared = run_options,
	.notes = "Exit status: the command's; 124 a time-out; 125 fence-run failed; 126 it cannot\n"
		 "be executed; 127 it was not found; 128+N it died of signal N; 77 its fence is\n"
		 "shut.\n",
};

bool run_reads_output(const struct run_conf *conf)
{
	return conf->captures || conf->tee || conf->pty || conf->log_path != NULL ||
	       conf->idle_timeout_ms > 0;
}

/* Watching for silence alone is no wish to have the output swallowed. */
bool run_passes_output(const struct run_conf *conf)
{
	return conf->tee || (!conf->captures && conf->log_path == NULL);
}

int run_conf_check(const struct run_conf *conf, struct fence_err *err)
{
	bool to_stdout = (conf->result_path != NULL && strcmp(conf->result_path, "-") == 0) ||
			 conf->result_fd == 1 || conf->events_fd == 1;

	if (run_reads_output(conf) && (conf->stream_paths[0] || conf->stream_paths[1])) {
		(void)fence_fail_why(err, -EINVAL, "the command writes it itself",
				     "%s with --capture, --tee, --log, --pty or --idle-timeout",
				     conf->stream_paths[0] ? "--stdout" : "--stderr");
		return fence_hint(err, "use one or the other");
	}
	if (conf->leftover == FENCE_LEFTOVER_LEAVE &&
	    (conf->contain == FENCE_GROUP_PIDNS || conf->contain == FENCE_GROUP_CGROUP)) {
		(void)fence_fail_why(err, -EINVAL, "what is left would be held by it",
				     "--leftover leave with --contain");
		return fence_hint(err, "use --contain subreaper, or another --leftover");
	}
	if (conf->fence_path != NULL && (conf->attempt_id == NULL || !conf->has_approved))
		return fence_fail_why(err, -EINVAL, "--attempt and --approved are missing",
				      "--fence");
	if (conf->fence_path == NULL && (conf->attempt_id != NULL || conf->has_approved))
		return fence_fail_why(err, -EINVAL, "--fence MARKER is missing",
				      conf->has_approved ? "--approved" : "--attempt");
	if (conf->foreground && conf->pty)
		return fence_fail_why(err, -EINVAL, "--pty gives it a terminal of its own",
				      "--foreground");
	if (conf->progress && conf->pty)
		return fence_fail_why(err, -EINVAL, "with --pty the screen is the command's",
				      "--progress");
	if (!to_stdout || (run_reads_output(conf) && !run_passes_output(conf)))
		return 0;
	(void)fence_fail_why(err, -EINVAL, "the command's own output goes there too",
			     "result record on standard output");
	return fence_hint(err, "add --capture SIZE without --tee, or use --result FILE");
}
