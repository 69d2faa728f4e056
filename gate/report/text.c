#include "gate/report/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "gate/environ.h"
#include "gate/report/visible.h"

#define TAIL_BYTES 16384
#define TAIL_LINES 40

/* --- writing ---------------------------------------------------------------------- */

static bool is_utf8_locale(char *const *environment)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = gate_environ_get(environment, names[i]);

		if (value && value[0])
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

void gate_text_init(struct gate_text *text, int fd, char *const *environment)
{
	const char *no_color = gate_environ_get(environment, "NO_COLOR");
	const char *term = gate_environ_get(environment, "TERM");

	*text = (struct gate_text){ .fd = fd };
	text->utf8 = is_utf8_locale(environment);
	text->colour =
		isatty(fd) && !(no_color && no_color[0]) && term && strcmp(term, "dumb") != 0;
}

int gate_text_flush(struct gate_text *text)
{
	int rc = text->error ? text->error
			     : fence_write_full(text->fd, text->buf, text->length_bytes);

	text->length_bytes = 0;
	text->error = rc;
	return rc;
}

static void put_bytes(struct gate_text *text, const char *bytes, size_t count)
{
	if (count > sizeof(text->buf) - text->length_bytes)
		(void)gate_text_flush(text);
	memcpy(text->buf + text->length_bytes, bytes, count);
	text->length_bytes += count;
}

void gate_text_add(struct gate_text *text, const char *format, ...)
{
	char words[512];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	if (length > 0)
		put_bytes(text, words,
			  (size_t)length < sizeof(words) ? (size_t)length : sizeof(words) - 1);
}

static void put_visible(struct gate_text *text, struct gate_visible how, const char *bytes,
			size_t count)
{
	while (count > 0) {
		char chunk[1024];
		size_t used;
		size_t length = gate_visible(how, bytes, count, chunk, sizeof(chunk), &used);

		put_bytes(text, chunk, length);
		bytes += used;
		count -= used;
	}
}

void gate_text_visible(struct gate_text *text, const char *bytes, size_t count)
{
	put_visible(text, (struct gate_visible){ .utf8 = text->utf8 }, bytes, count);
}

/* --- how things look ----------------------------------------------------------------- */

#define RED    "\033[31m"
#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define PLAIN  "\033[0m"

static const char *colour_of(enum gate_outcome outcome)
{
	if (outcome == GATE_PASSED)
		return GREEN;
	return outcome <= GATE_LEAKED ? RED : YELLOW;
}

static void put_coloured(struct gate_text *text, const char *colour, int width, const char *word)
{
	gate_text_add(text, "%s%-*s%s", text->colour ? colour : "", width, word,
		      text->colour ? PLAIN : "");
}

static void put_time(struct gate_text *text, int width, int64_t ms)
{
	if (ms < 60000)
		gate_text_add(text, "%*.2f s", width, (double)ms / 1000.0);
	else
		gate_text_add(text, "%*lld m %02lld s", width > 4 ? width - 4 : 0,
			      (long long)(ms / 60000), (long long)(ms / 1000 % 60));
}

static int id_width(const struct gate_plan *plan)
{
	size_t width = strlen("stage");

	for (size_t i = 0; i < plan->count; i++) {
		size_t length = strlen(gate_plan_stage(plan, i)->id);

		width = length > width ? length : width;
	}
	return (int)width;
}

static void put_row(struct gate_text *text, const struct gate_stage *stage, int width,
		    const struct gate_observation *seen)
{
	gate_text_add(text, "%-*s  %-8s  ", width, stage->id, gate_sandbox_word(stage->sandbox));
	put_coloured(text, colour_of(seen->outcome), 14, gate_outcome_word(seen->outcome));
	put_time(text, 7, seen->wall_us / 1000);
	if (seen->detail[0]) {
		gate_text_add(text, "  ");
		gate_text_visible(text, seen->detail, strlen(seen->detail));
	}
	gate_text_add(text, "\n");
}

void gate_text_stage(struct gate_text *text, const struct gate_plan *plan, size_t at,
		     const struct gate_observation *seen)
{
	put_row(text, gate_plan_stage(plan, at), id_width(plan), seen);
}

/* --- the end of a log ------------------------------------------------------------------ */

