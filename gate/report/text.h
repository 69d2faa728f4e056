/* The report for people: one line when a stage ends, the end of the output of what
 * failed, a table, the verdict. ASCII unless the locale is UTF-8; colours only on a
 * terminal and without NO_COLOR. */
#ifndef GATE_REPORT_TEXT_H
#define GATE_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "gate/observe.h"
#include "gate/plan.h"
#include "gate/store.h"
#include "gate/verdict.h"

struct gate_text {
	int fd;
	bool utf8, colour;
	int error; /* the first write that failed: -errno */
	size_t length_bytes;
	char buf[8192];
};

/* Looks at LC_ALL, LC_CTYPE, LANG, NO_COLOR, TERM and at whether `fd` is a terminal. */
void gate_text_init(struct gate_text *text, int fd, char *const *environment);
int gate_text_flush(struct gate_text *text);

/* A short text of ours (cut at 511 bytes), and one of any length and origin. */
void gate_text_add(struct gate_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void gate_text_visible(struct gate_text *text, const char *bytes, size_t count);

void gate_text_stage(struct gate_text *text, const struct gate_plan *plan, size_t at,
		     const struct gate_observation *seen);

/* The last lines of the log of a stage that did not pass. */
void gate_text_tail(struct gate_text *text, const struct gate_store *store,
		    const struct gate_stage *stage, const struct gate_observation *seen);

struct gate_summary {
	const struct gate_plan *plan;
	const struct gate_observation *seen; /* one for each stage of the plan */
	const struct gate_verdict *verdict;
	const struct gate_store *store;
	const char *root;
	long long wall_ms;
};

void gate_text_summary(struct gate_text *text, const struct gate_summary *summary);

#endif
