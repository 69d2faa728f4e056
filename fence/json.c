/* The scanner: one pass that finds every fault. */
#include "fence/json.h"

#include <errno.h>
#include <string.h>

#include "fence/json_text.h"
#include "fence/utf8.h"

struct scan {
	const char *text;
	const char *at;
	const char *end;
	const struct fence_json_limits *limits;
	unsigned int depth;
	struct fence_json_fault fault;

	/* Where the keys of the open objects start (their first quote), each object's
	 * own sorted by what they say. */
	uint32_t keys[FENCE_JSON_KEYS_MAX];
	size_t key_count;
};

static int scan_value(struct scan *s);

static int fault_at(struct scan *s, const char *at, const char *why)
{
	s->fault.offset_bytes = (size_t)(at - s->text);
	s->fault.why = why;
	return -EBADMSG;
}

/* --- strings -------------------------------------------------------------------- */

static int scan_escape(struct scan *s)
{
	const char *why = NULL, *next;
	uint32_t point;

	if (s->end - s->at < 2)
		return fault_at(s, s->at, "the string does not end");
	if (s->at[1] != 'u') {
		if (!fence_json_letter_escape(s->at[1]))
			return fault_at(s, s->at, "unknown escape in a string");
		s->at += 2;
		return 0;
	}
	next = fence_json_unicode_escape(s->at + 1, s->end, &point, &why);
	if (!next)
		return fault_at(s, s->at, why);
	s->at = next;
	return 0;
}

static int scan_string(struct scan *s)
{
	const char *start = s->at++;

	while (s->at < s->end && *s->at != '"') {
		size_t length = 1;
		int rc = 0;

		if (*s->at == '\\') {
			rc = scan_escape(s);
			length = 0;
		} else if ((unsigned char)*s->at < 0x20) {
			rc = fault_at(s, s->at, "a control character in a string");
		} else {
			length = fence_utf8_length(s->at, (size_t)(s->end - s->at));
			if (length == 0)
				rc = fault_at(s, s->at, "not UTF-8");
		}
		if (rc < 0)
			return rc;
		s->at += length;
	}
	if (s->at == s->end)
		return fault_at(s, start, "the string does not end");
	s->at++;
	return 0;
}

/* --- numbers -------------------------------------------------------------------- */

/* The exponent's value, held within +-10^16: no text has enough digits to bring
 * that back. */
static int64_t exponent_of(const char *at, const char *end)
{
	bool negative = *at == '-';
	int64_t value = 0;

	if (*at == '-' || *at == '+')
		at++;
	for (; at < end; at++)
		if (value < INT64_C(1000000000000000))
			value = value * 10 + (*at - '0');
	return negative ? -value : value;
}

/* Is |number| > 2^53? Exactly, from the digits: converting it first would round it. */
static bool is_beyond_2_53(const char *at, const char *end)
{
	static const char bound[] = "9007199254740992";
	const size_t bound_digits = sizeof(bound) - 1;
	size_t significant = 0;
	int64_t whole_digits = 0; /* significant ones before the point */
	bool in_fraction = false;
	int order = 0; /* of the first 16 digits against the bound's */

	for (; at < end && *at != 'e' && *at != 'E'; at++) {
		if (*at == '.')
			in_fraction = true;
		if (!fence_json_is_digit(*at))
			continue;
		if (significant == 0 && *at == '0') {
			whole_digits -= in_fraction;
			continue;
		}
		if (significant < bound_digits && order == 0)
			order = *at - bound[significant];
		else if (significant >= bound_digits && order == 0 && *at != '0')
			order = 1;
		significant++;
		whole_digits += !in_fraction;
	}
	if (significant == 0)
		return false;
	if (significant < bound_digits && order == 0)
		order = -1;
	if (at < end)
		whole_digits += exponent_of(at + 1, end);
	if (whole_digits != (int64_t)bound_digits)
		return whole_digits > (int64_t)bound_digits;
	return order > 0;
}

static int scan_digits(struct scan *s, const char *why)
{
	const char *start = s->at;

	s->at = fence_json_past_digits(s->at, s->end);
	return s->at == start ? fault_at(s, s->at, why) : 0;
}

static int scan_number(struct scan *s)
{
	const char *start = s->at, *whole;
	int rc;

	if (*s->at == '-')
		s->at++;
	whole = s->at;
	rc = scan_digits(s, "a number needs a digit here");
	if (rc == 0 && *whole == '0' && s->at - whole > 1)
		rc = fault_at(s, whole, "a number with a leading zero");
	if (rc == 0 && s->at < s->end && *s->at == '.') {
		s->at++;
		rc = scan_digits(s, "a number needs a digit after its point");
	}
	if (rc == 0 && s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
		s->at++;
		if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
			s->at++;
		rc = scan_digits(s, "a number needs a digit in its exponent");
	}
	if (rc == 0 && s->limits->safe_numbers && is_beyond_2_53(start, s->at))
		rc = fault_at(s, start, "a number beyond 2^53");
	return rc;
}

/* --- objects and arrays ---------------------------------------------------------- */

/* The order of two keys by their unescaped bytes. Both stand after their first
 * quote, in text that has been looked at. */
