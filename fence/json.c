/* The scanner: one pass that finds every fault, then readers that rely on it. */
#include "fence/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

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

static const char *past_space(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	return at;
}

/* --- strings -------------------------------------------------------------------- */

static size_t utf8_put(uint32_t point, char *ret)
{
	if (point < 0x80) {
		ret[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		ret[0] = (char)(0xc0 | point >> 6);
		ret[1] = (char)(0x80 | (point & 0x3f));
		return 2;
	}
	if (point < 0x10000) {
		ret[0] = (char)(0xe0 | point >> 12);
		ret[1] = (char)(0x80 | (point >> 6 & 0x3f));
		ret[2] = (char)(0x80 | (point & 0x3f));
		return 3;
	}
	ret[0] = (char)(0xf0 | point >> 18);
	ret[1] = (char)(0x80 | (point >> 12 & 0x3f));
	ret[2] = (char)(0x80 | (point >> 6 & 0x3f));
	ret[3] = (char)(0x80 | (point & 0x3f));
	return 4;
}

/* Four hexadecimal digits, or -1. */
static int32_t hex4(const char *at, const char *end)
{
	int32_t value = 0;

	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = at[i];

		if (c >= '0' && c <= '9')
			value = value * 16 + (c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value * 16 + (c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			value = value * 16 + (c - 'A' + 10);
		else
			return -1;
	}
	return value;
}

static bool is_high_half(int32_t unit)
{
	return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low_half(int32_t unit)
{
	return unit >= 0xdc00 && unit <= 0xdfff;
}

/* `at` stands on the `u` of an escape: the end of the character (which may be two
 * escapes), with its number in `ret`; or NULL with the reason in `ret_why`. */
static const char *unicode_escape(const char *at, const char *end, uint32_t *ret,
				  const char **ret_why)
{
	int32_t unit = hex4(at + 1, end), low;

	if (unit < 0) {
		*ret_why = "\\u needs four hexadecimal digits";
		return NULL;
	}
	at += 5;
	*ret = (uint32_t)unit;
	if (unit == 0) {
		*ret_why = "a NUL character in a string";
		return NULL;
	}
	if (!is_high_half(unit) && !is_low_half(unit))
		return at;
	*ret_why = "half of a surrogate pair";
	if (is_low_half(unit) || end - at < 6 || at[0] != '\\' || at[1] != 'u')
		return NULL;
	low = hex4(at + 2, end);
	if (low < 0 || !is_low_half(low))
		return NULL;
	*ret = 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
	return at + 6;
}

/* The byte that a one-letter escape means, or 0. */
static char letter_escape(char letter)
{
	static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *found = letter ? strchr(letters, letter) : NULL;

	return found ? bytes[found - letters] : 0;
}

/* One character of a string that has been looked at: unescaped into `ret` (4 bytes
 * of room), its length there in `ret_length`; returns where the next one starts. */
static const char *unescape(const char *at, const char *end, char *ret, size_t *ret_length)
{
	const char *why;
	uint32_t point = 0;

	if (*at != '\\') {
		ret[0] = *at;
		*ret_length = 1;
		return at + 1;
	}
	if (at[1] != 'u') {
		ret[0] = letter_escape(at[1]);
		*ret_length = 1;
		return at + 2;
	}
	at = unicode_escape(at + 1, end, &point, &why);
	*ret_length = utf8_put(point, ret);
	return at;
}

static int scan_escape(struct scan *s)
{
	const char *why = NULL, *next;
	uint32_t point;

	if (s->end - s->at < 2)
		return fault_at(s, s->at, "the string does not end");
	if (s->at[1] != 'u') {
		if (!letter_escape(s->at[1]))
			return fault_at(s, s->at, "unknown escape in a string");
		s->at += 2;
		return 0;
	}
	next = unicode_escape(s->at + 1, s->end, &point, &why);
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

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *past_digits(const char *at, const char *end)
{
	while (at < end && is_digit(*at))
		at++;
	return at;
}

/* The exponent's value, held within +-10^8: no text that passed a size limit has
 * enough digits to bring that back. */
static int64_t exponent_of(const char *at, const char *end)
{
	bool negative = *at == '-';
	int64_t value = 0;

	if (*at == '-' || *at == '+')
		at++;
	for (; at < end; at++)
		if (value < 10000000)
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
		if (!is_digit(*at))
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

	s->at = past_digits(s->at, s->end);
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
			a = unescape(a, end, a_bytes, &a_count);
			a_next = 0;
		}
		if (b_next == b_count) {
			b = unescape(b, end, b_bytes, &b_count);
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
	s->at = past_space(s->at, s->end);
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

	s->at = past_space(s->at + 1, s->end);
	if (s->at < s->end && *s->at == close) {
		s->at++;
		return 0;
	}
	for (;;) {
		s->at = past_space(s->at, s->end);
		rc = close == '}' ? scan_member(s, first_key) : scan_value(s);
		if (rc < 0)
			return rc;
		s->at = past_space(s->at, s->end);
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
	s->at = past_space(s->at, s->end);
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
		if (*s->at == '-' || is_digit(*s->at))
			return scan_number(s);
		return fault_at(s, s->at, "not a JSON value");
	}
}

static enum fence_json_kind kind_of(char first)
{
	switch (first) {
	case '{':
		return FENCE_JSON_OBJECT;
	case '[':
		return FENCE_JSON_ARRAY;
	case '"':
		return FENCE_JSON_STRING;
	case 't':
	case 'f':
		return FENCE_JSON_BOOL;
	case 'n':
		return FENCE_JSON_NULL;
	default:
		return FENCE_JSON_NUMBER;
	}
}

static int scan_text(struct scan *s, struct fence_json *ret)
{
	const char *start = past_space(s->at, s->end), *stop;
	int rc = scan_value(s);

	if (rc < 0)
		return rc;
	stop = s->at;
	s->at = past_space(s->at, s->end);
	if (s->at < s->end)
		return fault_at(s, s->at, "more after the value");
	*ret = (struct fence_json){ kind_of(*start), start, (size_t)(stop - start) };
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

/* --- reading what was scanned ------------------------------------------------------ */

const char *fence_json_kind_word(enum fence_json_kind kind)
{
	static const char *const words[] = {
		[FENCE_JSON_NULL] = "null",	  [FENCE_JSON_BOOL] = "true or false",
		[FENCE_JSON_NUMBER] = "a number", [FENCE_JSON_STRING] = "a string",
		[FENCE_JSON_ARRAY] = "an array",  [FENCE_JSON_OBJECT] = "an object",
	};

	return words[kind];
}

static const char *past_string(const char *at)
{
	for (at++; *at != '"'; at++)
		at += *at == '\\';
	return at + 1;
}

/* The end of the value at `at`. Brackets match, so counting them is enough. */
static const char *past_value(const char *at, const char *end)
{
	unsigned int depth = 0;

	do {
		if (*at == '"') {
			at = past_string(at);
			continue;
		}
		if (*at == '{' || *at == '[')
			depth++;
		else if (*at == '}' || *at == ']')
			depth--;
		at++;
	} while (at < end && (depth > 0 || !strchr(",]} \t\n\r", *at)));
	return at;
}

static const char *take_value(const char *at, const char *end, struct fence_json *ret)
{
	const char *stop;

	at = past_space(at, end);
	stop = *at == '"' ? past_string(at) : past_value(at, end);
	if (ret)
		*ret = (struct fence_json){ kind_of(*at), at, (size_t)(stop - at) };
	return past_space(stop, end);
}

void fence_json_iter_init(struct fence_json_iter *iter, const struct fence_json *value)
{
	*iter = (struct fence_json_iter){ 0 };
	if (value->kind != FENCE_JSON_OBJECT && value->kind != FENCE_JSON_ARRAY)
		return;
	iter->end = value->at + value->size_bytes - 1; /* its closing bracket */
	iter->at = past_space(value->at + 1, iter->end);
	iter->has_keys = value->kind == FENCE_JSON_OBJECT;
}

bool fence_json_next(struct fence_json_iter *iter, struct fence_json *ret_key,
		     struct fence_json *ret_value)
{
	if (iter->at == iter->end)
		return false;
	if (*iter->at == ',')
		iter->at++;
	if (iter->has_keys)
		iter->at = take_value(iter->at, iter->end, ret_key) + 1; /* and the colon */
	iter->at = take_value(iter->at, iter->end, ret_value);
	return true;
}

int fence_json_member(const struct fence_json *object, const char *name, struct fence_json *ret)
{
	struct fence_json_iter iter;
	struct fence_json key, value;

	if (object->kind != FENCE_JSON_OBJECT)
		return -EINVAL;
	fence_json_iter_init(&iter, object);
	while (fence_json_next(&iter, &key, &value)) {
		if (!fence_json_string_is(&key, name))
			continue;
		*ret = value;
		return 0;
	}
	return -ENOENT;
}

int fence_json_string(const struct fence_json *value, char *buf, size_t size_bytes,
		      size_t *ret_length)
{
	const char *at, *end;
	size_t length = 0;

	if (value->kind != FENCE_JSON_STRING)
		return -EINVAL;
	at = value->at + 1;
	end = value->at + value->size_bytes - 1;
	while (at < end) {
		char bytes[4];
		size_t count;

		at = unescape(at, end, bytes, &count);
		if (count >= size_bytes - length)
			return -EOVERFLOW;
		memcpy(buf + length, bytes, count);
		length += count;
	}
	if (length >= size_bytes)
		return -EOVERFLOW;
	buf[length] = '\0';
	if (ret_length)
		*ret_length = length;
	return 0;
}

bool fence_json_string_is(const struct fence_json *value, const char *text)
{
	const char *at, *end;

	if (value->kind != FENCE_JSON_STRING)
		return false;
	at = value->at + 1;
	end = value->at + value->size_bytes - 1;
	/* Names of members seldom have escapes, and are compared again and again. */
	if (!memchr(at, '\\', (size_t)(end - at)))
		return strlen(text) == (size_t)(end - at) &&
		       memcmp(text, at, (size_t)(end - at)) == 0;
	while (at < end) {
		char bytes[4];
		size_t count;

		at = unescape(at, end, bytes, &count);
		if (strncmp(text, bytes, count) != 0)
			return false;
		text += count;
	}
	return *text == '\0';
}

int fence_json_int(const struct fence_json *value, int64_t min, int64_t max, int64_t *ret)
{
	const char *at = value->at, *end = value->at + value->size_bytes;
	bool negative;
	int64_t number = 0;

	if (value->kind != FENCE_JSON_NUMBER)
		return -EINVAL;
	negative = *at == '-';
	at += negative;
	if (past_digits(at, end) != end)
		return -EINVAL;
	for (; at < end; at++) {
		number = number * 10 + (*at - '0');
		if (number > FENCE_JSON_INT_MAX)
			return -ERANGE;
	}
	if (negative)
		number = -number;
	if (number < min || number > max)
		return -ERANGE;
	*ret = number;
	return 0;
}

int fence_json_decimal(const struct fence_json *value, uint64_t *ret)
{
	char digits[21];
	uint64_t number = 0;
	int rc = fence_json_string(value, digits, sizeof(digits), NULL);

	if (rc < 0)
		return rc == -EOVERFLOW ? -ERANGE : rc;
	if (digits[0] == '\0' || (digits[0] == '0' && digits[1] != '\0'))
		return -EINVAL;
	for (const char *at = digits; *at; at++) {
		if (!is_digit(*at))
			return -EINVAL;
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
			return -ERANGE;
	}
	*ret = number;
	return 0;
}

int fence_json_bool(const struct fence_json *value, bool *ret)
{
	if (value->kind != FENCE_JSON_BOOL)
		return -EINVAL;
	*ret = value->at[0] == 't';
	return 0;
}
