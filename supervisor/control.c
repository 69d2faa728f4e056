#include "supervisor/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fence/clock.h"
#include "fence/json.h"

#define GRACE_BYTES 32

static int fail(struct fence_err *err, const char *what, const char *why)
{
	return fence_fail_why(err, -EINVAL, why, "%s", what);
}

/* The approved marker is read by the one reader of approved markers, which wants text. */
static int parse_release(const struct fence_json *value, struct control_line *ret,
			 struct fence_err *err)
{
	char text[FENCE_MARKER_BYTES + 1];

	if (value->kind != FENCE_JSON_OBJECT)
		return fail(err, "release", "must be an object");
	if (value->size_bytes >= sizeof(text))
		return fail(err, "release", "too long");
	memcpy(text, value->at, value->size_bytes);
	text[value->size_bytes] = '\0';
	ret->word = CONTROL_RELEASE;
	return fence_marker_approved_parse(text, &ret->approved, err);
}

static int parse_grace(const struct fence_json *value, int64_t *ret_ms, struct fence_err *err)
{
	char text[GRACE_BYTES];

	if (value->kind != FENCE_JSON_STRING ||
	    fence_json_string(value, text, sizeof(text), NULL) < 0 ||
	    fence_parse_duration(text, ret_ms) < 0)
		return fail(err, "terminate: grace",
			    "must be a duration, like \"250ms\" or \"5s\"");
	return 0;
}

static int parse_terminate(const struct fence_json *value, struct control_line *ret,
			   struct fence_err *err)
{
	struct fence_json key, member;
	struct fence_json_iter iter;
	int rc = 0;

	if (value->kind != FENCE_JSON_OBJECT)
		return fail(err, "terminate", "must be an object");
	ret->word = CONTROL_TERMINATE;
	ret->grace_ms = -1;
	fence_json_iter_init(&iter, value);
	while (rc == 0 && fence_json_next(&iter, &key, &member)) {
		if (!fence_json_string_is(&key, "grace"))
			return fail(err, "terminate", "unknown member");
		rc = parse_grace(&member, &ret->grace_ms, err);
	}
	return rc;
}

int control_parse(const char *text, size_t text_bytes, struct control_line *ret,
		  struct fence_err *err)
{
	const struct fence_json_limits limits = { CONTROL_LINE_BYTES, 3, true };
	struct control_line line = { .grace_ms = -1 };
	struct fence_json root, key, value, more, none;
	struct fence_json_fault fault;
	struct fence_json_iter iter;
	int rc;

	if (fence_json_parse(text, text_bytes, &limits, &root, &fault) < 0) {
		(void)fence_json_fail(err, "control line", &fault);
		return -EINVAL;
	}
	if (root.kind != FENCE_JSON_OBJECT)
		return fail(err, "control line", "must be an object");
	fence_json_iter_init(&iter, &root);
	if (!fence_json_next(&iter, &key, &value) || fence_json_next(&iter, &more, &none))
		return fail(err, "control line", "must have one member");
	if (fence_json_string_is(&key, "release"))
		rc = parse_release(&value, &line, err);
	else if (fence_json_string_is(&key, "terminate"))
		rc = parse_terminate(&value, &line, err);
	else
		rc = fail(err, "control line", "neither release nor terminate");
	if (rc == 0)
		*ret = line;
	return rc;
}

enum control_piece control_take(struct control_reader *reader, const char **at, size_t *left_bytes,
				size_t *ret_line_bytes)
{
	while (*left_bytes > 0) {
		char byte = *(*at)++;

		(*left_bytes)--;
		if (byte == '\n') {
			bool whole = !reader->skipping;

			*ret_line_bytes = reader->length_bytes;
			reader->length_bytes = 0;
			reader->skipping = false;
			if (whole)
				return CONTROL_LINE;
		} else if (reader->skipping) {
			continue;
		} else if (reader->length_bytes + 1 == CONTROL_LINE_BYTES) {
			reader->skipping = true;
			reader->length_bytes = 0;
			return CONTROL_TOO_LONG;
		} else {
			reader->bytes[reader->length_bytes++] = byte;
		}
	}
	return CONTROL_MORE;
}
