/* Reading what was scanned: nothing here meets a fault of the text any more. */
#include "fence/json.h"

#include <errno.h>
#include <string.h>

#include "fence/json_text.h"

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

	at = fence_json_past_space(at, end);
	stop = *at == '"' ? past_string(at) : past_value(at, end);
	if (ret)
		*ret = (struct fence_json){ fence_json_kind_of(*at), at, (size_t)(stop - at) };
	return fence_json_past_space(stop, end);
}

void fence_json_iter_init(struct fence_json_iter *iter, const struct fence_json *value)
{
	*iter = (struct fence_json_iter){ 0 };
	if (value->kind != FENCE_JSON_OBJECT && value->kind != FENCE_JSON_ARRAY)
		return;
	iter->end = value->at + value->size_bytes - 1; /* its closing bracket */
	iter->at = fence_json_past_space(value->at + 1, iter->end);
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

		at = fence_json_unescape(at, end, bytes, &count);
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
	if (at < end && *at != '\\' && *at != *text)
		return false;
	if (!memchr(at, '\\', (size_t)(end - at)))
		return strlen(text) == (size_t)(end - at) &&
		       memcmp(text, at, (size_t)(end - at)) == 0;
	while (at < end) {
		char bytes[4];
		size_t count;

		at = fence_json_unescape(at, end, bytes, &count);
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
	if (fence_json_past_digits(at, end) != end)
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
		if (!fence_json_is_digit(*at))
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
