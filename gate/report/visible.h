/* Any bytes made visible. Control bytes (ESC, NUL ... but for tab and newline where
 * they are allowed), bytes that are no UTF-8, C1 controls and the characters that
 * turn the direction of text become \xNN, byte by byte; with `utf8`, every other
 * character stays as it is, without it all that is not ASCII becomes \xNN too.
 * A backslash stays itself: this is for reading, the log has the bytes. */
#ifndef GATE_REPORT_VISIBLE_H
#define GATE_REPORT_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

struct gate_visible {
	bool utf8;
	bool lines; /* tab and newline stay */
};

/* Converts as much of `bytes` as surely fits into `size_bytes` (at least 16), never
 * half a character. Returns the length written, without a NUL, and in `ret_used` how
 * much was taken, which is at least one byte when there is one. */
size_t gate_visible(struct gate_visible how, const char *bytes, size_t count, char *ret,
		    size_t size_bytes, size_t *ret_used);

#endif
