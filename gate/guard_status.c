#include "gate/guard_status.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/json.h"
#include "fence/own.h"

static const struct fence_json_limits limits = { .size_bytes = GATE_STATUS_MAX_BYTES, .depth = 8 };

/* A string member if it is there and fits; else `ret` stays as it is. */
static void get_string(const struct fence_json *line, const char *name, char *ret,
		       size_t size_bytes)
{
	struct fence_json value;

	if (fence_json_member(line, name, &value) == 0 && value.kind == FENCE_JSON_STRING &&
	    fence_json_string(&value, ret, size_bytes, NULL) < 0)
		ret[0] = '\0';
}

static bool get_int(const struct fence_json *line, const char *name, int64_t max, int *ret)
{
	struct fence_json value;
	int64_t number;

	if (fence_json_member(line, name, &value) < 0 ||
	    fence_json_int(&value, 0, max, &number) < 0)
		return false;
	*ret = (int)number;
	return true;
}

static void take_failure(const struct fence_json *line, struct gate_guard_status *status)
{
	status->failed = true;
	get_string(line, "stage", status->failed_stage, sizeof(status->failed_stage));
	get_string(line, "what", status->failed_what, sizeof(status->failed_what));
	get_string(line, "why", status->failed_why, sizeof(status->failed_why));
	get_string(line, "path", status->failed_path, sizeof(status->failed_path));
	get_string(line, "hint", status->failed_hint, sizeof(status->failed_hint));
	(void)get_int(line, "errno", 4095, &status->failed_errno);
}

static void take_exec(const struct fence_json *line, struct gate_guard_status *status)
{
	struct fence_json layers;

	status->executed = true;
	if (fence_json_member(line, "layers", &layers) == 0 &&
	    layers.size_bytes < sizeof(status->layers)) {
		memcpy(status->layers, layers.at, layers.size_bytes);
		status->layers[layers.size_bytes] = '\0';
	}
}

static void take_leftover_process(const struct fence_json *process, struct gate_leftover *left,
				  unsigned int at)
{
	(void)get_int(process, "pid", INT_MAX, &left->first[at].pid);
	get_string(process, "name", left->first[at].name, sizeof(left->first[at].name));
}

static void take_leftover(const struct fence_json *line, struct gate_leftover *left)
{
	struct fence_json value, processes, process;
	struct fence_json_iter iter;
	unsigned int at = 0;
	int count = 0;

	if (fence_json_member(line, "leftover", &value) < 0 || value.kind != FENCE_JSON_OBJECT ||
	    !get_int(&value, "count", INT_MAX, &count))
		return;
	left->count = (unsigned int)count;
	if (fence_json_member(&value, "processes", &processes) < 0)
		return;
	fence_json_iter_init(&iter, &processes);
	while (at < FENCE_GROUP_PIDS && fence_json_next(&iter, NULL, &process))
		take_leftover_process(&process, left, at++);
}

static void take_discarded(const struct fence_json *line, struct gate_guard_status *status)
{
	struct fence_json list, path;
	struct fence_json_iter iter;

	if (fence_json_member(line, "discarded", &list) < 0 || list.kind != FENCE_JSON_ARRAY)
		return;
	fence_json_iter_init(&iter, &list);
	if (fence_json_next(&iter, NULL, &path) &&
	    fence_json_string(&path, status->discarded, sizeof(status->discarded), NULL) < 0)
		(void)snprintf(status->discarded, sizeof(status->discarded), "its repository");
}

/* One of what was discarded, of which there is more to say. */
static void take_kept(const struct fence_json *line, struct gate_guard_status *status)
{
	struct fence_json list, kept;
	struct fence_json_iter iter;

	if (fence_json_member(line, "kept", &list) < 0 || list.kind != FENCE_JSON_ARRAY)
		return;
	fence_json_iter_init(&iter, &list);
	if (fence_json_next(&iter, NULL, &kept))
		get_string(&kept, "folder", status->kept, sizeof(status->kept));
	if (status->kept[0])
		get_string(&kept, "path", status->discarded, sizeof(status->discarded));
}

static void take_exit(const struct fence_json *line, struct gate_guard_status *status)
{
	take_leftover(line, &status->leftover);
	take_discarded(line, status);
	take_kept(line, status);
	status->signalled = get_int(line, "signal", 255, &status->number);
	status->ended = status->signalled || get_int(line, "code", 255, &status->number);
	if (!status->ended)
		status->garbled = true;
}

static const struct {
	const char *event;
	void (*take)(const struct fence_json *line, struct gate_guard_status *status);
} events[] = {
	{ "failure", take_failure },
	{ "exec", take_exec },
	{ "exit", take_exit },
};

static void take_line(const char *text, size_t size_bytes, struct gate_guard_status *status)
{
	struct fence_json line, event;
	struct fence_json_fault fault;

	if (fence_json_parse(text, size_bytes, &limits, &line, &fault) < 0 ||
	    fence_json_member(&line, "event", &event) < 0) {
		status->garbled = true;
		return;
	}
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (fence_json_string_is(&event, events[i].event))
			events[i].take(&line, status);
}

void gate_guard_status_parse(const char *text, size_t size_bytes, struct gate_guard_status *ret)
{
	*ret = (struct gate_guard_status){ 0 };
	while (size_bytes > 0) {
		const char *end = memchr(text, '\n', size_bytes);
		size_t length = end ? (size_t)(end - text) : size_bytes;

		if (!end)
			ret->garbled = true;
		else
			take_line(text, length, ret);
		length += end ? 1 : 0;
		text += length;
		size_bytes -= length;
	}
}

int gate_guard_status_read(int fd, struct gate_guard_status *ret)
{
	owned_mem char *text = malloc(GATE_STATUS_MAX_BYTES);
	size_t got_bytes = 0;

	if (!text)
		return -ENOMEM;
	while (got_bytes < GATE_STATUS_MAX_BYTES) {
		ssize_t got = pread(fd, text + got_bytes, GATE_STATUS_MAX_BYTES - got_bytes,
				    (off_t)got_bytes);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		got_bytes += (size_t)got;
	}
	gate_guard_status_parse(text, got_bytes, ret);
	return 0;
}
