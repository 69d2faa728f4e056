/* fence-supervisor: owns one attempt for an executor in any language.
 *
 *   ready -> (release) -> started -> terminating -> terminated
 *        \-> refused
 *
 * With --create there is no executor to wait for: it makes the marker itself and goes
 * on to the start. The group runs in fence/group, of which this is the launcher; the
 * marker is supervisor/fence's; here is the protocol. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/sys.h"
#include "supervisor/control.h"
#include "supervisor/event.h"
#include "supervisor/fence.h"
#include "supervisor/run.h"
#include "supervisor/supervise.h"

#define REFUSED 77
#define BUSY	75

/* Words for people must not keep an executor, which may not read them, from the end. */
#define SAY_PATIENCE_MS 1000

enum stage {
	WAITING, /* for the release */
	RUNNING, /* the group */
};

struct supervisor {
	struct supervise_conf conf; /* first in here: the command's own options */
	struct run run;
	struct run_fence fence;
	enum stage stage;
	struct event_sink events;
	struct control_reader reader;
	struct fence_watch control_watch, executor_watch;
	struct fence_timer release_timer, input_timer;
	bool started, ending; /* was said */
	char stamp[FENCE_ATTEMPT_STAMP_BYTES * 8];
	enum event_reason reason; /* of the refusal */
};

/* What ends the loop, beside the run's own. */
enum {
	REFUSE = 16, /* see reason and run.err */
};

static int refuse(struct supervisor *s, enum event_reason reason)
{
	s->reason = reason;
	return REFUSE;
}

static int refuse_why(struct supervisor *s, enum event_reason reason, const char *what,
		      const char *why)
{
	(void)fence_fail_why(&s->run.err, -ECANCELED, why, "%s", what);
	return refuse(s, reason);
}

/* --- the start ----------------------------------------------------------------------- */

static void group_told(void *arg, const struct fence_group_event *event)
{
	struct supervisor *s = arg;

	run_tell(&s->run, event);
	if (event->news == FENCE_GROUP_STARTED && !s->started) {
		s->started = true;
		event_started(&s->events, &event->leader, event->contain, event->cgroup_id);
	}
	if (event->news == FENCE_GROUP_ENDING && !s->ending) {
		s->ending = true;
		event_terminating(&s->events, event->cause);
	}
}

static void group_ending(void *arg, enum fence_cause cause)
{
	struct supervisor *s = arg;

	(void)cause;
	run_fence_ending(&s->fence);
}

static int start_group(struct supervisor *s)
{
	struct run *run = &s->run;
	int rc;

	run_fill_plan(run);
	supervise_fill_streams(&s->conf, &run->plan);
	run_fence_plan(&s->fence, &run->plan.spawn);
	run->plan.ending = group_ending;
	/* News that nobody hears would only wake us. */
	run->plan.told = s->events.fd >= 0 || run->conf.events_fd >= 0 ? group_told : NULL;
	run->plan.arg = s;
	rc = fence_group_start(&run->plan, &run->group, &run->err);
	if (rc == 0)
		rc = run_watch_group(run);
	if (rc == 0)
		rc = run_fence_watch(&s->fence, &run->loop, run->group, &run->err);
	s->stage = RUNNING;
	return rc;
}

/* --- the executor ------------------------------------------------------------------ */

static int executor_gone(struct supervisor *s)
{
	fence_loop_remove(&s->run.loop, &s->control_watch);
	fence_loop_remove(&s->run.loop, &s->executor_watch);
	s->input_timer.at_ms = FENCE_NEVER;
	if (s->stage == WAITING)
		return refuse_why(s, EVENT_END_OF_INPUT, "wait for the release",
				  "the executor is gone");
	return fence_group_end(s->run.group, FENCE_CAUSE_EXECUTOR_GONE);
}

static int executor_died(void *arg, uint32_t events)
{
	(void)events;
	return executor_gone(arg);
}

