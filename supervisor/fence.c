#include "supervisor/fence.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"

#define LOCK_WAIT_MS  5000
#define OWNER_LOOK_MS 10

/* A marker that is not there, or not authentic, may be on its way: some writers remove
 * and make, or write in place. One that is not back after this is lost. */
#define LOST_MS 100

/* To close a watch that was started is to wait until no reader of the kernel's can be in it (SRCU):
 * 6 ms and more on Linux 6.18, at our very end, when somebody waits for us. A command that is over
 * before this needs none: nobody was quicker with a cancel. */
#define WATCH_AFTER_MS 20

int run_fence_name_marker(struct run_fence *fence, struct run_conf *conf, struct fence_err *err)
{
	static const char name[] = FENCE_ATTEMPT_MARKERS_VARIABLE "=";
	int rc;

	memcpy(fence->markers, name, sizeof(name));
	rc = fence_attempt_markers_add(getenv(FENCE_ATTEMPT_MARKERS_VARIABLE), fence->path,
				       fence->markers + sizeof(name) - 1);
	if (rc < 0)
		return fence_fail(err, rc, "name marker %s in " FENCE_ATTEMPT_MARKERS_VARIABLE,
				  fence->path);
	return run_conf_edit_env(conf, fence->markers, false, err);
}

int run_fence_init(struct run_fence *fence, struct fence_err *err)
{
	int rc = fence_ident_self(&fence->supervisor);

	fence->pid = getpid();
	fence->writer.dir_fd = fence->writer.lock_fd = -1;
	fence->watch.fd = -1;
	if (rc < 0)
		return fence_fail(err, rc, "find out who we are");
	/* Before anything runs that would have to be ended for want of it. */
	return fence_marker_watch_prepare(&fence->watch, err);
}

static bool is_over(const struct run_fence *fence)
{
	struct fence_marker marker;

	return fence_marker_read(fence->path, fence->format, &marker, NULL, NULL) == 0 &&
	       fence_attempt_is_over(&marker);
}

/* Until the process has ended, or a moment has passed where it is not seen from here. */
static void wait_for_end(pid_t pid, int64_t limit_ms)
{
	owned_fd pidfd = pid > 0 ? fence_pidfd_open(pid, 0) : -1;
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };

	(void)poll(&ended, 1, pidfd < 0 ? OWNER_LOOK_MS : (int)limit_ms);
}

/* Who has published the end owns the lock for a moment longer, and whoever waited for that
 * end wants it now. */
int run_fence_own(struct run_fence *fence, struct fence_err *err)
{
	int64_t stop_at_ms = fence_now_ms() + LOCK_WAIT_MS, now_ms;
	int rc = fence_marker_writer_open(fence->path, &fence->writer, err);
	pid_t owner;

	if (rc < 0)
		return rc;
	while ((rc = fence_attempt_own(&fence->writer, &owner, err)) == -EBUSY &&
	       (now_ms = fence_now_ms()) < stop_at_ms && is_over(fence))
		wait_for_end(owner, stop_at_ms - now_ms);
	if (rc == 0)
		err->code = 0; /* what was said of the one before is no news any more */
	return rc;
}

static void approve_state(struct run_fence *fence, const struct fence_marker *marker)
{
	fence->approved = (struct fence_marker_approved){
		.supervisor_pid = marker->supervisor.pid,
		.place = marker->place,
		.seq = marker->seq,
	};
	memcpy(fence->approved.nonce, marker->nonce, sizeof(marker->nonce));
}

/* Why is there no room: an attempt that may still run, or something else? */
static int explain_taken(const struct run_fence *fence, struct fence_err *err)
{
	struct fence_marker marker;

	if (fence_marker_read(fence->path, fence->format, &marker, NULL, NULL) < 0) {
		(void)fence_fail_why(err, -EEXIST, "something else is there", "make marker %s",
				     fence->path);
		(void)fence_hint(err, "fence-marker read --explain says what; use another path");
		return -EEXIST;
	}
	(void)fence_fail_why(err, -EBUSY, "its attempt may still run", "marker %s (attempt %s, %s)",
			     fence->path, marker.attempt_id,
			     fence_marker_status_word(marker.status));
	(void)fence_hint(err, "wait for it, or use fence-marker repair when its supervisor died");
	return -EBUSY;
}

/* A state without a result tells of what runs, or is being ended, on this boot. A power cut
 * may take it back to the one before, which says as much when nothing runs any more; so its
 * folder is not synced, only the file: it is never half there. (On a disk that is a quarter
 * of all the time that an attempt takes.) */
static enum fence_marker_durable passing(const struct run_fence *fence)
{
	return fence->durable == FENCE_MARKER_DURABLE_FULL ? FENCE_MARKER_DURABLE_RENAME
							   : fence->durable;
}

