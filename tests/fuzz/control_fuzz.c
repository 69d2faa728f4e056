/* Any bytes as control lines, in pieces of any size: they fall into the lines that
 * their newlines make, however they come; a line that is too long is told of once;
 * and a line is understood or refused with words. The first byte chooses the pieces;
 * its highest bit puts spaces in front, as many as the next two bytes say, so that
 * short inputs reach the limit. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/control.h"

#define LINE_MAX_BYTES (CONTROL_LINE_BYTES - 1) /* without its newline */
#define PADDING_MAX    (2 * CONTROL_LINE_BYTES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void must(bool claim)
{
	if (!claim)
		abort();
}

/* A copy of its own size, so that one byte too far is seen. */
static char *copy_of(const char *text, size_t text_bytes)
{
	char *copy = malloc(text_bytes + (text_bytes == 0));

	must(copy != NULL);
	memcpy(copy, text, text_bytes);
	return copy;
}

static void check_meaning(const char *text, size_t text_bytes)
{
	char *copy = copy_of(text, text_bytes);
	struct control_line line = { .grace_ms = -2 }, again;
	struct fence_err err = { 0 };

	if (control_parse(copy, text_bytes, &line, &err) < 0) {
		must(err.code < 0 && err.what[0] != '\0');
		must(line.grace_ms == -2);
	} else {
		must(control_parse(copy, text_bytes, &again, NULL) == 0);
		must(line.word == again.word && line.grace_ms == again.grace_ms);
		if (line.word == CONTROL_RELEASE)
			must(line.approved.supervisor_pid > 0 && line.approved.seq >= 0);
		else
			must(line.word == CONTROL_TERMINATE && line.grace_ms >= -1);
	}
	free(copy);
}

/* What is left of the whole text, and what of it was told. */
struct text {
	const char *at;
	size_t left_bytes;
	bool told_too_long; /* of the line that `at` begins */
};

static size_t line_bytes(const struct text *text)
{
	const char *newline = memchr(text->at, '\n', text->left_bytes);

	return newline ? (size_t)(newline - text->at) : text->left_bytes;
}

static void next_line(struct text *text)
{
	size_t length = line_bytes(text);

	must(length < text->left_bytes);
	text->at += length + 1;
	text->left_bytes -= length + 1;
	text->told_too_long = false;
}

static void expect_line(struct text *text, const char *got, size_t got_bytes)
{
	if (text->told_too_long) /* its end was not told of */
		next_line(text);
	must(got_bytes <= LINE_MAX_BYTES && line_bytes(text) == got_bytes);
	must(memcmp(text->at, got, got_bytes) == 0);
	check_meaning(got, got_bytes);
	next_line(text);
}

static void expect_too_long(struct text *text)
{
	if (text->told_too_long)
		next_line(text);
	must(line_bytes(text) > LINE_MAX_BYTES);
	text->told_too_long = true;
}

/* A line that has no newline yet, or one that was told of already. */
static void expect_rest(struct text *text, const struct control_reader *reader)
{
	if (text->told_too_long && line_bytes(text) < text->left_bytes)
		next_line(text);
	must(line_bytes(text) == text->left_bytes);
	must(reader->skipping == text->told_too_long);
	must(reader->length_bytes == (reader->skipping ? 0 : text->left_bytes));
}

static size_t next_piece(uint32_t *dice, size_t left_bytes)
{
	size_t size_bytes = left_bytes;

	if (*dice != 0) {
		*dice = *dice * 1664525 + 1013904223;
		size_bytes = 1 + (*dice >> 16) % ((*dice & 0x300) == 0 ? 4096 : 16);
	}
	return size_bytes < left_bytes ? size_bytes : left_bytes;
}

static void feed(const char *bytes, size_t size_bytes, uint32_t dice)
{
	struct control_reader reader = { .length_bytes = 0 };
	struct text text = { bytes, size_bytes, false };

	while (size_bytes > 0) {
		size_t piece_bytes = next_piece(&dice, size_bytes), length_bytes = 0;
		char *piece = copy_of(bytes, piece_bytes);
		const char *at = piece;
		enum control_piece news;

		bytes += piece_bytes;
		size_bytes -= piece_bytes;
		while ((news = control_take(&reader, &at, &piece_bytes, &length_bytes)) !=
		       CONTROL_MORE) {
			if (news == CONTROL_LINE)
				expect_line(&text, reader.bytes, length_bytes);
			else
				expect_too_long(&text);
		}
		must(piece_bytes == 0);
		free(piece);
	}
	expect_rest(&text, &reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	size_t padding = 0, head_bytes = 1;
	char *bytes;

	if (size_bytes >= 3 && (data[0] & 0x80) != 0) {
		padding = ((size_t)data[1] << 8 | data[2]) % PADDING_MAX;
		head_bytes = 3;
	}
	if (size_bytes < head_bytes)
		return 0;
	bytes = malloc(padding + size_bytes);
	must(bytes != NULL);
	memset(bytes, ' ', padding);
	memcpy(bytes + padding, data + head_bytes, size_bytes - head_bytes);
	feed(bytes, padding + size_bytes - head_bytes, data[0] & 0x7f);
	free(bytes);
	return 0;
}
