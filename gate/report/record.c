#include "gate/report/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "gate/environ.h"
#include "gate/report/visible.h"

/* --- a stream of JSON ------------------------------------------------------------- */

/* What may be in the buffer when a small member is added: it must fit beside it. */
#define SMALL_BYTES 2048

void gate_json_init(struct gate_json *json, int fd)
{
	*json = (struct gate_json){ .fd = fd, .check = GATE_CHECK_START };
	fence_jsonw_init(&json->w, json->buf, sizeof(json->buf));
}

uint64_t gate_check_bytes(uint64_t check, const void *bytes, size_t count)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < count; i++)
		check = (check ^ at[i]) * 0x100000001b3u;
	return check;
}

int gate_json_flush(struct gate_json *json)
{
	if (json->error == 0 && json->w.overflow)
		json->error = -EOVERFLOW;
	if (json->error == 0)
		json->error = fence_write_full(json->fd, json->buf, json->w.length_bytes);
	json->written_bytes += json->w.length_bytes;
	json->check = gate_check_bytes(json->check, json->buf, json->w.length_bytes);
	json->w.length_bytes = 0;
	return json->error;
}

struct fence_jsonw *gate_json_small(struct gate_json *json)
{
	if (json->w.length_bytes > sizeof(json->buf) - SMALL_BYTES)
		(void)gate_json_flush(json);
	return &json->w;
}

static void put_raw(struct gate_json *json, const char *bytes, size_t count)
{
	if (json->w.length_bytes + count >= sizeof(json->buf))
		(void)gate_json_flush(json);
	memcpy(json->buf + json->w.length_bytes, bytes, count);
	json->w.length_bytes += count;
}

/* The writer wants a string whole; this gives it the opening quote as a value of its
 * own, then the pieces without their quotes, then the closing one. */
void gate_json_text(struct gate_json *json, const char *key, const char *bytes, size_t count)
{
	struct gate_visible how = { .utf8 = true, .lines = true };

	fence_jsonw_raw(gate_json_small(json), key, "\"", 1);
	while (count > 0) {
		char piece[512], escaped[2 * sizeof(piece) + 16];
		struct fence_jsonw w;
		size_t used;
		size_t length = gate_visible(how, bytes, count, piece, sizeof(piece), &used);

		fence_jsonw_init(&w, escaped, sizeof(escaped));
		fence_jsonw_bytes(&w, NULL, piece, length);
		put_raw(json, escaped + 1, w.length_bytes - 2);
		bytes += used;
		count -= used;
	}
	put_raw(json, "\"", 1);
}

void gate_json_string(struct gate_json *json, const char *key, const char *text)
{
	if (text)
		gate_json_text(json, key, text, strlen(text));
	else
		fence_jsonw_null(gate_json_small(json), key);
}

void gate_json_names(struct gate_json *json, const char *key, const struct gate_names *names)
{
	fence_jsonw_open(gate_json_small(json), key, '[');
	for (size_t i = 0; i < names->count; i++)
		gate_json_string(json, NULL, names->at[i].text);
	fence_jsonw_close(gate_json_small(json), ']');
}

void gate_json_words(struct gate_json *json, const char *key, char *const *words)
{
	fence_jsonw_open(gate_json_small(json), key, '[');
	for (char *const *at = words; *at; at++)
		gate_json_string(json, NULL, *at);
	fence_jsonw_close(gate_json_small(json), ']');
}

uint64_t gate_json_total(const struct gate_json *json)
{
	return json->written_bytes + json->w.length_bytes;
}

int gate_json_line(struct gate_json *json)
{
	put_raw(json, "\n", 1);
	json->w.comma = false;
	return gate_json_flush(json);
}

/* --- a stage's part ------------------------------------------------------------------ */

static void put_exit(struct gate_json *json, const struct gate_observation *seen)
{
	if (!seen->has_exit) {
		fence_jsonw_null(gate_json_small(json), "exit");
		return;
	}
	fence_jsonw_open(gate_json_small(json), "exit", '{');
	fence_jsonw_int(gate_json_small(json), seen->signalled ? "signal" : "code", seen->number);
	fence_jsonw_close(gate_json_small(json), '}');
}

static unsigned int listed(unsigned int count)
{
	return count < FENCE_GROUP_PIDS ? count : FENCE_GROUP_PIDS;
}

