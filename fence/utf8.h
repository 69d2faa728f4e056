/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above
 * U+10FFFF. */
#ifndef FENCE_UTF8_H
#define FENCE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length (1 to 4) of the valid character that begins at `text`, or 0. */
size_t fence_utf8_length(const char *text, size_t left_bytes);

bool fence_utf8_is_valid(const char *text, size_t size_bytes);

#endif
