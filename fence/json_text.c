#include "fence/json_text.h"

#include <string.h>

enum fence_json_kind fence_json_kind_of(char first)
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

const char *fence_json_unicode_escape(const char *at, const char *end, uint32_t *ret,
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

char fence_json_letter_escape(char letter)
{
	static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *found = letter ? strchr(letters, letter) : NULL;

	if (!found)
		return '\0';
	return bytes[found - letters];
}

const char *fence_json_unescape(const char *at, const char *end, char *ret, size_t *ret_length)
{
	const char *why;
	uint32_t point = 0;

	if (*at != '\\') {
		ret[0] = *at;
		*ret_length = 1;
		return at + 1;
	}
	if (at[1] != 'u') {
		ret[0] = fence_json_letter_escape(at[1]);
		*ret_length = 1;
		return at + 2;
	}
	at = fence_json_unicode_escape(at + 1, end, &point, &why);
	*ret_length = utf8_put(point, ret);
	return at;
}
