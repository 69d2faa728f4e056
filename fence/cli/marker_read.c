/* fence-marker read */
#include <errno.h>
#include <string.h>

#include "fence/cli/marker_cli.h"

static const struct fence_opt opts[] = {
	{ 0, "attempt", "ID", "exit 1 unless it is this attempt's", .set = marker_set_attempt },
	MARKER_OPT_FORMAT,
	{ 0, "explain", NULL, "say which rule of reading is broken",
	  FENCE_OPT_TRUE(struct marker_conf, explain) },
	MARKER_OPT_JSON,
};

static int say_none(const struct marker_conf *conf, enum fence_marker_rule rule,
		    const struct fence_err *why)
{
	struct marker_outcome out = { .word = "none", .status = STATUS_NO_MARKER };

	if (conf->explain) {
		out.rule = fence_marker_rule_word(rule);
		(void)fence_fail_why(&out.err, -EBADMSG,
				     why->why[0] ? why->why : fence_errno_words(why->code),
				     "%s: no authentic marker: rule %s: %s", conf->path, out.rule,
				     why->what);
	} else {
		(void)fence_fail_why(&out.err, -EBADMSG, "no authentic marker", "%s", conf->path);
		(void)fence_hint(&out.err, "--explain says which rule is broken");
	}
	return marker_say(conf, &out, "fence-marker-read/v1");
}

static int run(const struct marker_conf *conf)
{
	struct marker_outcome out = { .word = "authentic" };
	struct fence_marker marker;
	enum fence_marker_rule rule;
	struct fence_err why = { 0 };

	if (fence_marker_read(conf->path, conf->format, &marker, &rule, &why) < 0)
		return say_none(conf, rule, &why);
	out.marker = &marker;
	if (conf->attempt_id && strcmp(conf->attempt_id, marker.attempt_id) != 0) {
		out.word = "other-attempt";
		out.status = STATUS_OTHER_STATE;
	}
	return marker_say(conf, &out, "fence-marker-read/v1");
}

const struct marker_verb marker_read_verb = {
	.cli = { .program = MARKER_PROGRAM,
		 .verb = "read",
		 .summary = "read a marker: authentic, or nothing",
		 .operands = "PATH",
		 .opts = opts,
		 .count = COUNT(opts),
		 .notes = MARKER_EXITS },
	.run = run,
};