static int release(struct supervisor *s, const struct control_line *line)
{
	int rc;

	if (line->word != CONTROL_RELEASE)
		return refuse_why(s, EVENT_OUT_OF_ORDER, "control line",
				  "nothing was released yet");
	rc = run_fence_own(&s->fence, &s->run.err);
	if (rc < 0)
		return refuse(s, rc == -EBUSY ? EVENT_BUSY : EVENT_NOT_APPROVED);
	rc = run_fence_approve(&s->fence, &line->approved, &s->run.err);
	if (rc < 0)
		return refuse(s, EVENT_NOT_APPROVED);
	s->release_timer.at_ms = FENCE_NEVER;
	return start_group(s);
}

static int reject(struct supervisor *s, enum event_reason reason, struct fence_err *err)
{
	if (s->stage == WAITING) {
		s->run.err = *err;
		return refuse(s, reason);
	}
	event_rejected(&s->events, reason, err);
	return 0;
}

static int obey(struct supervisor *s, const struct control_line *line)
{
	struct fence_err err = { 0 };

	if (s->stage == WAITING)
		return release(s, line);
	if (line->word == CONTROL_TERMINATE)
		return fence_group_stop_within(s->run.group, FENCE_CAUSE_TERMINATE_REQUEST,
					       line->grace_ms);
	(void)fence_fail_why(&err, -EINVAL, "it was released already", "control line");
	return reject(s, EVENT_OUT_OF_ORDER, &err);
}

static int take_line(struct supervisor *s, size_t line_bytes)
{
	struct control_line line;
	struct fence_err err = { 0 };

	if (control_parse(s->reader.bytes, line_bytes, &line, &err) < 0)
		return reject(s, EVENT_MALFORMED, &err);
	return obey(s, &line);
}

static int take_bytes(struct supervisor *s, const char *at, size_t left_bytes)
{
	int rc = 0;

	while (rc == 0) {
		struct fence_err err = { 0 };
		size_t line_bytes;

		switch (control_take(&s->reader, &at, &left_bytes, &line_bytes)) {
		case CONTROL_MORE:
			return 0;
		case CONTROL_LINE:
			rc = take_line(s, line_bytes);
			break;
		case CONTROL_TOO_LONG:
			(void)fence_fail_why(&err, -EMSGSIZE, "longer than 4096 bytes",
					     "control line");
			rc = reject(s, EVENT_TOO_LONG, &err);
			break;
		}
	}
	return rc;
}

/* One read: 0 to go on. A line that was begun and not ended is not a line. */
static int read_control(struct supervisor *s)
{
	char buf[CONTROL_LINE_BYTES];
	ssize_t got = fence_read_some(s->conf.control_fd, buf, sizeof(buf));
	struct fence_err err = { 0 };

	if (got == -EAGAIN)
		return 0;
	if (got > 0)
		return take_bytes(s, buf, (size_t)got);
	if (s->reader.length_bytes > 0) {
		(void)fence_fail_why(&err, -ENODATA, "it ends without a newline", "control line");
		if (s->stage == WAITING)
			return reject(s, EVENT_MALFORMED, &err);
		event_rejected(&s->events, EVENT_MALFORMED, &err);
	}
	return executor_gone(s);
}

static int control_ready(void *arg, uint32_t events)
{
	(void)events;
	return read_control(arg);
}

/* A regular file is always ready, so there is nothing to wait for. */
static int input_due(void *arg)
{
	struct supervisor *s = arg;
	int rc;

	s->input_timer.at_ms = fence_now_ms();
	rc = read_control(s);
	return rc;
}

static int release_due(void *arg)
{
	return refuse_why(arg, EVENT_RELEASE_TIMEOUT, "wait for the release", "none came in time");
}

static int watch_control(struct supervisor *s)
{
	struct fence_loop *loop = &s->run.loop;
	int rc;

	s->control_watch = (struct fence_watch){ .fd = -1, .ready = control_ready, .arg = s };
	s->input_timer = (struct fence_timer){ .at_ms = FENCE_NEVER, .due = input_due, .arg = s };
	s->release_timer =
		(struct fence_timer){ .at_ms = FENCE_NEVER, .due = release_due, .arg = s };
	fence_loop_timer(loop, &s->input_timer);
	fence_loop_timer(loop, &s->release_timer);
	if (s->conf.control_fd < 0)
		return 0;
	if (!s->conf.create)
		s->release_timer.at_ms = fence_deadline_ms(s->conf.release_timeout_ms);
	rc = fence_loop_add(loop, &s->control_watch, s->conf.control_fd, EPOLLIN);
	if (rc == -EPERM) {
		s->input_timer.at_ms = fence_now_ms();
		rc = 0;
	}
	return rc < 0 ? fence_fail(&s->run.err, rc, "watch the control lines") : 0;
}

