/* A bounded text that is built piece by piece, for what main prints: help,
 * completions, tables. It never grows: once something did not fit,
 * `truncated` is set and nothing more is added. */
#ifndef FENCE_TEXT_H
#define FENCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct fence_text {
	char *buf; /* the caller's; always NUL-terminated */
	size_t size_bytes;
	size_t length_bytes;
	bool truncated;
};

/* `size_bytes` must be at least 1. */
void fence_text_init(struct fence_text *text, char *buf, size_t size_bytes);
void fence_text_add(struct fence_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void fence_text_add_bytes(struct fence_text *text, const char *bytes, size_t size_bytes);

/* Adds bytes so that they are safe on a terminal and in one line: printable
 * ASCII as it is, everything else (backslash too) as \xNN. */
void fence_text_add_safe(struct fence_text *text, const char *bytes, size_t size_bytes);

#endif
