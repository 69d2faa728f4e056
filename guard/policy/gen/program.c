#include "guard/policy/gen/program.h"

#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "guard/policy/calls.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

void die(const char *what)
{
	(void)fprintf(stderr, "make_filters: %s\n", what);
	exit(1);
}

size_t emit(struct program *p, unsigned int code, unsigned int k, unsigned int jt, unsigned int jf)
{
	if (p->count == PROGRAM_MAX || jt > 255 || jf > 255)
		die("the program is too long");
	p->line[p->count] = (struct sock_filter){
		.code = (unsigned short)code,
		.jt = (unsigned char)jt,
		.jf = (unsigned char)jf,
		.k = k,
	};
	return p->count++;
}

void answer(struct program *p, unsigned int action)
{
	emit(p, BPF_RET | BPF_K, action, 0, 0);
}

/* --- fewer lines ---------------------------------------------------------------------- */

/* Where the answer changes, and the tree of that. */
struct ranges {
	unsigned int first[GUARD_KNOWN_MAX + 1], answer[GUARD_KNOWN_MAX + 1];
	size_t count;
	struct {
		size_t line;  /* its comparison leads to an answer, */
		bool if_true; /* when it is true, or when not */
		unsigned int answer;
	} leaf[2 * GUARD_KNOWN_MAX];
	size_t leaves;
};

static bool compares(const struct sock_filter *line, unsigned int value)
{
	switch (BPF_OP(line->code)) {
	case BPF_JEQ:
		return value == line->k;
	case BPF_JGT:
		return value > line->k;
	case BPF_JGE:
		return value >= line->k;
	default:
		die("a jump that libseccomp never made");
	}
}

/* What libseccomp's program says of a number. */
static unsigned int answer_of(const struct program *p, unsigned int number)
{
	unsigned int value = 0;

	for (size_t at = 0; at < p->count; at++) {
		const struct sock_filter *line = &p->line[at];

		if (line->code == (BPF_LD | BPF_W | BPF_ABS))
			value = line->k == offsetof(struct seccomp_data, nr)
					? number
					: seccomp_arch_native();
		else if (line->code == (BPF_RET | BPF_K))
			return line->k;
		else if (line->code == (BPF_JMP | BPF_JA))
			at += line->k;
		else
			at += compares(line, value) ? line->jt : line->jf;
	}
	die("libseccomp's program has no end");
}

static void find_ranges(struct ranges *ranges, const struct program *p)
{
	for (unsigned int number = 0; number <= GUARD_KNOWN_MAX; number++) {
		unsigned int action = answer_of(p, number);

		if (ranges->count > 0 && ranges->answer[ranges->count - 1] == action)
			continue;
		ranges->first[ranges->count] = number;
		ranges->answer[ranges->count++] = action;
	}
}

static void lead_one(struct program *p, size_t line, bool if_true, size_t to)
{
	if (to - line > 256)
		die("a jump is too long");
	if (if_true)
		p->line[line].jt = (unsigned char)(to - line - 1);
	else
		p->line[line].jf = (unsigned char)(to - line - 1);
}

static void emit_ranges(struct program *p, struct ranges *ranges, size_t first, size_t count)
{
	size_t middle = first + count / 2;
	size_t line = emit(p, BPF_JMP | BPF_JGE | BPF_K, ranges->first[middle], 0, 0);
	const struct {
		bool if_true;
		size_t first, count;
	} halves[] = { { false, first, middle - first }, { true, middle, first + count - middle } };

	for (size_t i = 0; i < COUNT(halves); i++) {
		if (halves[i].count > 1) {
			lead_one(p, line, halves[i].if_true, p->count);
			emit_ranges(p, ranges, halves[i].first, halves[i].count);
			continue;
		}
		ranges->leaf[ranges->leaves].line = line;
		ranges->leaf[ranges->leaves].if_true = halves[i].if_true;
		ranges->leaf[ranges->leaves++].answer = ranges->answer[halves[i].first];
	}
}

static size_t line_that_answers(struct program *p, size_t first, unsigned int action)
{
	for (size_t at = first; at < p->count; at++)
		if (p->line[at].k == action)
			return at;
	answer(p, action);
	return p->count - 1;
}

void emit_shorter(struct program *p, const struct program *whole)
{
	static struct ranges ranges;
	size_t answers;

	ranges.count = ranges.leaves = 0;
	find_ranges(&ranges, whole);
	if (ranges.count < 2)
		die("the table is empty");
	emit_ranges(p, &ranges, 0, ranges.count);
	answers = p->count;
	for (size_t i = 0; i < ranges.leaves; i++)
		lead_one(p, ranges.leaf[i].line, ranges.leaf[i].if_true,
			 line_that_answers(p, answers, ranges.leaf[i].answer));
}