int run_fence_create(struct run_fence *fence, struct fence_err *err)
{
	const struct fence_marker_birth birth = {
		.format = fence->format,
		.attempt_id = fence->attempt_id,
		.supervisor_pid = fence->supervisor.pid,
		.supervisor = &fence->supervisor,
		.by = FENCE_MARKER_BY_SUPERVISOR,
		.durable = passing(fence),
		.over_ended = true,
		.lock_wait_ms = LOCK_WAIT_MS,
	};
	struct fence_marker marker;
	bool made;
	int rc = fence_marker_create(&fence->writer, &birth, &marker, &made, err);

	if (rc == -EEXIST)
		return explain_taken(fence, err);
	if (rc == -EAGAIN)
		return -EBUSY;
	if (rc == 0)
		approve_state(fence, &marker);
	return rc;
}

static int read_approved(const struct run_fence *fence,
			 const struct fence_marker_approved *approved, struct fence_marker *ret,
			 struct fence_err *err)
{
	int rc = fence_marker_read(fence->path, fence->format, ret, NULL, err);

	return rc < 0 ? rc : fence_marker_check_approved(ret, fence->attempt_id, approved, err);
}

int run_fence_borrow(struct run_fence *fence, const struct fence_marker_approved *approved,
		     struct fence_err *err)
{
	struct fence_marker marker;
	int rc = read_approved(fence, approved, &marker, err);

	if (rc < 0)
		return rc;
	fence->borrowed = true;
	fence->supervisor = marker.supervisor;
	approve_state(fence, &marker);
	return 0;
}

int run_fence_approve(struct run_fence *fence, const struct fence_marker_approved *approved,
		      struct fence_err *err)
{
	struct fence_marker marker;
	int rc;

	if (approved->supervisor_pid != fence->supervisor.pid)
		return fence_fail_why(err, -ESTALE, "it names another supervisor", "release");
	rc = read_approved(fence, approved, &marker, err);
	if (rc == 0 && !fence_attempt_names(&marker, &fence->supervisor))
		rc = fence_fail_why(err, -ESTALE, "it names another process with this pid",
				    "marker %s", fence->path);
	/* From now on this very state, not only this file. */
	if (rc == 0)
		approve_state(fence, &marker);
	return rc;
}

/* --- in other processes ------------------------------------------------------------ */

/* The command's own process, before it is the command (spawn.h): its group is published
 * by the one replacement that makes sure that nobody cancelled before. What is published
 * as a group has been let go; what was cancelled first never starts. */
static int publish_group(void *arg, uint64_t cgroup_id, struct fence_err *err)
{
	const struct run_fence *fence = arg;
	enum fence_marker_answer answer;
	struct fence_marker_writer writer;
	struct fence_ident command;
	struct fence_marker_change change = {
		.format = fence->format,
		.attempt_id = fence->attempt_id,
		.approved = &fence->approved,
		.status = FENCE_MARKER_ACTIVE,
		.by = FENCE_MARKER_BY_GROUP_RUNNER,
		.group = &command,
		.group_cgroup = cgroup_id,
		.durable = passing(fence),
		.lock_wait_ms = LOCK_WAIT_MS,
	};
	int rc = fence_ident_self_shown(fence->supervisor.pid_ns, &command);

	if (rc < 0)
		return fence_fail(err, rc, "find out who we are");
	rc = fence_marker_writer_open(fence->path, &writer, err);
	if (rc < 0)
		return rc;
	rc = fence_marker_replace(&writer, &change, NULL, &answer, err);
	fence_marker_writer_close(&writer);
	return rc;
}

/* The same process, for a borrowed marker, which is only read: but no writer has a turn
 * between that and exec(2), which closes the lock. */
static int hold_still(void *arg, uint64_t cgroup_id, struct fence_err *err)
{
	const struct run_fence *fence = arg;
	struct fence_marker_writer writer;
	struct fence_marker marker;
	int rc = fence_marker_writer_open(fence->path, &writer, err);

	(void)cgroup_id;
	if (rc < 0)
		return rc;
	rc = fence_marker_lock(&writer, LOCK_WAIT_MS, err);
	return rc < 0 ? rc : read_approved(fence, &fence->approved, &marker, err);
}

static int advance(struct fence_marker_writer *writer, const struct run_fence *fence,
		   enum fence_marker_status status, enum fence_marker_by by,
		   const struct fence_marker_result *result, struct fence_marker *ret,
		   struct fence_err *err)
{
	const struct fence_attempt_step step = {
		.format = fence->format,
		.attempt_id = fence->attempt_id,
		.supervisor = fence->supervisor,
		.status = status,
		/* Where nothing had to be signalled, nobody was told that it ends. */
		.through_terminating = true,
		.by = by,
		.result = result,
		.durable = result == NULL ? passing(fence) : fence->durable,
		.lock_wait_ms = LOCK_WAIT_MS,
	};
	enum fence_marker_answer answer;

	return fence_attempt_advance(writer, &step, ret, &answer, err);
}

/* Before the first signal, by whoever is about to send it. What cannot be published (a
 * full disk, a marker that is gone) must not keep anything alive: run_fence_conclude
 * meets the same trouble, and says so. */