/* Where the last `lines` lines of the text begin. */
static size_t last_lines(const char *bytes, size_t count, unsigned int lines)
{
	size_t at = count;

	if (at > 0 && bytes[at - 1] == '\n')
		at--;
	while (at > 0) {
		if (bytes[at - 1] == '\n' && --lines == 0)
			return at;
		at--;
	}
	return 0;
}

static void put_quoted(struct gate_text *text, const char *bytes, size_t count)
{
	/* A line of output keeps its tabs. */
	const struct gate_visible how = { .utf8 = text->utf8, .lines = true };

	while (count > 0) {
		const char *end = memchr(bytes, '\n', count);
		size_t length = end ? (size_t)(end - bytes) : count;

		gate_text_add(text, "  | ");
		put_visible(text, how, bytes, length);
		gate_text_add(text, "\n");
		length += end ? 1 : 0;
		bytes += length;
		count -= length;
	}
}

void gate_text_tail(struct gate_text *text, const struct gate_store *store,
		    const struct gate_stage *stage, const struct gate_observation *seen)
{
	owned_fd fd = -1;
	owned_mem char *tail = NULL;
	struct stat st;
	off_t from = 0;
	ssize_t got = -1;
	size_t at;

	if (!seen->has_printed) {
		gate_text_add(text, "\n%s: printed nothing\n", stage->id);
		return;
	}
	fd = gate_store_read(store, stage->id, ".log");
	tail = malloc(TAIL_BYTES);
	if (fd >= 0 && tail && fstat(fd, &st) == 0) {
		from = st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0;
		got = pread(fd, tail, TAIL_BYTES, from);
	}
	if (got <= 0) {
		gate_text_add(text, "\n%s: its log %s/%s.log cannot be read\n", stage->id,
			      store->path, stage->id);
		return;
	}
	at = last_lines(tail, (size_t)got, TAIL_LINES);
	gate_text_add(text, "\n%s: %s %s/%s.log\n", stage->id,
		      from > 0 || at > 0 ? "the end of" : "all of", store->path, stage->id);
	put_quoted(text, tail + at, (size_t)got - at);
}

/* --- the end of a run -------------------------------------------------------------------- */

static const char *verdict_colour(enum gate_verdict_kind kind)
{
	if (kind == GATE_PASS)
		return GREEN;
	return kind == GATE_FAIL ? RED : YELLOW;
}

static void put_reasons(struct gate_text *text, const struct gate_verdict *verdict)
{
	for (size_t i = 0; i < verdict->reason_count; i++) {
		const struct gate_reason *reason = &verdict->reasons[i];

		gate_text_add(text, "  %s%s", reason->stage ? reason->stage : "",
			      reason->stage ? ": " : "");
		gate_text_visible(text, reason->text, strlen(reason->text));
		if (reason->raise)
			gate_text_add(text, " (%s)", reason->raise);
		gate_text_add(text, "\n");
	}
	if (verdict->reason_total > verdict->reason_count)
		gate_text_add(text, "  and %zu more\n",
			      verdict->reason_total - verdict->reason_count);
}

void gate_text_summary(struct gate_text *text, const struct gate_summary *summary)
{
	const struct gate_plan *plan = summary->plan;
	enum gate_verdict_kind kind = summary->verdict->kind;
	int width = id_width(plan);

	gate_text_add(text, "\n%-*s  %-8s  %-14s%9s\n", width, "stage", "sandbox", "result",
		      "time");
	for (size_t i = 0; i < plan->count; i++)
		put_row(text, gate_plan_stage(plan, i), width, &summary->seen[i]);
	gate_text_add(text, "\n%s: ", plan->gate->id);
	put_coloured(text, verdict_colour(kind), 0, gate_verdict_word(kind));
	gate_text_add(text, " (%zu %s, ", plan->count, plan->count == 1 ? "stage" : "stages");
	put_time(text, 0, summary->wall_ms);
	gate_text_add(text, ")\n");
	put_reasons(text, summary->verdict);
	gate_text_add(text, "record: ");
	gate_text_visible(text, summary->root, strlen(summary->root));
	gate_text_add(text, "/%s/record.json\n", summary->store->path);
	if (kind != GATE_PASS)
		gate_text_add(text, "%s\n", GATE_UNSATISFIED);
}
