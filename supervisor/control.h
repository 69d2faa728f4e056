/* Control lines (fence-protocol.7): what an executor says to a supervisor, one JSON
 * object a line. Framing and meaning, without a descriptor and without opinions on
 * when a line is welcome. */
#ifndef SUPERVISOR_CONTROL_H
#define SUPERVISOR_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fence/err.h"
#include "fence/marker.h"

#define CONTROL_LINE_BYTES 4096 /* of a line, its newline included */

enum control_word {
	CONTROL_RELEASE,
	CONTROL_TERMINATE,
};

struct control_line {
	enum control_word word;
	struct fence_marker_approved approved; /* with RELEASE */
	int64_t grace_ms;		       /* with TERMINATE; -1: not given */
};

/* One line without its newline. -EINVAL with words for everything else than
 *   {"release":{"supervisorPid":P,"markerDev":"…",…}}   (fence_marker_approved_parse)
 *   {"terminate":{}}  {"terminate":{"grace":"5s"}} */
int control_parse(const char *text, size_t text_bytes, struct control_line *ret,
		  struct fence_err *err);

/* Bytes to lines. A line that is too long is told of once, and skipped to its end. */
struct control_reader {
	char bytes[CONTROL_LINE_BYTES];
	size_t length_bytes;
	bool skipping;
};

enum control_piece {
	CONTROL_MORE,	  /* all was taken, no line is whole yet */
	CONTROL_LINE,	  /* the first bytes of the reader are one, until the next call */
	CONTROL_TOO_LONG, /* the line that has begun is no line of ours */
};

/* Takes bytes from *at (of *left_bytes) until something is known. */
enum control_piece control_take(struct control_reader *reader, const char **at, size_t *left_bytes,
				size_t *ret_line_bytes);

#endif