static int watch_executor(struct supervisor *s)
{
	int rc;

	s->executor_watch = (struct fence_watch){ .fd = -1, .ready = executor_died, .arg = s };
	if (s->conf.executor_pidfd < 0)
		return 0;
	rc = fence_loop_add(&s->run.loop, &s->executor_watch, s->conf.executor_pidfd, EPOLLIN);
	return rc < 0 ? fence_fail(&s->run.err, rc, "watch the executor") : 0;
}

/* --- the end --------------------------------------------------------------------------- */

static struct fence_marker_result marker_result(const struct fence_group_result *result)
{
	bool exited = result->exit_known && !result->exit.signalled;

	return (struct fence_marker_result){
		.cause = result->cause,
		.code = exited ? result->exit.number : -1,
		.signal = result->exit_known && result->exit.signalled ? result->exit.number : 0,
		.reap = result->reap,
		.survivors = result->survivor_count,
	};
}

static int say_refused(struct supervisor *s, int status)
{
	event_refused(&s->events, s->reason, &s->run.err);
	(void)run_complain(&s->run, &s->run.err);
	return status;
}

static void complain_unpublished(struct supervisor *s, const struct fence_err *err)
{
	struct fence_err told = { 0 };
	const char *why = err->why[0] != '\0' ? err->why : fence_errno_words(err->code);

	(void)fence_fail_why(&told, err->code, why, "publish the end in %s: %s",
			     s->conf.marker_path, err->what);
	(void)run_complain(&s->run, &told);
}

static int conclude(struct supervisor *s, const struct fence_group_result *result)
{
	struct fence_marker_result short_result = marker_result(result);
	struct fence_err err = { 0 };
	struct fence_marker marker;
	int rc = run_fence_conclude(&s->fence, &short_result, &marker, &err);
	int status;

	if (s->run.err.code < 0) /* the watch */
		(void)run_complain(&s->run, &s->run.err);
	run_say_result(&s->run, result);
	status = run_finish(&s->run, result);
	if (result->failed_step == FENCE_SPAWN_STEP_GATE &&
	    short_result.cause == FENCE_CAUSE_NOT_STARTED) {
		event_refused(&s->events, EVENT_NOT_APPROVED, &result->failure);
		return status;
	}
	if (rc < 0) {
		complain_unpublished(s, &err);
		status = RUN_OUR_FAULT;
	}
	event_terminated(&s->events, &short_result, status, rc < 0 ? NULL : &marker);
	return status;
}

/* Not even a monitor could be started. Of a marker that was approved that is the end, and
 * nobody else will publish it. */
static int give_up_start(struct supervisor *s)
{
	struct fence_marker_result none = { .cause = FENCE_CAUSE_NOT_STARTED,
					    .code = -1,
					    .reap = FENCE_REAP_NO_SESSION };
	struct fence_err err = { 0 };
	struct fence_marker marker;

	if (s->fence.approved.supervisor_pid != 0 &&
	    run_fence_conclude(&s->fence, &none, &marker, &err) < 0)
		complain_unpublished(s, &err);
	event_refused(&s->events, EVENT_CANNOT_EXECUTE, &s->run.err);
	return run_complain(&s->run, &s->run.err);
}

/* The loop broke: what runs is ended by fence_group_abandon, and the marker is left to say
 * that it may still run, for repair to look. */
static int give_up(struct supervisor *s, int rc)
{
	if (s->run.err.code == 0)
		(void)fence_fail(&s->run.err, rc, "watch the command");
	if (s->run.group == NULL)
		return give_up_start(s);
	fence_group_abandon(s->run.group, NULL, 0);
	s->run.group = NULL;
	return run_complain(&s->run, &s->run.err);
}