void run_fence_ending(struct run_fence *fence)
{
	struct fence_marker_writer writer;

	/* In our own process a second writer would lose us byte 1 when it is closed. */
	if (getpid() == fence->pid) {
		(void)advance(&fence->writer, fence, FENCE_MARKER_TERMINATING,
			      FENCE_MARKER_BY_SUPERVISOR, NULL, NULL, NULL);
		return;
	}
	if (fence_marker_writer_open(fence->path, &writer, NULL) < 0)
		return;
	(void)advance(&writer, fence, FENCE_MARKER_TERMINATING, FENCE_MARKER_BY_GROUP_RUNNER, NULL,
		      NULL, NULL);
	fence_marker_writer_close(&writer);
}

void run_fence_plan(struct run_fence *fence, struct fence_spawn_plan *plan)
{
	plan->gate = fence->borrowed ? hold_still : publish_group;
	plan->gate_arg = fence;
}

/* --- watching ----------------------------------------------------------------------- */

static int end_group(struct run_fence *fence, enum fence_cause cause)
{
	fence->asked = true;
	return fence_group_end(fence->group, cause);
}

/* Whatever others may have done to the marker. */
static int look(struct run_fence *fence, bool is_last_look)
{
	struct fence_marker marker;
	int rc = fence_marker_read(fence->path, fence->format, &marker, NULL, NULL);
	bool ours = rc == 0 && strcmp(marker.attempt_id, fence->attempt_id) == 0 &&
		    fence_attempt_names(&marker, &fence->supervisor) &&
		    marker.status != FENCE_MARKER_TERMINATED;

	if (fence->asked)
		return 0;
	if (ours && marker.status == FENCE_MARKER_CANCELLED)
		return end_group(fence, FENCE_CAUSE_CANCELLED);
	if (ours) {
		fence->look_timer.at_ms = FENCE_NEVER;
		return 0;
	}
	if (is_last_look)
		return end_group(fence, FENCE_CAUSE_MARKER_LOST);
	if (fence->look_timer.at_ms == FENCE_NEVER)
		fence->look_timer.at_ms = fence_now_ms() + LOST_MS;
	return 0;
}

static int marker_changed(void *arg, uint32_t events)
{
	struct run_fence *fence = arg;
	int rc = fence_marker_watch_take(&fence->watch);

	(void)events;
	if (rc == 0)
		return 0;
	/* The folder is gone, and with it everything that there could be to hear. */
	if (rc < 0 && fence->asked)
		return fence_marker_watch_close(&fence->watch), 0;
	return look(fence, rc < 0);
}

static int look_due(void *arg)
{
	return look(arg, true);
}

static int start_watch(struct run_fence *fence)
{
	int rc = fence_marker_watch_start(fence->path, &fence->watch, fence->err);

	if (rc < 0)
		return rc;
	fence->loop_watch = (struct fence_watch){ .fd = -1, .ready = marker_changed, .arg = fence };
	rc = fence_loop_add(fence->loop, &fence->loop_watch, fence->watch.fd, EPOLLIN);
	return rc < 0 ? fence_fail(fence->err, rc, "watch marker %s", fence->path) : 0;
}

static int watch_due(void *arg)
{
	struct run_fence *fence = arg;
	int rc;

	if (fence->asked)
		return 0;
	rc = start_watch(fence);
	/* The folder has gone meanwhile. */
	if (rc == -ENOENT || rc == -ENOTDIR)
		return look(fence, true);
	/* A marker that cannot be watched is as good as lost: nobody could cancel. */
	if (rc < 0)
		return end_group(fence, FENCE_CAUSE_MARKER_LOST);
	/* What came before there was a watch. */
	return look(fence, false);
}

int run_fence_watch(struct run_fence *fence, struct fence_loop *loop, struct fence_group *group,
		    struct fence_err *err)
{
	fence->group = group;
	fence->loop = loop;
	fence->err = err;
	fence->look_timer = (struct fence_timer){ .due = look_due, .arg = fence };
	fence->watch_timer = (struct fence_timer){ .due = watch_due, .arg = fence };
	fence_loop_timer(loop, &fence->look_timer);
	fence_loop_timer(loop, &fence->watch_timer);
	fence->watch_timer.at_ms = fence_deadline_ms(WATCH_AFTER_MS);
	return 0;
}

/* --- the end ------------------------------------------------------------------------- */

static bool is_cancelled(const struct run_fence *fence)
{
	struct fence_marker marker;

	return fence_marker_read(fence->path, fence->format, &marker, NULL, NULL) == 0 &&
	       marker.status == FENCE_MARKER_CANCELLED;
}

int run_fence_conclude(struct run_fence *fence, struct fence_marker_result *result,
		       struct fence_marker *ret, struct fence_err *err)
{
	if (result->cause == FENCE_CAUSE_NOT_STARTED && is_cancelled(fence))
		result->cause = FENCE_CAUSE_CANCELLED;
	if (result->survivors > 0)
		return advance(&fence->writer, fence, FENCE_MARKER_TERMINATING,
			       FENCE_MARKER_BY_SUPERVISOR, result, ret, err);
	return advance(&fence->writer, fence, FENCE_MARKER_TERMINATED, FENCE_MARKER_BY_SUPERVISOR,
		       result, ret, err);
}

void run_fence_close(struct run_fence *fence)
{
	fence_marker_watch_close(&fence->watch);
	fence_marker_writer_close(&fence->writer);
}
