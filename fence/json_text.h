/* Pieces of JSON text that the scanner and the readers of fence/json.h share. For
 * those alone. */
#ifndef FENCE_JSON_TEXT_H
#define FENCE_JSON_TEXT_H

#include "fence/json.h"

static inline const char *fence_json_past_space(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	return at;
}

static inline bool fence_json_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline const char *fence_json_past_digits(const char *at, const char *end)
{
	while (at < end && fence_json_is_digit(*at))
		at++;
	return at;
}

/* The kind of the value that begins with this byte of scanned text. */
enum fence_json_kind fence_json_kind_of(char first);

/* The byte that a one-letter escape means, or 0. */
char fence_json_letter_escape(char letter);

/* `at` stands on the `u` of an escape: the end of the character (which may be two
 * escapes), with its number in `ret`; or NULL with the reason in `ret_why`. */
const char *fence_json_unicode_escape(const char *at, const char *end, uint32_t *ret,
				      const char **ret_why);

/* One character of a string that has been looked at: unescaped into `ret` (4 bytes
 * of room), its length there in `ret_length`; returns where the next one starts. */
const char *fence_json_unescape(const char *at, const char *end, char *ret, size_t *ret_length);

#endif
