/* Any bytes at all: what the scanner passes can be walked to its end, each value in
 * it is a text that the scanner passes too, and cJSON reads it. The first byte
 * chooses the limits. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fence/conf/doc.h"
#include "fence/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void must(bool claim)
{
	if (!claim)
		abort();
}

static void check_string(const struct fence_json *value, char *buf, size_t size_bytes)
{
	size_t length;

	must(fence_json_string(value, buf, size_bytes, &length) == 0);
	must(strlen(buf) == length && length < value->size_bytes);
	must(fence_json_string_is(value, buf));
	must(fence_json_string(value, buf, length, NULL) == -EOVERFLOW);
}

static void walk(const struct fence_json *value, const struct fence_json_limits *limits, char *buf,
		 size_t size_bytes)
{
	struct fence_json again, key, element;
	struct fence_json_fault fault;
	struct fence_json_iter iter;
	uint64_t decimal;
	int64_t number;
	bool yes;

	must(fence_json_parse(value->at, value->size_bytes, limits, &again, &fault) == 0);
	must(again.kind == value->kind && again.size_bytes == value->size_bytes);
	if (value->kind == FENCE_JSON_STRING)
		check_string(value, buf, size_bytes);
	(void)fence_json_decimal(value, &decimal);
	if (fence_json_int(value, INT64_MIN, INT64_MAX, &number) == 0)
		must(number <= FENCE_JSON_INT_MAX && number >= -FENCE_JSON_INT_MAX);
	must((fence_json_bool(value, &yes) == 0) == (value->kind == FENCE_JSON_BOOL));
	fence_json_iter_init(&iter, value);
	while (fence_json_next(&iter, value->kind == FENCE_JSON_OBJECT ? &key : NULL, &element)) {
		if (value->kind == FENCE_JSON_OBJECT) {
			check_string(&key, buf, size_bytes);
			must(fence_json_member(value, buf, &again) == 0);
			must(again.at == element.at); /* no other member has that name */
		}
		walk(&element, limits, buf, size_bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	const char *text = (const char *)data + 1;
	struct fence_json_limits limits;
	struct fence_json root;
	struct fence_json_fault fault = { 0 };
	struct fence_doc *doc = NULL;
	char *buf;

	if (size_bytes < 1)
		return 0;
	limits = (struct fence_json_limits){ .size_bytes = 1 << 16,
					     .depth = data[0] & 31,
					     .safe_numbers = (data[0] & 32) != 0 };
	size_bytes--;
	if (fence_json_parse(text, size_bytes, &limits, &root, &fault) < 0) {
		must(fault.why && fault.offset_bytes <= size_bytes);
		return 0;
	}
	/* Only a number that is longer than cJSON's buffer may still be refused. */
	if (limits.safe_numbers && fence_doc_parse("fuzz", text, size_bytes, &doc, NULL) == 0)
		fence_doc_free(doc);
	else
		must(!limits.safe_numbers || size_bytes > 60);
	buf = malloc(size_bytes + 1);
	if (buf)
		walk(&root, &limits, buf, size_bytes + 1);
	free(buf);
	return 0;
}
