#include "guard/policy/gitconf.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define KEY_BYTES 64

struct reader {
	const char *at;
	const char *end;
	enum guard_git_blanks blanks;
	bool in_core;
};

/* The next byte without taking it; a newline at the end, so that every line ends. */
static char peek(const struct reader *r)
{
	if (r->at == r->end)
		return '\n';
	return *r->at;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && is_blank(*r->at))
		r->at++;
}

static void skip_line(struct reader *r)
{
	while (r->at < r->end && *r->at != '\n')
		r->at++;
}

/* "[core]"; one with a subsection is another section. */
static bool read_section(struct reader *r)
{
	const char *start = ++r->at;

	while (peek(r) != ']' && peek(r) != '\n')
		r->at++;
	if (peek(r) != ']')
		return false;
	r->in_core = r->at - start == 4 && strncasecmp(start, "core", 4) == 0;
	r->at++;
	return true;
}

static void read_key(struct reader *r, char key[KEY_BYTES])
{
	size_t length = 0;

	while (isalnum((unsigned char)peek(r)) || peek(r) == '-') {
		if (length + 1 < KEY_BYTES)
			key[length++] = *r->at;
		r->at++;
	}
	key[length] = '\0';
	skip_blanks(r);
}

/* What a backslash and this byte stand for; '\0': nothing that git knows. */
static char unescape(char c)
{
	switch (c) {
	case 't':
		return '\t';
	case 'n':
		return '\n';
	case 'b':
		return '\b';
	case '\\':
	case '"':
		return c;
	}
	return '\0';
}

struct value {
	char *text;
	size_t size_bytes;
	size_t length;
	size_t trimmed; /* length without blanks at the end that are not quoted */
};

static void put(struct value *value, char c, bool is_kept)
{
	if (value->length + 1 < value->size_bytes)
		value->text[value->length] = c;
	value->length++;
	if (is_kept)
		value->trimmed = value->length;
}

/* Up to the end of its line. False: bad syntax. */
static bool read_value(struct reader *r, struct value *value)
{
	bool quoted = false;

	skip_blanks(r);
	for (; peek(r) != '\n'; r->at++) {
		char c = *r->at;

		if (!quoted && (c == '#' || c == ';')) {
			skip_line(r);
			return true;
		}
		/* Blanks before one of these are inside of the value, whatever follows. */
		if (c == '"' || c == '\\')
			value->trimmed = value->length;
		if (c == '"') {
			quoted = !quoted;
		} else if (c == '\\') {
			r->at++;
			if (r->at + 1 < r->end && r->at[0] == '\r' && r->at[1] == '\n')
				r->at++;
			if (r->at >= r->end)
				return !quoted;
			if (*r->at == '\n')
				continue; /* the line goes on */
			c = unescape(peek(r));
			if (c == '\0')
				return false;
			put(value, c, true);
		} else if (quoted || !is_blank(c)) {
			put(value, c, true);
		} else if (value->length > 0) {
			put(value, r->blanks == GUARD_GIT_BLANKS_SPACES ? ' ' : c, false);
		}
	}
	return !quoted;
}

bool guard_git_hooks_path(const char *text, size_t length_bytes, enum guard_git_blanks blanks,
			  char *ret, size_t size_bytes)
{
	struct reader r = { .at = text, .end = text + length_bytes, .blanks = blanks };
	bool found = false;

	while (r.at < r.end) {
		char unwanted[1];
		char key[KEY_BYTES];
		struct value value = { .text = unwanted, .size_bytes = sizeof(unwanted) };
		bool wanted;

		skip_blanks(&r);
		if (peek(&r) == '#' || peek(&r) == ';')
			skip_line(&r);
		if (peek(&r) == '\n') {
			r.at++;
			continue;
		}
		if (peek(&r) == '[') {
			if (!read_section(&r))
				return found;
			continue;
		}
		if (!isalpha((unsigned char)peek(&r)))
			return found;
		read_key(&r, key);
		if (peek(&r) != '=')
			continue; /* a switch without a value, or an error at the next turn */
		r.at++;
		wanted = r.in_core && strcasecmp(key, "hookspath") == 0;
		if (wanted)
			value = (struct value){ .text = ret, .size_bytes = size_bytes };
		if (!read_value(&r, &value))
			return found && !wanted;
		if (wanted) {
			found = value.trimmed > 0 && value.trimmed < size_bytes;
			ret[found ? value.trimmed : 0] = '\0';
		}
	}
	return found;
}
