#include "supervisor/event.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "fence/jsonw.h"
#include "fence/sys.h"

#define SCHEMA	    "fence-supervisor-event/v1"
#define PATIENCE_MS 5000

const char *event_reason_word(enum event_reason reason)
{
	static const char *const words[] = {
		[EVENT_RELEASE_TIMEOUT] = "release-timeout",
		[EVENT_END_OF_INPUT] = "end-of-input",
		[EVENT_NOT_APPROVED] = "not-approved",
		[EVENT_MALFORMED] = "malformed",
		[EVENT_TOO_LONG] = "too-long",
		[EVENT_OUT_OF_ORDER] = "out-of-order",
		[EVENT_BUSY] = "busy",
		[EVENT_CANNOT_EXECUTE] = "cannot-execute",
		[EVENT_SUPERVISOR_SIGNAL] = "supervisor-signal",
	};

	return words[reason];
}

void event_begin(struct event_line *line, const char *event, const char *schema, const char *tool)
{
	fence_jsonw_init(&line->w, line->buf, sizeof(line->buf));
	fence_jsonw_open(&line->w, NULL, '{');
	fence_jsonw_string(&line->w, "event", event);
	fence_jsonw_head(&line->w, schema, tool);
}

/* A pipe that can take one page takes a line of ours without waiting. */
void event_end(struct event_sink *sink, struct event_line *line)
{
	struct pollfd room = { .fd = sink->fd, .events = POLLOUT };

	fence_jsonw_close(&line->w, '}');
	if (sink->fd < 0)
		return;
	if (poll(&room, 1, sink->lost ? 0 : PATIENCE_MS) != 1 ||
	    fence_jsonw_line(&line->w, sink->fd) < 0)
		sink->lost = true;
}

static void begin(struct event_line *line, const char *event)
{
	event_begin(line, event, SCHEMA, "fence-supervisor");
}

void event_ready(struct event_sink *sink, const struct fence_ident *self)
{
	char host[FENCE_MARKER_HOST_BYTES] = "";
	struct event_line line;

	begin(&line, "ready");
	fence_ident_write(&line.w, self);
	if (gethostname(host, sizeof(host)) == 0 && host[0] != '\0' &&
	    host[sizeof(host) - 1] == '\0')
		fence_jsonw_string(&line.w, "host", host);
	event_end(sink, &line);
}

void event_started(struct event_sink *sink, const struct fence_ident *leader,
		   enum fence_contain contain, uint64_t cgroup_id)
{
	struct event_line line;

	begin(&line, "started");
	fence_jsonw_int(&line.w, "pid", leader->pid);
	fence_jsonw_int(&line.w, "pgid", leader->pid);
	if (leader->start_ticks != 0)
		fence_jsonw_decimal(&line.w, "start", leader->start_ticks);
	if (leader->id != 0)
		fence_jsonw_decimal(&line.w, "id", leader->id);
	fence_jsonw_string(&line.w, "contain", fence_contain_word(contain));
	if (cgroup_id != 0)
		fence_jsonw_decimal(&line.w, "cgroup", cgroup_id);
	event_end(sink, &line);
}

void event_terminating(struct event_sink *sink, enum fence_cause cause)
{
	struct event_line line;

	begin(&line, "terminating");
	fence_jsonw_string(&line.w, "cause", fence_cause_word(cause));
	event_end(sink, &line);
}

void event_terminated(struct event_sink *sink, const struct fence_marker_result *result,
		      int exit_status, const struct fence_marker *marker)
{
	struct event_line line;

	begin(&line, "terminated");
	fence_jsonw_open(&line.w, "result", '{');
	fence_marker_result_write(&line.w, result);
	fence_jsonw_close(&line.w, '}');
	fence_jsonw_int(&line.w, "exitStatus", exit_status);
	fence_jsonw_bool(&line.w, "published", marker != NULL);
	if (marker != NULL)
		fence_jsonw_string(&line.w, "markerStatus",
				   fence_marker_status_word(marker->status));
	event_end(sink, &line);
}

static void write_reason(struct event_sink *sink, const char *event, enum event_reason reason,
			 const struct fence_err *err)
{
	struct event_line line;

	begin(&line, event);
	fence_jsonw_string(&line.w, "reason", event_reason_word(reason));
	if (err != NULL && err->code < 0) {
		fence_jsonw_string(&line.w, "what", err->what);
		fence_jsonw_string(&line.w, "why",
				   err->why[0] != '\0' ? err->why : fence_errno_words(err->code));
	}
	event_end(sink, &line);
}

void event_refused(struct event_sink *sink, enum event_reason reason, const struct fence_err *err)
{
	write_reason(sink, "refused", reason, err);
}

void event_rejected(struct event_sink *sink, enum event_reason reason, const struct fence_err *err)
{
	write_reason(sink, "rejected", reason, err);
}
