/* marker_change: fence-marker reads a marker, which changes after one of its calls; again for
 * each call.
 *
 *   marker_change CHANGE PATH
 *
 * CHANGE: it may grow or shrink by a byte, be swapped for its next state, or a copy or a
 * link may be put in its place.
 *
 * Prints what it counted: rounds, taken (for a marker), next (the next state). Exit
 * status: 0 what was taken was whole, 1 not, 2 usage. */
#include "tests/lib/marker_trace.h"

enum change { GROW, SHRINK, SWAP, COPY, LINK, CHANGES };
static const char *const change_words[] = { "grow", "shrink", "swap", "copy", "link" };

struct during {
	const struct round *round;
	enum change change;
	unsigned int at;
	char next[FENCE_MARKER_NONCE_BYTES]; /* of the state that SWAP put there */
};

static void put_copy(const struct round *round)
{
	char name[PATH_MAX];
	owned_fd fd = -1;

	(void)snprintf(name, sizeof(name), "%s.copy", round->path);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0 && fence_write_full(fd, round->old.text, round->old.text_bytes) == 0 &&
		     rename(name, round->path) == 0,
	     "put a copy there");
}

static void put_link(const struct round *round)
{
	char name[PATH_MAX];

	(void)snprintf(name, sizeof(name), "%s.kept", round->path);
	must(rename(round->path, name) == 0 && symlink(name, round->path) == 0, "put a link there");
}

static void change_file(void *arg, unsigned int number)
{
	struct during *during = arg;
	const struct round *round = during->round;
	struct fence_err err = { 0 };
	struct fence_marker now;
	owned_fd fd = -1;

	if (number != during->at)
		return;
	switch (during->change) {
	case GROW:
		fd = open(round->path, O_WRONLY | O_APPEND | O_CLOEXEC);
		must(fd >= 0 && fence_write_full(fd, " ", 1) == 0, "make it grow");
		break;
	case SHRINK:
		must(truncate(round->path, (off_t)round->old.text_bytes - 1) == 0, "shrink it");
		break;
	case SWAP:
		if (advance(round->path, &round->old, FENCE_MARKER_ACTIVE, &err) < 0 ||
		    fence_marker_read(round->path, FENCE_MARKER_V1, &now, NULL, &err) < 0)
			die("swap it", &err);
		memcpy(during->next, now.nonce, sizeof(during->next));
		break;
	case COPY:
		put_copy(round);
		break;
	case LINK:
		put_link(round);
		break;
	case CHANGES:
		break;
	}
}

/* What was read is the old state or, when that is what came, the next one. */
static bool is_sound(const struct during *during, const struct trace *trace)
{
	const struct round *round = during->round;
	int status = WIFEXITED(trace->status) ? WEXITSTATUS(trace->status) : -1;

	if (status == 2)
		return during->change != SWAP && is_one_line(trace->err, NULL) &&
		       strstr(trace->out, "\"outcome\":\"none\"");
	return status == 0 && trace->err[0] == '\0' &&
	       (strstr(trace->out, round->old.nonce) ||
		(during->next[0] != '\0' && strstr(trace->out, during->next)));
}

static int run_read(struct round *round, enum change change)
{
	static struct trace plan, trace;
	unsigned int rounds = 0, taken = 0, next = 0, wrong = 0;

	round->step = STEP_READ;
	(void)unlink(round->path);
	seed(round);
	plan = (struct trace){ .at = UINT32_MAX };
	run_traced(round, &plan);
	for (unsigned int at = plan.first; at + 1 < plan.calls; at++, rounds++) {
		struct during during = { .round = round, .change = change, .at = at };

		(void)unlink(round->path);
		seed(round);
		trace = (struct trace){ .at = UINT32_MAX, .after = change_file, .arg = &during };
		run_traced(round, &trace);
		taken += WIFEXITED(trace.status) && WEXITSTATUS(trace.status) == 0;
		next += during.next[0] != '\0' && strstr(trace.out, during.next);
		if (is_sound(&during, &trace))
			continue;
		wrong++;
		printf("wrong: after call %u: status 0x%x out %s err %s\n", at,
		       (unsigned int)trace.status, trace.out, trace.err);
	}
	printf("rounds %u taken %u next %u wrong %u\n", rounds, taken, next, wrong);
	return wrong == 0 && rounds > 5 ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct round round = { .step = STEP_READ, .path = argc == 3 ? argv[2] : NULL };

	for (int change = GROW; argc == 3 && change < CHANGES; change++)
		if (strcmp(argv[1], change_words[change]) == 0)
			return run_read(&round, (enum change)change);
	fprintf(stderr, "marker_change: see the top of its source\n");
	return 2;
}
