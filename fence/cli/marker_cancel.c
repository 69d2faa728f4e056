/* fence-marker cancel: asks for an attempt's end. It signals nobody: that is the
 * supervisor's, who reads the marker. */
#include <errno.h>
#include <string.h>

#include "fence/cli/marker_cli.h"

static int set_wait(void *arg, const char *value, struct fence_err *err)
{
	struct marker_conf *conf = arg;

	conf->has_wait = true;
	return fence_opt_duration(value, &conf->wait_ms, err);
}

static const struct fence_opt opts[] = {
	{ 0, "attempt", "ID", "refuse unless it is this attempt's", .set = marker_set_attempt },
	{ 0, "wait", "DURATION", "then wait so long until it is over (0: for ever)",
	  .set = set_wait },
	MARKER_OPT_DURABLE,
	MARKER_OPT_FORMAT,
	MARKER_OPT_LOCK_WAIT,
	MARKER_OPT_JSON,
};

static void end_with(struct marker_outcome *out, const char *word, int status)
{
	out->word = word;
	out->status = status;
}

/* -EPERM is also what a file system says; only the marker can say that it means that
 * nothing follows. */
static int fail_advance(const struct marker_conf *conf, struct fence_marker *marker,
			struct marker_outcome *out, int rc)
{
	static const struct {
		int rc;
		const char *word;
		int status;
	} rows[] = {
		{ -EBADMSG, "none", STATUS_NO_MARKER },
		{ -EAGAIN, "busy", STATUS_BUSY },
		{ -ESTALE, "other-attempt", STATUS_OTHER_STATE },
	};

	end_with(out, "not-cancelled", STATUS_REFUSED);
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].rc == rc)
			end_with(out, rows[i].word, rows[i].status);
	if (fence_marker_read(conf->path, conf->format, marker, NULL, NULL) < 0)
		out->marker = NULL;
	else if (rc == -EPERM && marker->status == FENCE_MARKER_TERMINATED)
		end_with(out, "already-terminated", STATUS_OTHER_STATE);
	return rc;
}

static int publish(const struct marker_conf *conf, struct fence_marker *marker,
		   struct marker_outcome *out)
{
	const struct fence_attempt_step step = {
		.format = conf->format,
		.attempt_id = marker->attempt_id,
		.status = FENCE_MARKER_CANCELLED,
		.by = FENCE_MARKER_BY_CANCEL,
		.durable = conf->durable,
		.lock_wait_ms = conf->lock_wait_ms,
	};
	enum fence_marker_answer answer = FENCE_MARKER_NOT_REPLACED;
	struct fence_marker_writer writer;
	struct fence_marker now;
	int rc = fence_marker_writer_open(conf->path, &writer, &out->err);

	if (rc < 0) {
		end_with(out, "not-cancelled", STATUS_REFUSED);
		return rc;
	}
	rc = fence_attempt_advance(&writer, &step, &now, &answer, &out->err);
	fence_marker_writer_close(&writer);
	out->changed = answer != FENCE_MARKER_NOT_REPLACED;
	if (rc < 0 && !out->changed)
		return fail_advance(conf, marker, out, rc);
	*marker = now;
	if (rc < 0)
		end_with(out, "not-durable", STATUS_OTHER_STATE);
	return rc;
}

/* Reads what there is to cancel, and cancels it: 0, and then it is `marker`. */
static int cancel(const struct marker_conf *conf, struct fence_marker *marker,
		  struct marker_outcome *out)
{
	if (fence_marker_read(conf->path, conf->format, marker, NULL, NULL) < 0) {
		marker_fail_none(&out->err, conf->path);
		end_with(out, "none", STATUS_NO_MARKER);
		return -EBADMSG;
	}
	out->marker = marker;
	if (conf->attempt_id && strcmp(conf->attempt_id, marker->attempt_id) != 0) {
		end_with(out, "other-attempt", STATUS_OTHER_STATE);
		return fence_fail_why(&out->err, -ESTALE, "it is of another attempt", "%s",
				      conf->path);
	}
	if (marker->status == FENCE_MARKER_TERMINATED) {
		end_with(out, "already-terminated", STATUS_OTHER_STATE);
		return fence_fail_why(&out->err, -EPERM, "it has terminated already", "%s",
				      conf->path);
	}
	if (marker->status == FENCE_MARKER_CANCELLED) {
		end_with(out, "already-cancelled", STATUS_DONE);
		return 0;
	}
	end_with(out, "cancelled", STATUS_DONE);
	return publish(conf, marker, out);
}

/* Asked is not done: whoever cancelled should know that nobody is there to end it. */
static void look_at_life(const struct fence_marker *marker, struct marker_outcome *out)
{
	enum fence_attempt_life life;

	if (fence_attempt_is_over(marker) || fence_attempt_judge(marker, &life, NULL, NULL) < 0)
		return;
	out->life = fence_attempt_life_word(life);
	if (life == FENCE_ATTEMPT_DEAD)
		out->tail = "; its supervisor has ended: see fence-marker repair";
}

static void wait_until_over(const struct marker_conf *conf, const struct fence_marker *marker,
			    struct marker_waited *waited, struct marker_outcome *out)
{
	const struct marker_goal goal = { .attempt_id = marker->attempt_id,
					  .format = conf->format,
					  .timeout_ms = conf->wait_ms };

	marker_wait_for(conf->path, &goal, waited);
	out->marker = waited->has_marker ? &waited->marker : NULL;
	out->life = waited->has_marker ? waited->life : NULL;
	out->tail = NULL;
	marker_end_outcome(conf->path, waited, out);
	if (waited->end == MARKER_WAIT_REACHED)
		out->word = "over";
}

static int run(const struct marker_conf *conf)
{
	struct marker_outcome out = { 0 };
	struct marker_waited waited;
	struct fence_marker marker;
	int rc = cancel(conf, &marker, &out);

	if (rc == 0)
		look_at_life(&marker, &out);
	if (rc == 0 && conf->has_wait)
		wait_until_over(conf, &marker, &waited, &out);
	return marker_say(conf, &out, "fence-marker-cancel/v1");
}

const struct marker_verb marker_cancel_verb = {
	.cli = { .program = MARKER_PROGRAM,
		 .verb = "cancel",
		 .summary = "ask for an attempt's end, which its supervisor brings",
		 .operands = "PATH",
		 .opts = opts,
		 .count = COUNT(opts),
		 .notes = MARKER_EXITS },
	.run = run,
};
