#include "fence/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fence/text.h"

/* Ends a text that was cut in "...", and not in half a character. */
static void mark_cut(char *field, size_t size_bytes)
{
	size_t at = size_bytes - 4;

	while (at > 0 && ((unsigned char)field[at] & 0xc0) == 0x80)
		at--;
	memcpy(field + at, "...", 4);
}

__attribute__((format(printf, 3, 0))) static void fill(char *field, size_t size_bytes,
						       const char *format, va_list args)
{
	int wanted = vsnprintf(field, size_bytes, format, args);

	if (wanted < 0)
		field[0] = '\0';
	else if ((size_t)wanted >= size_bytes)
		mark_cut(field, size_bytes);
}

int fence_fail(struct fence_err *err, int code, const char *what, ...)
{
	va_list args;

	if (err == NULL)
		return code;
	memset(err, 0, sizeof(*err));
	err->code = code;
	va_start(args, what);
	fill(err->what, sizeof(err->what), what, args);
	va_end(args);
	return code;
}

int fence_fail_why(struct fence_err *err, int code, const char *why, const char *what, ...)
{
	va_list args;

	if (err == NULL)
		return code;
	memset(err, 0, sizeof(*err));
	err->code = code;
	if ((size_t)snprintf(err->why, sizeof(err->why), "%s", why) >= sizeof(err->why))
		mark_cut(err->why, sizeof(err->why));
	va_start(args, what);
	fill(err->what, sizeof(err->what), what, args);
	va_end(args);
	return code;
}

int fence_hint(struct fence_err *err, const char *hint, ...)
{
	va_list args;

	if (err == NULL)
		return 0;
	va_start(args, hint);
	fill(err->hint, sizeof(err->hint), hint, args);
	va_end(args);
	return err->code;
}

/* C0 and DEL, and C1 in its UTF-8 form (C2 80 to C2 9F), with which a terminal can
 * be told as much as with ESC. */
static size_t control_length(const char *at)
{
	unsigned char byte = (unsigned char)at[0], next;

	if (byte < 0x20 || byte == 0x7f)
		return 1;
	if (byte != 0xc2)
		return 0;
	next = (unsigned char)at[1];
	return next >= 0x80 && next <= 0x9f ? 2 : 0;
}

/* Like fence_text_add_safe, but leaves other UTF-8 and backslashes alone: a message
 * is for people, and only what could break the line or the terminal must go. */
static void add_without_controls(struct fence_text *text, const char *words)
{
	while (*words != '\0') {
		size_t control = control_length(words);

		if (control == 0)
			fence_text_add_bytes(text, words++, 1);
		for (; control > 0; control--)
			fence_text_add(text, "\\x%02x", (unsigned char)*words++);
	}
}

size_t fence_err_line(const struct fence_err *err, const char *program, char *buf,
		      size_t size_bytes)
{
	struct fence_text text;
	const char *why = err->why;

	if (why[0] == '\0' && err->code < 0)
		why = fence_errno_words(err->code);
	fence_text_init(&text, buf, size_bytes - 1);
	fence_text_add(&text, "%s: ", program);
	add_without_controls(&text, err->what);
	if (why != NULL && why[0] != '\0') {
		fence_text_add(&text, ": ");
		add_without_controls(&text, why);
	}
	if (err->hint[0] != '\0') {
		fence_text_add(&text, "; ");
		add_without_controls(&text, err->hint);
	}
	/* The newline has its place kept, also after a text that was cut. */
	buf[text.length_bytes] = '\n';
	buf[text.length_bytes + 1] = '\0';
	return text.length_bytes + 1;
}
