/* Time and quantities. A moment is CLOCK_MONOTONIC milliseconds; a length is
 * milliseconds too. Wall time is only for people and for records. */
#ifndef FENCE_CLOCK_H
#define FENCE_CLOCK_H

#include <stdint.h>

#define FENCE_NEVER INT64_MAX

int64_t fence_now_ms(void);
int64_t fence_now_us(void);

/* The moment `limit_ms` from now; FENCE_NEVER for a limit of 0 ("none"). */
int64_t fence_deadline_ms(int64_t limit_ms);

/* "2026-03-04T05:06:07.890Z", 24 bytes and a NUL. */
void fence_wall_stamp(char buf[25]);

/* A duration on a command line or in a file: a decimal number, with a fraction
 * or an exponent if wanted, and a unit `ns us ms s m h d`; a bare number is
 * seconds. Rounded *up* to a millisecond: 1ns is a time-out, only 0 is none.
 * At most 1000 days. -EINVAL: not a duration; -ERANGE: negative or too long. */
int fence_parse_duration(const char *text, int64_t *ret_ms);

/* A size: a whole number and `B KiB MiB GiB` (binary) or `kB MB GB` (decimal);
 * a bare number is bytes. -EINVAL, -ERANGE as above. */
int fence_parse_size(const char *text, uint64_t *ret_bytes);

/* A whole decimal number between `min` and `max`, nothing before or after. */
int fence_parse_number(const char *text, int64_t min, int64_t max, int64_t *ret);

#endif