static void put_pids(struct gate_json *json, const char *key, const pid_t *pids, unsigned int count)
{
	fence_jsonw_open(gate_json_small(json), key, '[');
	for (unsigned int i = 0; i < listed(count); i++)
		fence_jsonw_int(gate_json_small(json), NULL, pids[i]);
	fence_jsonw_close(gate_json_small(json), ']');
}

static void put_leftover(struct gate_json *json, const struct gate_leftover *left)
{
	fence_jsonw_open(gate_json_small(json), "leftover", '{');
	fence_jsonw_uint(gate_json_small(json), "count", left->count);
	fence_jsonw_open(gate_json_small(json), "processes", '[');
	for (unsigned int i = 0; i < listed(left->count) && left->first[i].name[0]; i++) {
		fence_jsonw_open(gate_json_small(json), NULL, '{');
		fence_jsonw_int(gate_json_small(json), "pid", left->first[i].pid);
		gate_json_string(json, "name", left->first[i].name);
		fence_jsonw_close(gate_json_small(json), '}');
	}
	fence_jsonw_close(gate_json_small(json), ']');
	fence_jsonw_close(gate_json_small(json), '}');
}

static void put_left(struct gate_json *json, const struct gate_observation *seen,
		     const struct fence_group_result *result)
{
	put_leftover(json, &seen->leftover);
	fence_jsonw_bool(gate_json_small(json), "leaked", result->leaked);
	put_pids(json, "holders", result->holder_pids, result->holder_count);
	put_pids(json, "survivors", result->survivor_pids, result->survivor_count);
}

/* In a sandbox the signal that a command died of was not ours: ours go to the guard. */
static enum fence_sender killed_by(const struct gate_observation *seen,
				   const struct fence_group_result *result)
{
	if (result->killed_by == FENCE_SENDER_NONE && seen->has_exit && seen->signalled)
		return FENCE_SENDER_OTHER;
	return result->killed_by;
}

static void put_ending(struct gate_json *json, const struct gate_observation *seen,
		       const struct fence_group_result *result)
{
	fence_jsonw_string(gate_json_small(json), "cause", fence_cause_word(result->cause));
	fence_jsonw_string(gate_json_small(json), "killedBy",
			   fence_sender_word(killed_by(seen, result)));
	fence_jsonw_string(gate_json_small(json), "reap", fence_reap_word(result->reap));
	fence_jsonw_string(gate_json_small(json), "contain", fence_contain_word(result->contain));
	if (result->term_sent)
		fence_jsonw_int(gate_json_small(json), "termAtMs", result->term_at_ms);
	if (result->kill_sent)
		fence_jsonw_int(gate_json_small(json), "killAtMs", result->kill_at_ms);
}

static void put_usage(struct gate_json *json, const struct fence_group_result *result)
{
	fence_jsonw_int(gate_json_small(json), "wallUs", result->wall_us);
	fence_jsonw_int(gate_json_small(json), "userMs", result->user_ms);
	fence_jsonw_int(gate_json_small(json), "systemMs", result->system_ms);
	fence_jsonw_uint(gate_json_small(json), "peakRssBytes", result->peak_rss_bytes);
}

static void put_output(struct gate_json *json, const struct gate_stage_part *part)
{
	static const struct {
		const char *bytes, *tail;
	} keys[] = { { "stdoutBytes", "stdoutTail" }, { "stderrBytes", "stderrTail" } };
	const struct fence_group_result *result = fence_group_result(part->group);
	char log[GATE_ID_BYTES + 8];

	(void)snprintf(log, sizeof(log), "%s.log", part->stage->id);
	fence_jsonw_open(gate_json_small(json), "output", '{');
	gate_json_string(json, "log", part->seen->has_printed ? log : NULL);
	for (int stream = 0; stream < 2; stream++) {
		owned_mem uint8_t *tail = NULL;
		size_t count = 0;

		fence_jsonw_uint(gate_json_small(json), keys[stream].bytes,
				 result->output_bytes[stream]);
		if (result->output_bytes[stream] > 0 &&
		    fence_group_tail(part->group, stream, &tail, &count) < 0)
			json->error = json->error ? json->error : -ENOMEM;
		gate_json_text(json, keys[stream].tail, (const char *)tail, count);
	}
	if (result->log_errno)
		fence_jsonw_int(gate_json_small(json), "logErrno", result->log_errno);
	fence_jsonw_close(gate_json_small(json), '}');
}

