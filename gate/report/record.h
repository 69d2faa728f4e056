/* The record of a run (fence-gate-result/v1): one JSON object in one line.
 *
 * Each stage's part is written into the run's stages.jsonl when the stage ends, so
 * memory holds one tail at a time and a run that was killed leaves what it knew.
 * At the end the parts are put together, in the order of the plan, under the head
 * with the verdict. */
#ifndef GATE_REPORT_RECORD_H
#define GATE_REPORT_RECORD_H

#include <stdint.h>

#include "fence/group.h"
#include "fence/jsonw.h"
#include "gate/observe.h"
#include "gate/plan.h"
#include "gate/report/text.h"
#include "gate/store.h"

/* A stream of JSON to a descriptor through a small buffer. */
struct gate_json {
	int fd;
	int error; /* the first write that failed: -errno */
	uint64_t written_bytes;
	uint64_t check; /* of what was written since it was last reset (gate_check_bytes) */
	struct fence_jsonw w;
	char buf[8192];
};

void gate_json_init(struct gate_json *json, int fd);
int gate_json_flush(struct gate_json *json);

/* The writer with room for small members (fence/jsonw.h): numbers, words of ours. */
struct fence_jsonw *gate_json_small(struct gate_json *json);

/* A string of any length, made visible and then escaped. */
void gate_json_text(struct gate_json *json, const char *key, const char *bytes, size_t count);
void gate_json_string(struct gate_json *json, const char *key, const char *text);
void gate_json_names(struct gate_json *json, const char *key, const struct gate_names *names);
void gate_json_words(struct gate_json *json, const char *key, char *const *words);

/* Everything so far, with what is still in the buffer. */
uint64_t gate_json_total(const struct gate_json *json);

/* FNV-1a, 64 bits: finds what was overwritten by accident, not a forger who tries. */
#define GATE_CHECK_START 0xcbf29ce484222325u
uint64_t gate_check_bytes(uint64_t check, const void *bytes, size_t count);

/* Ends a line and flushes: a short line is one write. */
int gate_json_line(struct gate_json *json);

/* One stage, without the end of the line. `group` and `status` are NULL when there is none,
 * `environment` when it was not started. */
struct gate_stage_part {
	const struct gate_stage *stage;
	const struct gate_observation *seen;
	const struct fence_group *group;
	const struct gate_guard_status *status;
	char *const *environment;
	const char *started_at;
};
void gate_record_stage(struct gate_json *json, const struct gate_stage_part *part);

/* Where a stage's part lies in stages.jsonl, without its newline, and the check of it
 * with its newline: an unconfined stage can write into that file. */
struct gate_part_place {
	uint64_t offset_bytes, size_bytes, check;
};

/* Writes the part as a line of stages.jsonl: 0 with its place, or -errno. */
int gate_record_part(struct gate_json *parts, const struct gate_stage_part *part,
		     struct gate_part_place *ret);

struct gate_record {
	const struct gate_summary *summary;
	const char *config_path;
	const char *started_at, *ended_at;
	unsigned int jobs;
	bool cancelled;
	char *const *environment; /* ours: what is not passed on is named as withheld */
	int parts_fd;
	const struct gate_part_place *places; /* one for each stage of the plan */
};

/* Writes record.json, durably and whole or not at all; also not when a part is no
 * longer what was written. */
int gate_record_write(const struct gate_record *record, struct fence_err *err);

#endif
