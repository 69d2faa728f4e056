/* Repair, in this order:
 *
 *   1. the marker is read; an attempt that is over needs nothing
 *   2. its supervisor is judged; alive or unknowable ends it here
 *   3. byte 1 of the lock is taken, as a supervisor does: one repair at a time
 *   4. the marker is read and judged again, now that nobody else can own it
 *   5. `terminating` is published: from now on no group runner starts anything
 *   6. what is left is looked for by the marker that was published, and ended
 *   7. the end is published, or that some is left
 */
#include "fence/attempt_repair.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "fence/own.h"

const char *fence_repair_outcome_word(enum fence_repair_outcome outcome)
{
	static const char *const words[] = {
		[FENCE_REPAIR_DONE] = "repaired",
		[FENCE_REPAIR_NOTHING] = "nothing-to-do",
		[FENCE_REPAIR_PLANNED] = "would-repair",
		[FENCE_REPAIR_SURVIVED] = "survived",
		[FENCE_REPAIR_UNPROVEN] = "unproven",
		[FENCE_REPAIR_NOT_DURABLE] = "not-durable",
		[FENCE_REPAIR_NO_MARKER] = "none",
		[FENCE_REPAIR_OTHER_ATTEMPT] = "other-attempt",
		[FENCE_REPAIR_BUSY] = "busy",
		[FENCE_REPAIR_ALIVE] = "alive",
		[FENCE_REPAIR_UNKNOWABLE] = "unknowable",
		[FENCE_REPAIR_INSIDE] = "inside",
		[FENCE_REPAIR_FAILED] = "failed",
	};

	return words[outcome];
}

struct repair {
	const char *path;
	const struct fence_attempt_repair *plan;
	struct fence_marker_writer writer;
	struct fence_attempt_repaired *ret;
	struct fence_err *err;
};

/* --- who may ------------------------------------------------------------------------------- */

static int refuse(struct repair *r, enum fence_repair_outcome outcome, int rc, const char *why)
{
	r->ret->outcome = outcome;
	return fence_fail_why(r->err, rc, why, "%s", r->path);
}

static int fail(struct repair *r, int rc)
{
	r->ret->outcome = FENCE_REPAIR_FAILED;
	return rc;
}

/* 1: it is the attempt meant, and not over; 0: over. */
static int read_marker(struct repair *r)
{
	if (fence_marker_read(r->path, r->plan->format, &r->ret->marker, NULL, NULL) < 0) {
		r->ret->has_marker = false;
		return refuse(r, FENCE_REPAIR_NO_MARKER, -EBADMSG, "no authentic marker");
	}
	r->ret->has_marker = true;
	if (r->plan->attempt_id && strcmp(r->plan->attempt_id, r->ret->marker.attempt_id) != 0)
		return refuse(r, FENCE_REPAIR_OTHER_ATTEMPT, -ESTALE, "it is of another attempt");
	r->ret->outcome = FENCE_REPAIR_NOTHING;
	return !fence_attempt_is_over(&r->ret->marker);
}

static int refuse_alive(struct repair *r, pid_t pid)
{
	char why[80] = "a supervisor that is not seen from here owns it";

	if (pid > 0)
		(void)snprintf(why, sizeof(why), "its supervisor runs: pid %d", (int)pid);
	(void)refuse(r, FENCE_REPAIR_ALIVE, -EBUSY, why);
	(void)fence_hint(r->err, "see fence-marker cancel");
	return -EBUSY;
}

static int refuse_unknowable(struct repair *r)
{
	static const char *const whys[] = {
		[FENCE_ATTEMPT_OTHER_HOST] = "it is of another host, of which nobody here can know",
		[FENCE_ATTEMPT_OTHER_BOOT] = "it is of another boot, of which nobody here can know",
		[FENCE_ATTEMPT_OTHER_PID_NS] =
			"it is of another pid namespace, of which nobody here can know",
		[FENCE_ATTEMPT_UNKNOWN] =
			"its supervisor's pid is taken, and it does not say enough to tell by whom",
	};

	(void)refuse(r, FENCE_REPAIR_UNKNOWABLE, -EXDEV, whys[r->ret->life]);
	(void)fence_hint(r->err, "a person who knows that it is over can say --force");
	return -EXDEV;
}