static void put_guard(struct gate_json *json, const struct gate_guard_status *status)
{
	fence_jsonw_open(gate_json_small(json), "guard", '{');
	fence_jsonw_bool(gate_json_small(json), "executed", status->executed);
	if (status->layers[0])
		fence_jsonw_raw(gate_json_small(json), "layers", status->layers,
				strlen(status->layers));
	if (status->failed) {
		fence_jsonw_open(gate_json_small(json), "failure", '{');
		gate_json_string(json, "stage", status->failed_stage);
		fence_jsonw_int(gate_json_small(json), "errno", status->failed_errno);
		gate_json_string(json, "path", status->failed_path);
		gate_json_string(json, "hint", status->failed_hint);
		fence_jsonw_close(gate_json_small(json), '}');
	}
	fence_jsonw_close(gate_json_small(json), '}');
}

static void put_environment(struct gate_json *json, char *const *environment)
{
	fence_jsonw_open(gate_json_small(json), "environment", '[');
	for (char *const *at = environment; *at; at++)
		gate_json_text(json, NULL, *at, gate_environ_name_length(*at));
	fence_jsonw_close(gate_json_small(json), ']');
}

static void put_limits(struct gate_json *json, const struct gate_stage *stage)
{
	fence_jsonw_int(gate_json_small(json), "timeoutMs", stage->timeout_ms);
	if (stage->idle_timeout_ms > 0)
		fence_jsonw_int(gate_json_small(json), "idleTimeoutMs", stage->idle_timeout_ms);
	fence_jsonw_int(gate_json_small(json), "graceMs", stage->grace_ms);
}

static void put_group(struct gate_json *json, const struct gate_stage_part *part)
{
	const struct fence_group_result *result = fence_group_result(part->group);

	put_ending(json, part->seen, result);
	put_usage(json, result);
	put_left(json, part->seen, result);
	put_output(json, part);
}

void gate_record_stage(struct gate_json *json, const struct gate_stage_part *part)
{
	const struct gate_stage *stage = part->stage;
	const struct gate_observation *seen = part->seen;

	fence_jsonw_open(gate_json_small(json), NULL, '{');
	gate_json_string(json, "id", stage->id);
	fence_jsonw_string(gate_json_small(json), "sandbox", gate_sandbox_word(stage->sandbox));
	if (stage->policy)
		gate_json_string(json, "policy", stage->policy);
	gate_json_words(json, "command", stage->argv);
	gate_json_names(json, "needs", &stage->needs);
	put_limits(json, stage);
	fence_jsonw_string(gate_json_small(json), "result", gate_outcome_word(seen->outcome));
	gate_json_string(json, "detail", seen->detail[0] ? seen->detail : NULL);
	gate_json_string(json, "hint", seen->hint[0] ? seen->hint : NULL);
	put_exit(json, seen);
	if (part->started_at)
		gate_json_string(json, "startedAt", part->started_at);
	if (part->environment)
		put_environment(json, part->environment);
	if (part->group)
		put_group(json, part);
	if (part->status)
		put_guard(json, part->status);
	fence_jsonw_close(gate_json_small(json), '}');
}

int gate_record_part(struct gate_json *parts, const struct gate_stage_part *part,
		     struct gate_part_place *ret)
{
	uint64_t offset_bytes = gate_json_total(parts);
	int rc;

	parts->check = GATE_CHECK_START;
	gate_record_stage(parts, part);
	ret->offset_bytes = offset_bytes;
	ret->size_bytes = gate_json_total(parts) - offset_bytes;
	rc = gate_json_line(parts);
	ret->check = parts->check;
	return rc;
}

/* --- the whole record ------------------------------------------------------------------ */

static void put_verdict(struct gate_json *json, const struct gate_verdict *verdict)
{
	fence_jsonw_string(gate_json_small(json), "verdict", gate_verdict_word(verdict->kind));
	fence_jsonw_int(gate_json_small(json), "exitStatus", gate_verdict_exit(verdict->kind));
	fence_jsonw_open(gate_json_small(json), "codes", '[');
	if (verdict->kind != GATE_PASS)
		fence_jsonw_string(gate_json_small(json), NULL, GATE_UNSATISFIED);
	fence_jsonw_close(gate_json_small(json), ']');
	fence_jsonw_uint(gate_json_small(json), "reasonCount", verdict->reason_total);
	fence_jsonw_open(gate_json_small(json), "reasons", '[');
	for (size_t i = 0; i < verdict->reason_count; i++) {
		const struct gate_reason *reason = &verdict->reasons[i];

		fence_jsonw_open(gate_json_small(json), NULL, '{');
		gate_json_string(json, "stage", reason->stage);
		gate_json_string(json, "text", reason->text);
		gate_json_string(json, "raise", reason->raise);
		fence_jsonw_close(gate_json_small(json), '}');
	}
	fence_jsonw_close(gate_json_small(json), ']');
}

