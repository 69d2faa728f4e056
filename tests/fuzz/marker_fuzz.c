/* Any bytes as a marker: what is read can be given a next state that is read too,
 * or does not fit; and any text as an approved marker. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fence/marker_compose.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void must(bool claim)
{
	if (!claim)
		abort();
}

static void next_state(const struct fence_marker *marker)
{
	const struct fence_ident group = { .pid = 1, .start_ticks = 2, .id = 3 };
	const struct fence_marker_news news = {
		.status = FENCE_MARKER_TERMINATING,
		.place = { 1, 2, 3, 4 },
		.seq = 7,
		.nonce = "0123456789abcdef0123456789abcdef",
		.group = &group,
		.by = FENCE_MARKER_BY_CANCEL,
	};
	struct fence_marker next;
	struct fence_err err = { 0 };
	int rc = fence_marker_compose(marker->text, marker->text_bytes, marker->format, &news,
				      &next, &err);

	if (rc == -EFBIG) {
		must(marker->text_bytes > 512);
		return;
	}
	must(rc == 0);
	must(next.status == FENCE_MARKER_TERMINATING && next.place.parent_ino == 4);
	must(next.supervisor.pid == marker->supervisor.pid && next.group.pid == 1);
	must(strcmp(next.attempt_id, marker->attempt_id) == 0);
	must(marker->format != FENCE_MARKER_V1 || next.seq == 7);
}

static void approve(const uint8_t *data, size_t size_bytes)
{
	struct fence_marker_approved approved;
	char *text = malloc(size_bytes + 1);

	if (!text)
		return;
	memcpy(text, data, size_bytes);
	text[size_bytes] = '\0';
	if (fence_marker_approved_parse(text, &approved, NULL) == 0)
		must(approved.supervisor_pid > 0 && approved.seq >= 0);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct fence_marker marker;
	enum fence_marker_rule rule = FENCE_MARKER_RULE_NAME;

	for (int format = FENCE_MARKER_V1; format <= FENCE_MARKER_COCKPIT_V1; format++) {
		if (fence_marker_parse((const char *)data, size_bytes,
				       (enum fence_marker_format)format, &marker, &rule, NULL) < 0)
			must(rule == FENCE_MARKER_RULE_JSON || rule == FENCE_MARKER_RULE_FORMAT ||
			     rule == FENCE_MARKER_RULE_FIELD);
		else
			next_state(&marker);
	}
	approve(data, size_bytes);
	return 0;
}