static int judge(struct repair *r)
{
	int rc = fence_attempt_judge(&r->ret->marker, &r->ret->life, NULL, r->err);

	if (rc < 0)
		return fail(r, rc);
	r->ret->has_life = true;
	if (r->ret->life == FENCE_ATTEMPT_ALIVE)
		return refuse_alive(r, r->ret->marker.supervisor.pid);
	if (r->ret->life == FENCE_ATTEMPT_DEAD)
		return 0;
	if (!r->plan->force)
		return refuse_unknowable(r);
	r->ret->forced = true;
	return 0;
}

/* Somebody has byte 1: the supervisor, or another repair. */
static int refuse_owner(struct repair *r, pid_t owner)
{
	char why[64];

	r->ret->owner = owner;
	if (owner == 0 || owner == r->ret->marker.supervisor.pid)
		return refuse_alive(r, owner);
	(void)snprintf(why, sizeof(why), "another process owns it: pid %d", (int)owner);
	return refuse(r, FENCE_REPAIR_BUSY, -EBUSY, why);
}

/* Without making a lock where there is none: nothing is to be changed. */
static int check_owner(struct repair *r)
{
	struct fence_marker_writer look = { .dir_fd = -1, .lock_fd = -1 };
	char path[PATH_MAX + 8];
	pid_t owner = 0;
	int rc;

	(void)snprintf(path, sizeof(path), "%s.lock", r->path);
	look.lock_fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (look.lock_fd < 0)
		return 0;
	rc = fence_attempt_owner(&look, &owner);
	fence_close_fd(&look.lock_fd);
	return rc > 0 ? refuse_owner(r, owner) : 0;
}

static int own(struct repair *r)
{
	pid_t owner = 0;
	int rc = fence_attempt_own(&r->writer, &owner, r->err);

	if (rc == -EBUSY)
		return refuse_owner(r, owner);
	return rc < 0 ? fail(r, rc) : 0;
}

/* --- what is left --------------------------------------------------------------------------- */

/* Numbers of another boot or pid namespace mean nothing here. */
static bool is_here(const struct repair *r)
{
	return r->ret->life == FENCE_ATTEMPT_DEAD || r->ret->life == FENCE_ATTEMPT_UNKNOWN;
}

/* One look, for the record, and for whether we are of the attempt ourselves. */
static int look(struct repair *r, const struct fence_left_traces *traces)
{
	struct fence_left_list list = { 0 };
	int rc = fence_left_find(traces, &list, r->err);

	r->ret->left_count = list.count;
	for (size_t i = 0; i < list.count && i < FENCE_REPAIR_LISTED; i++) {
		r->ret->left[i] = list.items[i];
		r->ret->left[i].pidfd = -1;
	}
	r->ret->ended.unproven = (unsigned int)list.unproven;
	r->ret->ended.survivors = (unsigned int)(list.count - list.unproven);
	if (rc < 0)
		rc = fail(r, rc);
	else if (list.has_self)
		rc = refuse(r, FENCE_REPAIR_INSIDE, -EDEADLK,
			    "this process is of the attempt itself");
	fence_left_list_drop(&list);
	return rc;
}

static int look_for_left(struct repair *r, struct fence_left_traces *traces)
{
	int rc;

	*traces = (struct fence_left_traces){ .group_pidfd = -1, .cgroup_fd = -1 };
	if (!is_here(r))
		return 0;
	rc = fence_left_traces_open(&r->ret->marker, traces, r->err);
	return rc < 0 ? fail(r, rc) : look(r, traces);
}

/* --- publishing --------------------------------------------------------------------------------
 */

static int publish(struct repair *r, enum fence_marker_status status,
		   const struct fence_marker_result *result)
{
	char attempt_id[FENCE_MARKER_ATTEMPT_BYTES];
	const struct fence_attempt_step step = {
		.format = r->plan->format,
		.attempt_id = attempt_id,
		.supervisor = r->ret->marker.supervisor,
		.status = status,
		.by = FENCE_MARKER_BY_REPAIR,
		.result = result,
		.durable = r->plan->durable,
		.lock_wait_ms = r->plan->lock_wait_ms,
	};
	enum fence_marker_answer answer = FENCE_MARKER_NOT_REPLACED;
	int rc;

	memcpy(attempt_id, r->ret->marker.attempt_id, sizeof(attempt_id));
	rc = fence_attempt_advance(&r->writer, &step, &r->ret->marker, &answer, r->err);
	if (rc == 0)
		return 0;
	if (answer == FENCE_MARKER_NOT_DURABLE)
		r->ret->outcome = FENCE_REPAIR_NOT_DURABLE;
	else
		r->ret->outcome = rc == -EAGAIN ? FENCE_REPAIR_BUSY : FENCE_REPAIR_FAILED;
	return rc;
}

