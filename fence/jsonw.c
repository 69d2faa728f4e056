#include "fence/jsonw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fence/sys.h"
#include "fence/utf8.h"

void fence_jsonw_init(struct fence_jsonw *w, char *buf, size_t size_bytes)
{
	*w = (struct fence_jsonw){ .buf = buf, .size_bytes = size_bytes };
}

/* One byte is always kept free for the newline. */
static void put(struct fence_jsonw *w, const char *bytes, size_t count)
{
	if (w->overflow || w->size_bytes - w->length_bytes <= count) {
		w->overflow = true;
		return;
	}
	memcpy(w->buf + w->length_bytes, bytes, count);
	w->length_bytes += count;
}

static void put_text(struct fence_jsonw *w, const char *text)
{
	put(w, text, strlen(text));
}

static void start(struct fence_jsonw *w, const char *key)
{
	if (w->comma)
		put(w, ",", 1);
	w->comma = true;
	if (key == NULL)
		return;
	put(w, "\"", 1);
	put_text(w, key);
	put(w, "\":", 2);
}

void fence_jsonw_open(struct fence_jsonw *w, const char *key, char brace)
{
	start(w, key);
	put(w, &brace, 1);
	w->comma = false;
}

void fence_jsonw_close(struct fence_jsonw *w, char brace)
{
	put(w, &brace, 1);
	w->comma = true;
}

void fence_jsonw_int(struct fence_jsonw *w, const char *key, int64_t value)
{
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "%" PRId64, value);
	start(w, key);
	put_text(w, digits);
}

void fence_jsonw_uint(struct fence_jsonw *w, const char *key, uint64_t value)
{
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
	start(w, key);
	put_text(w, digits);
}

void fence_jsonw_decimal(struct fence_jsonw *w, const char *key, uint64_t value)
{
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "\"%" PRIu64 "\"", value);
	start(w, key);
	put_text(w, digits);
}

void fence_jsonw_bool(struct fence_jsonw *w, const char *key, bool value)
{
	start(w, key);
	put_text(w, value ? "true" : "false");
}

void fence_jsonw_null(struct fence_jsonw *w, const char *key)
{
	start(w, key);
	put_text(w, "null");
}

static void put_escaped(struct fence_jsonw *w, unsigned char byte)
{
	char escape[8];

	switch (byte) {
	case '"':
		put(w, "\\\"", 2);
		return;
	case '\\':
		put(w, "\\\\", 2);
		return;
	case '\n':
		put(w, "\\n", 2);
		return;
	case '\r':
		put(w, "\\r", 2);
		return;
	case '\t':
		put(w, "\\t", 2);
		return;
	default:
		(void)snprintf(escape, sizeof(escape), "\\u%04x", byte);
		put_text(w, escape);
	}
}

static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

/* One character, or one byte that belongs to none: the count of bytes used. */
static size_t put_character(struct fence_jsonw *w, const char *at, size_t left)
{
	unsigned char byte = (unsigned char)*at;
	size_t length;
	char visible[8];

	if (byte < 0x80) {
		put_escaped(w, byte);
		return 1;
	}
	length = fence_utf8_length(at, left);
	if (length > 0) {
		put(w, at, length);
		return length;
	}
	(void)snprintf(visible, sizeof(visible), "\\\\x%02x", byte);
	put_text(w, visible);
	return 1;
}

void fence_jsonw_bytes(struct fence_jsonw *w, const char *key, const char *value, size_t size_bytes)
{
	size_t at = 0;

	start(w, key);
	put(w, "\"", 1);
	while (at < size_bytes && !w->overflow) {
		size_t run = at;

		while (run < size_bytes && is_plain((unsigned char)value[run]))
			run++;
		put(w, value + at, run - at);
		at = run;
		if (at < size_bytes)
			at += put_character(w, value + at, size_bytes - at);
	}
	put(w, "\"", 1);
}

void fence_jsonw_string(struct fence_jsonw *w, const char *key, const char *value)
{
	if (value == NULL)
		fence_jsonw_null(w, key);
	else
		fence_jsonw_bytes(w, key, value, strlen(value));
}

void fence_jsonw_raw(struct fence_jsonw *w, const char *key, const char *json, size_t size_bytes)
{
	start(w, key);
	put(w, json, size_bytes);
}

void fence_jsonw_head(struct fence_jsonw *w, const char *schema, const char *tool)
{
	fence_jsonw_string(w, "schema", schema);
	fence_jsonw_string(w, "tool", tool);
	fence_jsonw_string(w, "version", FENCE_VERSION);
}

int fence_jsonw_line(struct fence_jsonw *w, int fd)
{
	if (w->overflow)
		return -EOVERFLOW;
	w->buf[w->length_bytes++] = '\n';
	return fence_write_full(fd, w->buf, w->length_bytes);
}
