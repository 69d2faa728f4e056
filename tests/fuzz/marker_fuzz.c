/* Any bytes as a marker: what is read can be given a next state that is read too,
 * or does not fit; and any text as an approved marker. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fence/attempt.h"
#include "fence/marker_compose.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void must(bool claim)
{
	if (!claim)
		abort();
}

/* What is not known is 0 in both. */
static bool is_same_result(const struct fence_marker_result *a, const struct fence_marker_result *b)
{
	return a->cause == b->cause && a->code == b->code && a->signal == b->signal &&
	       a->reap == b->reap && a->survivors == b->survivors;
}

/* The next state says all that is new, and of the rest what the last one said. */
static void next_state(const struct fence_marker *marker, const struct fence_marker_news *news)
{
	struct fence_marker next;
	struct fence_err err = { 0 };
	int rc = fence_marker_compose(marker->text, marker->text_bytes, marker->format, news, &next,
				      &err);

	if (rc == -EFBIG) {
		must(marker->text_bytes > 512);
		return;
	}
	must(rc == 0 && next.text_bytes <= FENCE_MARKER_BYTES);
	must(next.status == news->status && next.place.parent_ino == news->place.parent_ino);
	must(next.supervisor.pid == marker->supervisor.pid);
	must(next.supervisor.id == marker->supervisor.id);
	must(strcmp(next.attempt_id, marker->attempt_id) == 0);
	must(strcmp(next.host, marker->host) == 0);
	must(next.group.pid == (news->group ? news->group->pid : marker->group.pid));
	if (news->result)
		must(next.has_result && is_same_result(&next.result, news->result));
	else
		must(next.has_result == marker->has_result &&
		     is_same_result(&next.result, &marker->result));
	must(marker->format != FENCE_MARKER_V1 || next.seq == news->seq);
	must(fence_attempt_is_over(&next) == (next.status == FENCE_MARKER_TERMINATED ||
					      (next.status == FENCE_MARKER_CANCELLED &&
					       next.has_result && next.result.survivors == 0)));
}

static void next_states(const struct fence_marker *marker)
{
	const struct fence_ident group = { .pid = 1, .start_ticks = 2, .id = 3 };
	const struct fence_marker_result result = { FENCE_CAUSE_TIMEOUT, -1, 9, FENCE_REAP_SURVIVED,
						    2 };
	struct fence_marker_news news = {
		.status = FENCE_MARKER_TERMINATING,
		.place = { 1, 2, 3, 4 },
		.seq = 7,
		.nonce = "0123456789abcdef0123456789abcdef",
		.group = &group,
		.by = FENCE_MARKER_BY_CANCEL,
	};

	next_state(marker, &news);
	news.group = NULL;
	news.status = FENCE_MARKER_CANCELLED;
	next_state(marker, &news);
	news.result = &result;
	next_state(marker, &news);
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
			next_states(&marker);
	}
	approve(data, size_bytes);
	return 0;
}
