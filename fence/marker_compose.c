#include "fence/marker_compose.h"

#include <errno.h>

#include "fence/marker_fields.h"

void fence_marker_result_write(struct fence_jsonw *w, const struct fence_marker_result *result)
{
	fence_jsonw_string(w, "cause", fence_cause_word(result->cause));
	if (result->code >= 0)
		fence_jsonw_int(w, "code", result->code);
	if (result->signal > 0)
		fence_jsonw_int(w, "signal", result->signal);
	fence_jsonw_string(w, "reap", fence_reap_word(result->reap));
	fence_jsonw_uint(w, "survivors", result->survivors);
}

static void write_status(struct fence_jsonw *w, const char *key,
			 const struct fence_marker_news *news)
{
	fence_jsonw_string(w, key, fence_marker_status_word(news->status));
}

static void write_marker_dev(struct fence_jsonw *w, const char *key,
			     const struct fence_marker_news *news)
{
	fence_jsonw_decimal(w, key, news->place.marker_dev);
}

static void write_marker_ino(struct fence_jsonw *w, const char *key,
			     const struct fence_marker_news *news)
{
	fence_jsonw_decimal(w, key, news->place.marker_ino);
}

static void write_parent_dev(struct fence_jsonw *w, const char *key,
			     const struct fence_marker_news *news)
{
	fence_jsonw_decimal(w, key, news->place.parent_dev);
}

static void write_parent_ino(struct fence_jsonw *w, const char *key,
			     const struct fence_marker_news *news)
{
	fence_jsonw_decimal(w, key, news->place.parent_ino);
}

static void write_seq(struct fence_jsonw *w, const char *key, const struct fence_marker_news *news)
{
	fence_jsonw_int(w, key, news->seq);
}

static void write_nonce(struct fence_jsonw *w, const char *key,
			const struct fence_marker_news *news)
{
	fence_jsonw_string(w, key, news->nonce);
}

static void write_handle(struct fence_jsonw *w, const char *key,
			 const struct fence_marker_news *news)
{
	if (news->handle[0] != '\0')
		fence_jsonw_string(w, key, news->handle);
}

/* Boot and namespace are the supervisor's, which the marker has already. */
static void write_group(struct fence_jsonw *w, const char *key,
			const struct fence_marker_news *news)
{
	fence_jsonw_open(w, key, '{');
	fence_jsonw_int(w, "pid", news->group->pid);
	fence_jsonw_decimal(w, "start", news->group->start_ticks);
	if (news->group->id != 0)
		fence_jsonw_decimal(w, "id", news->group->id);
	if (news->group_cgroup != 0)
		fence_jsonw_decimal(w, "cgroup", news->group_cgroup);
	fence_jsonw_close(w, '}');
}

static void write_result(struct fence_jsonw *w, const char *key,
			 const struct fence_marker_news *news)
{
	fence_jsonw_open(w, key, '{');
	fence_marker_result_write(w, news->result);
	fence_jsonw_close(w, '}');
}

static void write_by(struct fence_jsonw *w, const char *key, const struct fence_marker_news *news)
{
	fence_jsonw_string(w, key, fence_marker_by_word(news->by));
}

enum when {
	ALWAYS,
	OUR_FORMAT, /* in a foreign format only when the old state has it: its own
		     * programs may not expect what they did not write */
	WITH_GROUP,
	WITH_RESULT,
};

static const struct fresh {
	const char *name;
	enum when when;
	void (*write)(struct fence_jsonw *w, const char *key, const struct fence_marker_news *news);
} fresh_fields[] = {
	{ "status", ALWAYS, write_status },
	{ "markerDev", ALWAYS, write_marker_dev },
	{ "markerIno", ALWAYS, write_marker_ino },
	{ "parentDev", ALWAYS, write_parent_dev },
	{ "parentIno", ALWAYS, write_parent_ino },
	{ "seq", OUR_FORMAT, write_seq },
	{ "nonce", OUR_FORMAT, write_nonce },
	{ "handle", OUR_FORMAT, write_handle },
	{ "group", WITH_GROUP, write_group },
	{ "result", WITH_RESULT, write_result },
	{ "by", OUR_FORMAT, write_by },
};
#define FRESH_COUNT (sizeof(fresh_fields) / sizeof(fresh_fields[0]))

static size_t fresh_of(const struct fence_json *key)
{
	size_t i = 0;

	while (i < FRESH_COUNT && !fence_json_string_is(key, fresh_fields[i].name))
		i++;
	return i;
}

/* Whether an old member of this name stays as it is; so does what another format means by
 * the name of a field of ours. */
static bool is_kept(const struct fresh *field, const struct fence_json *key,
		    const struct fence_json *value, const struct fence_marker_news *news)
{
	return (field->when == WITH_GROUP && !news->group) ||
	       (field->when == WITH_RESULT && !news->result) ||
	       (field->when == OUR_FORMAT && !fence_marker_is_field(key, value));
}

static bool is_added(const struct fresh *field, enum fence_marker_format format,
		     const struct fence_marker_news *news)
{
	switch (field->when) {
	case ALWAYS:
		return true;
	case OUR_FORMAT:
		return format == FENCE_MARKER_V1;
	case WITH_GROUP:
		return news->group != NULL;
	case WITH_RESULT:
		return news->result != NULL;
	}
	return false;
}

/* The old members in their order, each as it was or anew, then what they lack. */
static void compose(struct fence_jsonw *w, const struct fence_json *old,
		    enum fence_marker_format format, const struct fence_marker_news *news)
{
	bool there[FRESH_COUNT] = { false };
	struct fence_json key, value;
	struct fence_json_iter iter;

	fence_jsonw_open(w, NULL, '{');
	fence_json_iter_init(&iter, old);
	while (fence_json_next(&iter, &key, &value)) {
		size_t i = fresh_of(&key);

		if (i < FRESH_COUNT)
			there[i] = true;
		if (i < FRESH_COUNT && !is_kept(&fresh_fields[i], &key, &value, news))
			fresh_fields[i].write(w, fresh_fields[i].name, news);
		else
			fence_jsonw_raw(w, NULL, key.at,
					(size_t)(value.at + value.size_bytes - key.at));
	}
	for (size_t i = 0; i < FRESH_COUNT; i++)
		if (!there[i] && is_added(&fresh_fields[i], format, news))
			fresh_fields[i].write(w, fresh_fields[i].name, news);
	fence_jsonw_close(w, '}');
}

int fence_marker_compose(const char *old_text, size_t old_bytes, enum fence_marker_format format,
			 const struct fence_marker_news *news, struct fence_marker *ret,
			 struct fence_err *err)
{
	const struct fence_json_limits limits = { FENCE_MARKER_BYTES, 4, true };
	char text[FENCE_MARKER_BYTES + 1];
	struct fence_json_fault fault;
	struct fence_json old;
	struct fence_jsonw w;

	if (fence_json_parse(old_text, old_bytes, &limits, &old, &fault) < 0)
		return fence_json_fail(err, "old marker", &fault);
	fence_jsonw_init(&w, text, sizeof(text));
	compose(&w, &old, format, news);
	if (w.overflow || w.length_bytes + 1 > FENCE_MARKER_BYTES)
		return fence_fail_why(err, -EFBIG, "would not fit 1024 bytes", "new marker");
	text[w.length_bytes++] = '\n';
	return fence_marker_parse(text, w.length_bytes, format, ret, NULL, err);
}
