#include "fence/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void fence_text_init(struct fence_text *text, char *buf, size_t size_bytes)
{
	*text = (struct fence_text){ .buf = buf, .size_bytes = size_bytes };
	buf[0] = '\0';
}

void fence_text_add(struct fence_text *text, const char *format, ...)
{
	size_t room = text->size_bytes - text->length_bytes;
	va_list args;
	int wanted;

	if (text->truncated)
		return;
	va_start(args, format);
	wanted = vsnprintf(text->buf + text->length_bytes, room, format, args);
	va_end(args);
	if (wanted < 0 || (size_t)wanted >= room) {
		text->truncated = true;
		text->buf[text->length_bytes] = '\0';
		return;
	}
	text->length_bytes += (size_t)wanted;
}

void fence_text_add_bytes(struct fence_text *text, const char *bytes, size_t size_bytes)
{
	if (text->truncated)
		return;
	if (size_bytes >= text->size_bytes - text->length_bytes) {
		text->truncated = true;
		return;
	}
	memcpy(text->buf + text->length_bytes, bytes, size_bytes);
	text->length_bytes += size_bytes;
	text->buf[text->length_bytes] = '\0';
}

void fence_text_add_safe(struct fence_text *text, const char *bytes, size_t size_bytes)
{
	for (size_t i = 0; i < size_bytes; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte < 0x20 || byte > 0x7e || byte == '\\')
			fence_text_add(text, "\\x%02x", byte);
		else
			fence_text_add_bytes(text, bytes + i, 1);
	}
}
