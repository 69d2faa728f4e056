/* A bounded writer of JSON lines: one record a line, one write. It writes into
 * the caller's buffer and never allocates. Commas and quotes are its business;
 * nesting is the caller's (open and close in pairs, at most 32 deep).
 *
 *     fence_jsonw_init(&w, buf, sizeof(buf));
 *     fence_jsonw_open(&w, NULL, '{');
 *     fence_jsonw_string(&w, "schema", "fence-run-result/v1");
 *     fence_jsonw_int(&w, "wallMs", wall_ms);
 *     fence_jsonw_close(&w, '}');
 *     rc = fence_jsonw_line(&w, fd);
 *
 * `key` is NULL inside an array and for the outermost value. Keys are written
 * as they are: they are constants of ours, never input. */
#ifndef FENCE_JSONW_H
#define FENCE_JSONW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fence_jsonw {
	char *buf;
	size_t size_bytes;
	size_t length_bytes;
	bool overflow; /* something did not fit; the text is not complete */
	bool comma;    /* the next value needs one */
};

void fence_jsonw_init(struct fence_jsonw *w, char *buf, size_t size_bytes);
void fence_jsonw_open(struct fence_jsonw *w, const char *key, char brace);
void fence_jsonw_close(struct fence_jsonw *w, char brace);
void fence_jsonw_int(struct fence_jsonw *w, const char *key, int64_t value);
void fence_jsonw_uint(struct fence_jsonw *w, const char *key, uint64_t value);
void fence_jsonw_bool(struct fence_jsonw *w, const char *key, bool value);
void fence_jsonw_null(struct fence_jsonw *w, const char *key);

/* A string. NULL is written as null. Valid UTF-8 stays as it is; control
 * bytes are escaped as JSON wants; every byte that is not part of valid UTF-8
 * becomes the four visible characters \xNN (the backslash escaped), so that
 * any bytes at all give valid JSON and nothing is lost from sight. */
void fence_jsonw_string(struct fence_jsonw *w, const char *key, const char *value);
void fence_jsonw_bytes(struct fence_jsonw *w, const char *key, const char *value,
		       size_t size_bytes);

/* A number kept as a decimal string (inode numbers exceed 2^53). */
void fence_jsonw_decimal(struct fence_jsonw *w, const char *key, uint64_t value);

/* Raw JSON text that is known to be valid. */
void fence_jsonw_raw(struct fence_jsonw *w, const char *key, const char *json, size_t size_bytes);

/* The first three members of every record of ours: schema, tool, version. */
void fence_jsonw_head(struct fence_jsonw *w, const char *schema, const char *tool);

/* Ends the line and writes it whole. -EOVERFLOW if it did not fit (nothing is
 * written then), else what fence_write_full says. */
int fence_jsonw_line(struct fence_jsonw *w, int fd);

#ifdef __cplusplus
}
#endif

#endif
