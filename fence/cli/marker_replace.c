/* fence-marker replace */
#include <errno.h>

#include "fence/cli/marker_cli.h"

static int set_approved(void *arg, const char *value, struct fence_err *err)
{
	struct marker_conf *conf = arg;

	conf->has_approved = true;
	return fence_marker_approved_parse(value, &conf->approved, err);
}

static int set_status(void *arg, const char *value, struct fence_err *err)
{
	struct marker_conf *conf = arg;

	(void)err;
	conf->has_status = true;
	conf->status = (enum fence_marker_status)fence_opt_choice(FENCE_MARKER_STATUSES, value);
	return 0;
}

static const struct fence_opt opts[] = {
	{ 0, "attempt", "ID", "the attempt that it must be of", .set = marker_set_attempt },
	{ 0, "approved", "JSON", "the state to replace, as create and read print it",
	  .set = set_approved },
	{ 0, "status", "STATUS", "the new status", .set = set_status,
	  .choices = FENCE_MARKER_STATUSES },
	MARKER_OPT_DURABLE,
	MARKER_OPT_FORMAT,
	MARKER_OPT_LOCK_WAIT,
	MARKER_OPT_JSON,
};

static int run(const struct marker_conf *conf)
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
	struct marker_outcome out = { .word = "replaced" };
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
	return marker_say(conf, &out, "fence-marker-replace/v1");
}

const struct marker_verb marker_replace_verb = {
	.cli = { .program = MARKER_PROGRAM,
		 .verb = "replace",
		 .summary = "give a marker its next state, if it is still the approved one",
		 .operands = "PATH",
		 .opts = opts,
		 .count = COUNT(opts),
		 .notes = MARKER_EXITS },
	.needs = MARKER_NEEDS_ATTEMPT | MARKER_NEEDS_APPROVED | MARKER_NEEDS_STATUS,
	.run = run,
};
