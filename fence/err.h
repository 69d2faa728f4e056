/* Errors in words. A function that can fail returns 0 or -errno; the words
 * travel in a struct of plain bytes, so an error costs no memory and needs no
 * freeing. Only a program's main prints one. */
#ifndef FENCE_ERR_H
#define FENCE_ERR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fence_err {
	int code;	/* negative errno, or 0 for "nothing failed" */
	char what[512]; /* what failed, by name */
	char why[160];	/* empty: the words of `code` */
	char hint[320]; /* what to do; may be empty */
};

/* Fills `err` (which may be NULL) and returns `code`, so that a caller can
 * write `return fence_fail(err, -errno, "open lock %s", path);`. A text that
 * does not fit is cut and ends in "...". */
int fence_fail(struct fence_err *err, int code, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* The same with a reason that is no errno: "unknown key", "not a number". */
int fence_fail_why(struct fence_err *err, int code, const char *why, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds what to do. Returns err's code, or 0 without an err. */
int fence_hint(struct fence_err *err, const char *hint, ...) __attribute__((format(printf, 2, 3)));

/* Writes "program: what failed: why; what to do" and a newline, as one line:
 * control characters become \xNN. Returns the length written (without the NUL),
 * always less than `size_bytes`, which must be at least 2. */
size_t fence_err_line(const struct fence_err *err, const char *program, char *buf,
		      size_t size_bytes);

/* An errno in words, and by its name ("EPERM"; NULL when it has none here). The
 * sign does not matter. Safe between fork and exec and under any filter. */
const char *fence_errno_words(int code);
const char *fence_errno_name(int code);

#ifdef __cplusplus
}
#endif

#endif
