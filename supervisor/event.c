#include "supervisor/event.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
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

/* At most one line, so that a pipe with room, which takes a page at once, does not hold
 * us: POLLOUT was seen. */
static ssize_t write_line(int fd, const char *bytes, size_t size_bytes)
{
	const char *end = memchr(bytes, '\n', size_bytes);
	size_t line_bytes = end == NULL ? size_bytes : (size_t)(end - bytes) + 1;
	ssize_t put = send(fd, bytes, line_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (put < 0 && errno == ENOTSOCK)
		return fence_write_some(fd, bytes, line_bytes);
	return put < 0 ? -errno : put;
}

/* All that there is room for within `limit_ms`. A reader that has gone ends it. */
static void push(struct event_sink *sink, int64_t limit_ms)
{
	int64_t stop_at_ms = fence_now_ms() + limit_ms;

	while (sink->waiting_bytes > 0) {
		struct pollfd room = { .fd = sink->fd, .events = POLLOUT };
		int64_t left_ms = stop_at_ms - fence_now_ms();
		ssize_t put;

		if (poll(&room, 1, left_ms > 0 ? (int)left_ms : 0) != 1)
			return;
		put = write_line(sink->fd, sink->waiting, sink->waiting_bytes);
		if (put == -EAGAIN)
			return;
		if (put < 0) {
			sink->waiting_bytes = 0;
			sink->fd = -1;
			return;
		}
		sink->waiting_bytes -= (size_t)put;
		memmove(sink->waiting, sink->waiting + put, sink->waiting_bytes);
	}
}

static int room_made(void *arg, uint32_t events)
{
	struct event_sink *sink = arg;
	int fd = sink->room.fd;

	(void)events;
	push(sink, 0);
	if (sink->waiting_bytes > 0)
		return 0;
	fence_loop_remove(sink->loop, &sink->room);
	(void)close(fd);
	sink->watching = false;
	return 0;
}

/* Where it cannot be watched the next event looks again. */
static void watch_room(struct event_sink *sink)
{
	owned_fd fd = -1;

	if (sink->loop == NULL || sink->watching || sink->waiting_bytes == 0)
		return;
	fd = fcntl(sink->fd, F_DUPFD_CLOEXEC, 3);
	sink->room = (struct fence_watch){ .fd = -1, .ready = room_made, .arg = sink };
	if (fd < 0 || fence_loop_add(sink->loop, &sink->room, fd, EPOLLOUT) < 0)
		return;
	(void)fence_take_fd(&fd);
	sink->watching = true;
}

static void enqueue(struct event_sink *sink, struct event_line *line)
{
	struct fence_jsonw *w = &line->w;

	fence_jsonw_close(w, '}');
	if (w->overflow || sink->waiting_bytes + w->length_bytes + 1 > sizeof(sink->waiting))
		return;
	memcpy(sink->waiting + sink->waiting_bytes, w->buf, w->length_bytes);
	sink->waiting_bytes += w->length_bytes;
	sink->waiting[sink->waiting_bytes++] = '\n';
}

void event_end(struct event_sink *sink, struct event_line *line)
{
	if (sink->fd < 0)
		return;
	enqueue(sink, line);
	push(sink, 0);
	watch_room(sink);
}

void event_last(struct event_sink *sink, struct event_line *line)
{
	if (sink->fd < 0)
		return;
	enqueue(sink, line);
	push(sink, PATIENCE_MS);
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
	event_last(sink, &line);
}

static void begin_reason(struct event_line *line, const char *event, enum event_reason reason,
			 const struct fence_err *err)
{
	begin(line, event);
	fence_jsonw_string(&line->w, "reason", event_reason_word(reason));
	if (err != NULL && err->code < 0) {
		fence_jsonw_string(&line->w, "what", err->what);
		fence_jsonw_string(&line->w, "why",
				   err->why[0] != '\0' ? err->why : fence_errno_words(err->code));
	}
}

void event_refused(struct event_sink *sink, enum event_reason reason, const struct fence_err *err)
{
	struct event_line line;

	begin_reason(&line, "refused", reason, err);
	event_last(sink, &line);
}

/* There can be any number of these: they leave room for those that there is one of. */
void event_rejected(struct event_sink *sink, enum event_reason reason, const struct fence_err *err)
{
	struct event_line line;

	if (sink->waiting_bytes > sizeof(sink->waiting) / 4)
		return;
	begin_reason(&line, "rejected", reason, err);
	event_end(sink, &line);
}
