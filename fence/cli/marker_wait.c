/* fence-marker wait: sleeps until a marker has a state. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "fence/cli/marker_cli.h"
#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"

/* A file that is no authentic marker may be one that a writer without the lock is
 * writing in place. It has this long to finish. */
#define SETTLE_MS 500

#define BIT(status) (1U << (status))

enum marker_wait_end marker_judge_goal(const struct fence_marker *marker,
				       const struct marker_goal *goal)
{
	/* What a marker may still be told to be, by what it is. */
	static const unsigned int ahead[] = {
		[FENCE_MARKER_ACTIVE] = BIT(FENCE_MARKER_ACTIVE) | BIT(FENCE_MARKER_TERMINATING) |
					BIT(FENCE_MARKER_TERMINATED) | BIT(FENCE_MARKER_CANCELLED),
		[FENCE_MARKER_TERMINATING] = BIT(FENCE_MARKER_TERMINATING) |
					     BIT(FENCE_MARKER_TERMINATED) |
					     BIT(FENCE_MARKER_CANCELLED),
		[FENCE_MARKER_TERMINATED] = BIT(FENCE_MARKER_TERMINATED),
		[FENCE_MARKER_CANCELLED] = BIT(FENCE_MARKER_CANCELLED),
	};

	if (goal->statuses == 0)
		return fence_attempt_is_over(marker) ? MARKER_WAIT_REACHED : MARKER_WAIT_ON;
	if ((goal->statuses & BIT(marker->status)) != 0)
		return MARKER_WAIT_REACHED;
	return (goal->statuses & ahead[marker->status]) != 0 ? MARKER_WAIT_ON : MARKER_WAIT_NEVER;
}

struct waiting {
	const char *path;
	const struct marker_goal *goal;
	struct fence_marker_watch watch;
	bool was_there;	    /* the marker was read at least once */
	int64_t stop_at_ms; /* of all */
	int64_t none_at_ms; /* of a marker that is not there (yet, or any more) */
	/* The supervisor that was judged, and what holds its end: a pidfd of it, or,
	 * when the marker says too little to tell it from a stranger, of whoever has its
	 * pid: with that one it would have ended as well. */
	bool is_judged;
	struct fence_ident supervisor;
	enum fence_attempt_life life;
	int pidfd;
	struct marker_waited *ret;
};

static bool is_absent(enum fence_marker_rule rule, const struct fence_err *why)
{
	return why->code == -ENOENT &&
	       (rule == FENCE_MARKER_RULE_ENTRY || rule == FENCE_MARKER_RULE_PARENT);
}

/* Reads the marker: is it there, and the attempt's? If not, `none_at_ms` is when to
 * give up. */
static bool look(struct waiting *w)
{
	struct fence_err why = { 0 };
	enum fence_marker_rule rule = FENCE_MARKER_RULE_NAME;
	struct fence_marker marker;
	int rc = fence_marker_read(w->path, w->goal->format, &marker, &rule, &why);
	bool is_other = rc == 0 && w->goal->attempt_id &&
			strcmp(w->goal->attempt_id, marker.attempt_id) != 0;
	bool is_awaited; /* nothing is there yet, as far as this wait is concerned */
	int64_t none_at_ms;

	if (rc == 0 && !is_other) {
		w->was_there = w->ret->has_marker = true;
		w->ret->marker = marker;
		w->none_at_ms = FENCE_NEVER;
		return true;
	}
	w->ret->has_marker = false;
	is_awaited = !w->was_there && (is_other || is_absent(rule, &why));
	none_at_ms = fence_now_ms() + (is_awaited ? w->goal->appear_ms : SETTLE_MS);
	if (none_at_ms < w->none_at_ms)
		w->none_at_ms = none_at_ms;
	return false;
}

static void judge_life(struct waiting *w)
{
	const struct fence_ident *supervisor = &w->ret->marker.supervisor;
	enum fence_attempt_life life;

	fence_close_fd(&w->pidfd);
	w->is_judged = true;
	w->supervisor = *supervisor;
	w->ret->life = NULL;
	/* Who cannot be judged is not dead: then the folder alone tells. */
	if (fence_attempt_judge(&w->ret->marker, &life, &w->pidfd, NULL) < 0)
		life = FENCE_ATTEMPT_UNKNOWN;
	else if (life == FENCE_ATTEMPT_UNKNOWN)
		w->pidfd = fence_pidfd_open(supervisor->pid, 0);
	w->life = life;
	w->ret->life = fence_attempt_life_word(life);
}