/* Names only: the values are what is being withheld. */
static void put_withheld(struct gate_json *json, char *const *environment)
{
	fence_jsonw_open(gate_json_small(json), "withheld", '[');
	for (char *const *at = environment; *at; at++) {
		size_t length = gate_environ_name_length(*at);

		if (!gate_environ_is_base(*at, length))
			gate_json_text(json, NULL, *at, length);
	}
	fence_jsonw_close(gate_json_small(json), ']');
}

static int copy_part(struct gate_json *json, int fd, struct gate_part_place place)
{
	uint64_t check = GATE_CHECK_START;
	char chunk[16384];

	if (json->w.comma)
		put_raw(json, ",", 1);
	json->w.comma = true;
	(void)gate_json_flush(json);
	while (json->error == 0 && place.size_bytes > 0) {
		size_t wanted = place.size_bytes < sizeof(chunk) ? place.size_bytes : sizeof(chunk);
		ssize_t got = pread(fd, chunk, wanted, (off_t)place.offset_bytes);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -ESTALE;
		check = gate_check_bytes(check, chunk, (size_t)got);
		json->error = fence_write_full(json->fd, chunk, (size_t)got);
		place.offset_bytes += (uint64_t)got;
		place.size_bytes -= (uint64_t)got;
	}
	if (json->error == 0 && gate_check_bytes(check, "\n", 1) != place.check)
		return -ESTALE;
	return json->error;
}

static void put_head(struct gate_json *json, const struct gate_record *record)
{
	const struct gate_summary *summary = record->summary;
	const struct gate_gate *gate = summary->plan->gate;

	fence_jsonw_head(gate_json_small(json), "fence-gate-result/v1", "fence-gate");
	gate_json_string(json, "id", summary->store->id);
	gate_json_string(json, "gate", gate->id);
	fence_jsonw_string(gate_json_small(json), "tier", gate->targeted ? "targeted" : "full");
	gate_json_string(json, "changes", gate->changes);
	put_verdict(json, summary->verdict);
	fence_jsonw_bool(gate_json_small(json), "cancelled", record->cancelled);
	gate_json_string(json, "root", summary->root);
	gate_json_string(json, "config", record->config_path);
	gate_json_string(json, "folder", summary->store->path);
	gate_json_string(json, "startedAt", record->started_at);
	gate_json_string(json, "endedAt", record->ended_at);
	fence_jsonw_int(gate_json_small(json), "wallMs", summary->wall_ms);
	fence_jsonw_uint(gate_json_small(json), "jobs", record->jobs);
	put_withheld(json, record->environment);
}

static int put_record(struct gate_json *json, const struct gate_record *record)
{
	fence_jsonw_open(gate_json_small(json), NULL, '{');
	put_head(json, record);
	fence_jsonw_open(gate_json_small(json), "stages", '[');
	for (size_t i = 0; i < record->summary->plan->count; i++) {
		int rc = copy_part(json, record->parts_fd, record->places[i]);

		if (rc < 0)
			return rc;
	}
	fence_jsonw_close(gate_json_small(json), ']');
	fence_jsonw_close(gate_json_small(json), '}');
	return gate_json_line(json);
}

int gate_record_write(const struct gate_record *record, struct fence_err *err)
{
	const struct gate_store *store = record->summary->store;
	struct gate_json json;
	owned_fd fd = gate_store_create(store, "record", ".json.new", err);
	int rc;

	if (fd < 0)
		return fd;
	gate_json_init(&json, fd);
	rc = put_record(&json, record);
	if (rc == -ESTALE) {
		(void)fence_fail_why(err, rc, "changed by somebody during the run",
				     "%s/stages.jsonl", store->path);
		return fence_hint(err, "give the stages a sandbox, or see what writes into .fence");
	}
	if (rc < 0)
		return fence_fail(err, rc, "write %s/record.json", store->path);
	return gate_store_publish(store, fd, "record.json.new", "record.json", err);
}
