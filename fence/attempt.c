#include "fence/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"

#define OWNER_BYTE 1

/* Each time somebody else's update came between the look and the lock. A handful of
 * writers at once is a lot; a thousand losses in a row is a fault, not a race. */
#define TURNS_MAX 1000

/* --- ownership ------------------------------------------------------------------- */

static struct flock owner_lock(short type)
{
	return (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = OWNER_BYTE, .l_len = 1
	};
}

int fence_attempt_own(const struct fence_marker_writer *writer, pid_t *ret_holder,
		      struct fence_err *err)
{
	struct flock lock = owner_lock(F_WRLCK);
	pid_t holder = 0;

	if (fcntl(writer->lock_fd, F_SETLK, &lock) == 0)
		return 0;
	if (errno != EAGAIN && errno != EACCES)
		return fence_fail(err, -errno, "own %s.lock", writer->path.name);
	(void)fence_attempt_owner(writer, &holder);
	if (ret_holder != NULL)
		*ret_holder = holder;
	if (holder > 0)
		return fence_fail_why(err, -EBUSY, "another supervisor owns it", "%s (process %d)",
				      writer->path.name, (int)holder);
	return fence_fail_why(err, -EBUSY, "another supervisor owns it", "%s", writer->path.name);
}

int fence_attempt_owner(const struct fence_marker_writer *writer, pid_t *ret_pid)
{
	struct flock lock = owner_lock(F_WRLCK);

	if (fcntl(writer->lock_fd, F_GETLK, &lock) < 0)
		return -errno;
	if (lock.l_type == F_UNLCK)
		return 0;
	*ret_pid = lock.l_pid > 0 ? lock.l_pid : 0;
	return 1;
}

void fence_attempt_stamp(const struct fence_ident *supervisor, char ret[FENCE_ATTEMPT_STAMP_BYTES])
{
	(void)snprintf(ret, FENCE_ATTEMPT_STAMP_BYTES, "%s/%llu/%d/%llu/%llu", supervisor->boot_id,
		       (unsigned long long)supervisor->pid_ns, (int)supervisor->pid,
		       (unsigned long long)supervisor->start_ticks,
		       (unsigned long long)supervisor->id);
}

/* --- the next state ------------------------------------------------------------------ */

bool fence_attempt_names(const struct fence_marker *marker, const struct fence_ident *supervisor)
{
	const struct fence_ident *named = &marker->supervisor;

	if (named->pid != supervisor->pid)
		return false;
	if (named->boot_id[0] != '\0' && strcmp(named->boot_id, supervisor->boot_id) != 0)
		return false;
	if (named->pid_ns != 0 && named->pid_ns != supervisor->pid_ns)
		return false;
	if (named->id != 0 && supervisor->id != 0)
		return named->id == supervisor->id;
	return named->start_ticks == 0 || named->start_ticks == supervisor->start_ticks;
}

static int check_meant(const struct fence_marker *marker, const struct fence_attempt_step *step,
		       struct fence_err *err)
{
	const char *why = NULL;

	if (strcmp(marker->attempt_id, step->attempt_id) != 0)
		why = "it is of another attempt";
	else if (step->supervisor.pid != 0 && !fence_attempt_names(marker, &step->supervisor))
		why = "it names another supervisor";
	return why == NULL ? 0 : fence_fail_why(err, -ESTALE, why, "the marker");
}

/* Which status to write: 1 with `*ret`; 0: nothing is to be written; -EPERM. */
static int next_status(const struct fence_marker *marker, const struct fence_attempt_step *step,
		       enum fence_marker_status *ret, struct fence_err *err)
{
	bool has_news = step->group != NULL || step->result != NULL;

	*ret = step->status;
	if (marker->status == FENCE_MARKER_CANCELLED) {
		*ret = FENCE_MARKER_CANCELLED;
		return step->result != NULL ? 1 : 0;
	}
	if (marker->status == step->status && !has_news)
		return 0;
	if (step->through_terminating && marker->status == FENCE_MARKER_ACTIVE &&
	    step->status == FENCE_MARKER_TERMINATED)
		return 1;
	if (!fence_marker_may_become(marker->status, step->status))
		return fence_fail_why(err, -EPERM, "that cannot follow",
				      "the marker: from %s to %s",
				      fence_marker_status_word(marker->status),
				      fence_marker_status_word(step->status));
	return 1;
}

static int replace_state(struct fence_marker_writer *writer, const struct fence_attempt_step *step,
			 const struct fence_marker *old, enum fence_marker_status status,
			 struct fence_marker *ret, enum fence_marker_answer *ret_answer,
			 struct fence_err *err)
{
	struct fence_marker_approved approved = {
		.supervisor_pid = old->supervisor.pid,
		.place = old->place,
		.seq = old->seq,
	};
	const struct fence_marker_change change = {
		.format = step->format,
		.attempt_id = step->attempt_id,
		.approved = &approved,
		.status = status,
		.through_terminating = step->through_terminating,
		.by = step->by,
		.group = step->group,
		.group_cgroup = step->group_cgroup,
		.result = step->result,
		.durable = step->durable,
		.lock_wait_ms = step->lock_wait_ms,
	};