static bool is_judged(const struct waiting *w)
{
	const struct fence_ident *named = &w->ret->marker.supervisor;

	return w->is_judged && fence_ident_same(&w->supervisor, named) &&
	       w->supervisor.id == named->id;
}

/* One look at everything. A supervisor publishes first and ends then, so it is
 * judged first and the marker read once more. */
static enum marker_wait_end look_at_all(struct waiting *w)
{
	enum marker_wait_end end;

	for (;;) {
		if (!look(w))
			return MARKER_WAIT_ON;
		end = marker_judge_goal(&w->ret->marker, w->goal);
		if (end != MARKER_WAIT_ON)
			return end;
		if (is_judged(w))
			return w->life == FENCE_ATTEMPT_DEAD ? MARKER_WAIT_DEAD : MARKER_WAIT_ON;
		judge_life(w);
		if (w->life != FENCE_ATTEMPT_DEAD)
			return MARKER_WAIT_ON;
	}
}

static int wait_ms(const struct waiting *w)
{
	int64_t until_ms = w->none_at_ms < w->stop_at_ms ? w->none_at_ms : w->stop_at_ms;
	int64_t left_ms;

	if (until_ms == FENCE_NEVER)
		return -1;
	left_ms = until_ms - fence_now_ms();
	if (left_ms > INT32_MAX)
		return INT32_MAX;
	return left_ms < 0 ? 0 : (int)left_ms;
}

/* Until something of it may have changed: ON, or how it ends. */
static enum marker_wait_end sleep_once(struct waiting *w)
{
	struct pollfd fds[] = { { .fd = w->watch.fd, .events = POLLIN },
				{ .fd = w->pidfd, .events = POLLIN } };
	int rc;

	for (;;) {
		/* Before each sleep, for where others write without a pause, poll always has
		 * something. */
		if (fence_now_ms() >= w->none_at_ms)
			return MARKER_WAIT_NONE;
		if (fence_now_ms() >= w->stop_at_ms)
			return MARKER_WAIT_TIMED_OUT;
		rc = poll(fds, COUNT(fds), wait_ms(w));
		if (rc < 0 && errno != EINTR) {
			(void)fence_fail(&w->ret->err, -errno, "poll");
			return MARKER_WAIT_FAILED;
		}
		if (rc <= 0)
			continue;
		if (fds[1].revents != 0) {
			w->is_judged = false;
			return MARKER_WAIT_ON;
		}
		rc = fence_marker_watch_take(&w->watch);
		if (rc == -ENOENT)
			return MARKER_WAIT_NONE;
		if (rc < 0) {
			(void)fence_fail(&w->ret->err, rc, "watch %s", w->path);
			return MARKER_WAIT_FAILED;
		}
		if (rc > 0)
			return MARKER_WAIT_ON;
	}
}

void marker_wait_for(const char *path, const struct marker_goal *goal, struct marker_waited *ret)
{
	struct waiting w = { .path = path,
			     .goal = goal,
			     .stop_at_ms = fence_deadline_ms(goal->timeout_ms),
			     .none_at_ms = FENCE_NEVER,
			     .pidfd = -1,
			     .ret = ret };
	int rc;

	*ret = (struct marker_waited){ .end = MARKER_WAIT_ON };
	rc = fence_marker_watch_open(path, &w.watch, &ret->err);
	if (rc < 0) {
		bool is_none = rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP || rc == -EINVAL ||
			       rc == -ENAMETOOLONG;

		ret->end = is_none ? MARKER_WAIT_NONE : MARKER_WAIT_FAILED;
		return;
	}
	do {
		ret->end = look_at_all(&w);
		if (ret->end == MARKER_WAIT_ON)
			ret->end = sleep_once(&w);
	} while (ret->end == MARKER_WAIT_ON);
	fence_close_fd(&w.pidfd);
	fence_marker_watch_close(&w.watch);
}

/* --- the verb -------------------------------------------------------------------------- */

static int set_one_status(struct marker_conf *conf, const char *word, size_t length,
			  struct fence_err *err)
{
	char text[16];
	int status;

