#include "guard/policy/words.h"

#include <string.h>

#define BLANKS " \t"

/* What a shell would do more with than take it, outside of quotes. */
static const char *judge_plain(char c)
{
	if (c == '\n' || strchr(";&|()<>", c) != NULL)
		return "it is more than one simple command";
	if (strchr("$`", c) != NULL)
		return "a shell would expand it";
	if (strchr("*?[]{}!", c) != NULL)
		return "a shell would expand it; use quotes";
	return NULL;
}

struct splitter {
	const char *at;
	char *out;
	const char *wrong;
};

static void take_single(struct splitter *s)
{
	size_t length = strcspn(s->at, "'");

	memcpy(s->out, s->at, length);
	s->out += length;
	s->at += length;
	if (*s->at == '\0')
		s->wrong = "a quote is not closed";
	else
		s->at++;
}

static void take_double(struct splitter *s)
{
	while (s->wrong == NULL && *s->at != '"') {
		if (*s->at == '\0')
			s->wrong = "a quote is not closed";
		else if (strchr("$`", *s->at) != NULL)
			s->wrong = "a shell would expand it";
		else if (*s->at == '\\' && s->at[1] == '\n')
			s->wrong = "it is more than one line";
		else if (*s->at == '\\' && s->at[1] != '\0' && strchr("\"\\$`", s->at[1]) != NULL)
			*s->out++ = s->at[1], s->at += 2;
		else
			*s->out++ = *s->at++;
	}
	if (s->wrong == NULL)
		s->at++;
}

static void take_char(struct splitter *s)
{
	char c = *s->at++;

	if (c == '\'') {
		take_single(s);
	} else if (c == '"') {
		take_double(s);
	} else if (c == '\\') {
		if (*s->at == '\0' || *s->at == '\n')
			s->wrong = "it ends in a backslash";
		else
			*s->out++ = *s->at++;
	} else {
		s->wrong = judge_plain(c);
		*s->out++ = c;
	}
}

/* NAME=... before the program: to a shell it is no word of the command. */
static bool is_assignment(const char *text)
{
	size_t length = strspn(text, "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789");

	return length > 0 && text[length] == '=';
}

const char *guard_words_split(const char *text, char *buf, const char *ret[GUARD_WORDS_MAX],
			      size_t *ret_count)
{
	struct splitter s = { .at = text, .out = buf };
	size_t count = 0;

	for (;;) {
		s.at += strspn(s.at, BLANKS);
		if (*s.at == '\0')
			break;
		if (*s.at == '#' || *s.at == '~')
			return *s.at == '#' ? "a shell would take it for a comment"
					    : "a shell would expand it";
		if (count == 0 && is_assignment(s.at))
			return "it begins with an assignment";
		if (count == GUARD_WORDS_MAX)
			return "it has more than 64 words";
		ret[count++] = s.out;
		while (s.wrong == NULL && *s.at != '\0' && strchr(BLANKS, *s.at) == NULL)
			take_char(&s);
		if (s.wrong != NULL)
			return s.wrong;
		*s.out++ = '\0';
	}
	*ret_count = count;
	return count == 0 ? "it has no words" : NULL;
}

bool guard_words_match(const char *const *prefix, size_t prefix_count, const char *const *argv,
		       size_t count)
{
	if (prefix_count == 0 || count < prefix_count)
		return false;
	for (size_t i = 0; i < prefix_count; i++) {
		const char *word = argv[i];
		const char *slash = strrchr(word, '/');

		if (i == 0 && slash != NULL && strchr(prefix[0], '/') == NULL)
			word = slash + 1;
		if (strcmp(prefix[i], word) != 0)
			return false;
	}
	return true;
}
