/* A strict, bounded scanner of JSON (RFC 8259) that never allocates: the gate that
 * every JSON input passes before anything else looks at it.
 *
 * fence_json_parse looks at the whole text first, and only a text without a fault
 * gives a value; the other functions read from such a value and cannot meet a
 * fault any more. A value is a span of the caller's text: it owns nothing and
 * lives as long as the text does.
 *
 *     rc = fence_json_parse(text, size_bytes, &limits, &root, &fault);
 *     if (rc < 0)
 *             return fence_json_fail(err, path, &fault);
 *     if (fence_json_member(&root, "status", &status) < 0 ||
 *         fence_json_string(&status, word, sizeof(word), NULL) < 0)
 *
 * Beyond the grammar, refused are: more than one value; anything but white space
 * after it; bytes that are not UTF-8 (overlong forms, surrogates and numbers above
 * U+10FFFF are not, a byte order mark has no place); NUL, also as \u0000, so that a
 * string is always a C string; an escaped surrogate without its other half; a key
 * that its object has already, compared after unescaping; and what is above the
 * limits. */
#ifndef FENCE_JSON_H
#define FENCE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fence/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The largest integer that every reader of JSON holds exactly is near this: above
 * it a double has gaps, so two readers may see two different numbers. */
#define FENCE_JSON_INT_MAX (INT64_C(1) << 53)

#define FENCE_JSON_DEPTH_MAX 64

/* Members that may be open at one moment: those of the object being read and of
 * the objects around it. Keys are kept sorted while their object is open, which
 * makes finding a duplicate cost log2(4096) = 12 comparisons a key: 1 MiB made to
 * be as bad as it can be takes milliseconds, not minutes. */
#define FENCE_JSON_KEYS_MAX 4096

struct fence_json_limits {
	size_t size_bytes;
	unsigned int depth; /* objects and arrays within each other; at most FENCE_JSON_DEPTH_MAX */
	bool safe_numbers;  /* refuse every number beyond 2^53, wherever it stands */
};

struct fence_json_fault {
	size_t offset_bytes; /* where it was seen, from 0 */
	const char *why;     /* "this key is in the object already"; a constant */
};

enum fence_json_kind {
	FENCE_JSON_NULL,
	FENCE_JSON_BOOL,
	FENCE_JSON_NUMBER,
	FENCE_JSON_STRING,
	FENCE_JSON_ARRAY,
	FENCE_JSON_OBJECT,
};

/* The value's own text, without white space around it; a string's has its quotes. */
struct fence_json {
	enum fence_json_kind kind;
	const char *at;
	size_t size_bytes;
};

/* 0 with the value, or -EBADMSG with the fault. The text needs no NUL at its end. */
int fence_json_parse(const char *text, size_t size_bytes, const struct fence_json_limits *limits,
		     struct fence_json *ret, struct fence_json_fault *ret_fault);

/* "NAME: byte 17: this key is in the object already"; returns -EBADMSG. */
int fence_json_fail(struct fence_err *err, const char *name, const struct fence_json_fault *fault);

/* "an object", "a string": for messages. */
const char *fence_json_kind_word(enum fence_json_kind kind);

/* The member of that name (plain text, compared after unescaping): 0, -ENOENT, or
 * -EINVAL for what is no object. */
int fence_json_member(const struct fence_json *object, const char *name, struct fence_json *ret);

/* Walks an object's members or an array's elements in their order; other kinds have
 * none. `ret_key` is a string value (untouched in an array) and may be NULL. */
struct fence_json_iter {
	const char *at;
	const char *end;
	bool has_keys;
};
void fence_json_iter_init(struct fence_json_iter *iter, const struct fence_json *value);
bool fence_json_next(struct fence_json_iter *iter, struct fence_json *ret_key,
		     struct fence_json *ret_value);

/* The string unescaped into `buf`, with a NUL. -EINVAL: not a string; -EOVERFLOW:
 * it needs more than `size_bytes`. `ret_length` (without the NUL) may be NULL. */
int fence_json_string(const struct fence_json *value, char *buf, size_t size_bytes,
		      size_t *ret_length);

/* Is it the string `text`? False for other kinds. */
bool fence_json_string_is(const struct fence_json *value, const char *text);

/* A whole number between `min` and `max`, written without fraction or exponent.
 * -EINVAL: not such a number; -ERANGE: beyond 2^53 or outside of min and max. */
int fence_json_int(const struct fence_json *value, int64_t min, int64_t max, int64_t *ret);

/* A string of decimal digits (no sign, no leading zero) up to 2^64 - 1, as inode
 * numbers are written since they exceed 2^53. -EINVAL, -ERANGE. */
int fence_json_decimal(const struct fence_json *value, uint64_t *ret);

/* -EINVAL: not a bool. */
int fence_json_bool(const struct fence_json *value, bool *ret);

#ifdef __cplusplus
}
#endif

#endif