static int supervise(struct supervisor *s)
{
	int rc = run_watch_signals(&s->run);

	s->events.loop = &s->run.loop;
	if (rc == 0)
		rc = watch_control(s);
	if (rc == 0)
		rc = watch_executor(s);
	if (rc == 0 && s->conf.create)
		rc = start_group(s);
	if (rc == 0 && !s->conf.create)
		event_ready(&s->events, &s->fence.supervisor);
	if (rc == 0)
		rc = fence_loop_run(&s->run.loop);
	if (rc == RUN_ENDED)
		return conclude(s, fence_group_result(s->run.group));
	if (rc == RUN_UNWANTED)
		rc = refuse_why(s, EVENT_SUPERVISOR_SIGNAL, "wait for the release",
				"a signal asked for the end");
	return rc == REFUSE ? say_refused(s, REFUSED) : give_up(s, rc);
}

/* --- before ------------------------------------------------------------------------------ */

/* The stamps of the supervisors around us stay, so that each of them knows its own. */
static int stamp_command(struct supervisor *s)
{
	const char *outer = getenv(FENCE_ATTEMPT_VARIABLE);
	char ours[FENCE_ATTEMPT_STAMP_BYTES];
	int length;

	fence_attempt_stamp(&s->fence.supervisor, ours);
	length = snprintf(s->stamp, sizeof(s->stamp), "%s=%s%s%s", FENCE_ATTEMPT_VARIABLE,
			  outer != NULL ? outer : "", outer != NULL ? " " : "", ours);
	/* Deeper than anybody nests: ours is the one that must be there. */
	if (length < 0 || (size_t)length >= sizeof(s->stamp))
		(void)snprintf(s->stamp, sizeof(s->stamp), "%s=%s", FENCE_ATTEMPT_VARIABLE, ours);
	return run_conf_edit_env(&s->run.conf, s->stamp, false, &s->run.err);
}

static int make_marker(struct supervisor *s)
{
	int rc = run_fence_own(&s->fence, &s->run.err);

	return rc < 0 ? rc : run_fence_create(&s->fence, &s->run.err);
}

static int prepare(struct supervisor *s)
{
	int rc = supervise_check(&s->conf, &s->run.err);

	s->run.conf = s->conf.run;
	s->fence.path = s->conf.marker_path;
	s->fence.attempt_id = s->conf.attempt_id;
	s->fence.format = s->conf.format;
	s->fence.durable = s->conf.durable;
	s->events.fd = s->conf.event_fd;
	if (rc == 0)
		rc = run_fence_init(&s->fence, &s->run.err);
	if (rc == 0)
		rc = stamp_command(s);
	if (rc == 0)
		rc = run_fence_name_marker(&s->fence, &s->run.conf, &s->run.err);
	return rc < 0 ? rc : run_prepare(&s->run);
}

static int own_attempt(struct supervisor *s)
{
	struct fence_group_result unfound;
	int rc = prepare(s);

	if (rc < 0)
		return run_complain(&s->run, &s->run.err);
	rc = run_find(&s->run);
	if (rc < 0) {
		run_not_found(&s->run, rc, &unfound);
		(void)fence_fail(&unfound.failure, rc, "execute %s", s->run.argv[0]);
		event_refused(&s->events, EVENT_CANNOT_EXECUTE, &unfound.failure);
		return run_finish(&s->run, &unfound);
	}
	if (s->conf.create && (rc = make_marker(s)) < 0) {
		s->reason = rc == -EBUSY ? EVENT_BUSY : EVENT_NOT_APPROVED;
		return say_refused(s, rc == -EBUSY ? BUSY : REFUSED);
	}
	rc = supervise(s);
	run_fence_close(&s->fence);
	return rc;
}

int main(int argc, char **argv)
{
	static struct supervisor s;
	int rc = run_begin(&s.run, supervise_cli.program);

	if (rc < 0)
		return run_complain(&s.run, &s.run.err);
	s.run.say_patience_ms = SAY_PATIENCE_MS;
	supervise_conf_init(&s.conf);
	rc = run_read_options(&s.run, &supervise_cli, &s.conf, argc, argv);
	return rc != 0 ? rc - 1 : own_attempt(&s);
}