	(void)snprintf(text, sizeof(text), "%.*s",
		       (int)(length < sizeof(text) ? length : sizeof(text)), word);
	status = fence_opt_choice(FENCE_MARKER_STATUSES, text);
	if (length >= sizeof(text) || status < 0)
		return fence_fail_why(err, -EINVAL,
				      "must be some of " FENCE_MARKER_STATUSES ", with commas",
				      "--status \"%s\"", word);
	conf->statuses |= 1U << status;
	return 0;
}

static int set_statuses(void *arg, const char *value, struct fence_err *err)
{
	struct marker_conf *conf = arg;

	for (const char *at = value;; at++) {
		size_t length = strcspn(at, ",");
		int rc = set_one_status(conf, at, length, err);

		if (rc < 0 || at[length] == '\0')
			return rc;
		at += length;
	}
}

static int set_timeout(void *arg, const char *value, struct fence_err *err)
{
	struct marker_conf *conf = arg;

	return fence_opt_duration(value, &conf->timeout_ms, err);
}

static int set_appear(void *arg, const char *value, struct fence_err *err)
{
	struct marker_conf *conf = arg;

	return fence_opt_duration(value, &conf->appear_ms, err);
}

static const struct fence_opt opts[] = {
	{ 0, "status", "STATUS,...", "until its status is one of these", .set = set_statuses },
	{ 0, "over", NULL, "until nothing of the attempt runs any more",
	  FENCE_OPT_TRUE(struct marker_conf, over) },
	{ 0, "attempt", "ID", "another attempt's marker is not there yet",
	  .set = marker_set_attempt },
	{ 0, "timeout", "DURATION", "exit 75 after so long (default 0, for ever)",
	  .set = set_timeout },
	{ 0, "appear", "DURATION", "how long to wait for a marker at all (default 5s)",
	  .set = set_appear },
	MARKER_OPT_FORMAT,
	MARKER_OPT_JSON,
};

static const struct {
	const char *word;
	int status;
	const char *what, *hint;
} ends[] = {
	[MARKER_WAIT_REACHED] = { "reached", STATUS_DONE, NULL, NULL },
	[MARKER_WAIT_NEVER] = { "never", STATUS_OTHER_STATE, "the status cannot come any more",
				NULL },
	[MARKER_WAIT_DEAD] = { "supervisor-dead", STATUS_OTHER_STATE,
			       "its supervisor has ended without publishing that",
			       "see fence-marker repair" },
	[MARKER_WAIT_NONE] = { "none", STATUS_NO_MARKER, "no authentic marker",
			       "fence-marker read --explain says which rule is broken" },
	[MARKER_WAIT_TIMED_OUT] = { "timed-out", STATUS_BUSY, "not in time", NULL },
	[MARKER_WAIT_FAILED] = { "failed", STATUS_REFUSED, NULL, NULL },
};

void marker_end_outcome(const char *path, const struct marker_waited *waited,
			struct marker_outcome *out)
{
	out->word = ends[waited->end].word;
	out->status = ends[waited->end].status;
	if (ends[waited->end].what)
		(void)fence_fail_why(&out->err,
				     waited->end == MARKER_WAIT_TIMED_OUT ? -ETIMEDOUT : -EBADMSG,
				     ends[waited->end].what, "%s", path);
	else
		out->err = waited->err;
	if (ends[waited->end].hint)
		(void)fence_hint(&out->err, "%s", ends[waited->end].hint);
}

static int run(const struct marker_conf *conf)
{
	const struct marker_goal goal = { .attempt_id = conf->attempt_id,
					  .format = conf->format,
					  .statuses = conf->statuses,
					  .timeout_ms = conf->timeout_ms,
					  .appear_ms = conf->appear_ms };
	struct marker_outcome out = { 0 };
	struct marker_waited waited;

	marker_wait_for(conf->path, &goal, &waited);
	out.marker = waited.has_marker ? &waited.marker : NULL;
	out.life = waited.has_marker ? waited.life : NULL;
	marker_end_outcome(conf->path, &waited, &out);
	if (waited.end == MARKER_WAIT_REACHED && conf->over)
		out.word = "over";
	return marker_say(conf, &out, "fence-marker-wait/v1");
}

const struct marker_verb marker_wait_verb = {
	.cli = { .program = MARKER_PROGRAM,
		 .verb = "wait",
		 .summary = "wait until a marker has a state",
		 .operands = "PATH",
		 .opts = opts,
		 .count = COUNT(opts),
		 .notes = MARKER_EXITS },
	.needs = MARKER_NEEDS_GOAL,
	.run = run,
};