	memcpy(approved.nonce, old->nonce, sizeof(approved.nonce));
	return fence_marker_replace(writer, &change, ret, ret_answer, err);
}

/* One turn: -ESTALE, -EPERM with NOT_REPLACED when what was read is not there any more. */
static int take_turn(struct fence_marker_writer *writer, const struct fence_attempt_step *step,
		     const char *path, struct fence_marker *ret, bool *ret_again,
		     enum fence_marker_answer *ret_answer, struct fence_err *err)
{
	enum fence_marker_status status = step->status;
	int rc = fence_marker_read(path, step->format, ret, NULL, err);

	*ret_again = false;
	if (rc == 0)
		rc = check_meant(ret, step, err);
	if (rc == 0)
		rc = next_status(ret, step, &status, err);
	if (rc < 0)
		return rc;
	if (rc == 0) {
		*ret_answer = FENCE_MARKER_REPLACED;
		return 0;
	}
	rc = replace_state(writer, step, ret, status, ret, ret_answer, err);
	*ret_again = *ret_answer == FENCE_MARKER_NOT_REPLACED && (rc == -ESTALE || rc == -EPERM);
	return rc;
}

int fence_attempt_advance(struct fence_marker_writer *writer, const struct fence_attempt_step *step,
			  struct fence_marker *ret, enum fence_marker_answer *ret_answer,
			  struct fence_err *err)
{
	struct fence_marker marker;
	char path[PATH_MAX];
	bool again = true;
	int rc = 0;

	*ret_answer = FENCE_MARKER_NOT_REPLACED;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", writer->path.dir, writer->path.name) >=
	    sizeof(path))
		return fence_fail(err, -ENAMETOOLONG, "marker path");
	for (int turn = 0; again && turn < TURNS_MAX; turn++)
		rc = take_turn(writer, step, path, &marker, &again, ret_answer, err);
	if (rc == 0 || *ret_answer == FENCE_MARKER_NOT_DURABLE)
		if (ret != NULL)
			*ret = marker;
	return rc;
}

/* --- waiting -------------------------------------------------------------------------- */

/* Renames and removals, and writers that write in place. */
#define WATCHED                                                                                    \
	(IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE |        \
	 IN_DELETE_SELF | IN_MOVE_SELF)

int fence_marker_watch_prepare(struct fence_marker_watch *ret, struct fence_err *err)
{
	int rc;

	ret->name[0] = '\0';
	ret->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (ret->fd >= 0)
		return 0;
	rc = fence_fail(err, -errno, "prepare to watch a marker");
	ret->fd = -1;
	if (rc == -EMFILE)
		(void)fence_hint(err, "raise fs.inotify.max_user_instances, or ulimit -n");
	return rc;
}

int fence_marker_watch_start(const char *path, struct fence_marker_watch *watch,
			     struct fence_err *err)
{
	struct fence_marker_path split;
	int rc = fence_marker_path_split(path, &split, err);

	if (rc < 0)
		return rc;
	if (inotify_add_watch(watch->fd, split.dir, WATCHED | IN_ONLYDIR | IN_DONT_FOLLOW) < 0) {
		rc = fence_fail(err, -errno, "watch folder %s", split.dir);
		if (rc == -ENOSPC)
			(void)fence_hint(err, "raise fs.inotify.max_user_watches");
		return rc;
	}
	memcpy(watch->name, split.name, sizeof(watch->name));
	return 0;
}

int fence_marker_watch_open(const char *path, struct fence_marker_watch *ret, struct fence_err *err)
{
	int rc = fence_marker_watch_prepare(ret, err);

	if (rc == 0)
		rc = fence_marker_watch_start(path, ret, err);
	if (rc < 0)
		fence_marker_watch_close(ret);
	return rc;
}

/* 1: about the name; 0: about others; -ENOENT. */
static int judge_event(const struct fence_marker_watch *watch, const struct inotify_event *event)
{
	if ((event->mask & (IN_DELETE_SELF | IN_IGNORED | IN_UNMOUNT)) != 0)
		return -ENOENT;
	if ((event->mask & (IN_Q_OVERFLOW | IN_MOVE_SELF)) != 0)
		return 1;
	return event->len > 0 && strcmp(event->name, watch->name) == 0 ? 1 : 0;
}

/* One read: what is left makes the descriptor readable again. Reading until it is empty
 * would be for ever where somebody writes beside the marker as fast as we read. */
int fence_marker_watch_take(struct fence_marker_watch *watch)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t got = fence_read_some(watch->fd, buf, sizeof(buf));
	int about = 0;

	if (got == -EAGAIN)
		return 0;
	if (got <= 0)
		return got < 0 ? (int)got : -EIO;
	for (const char *at = buf; at < buf + got;) {
		const struct inotify_event *event = (const void *)at;
		int rc = judge_event(watch, event);

		if (rc < 0)
			return rc;
		about |= rc;
		at += sizeof(*event) + event->len;
	}
	return about;
}

void fence_marker_watch_close(struct fence_marker_watch *watch)
{
	fence_close_fd(&watch->fd);
}