static enum fence_reap judge_reap(const struct fence_marker *marker,
				  const struct fence_left_ended *ended, bool is_left)
{
	if (is_left)
		return FENCE_REAP_SURVIVED;
	if (ended->kill_sent)
		return FENCE_REAP_KILL;
	if (ended->term_sent)
		return FENCE_REAP_TERM;
	return marker->group.pid != 0 ? FENCE_REAP_CLEAR : FENCE_REAP_NO_SESSION;
}

static int publish_end(struct repair *r)
{
	const struct fence_left_ended *ended = &r->ret->ended;
	unsigned int left = ended->survivors + (r->plan->force ? 0 : ended->unproven);
	const struct fence_marker_result result = {
		.cause = r->ret->marker.status == FENCE_MARKER_CANCELLED
				 ? FENCE_CAUSE_CANCELLED
				 : FENCE_CAUSE_SUPERVISOR_SIGNAL,
		.code = -1,
		.reap = judge_reap(&r->ret->marker, ended, left > 0),
		.survivors = left,
	};
	int rc = publish(r, left > 0 ? FENCE_MARKER_TERMINATING : FENCE_MARKER_TERMINATED, &result);

	if (rc < 0)
		return rc;
	r->ret->forced |= r->plan->force && ended->unproven > 0;
	r->ret->outcome = FENCE_REPAIR_DONE;
	if (ended->survivors > 0)
		return refuse(r, FENCE_REPAIR_SURVIVED, -EBUSY, "some of it outlived SIGKILL");
	if (left == 0)
		return 0;
	(void)refuse(r, FENCE_REPAIR_UNPROVEN, -EBUSY,
		     "processes with its group's number may be strangers");
	(void)fence_hint(r->err, "a person who knows that they are can say --force");
	return -EBUSY;
}

/* --- all of it
 * ------------------------------------------------------------------------------------ */

static int end_and_publish(struct repair *r)
{
	struct fence_left_traces traces;
	int rc = look_for_left(r, &traces);

	if (rc == 0 && is_here(r)) {
		rc = fence_left_end(&traces, r->plan->grace_ms, &r->ret->ended, r->err);
		if (rc < 0)
			rc = fail(r, rc);
	}
	fence_left_traces_close(&traces);
	return rc < 0 ? rc : publish_end(r);
}

/* Nobody else owns it, and `terminating` keeps group runners from starting more. */
static int apply(struct repair *r)
{
	struct fence_left_traces traces;
	int rc = read_marker(r);

	if (rc <= 0)
		return rc;
	rc = judge(r);
	if (rc < 0)
		return rc;
	rc = look_for_left(r, &traces); /* before anything is changed: are we inside? */
	fence_left_traces_close(&traces);
	if (rc == 0)
		rc = publish(r, FENCE_MARKER_TERMINATING, NULL);
	return rc < 0 ? rc : end_and_publish(r);
}

static int plan(struct repair *r)
{
	struct fence_left_traces traces;
	int rc = check_owner(r);

	if (rc < 0)
		return rc;
	rc = look_for_left(r, &traces);
	fence_left_traces_close(&traces);
	if (rc == 0)
		r->ret->outcome = FENCE_REPAIR_PLANNED;
	return rc;
}

int fence_attempt_repair(const char *path, const struct fence_attempt_repair *how,
			 struct fence_attempt_repaired *ret, struct fence_err *err)
{
	struct repair r = { .path = path, .plan = how, .ret = ret, .err = err };
	int rc;

	*ret = (struct fence_attempt_repaired){ 0 };
	rc = read_marker(&r);
	if (rc > 0)
		rc = judge(&r);
	else
		return rc;
	if (rc < 0)
		return rc;
	if (!how->apply)
		return plan(&r);
	rc = fence_marker_writer_open(path, &r.writer, err);
	if (rc < 0)
		return fail(&r, rc);
	rc = own(&r);
	if (rc == 0)
		rc = apply(&r);
	fence_marker_writer_close(&r.writer);
	return rc;
}
