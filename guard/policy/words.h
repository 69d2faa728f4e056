/* Commands as words: how the examples of a policy are split, and which argument
 * vectors a rule of a policy is about. */
#ifndef GUARD_POLICY_WORDS_H
#define GUARD_POLICY_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define GUARD_WORDS_MAX 64

/* Splits a simple command at blanks. '...' is taken as it is, in "..." a backslash
 * keeps `"` and `\`, outside it keeps any character. Whatever needs more of a shell
 * (a list, a pipe, a redirection, an expansion, an assignment, a comment) is refused,
 * so that a reader of shell would see the same words. The words go to `buf`, which
 * must have room for strlen(text) + 1 bytes. NULL or, in words, what is wrong. */
const char *guard_words_split(const char *text, char *buf, const char *ret[GUARD_WORDS_MAX],
			      size_t *ret_count);

/* `argv` begins with the words of `prefix`. A program that the rule names without a
 * slash is meant wherever it lies: /usr/bin/git is git. */
bool guard_words_match(const char *const *prefix, size_t prefix_count, const char *const *argv,
		       size_t count);

#endif
