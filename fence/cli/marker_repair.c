/* fence-marker repair: for a marker whose supervisor died. */
#include <errno.h>
#include <string.h>

#include "fence/attempt_repair.h"
#include "fence/cli/marker_cli.h"

static int set_grace(void *arg, const char *value, struct fence_err *err)
{
	struct marker_conf *conf = arg;

	return fence_opt_duration(value, &conf->grace_ms, err);
}

static const struct fence_opt opts[] = {
	{ 0, "apply", NULL, "do it; otherwise only say what would be done",
	  FENCE_OPT_TRUE(struct marker_conf, apply) },
	{ 0, "force", NULL, "believe me that it is over, where that cannot be known",
	  FENCE_OPT_TRUE(struct marker_conf, force) },
	{ 0, "grace", "DURATION", "between TERM and KILL (default 5s; 0: KILL at once)",
	  .set = set_grace },
	{ 0, "attempt", "ID", "refuse unless it is this attempt's", .set = marker_set_attempt },
	MARKER_OPT_DURABLE,
	MARKER_OPT_FORMAT,
	MARKER_OPT_LOCK_WAIT,
	MARKER_OPT_JSON,
};

static int status_of(enum fence_repair_outcome outcome)
{
	static const int statuses[] = {
		[FENCE_REPAIR_DONE] = STATUS_DONE,
		[FENCE_REPAIR_NOTHING] = STATUS_DONE,
		[FENCE_REPAIR_PLANNED] = STATUS_DONE,
		[FENCE_REPAIR_SURVIVED] = STATUS_OTHER_STATE,
		[FENCE_REPAIR_UNPROVEN] = STATUS_OTHER_STATE,
		[FENCE_REPAIR_NOT_DURABLE] = STATUS_OTHER_STATE,
		[FENCE_REPAIR_NO_MARKER] = STATUS_NO_MARKER,
		[FENCE_REPAIR_OTHER_ATTEMPT] = STATUS_OTHER_STATE,
		[FENCE_REPAIR_BUSY] = STATUS_BUSY,
		[FENCE_REPAIR_ALIVE] = STATUS_REFUSED,
		[FENCE_REPAIR_UNKNOWABLE] = STATUS_REFUSED,
		[FENCE_REPAIR_INSIDE] = STATUS_REFUSED,
		[FENCE_REPAIR_FAILED] = STATUS_REFUSED,
	};

	return statuses[outcome];
}

static size_t listed(const struct fence_attempt_repaired *repaired)
{
	return repaired->left_count < FENCE_REPAIR_LISTED ? repaired->left_count
							  : FENCE_REPAIR_LISTED;
}

static void write_repaired(struct fence_jsonw *w, const void *arg)
{
	const struct fence_attempt_repaired *repaired = arg;

	if (repaired->owner != 0)
		fence_jsonw_int(w, "owner", repaired->owner);
	fence_jsonw_bool(w, "forced", repaired->forced);
	fence_jsonw_bool(w, "termSent", repaired->ended.term_sent);
	fence_jsonw_bool(w, "killSent", repaired->ended.kill_sent);
	fence_jsonw_uint(w, "survivors", repaired->ended.survivors);
	fence_jsonw_uint(w, "unproven", repaired->ended.unproven);
	fence_jsonw_uint(w, "foundCount", repaired->left_count);
	fence_jsonw_open(w, "found", '[');
	for (size_t i = 0; i < listed(repaired); i++) {
		const struct fence_left *left = &repaired->left[i];

		fence_jsonw_open(w, NULL, '{');
		fence_jsonw_int(w, "pid", left->pid);
		fence_jsonw_string(w, "name", left->name);
		fence_jsonw_string(w, "proof", fence_left_proof_word(left->proof));
		fence_jsonw_close(w, '}');
	}
	fence_jsonw_close(w, ']');
}

/* "; found: 77 sleep (group), 78 sh (stamp)" */
static void add_found(struct fence_text *text, const struct fence_attempt_repaired *repaired)
{
	if (repaired->forced)
		fence_text_add(text, "; because you said so");
	if (repaired->left_count == 0)
		fence_text_add(text, "; nothing of it is left");
	for (size_t i = 0; i < listed(repaired); i++) {
		const struct fence_left *left = &repaired->left[i];

		fence_text_add(text, "%s%d ", i == 0 ? "; found: " : ", ", (int)left->pid);
		fence_text_add_safe(text, left->name, strlen(left->name));
		fence_text_add(text, " (%s)", fence_left_proof_word(left->proof));
	}
	if (repaired->left_count > listed(repaired))
		fence_text_add(text, " and %zu more", repaired->left_count - listed(repaired));
}

/* The outcome tells; words are in `err`. */
static void repair(const struct marker_conf *conf, struct fence_attempt_repaired *ret,
		   struct fence_err *err)
{
	const struct fence_attempt_repair plan = {
		.format = conf->format,
		.attempt_id = conf->attempt_id,
		.apply = conf->apply,
		.force = conf->force,
		.grace_ms = conf->grace_ms,
		.durable = conf->durable,
		.lock_wait_ms = conf->lock_wait_ms,
	};

	*ret = (struct fence_attempt_repaired){ .outcome = FENCE_REPAIR_FAILED };
	ret->has_marker =
		fence_marker_read(conf->path, conf->format, &ret->marker, NULL, NULL) == 0;
	(void)fence_attempt_repair(conf->path, &plan, ret, err);
}

static bool was_looked(enum fence_repair_outcome outcome)
{
	return outcome == FENCE_REPAIR_DONE || outcome == FENCE_REPAIR_PLANNED ||
	       outcome == FENCE_REPAIR_SURVIVED || outcome == FENCE_REPAIR_UNPROVEN;
}

static int run(const struct marker_conf *conf)
{
	struct marker_outcome out = { 0 };
	struct fence_attempt_repaired repaired;
	struct fence_text text;
	char tail[8192];

	repair(conf, &repaired, &out.err);
	out.word = fence_repair_outcome_word(repaired.outcome);
	out.status = status_of(repaired.outcome);
	out.changed = conf->apply && was_looked(repaired.outcome);
	out.marker = repaired.has_marker ? &repaired.marker : NULL;
	out.life = repaired.has_life ? fence_attempt_life_word(repaired.life) : NULL;
	out.more = write_repaired;
	out.more_arg = &repaired;
	fence_text_init(&text, tail, sizeof(tail));
	if (was_looked(repaired.outcome))
		add_found(&text, &repaired);
	if (repaired.outcome == FENCE_REPAIR_PLANNED)
		fence_text_add(&text, "; say --apply to do it");
	out.tail = tail;
	return marker_say(conf, &out, "fence-marker-repair/v1");
}

const struct marker_verb marker_repair_verb = {
	.cli = { .program = MARKER_PROGRAM,
		 .verb = "repair",
		 .summary = "end and publish what a dead supervisor left",
		 .operands = "PATH",
		 .opts = opts,
		 .count = COUNT(opts),
		 .notes = MARKER_EXITS },
	.run = run,
};
