/* Events (fence-protocol.7): what a supervisor says to its executor, one JSON object a
 * line. An executor that does not read holds nobody up: what it does not take waits for
 * it, as far as there is room, and at the end we wait a moment for it. */
#ifndef SUPERVISOR_EVENT_H
#define SUPERVISOR_EVENT_H

#include <stdbool.h>

#include "fence/ident.h"
#include "fence/jsonw.h"
#include "fence/loop.h"
#include "fence/marker.h"
#include "fence/vocab.h"

/* Why nothing was started, or why a line was not understood. */
enum event_reason {
	EVENT_RELEASE_TIMEOUT,
	EVENT_END_OF_INPUT,
	EVENT_NOT_APPROVED,
	EVENT_MALFORMED,
	EVENT_TOO_LONG,
	EVENT_OUT_OF_ORDER,
	EVENT_BUSY,
	EVENT_CANNOT_EXECUTE,
	EVENT_SUPERVISOR_SIGNAL,
};
const char *event_reason_word(enum event_reason reason);

/* A line on its way; between begin and end its members are written. */
#define EVENT_LINE_BYTES 4096 /* PIPE_BUF: written whole or not at all */
struct event_line {
	struct fence_jsonw w;
	char buf[EVENT_LINE_BYTES];
};

#define EVENT_WAITING_BYTES ((size_t)4 * EVENT_LINE_BYTES)

struct event_sink {
	int fd;			 /* -1: nobody is listening, or not any more */
	struct fence_loop *loop; /* that tells when there is room; NULL: the next event does */
	bool watching;
	struct fence_watch room; /* of a descriptor of its own, for `fd` may be watched for input */
	size_t waiting_bytes;
	char waiting[EVENT_WAITING_BYTES];
};

void event_begin(struct event_line *line, const char *event, const char *schema, const char *tool);
/* Writes it, or as soon as there is room. What finds the waiting room full is dropped. */
void event_end(struct event_sink *sink, struct event_line *line);
/* The last one: for its reader, 5 seconds are waited. */
void event_last(struct event_sink *sink, struct event_line *line);

void event_ready(struct event_sink *sink, const struct fence_ident *self);
/* `cgroup_id`: of the group's own cgroup; 0: it has none. */
void event_started(struct event_sink *sink, const struct fence_ident *leader,
		   enum fence_contain contain, uint64_t cgroup_id);
void event_terminating(struct event_sink *sink, enum fence_cause cause);
/* `marker`: as it is now; NULL: it could not be published. */
void event_terminated(struct event_sink *sink, const struct fence_marker_result *result,
		      int exit_status, const struct fence_marker *marker);
void event_refused(struct event_sink *sink, enum event_reason reason, const struct fence_err *err);
/* A control line after the release that means nothing: the attempt goes on. */
void event_rejected(struct event_sink *sink, enum event_reason reason, const struct fence_err *err);

#endif
