/* --events-fd: what happens while it runs, fence-run-event/v1
 * (schemas/fence-run-event-v1.json). */
#include "supervisor/run.h"

#define SCHEMA "fence-run-event/v1"

static void write_exit(struct fence_jsonw *w, const struct fence_exit *how)
{
	fence_jsonw_string(w, "kind", how->signalled ? "signal" : "code");
	fence_jsonw_int(w, how->signalled ? "signal" : "code", how->number);
}

static void write_news(struct fence_jsonw *w, const struct fence_group_event *event)
{
	switch (event->news) {
	case FENCE_GROUP_STARTED:
		fence_jsonw_int(w, "pid", event->leader.pid);
		fence_jsonw_decimal(w, "start", event->leader.start_ticks);
		if (event->leader.id != 0)
			fence_jsonw_decimal(w, "id", event->leader.id);
		fence_jsonw_string(w, "contain", fence_contain_word(event->contain));
		if (event->cgroup_id != 0)
			fence_jsonw_decimal(w, "cgroup", event->cgroup_id);
		break;
	case FENCE_GROUP_ENDING:
		fence_jsonw_string(w, "cause", fence_cause_word(event->cause));
		break;
	case FENCE_GROUP_SIGNALLED:
	case FENCE_GROUP_STOPPED:
		fence_jsonw_int(w, "signal", event->sig);
		break;
	case FENCE_GROUP_EXITED:
		write_exit(w, &event->exit);
		break;
	case FENCE_GROUP_LEFTOVER:
		fence_jsonw_uint(w, "count", event->count);
		break;
	case FENCE_GROUP_IDLE:
		break;
	}
}

void run_tell(struct run *run, const struct fence_group_event *event)
{
	static const char *const names[] = {
		[FENCE_GROUP_STARTED] = "started",     [FENCE_GROUP_ENDING] = "ending",
		[FENCE_GROUP_SIGNALLED] = "signalled", [FENCE_GROUP_EXITED] = "exited",
		[FENCE_GROUP_LEFTOVER] = "leftover",   [FENCE_GROUP_IDLE] = "output-idle",
		[FENCE_GROUP_STOPPED] = "stopped",
	};
	struct event_line line;

	if (run->events.fd < 0)
		return;
	event_begin(&line, names[event->news], SCHEMA, run->program);
	fence_jsonw_int(&line.w, "atMs", event->at_ms);
	write_news(&line.w, event);
	event_end(&run->events, &line);
}

void run_tell_ended(struct run *run, const struct fence_group_result *result, int exit_status)
{
	struct event_line line;

	if (run->events.fd < 0)
		return;
	event_begin(&line, "ended", SCHEMA, run->program);
	fence_jsonw_int(&line.w, "atMs", result->wall_ms);
	fence_jsonw_string(&line.w, "cause", fence_cause_word(result->cause));
	fence_jsonw_string(&line.w, "reap", fence_reap_word(result->reap));
	fence_jsonw_int(&line.w, "exitStatus", exit_status);
	event_last(&run->events, &line);
}