static int compare_keys(const char *a, const char *b, const char *end)
{
	char a_bytes[4], b_bytes[4];
	size_t a_count = 0, b_count = 0, a_next = 0, b_next = 0;

	for (;;) {
		bool a_ends = a_next == a_count && *a == '"';
		bool b_ends = b_next == b_count && *b == '"';

		if (a_ends || b_ends)
			return (int)b_ends - (int)a_ends;
		if (a_next == a_count) {
			a = fence_json_unescape(a, end, a_bytes, &a_count);
			a_next = 0;
		}
		if (b_next == b_count) {
			b = fence_json_unescape(b, end, b_bytes, &b_count);
			b_next = 0;
		}
		if (a_bytes[a_next] != b_bytes[b_next])
			return a_bytes[a_next] < b_bytes[b_next] ? -1 : 1;
		a_next++;
		b_next++;
	}
}

/* Puts the key among those of its object, which start at `first`. */
static int remember_key(struct scan *s, const char *key, size_t first)
{
	size_t low = first, high = s->key_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_keys(key + 1, s->text + s->keys[middle] + 1, s->end);

		if (order == 0)
			return fault_at(s, key, "this key is in the object already");
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	if (s->key_count == FENCE_JSON_KEYS_MAX)
		return fault_at(s, key, "too many members in one object");
	memmove(&s->keys[low + 1], &s->keys[low], (s->key_count - low) * sizeof(s->keys[0]));
	s->keys[low] = (uint32_t)(key - s->text);
	s->key_count++;
	return 0;
}

static int scan_member(struct scan *s, size_t first_key)
{
	const char *key = s->at;
	int rc;

	if (s->at == s->end || *s->at != '"')
		return fault_at(s, s->at, "a key in quotes is needed here");
	rc = scan_string(s);
	if (rc == 0)
		rc = remember_key(s, key, first_key);
	if (rc < 0)
		return rc;
	s->at = fence_json_past_space(s->at, s->end);
	if (s->at == s->end || *s->at != ':')
		return fault_at(s, s->at, "a colon is needed after a key");
	s->at++;
	return scan_value(s);
}

/* What stands between the braces of an object or the brackets of an array. */
static int scan_items(struct scan *s, char close)
{
	size_t first_key = s->key_count;
	int rc = 0;

	s->at = fence_json_past_space(s->at + 1, s->end);
	if (s->at < s->end && *s->at == close) {
		s->at++;
		return 0;
	}
	for (;;) {
		s->at = fence_json_past_space(s->at, s->end);
		rc = close == '}' ? scan_member(s, first_key) : scan_value(s);
		if (rc < 0)
			return rc;
		s->at = fence_json_past_space(s->at, s->end);
		if (s->at == s->end || (*s->at != ',' && *s->at != close))
			return fault_at(s, s->at,
					close == '}' ? "a comma or } is needed here"
						     : "a comma or ] is needed here");
		if (*s->at++ == close)
			break;
	}
	s->key_count = first_key;
	return 0;
}

static int scan_nested(struct scan *s, char close)
{
	int rc;

	if (s->depth == s->limits->depth || s->depth == FENCE_JSON_DEPTH_MAX)
		return fault_at(s, s->at, "nested too deep");
	s->depth++;
	rc = scan_items(s, close);
	s->depth--;
	return rc;
}

static int scan_word(struct scan *s, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0)
		return fault_at(s, s->at, "not a JSON value");
	s->at += length;
	return 0;
}

static int scan_value(struct scan *s)
{
	s->at = fence_json_past_space(s->at, s->end);
	if (s->at == s->end)
		return fault_at(s, s->at, "the text ends where a value is needed");
	switch (*s->at) {
	case '{':
		return scan_nested(s, '}');
	case '[':
		return scan_nested(s, ']');
	case '"':
		return scan_string(s);
	case 't':
		return scan_word(s, "true");
	case 'f':
		return scan_word(s, "false");
	case 'n':
		return scan_word(s, "null");
	default:
		if (*s->at == '-' || fence_json_is_digit(*s->at))
			return scan_number(s);
		return fault_at(s, s->at, "not a JSON value");
	}
}

static int scan_text(struct scan *s, struct fence_json *ret)
{
	const char *start = fence_json_past_space(s->at, s->end), *stop;
	int rc = scan_value(s);

	if (rc < 0)
		return rc;
	stop = s->at;
	s->at = fence_json_past_space(s->at, s->end);
	if (s->at < s->end)
		return fault_at(s, s->at, "more after the value");
	*ret = (struct fence_json){ fence_json_kind_of(*start), start, (size_t)(stop - start) };
	return 0;
}

int fence_json_parse(const char *text, size_t size_bytes, const struct fence_json_limits *limits,
		     struct fence_json *ret, struct fence_json_fault *ret_fault)
{
	struct scan s;
	int rc;

	/* Not with an initialiser, which would clear 16 KiB of keys for every line. */
	s.text = s.at = text;
	s.end = text + size_bytes;
	s.limits = limits;
	s.depth = 0;
	s.key_count = 0;
	if (size_bytes > limits->size_bytes || size_bytes > UINT32_MAX)
		rc = fault_at(&s, text + limits->size_bytes, "longer than allowed");
	else
		rc = scan_text(&s, ret);
	if (rc < 0)
		*ret_fault = s.fault;
	return rc;
}

int fence_json_fail(struct fence_err *err, const char *name, const struct fence_json_fault *fault)
{
	return fence_fail_why(err, -EBADMSG, fault->why, "%s: byte %zu", name, fault->offset_bytes);
}
