/* fence-marker create */
#include <errno.h>

#include "fence/cli/marker_cli.h"

static int set_pid(void *arg, const char *value, struct fence_err *err)
{
	struct marker_conf *conf = arg;

	return fence_opt_number(value, 1, INT32_MAX, &conf->pid, err);
}

static const struct fence_opt opts[] = {
	{ 0, "attempt", "ID", "the attempt: 1 to 128 of A-Za-z0-9._-", .set = marker_set_attempt },
	{ 0, "pid", "PID", "the supervisor, which must be running", .set = set_pid },
	MARKER_OPT_DURABLE,
	MARKER_OPT_FORMAT,
	MARKER_OPT_LOCK_WAIT,
	MARKER_OPT_JSON,
};

static int run(const struct marker_conf *conf)
{
	const struct fence_marker_birth birth = {
		.format = conf->format,
		.attempt_id = conf->attempt_id,
		.supervisor_pid = (pid_t)conf->pid,
		.by = FENCE_MARKER_BY_EXECUTOR,
		.durable = conf->durable,
		.lock_wait_ms = conf->lock_wait_ms,
	};
	struct marker_outcome out = { .word = "created" };
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
	return marker_say(conf, &out, "fence-marker-create/v1");
}

const struct marker_verb marker_create_verb = {
	.cli = { .program = MARKER_PROGRAM,
		 .verb = "create",
		 .summary = "make an active marker where no file of that name is",
		 .operands = "PATH",
		 .opts = opts,
		 .count = COUNT(opts),
		 .notes = MARKER_EXITS },
	.needs = MARKER_NEEDS_ATTEMPT | MARKER_NEEDS_PID,
	.run = run,
};
