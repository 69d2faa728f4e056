/* marker_states: what an attempt's marker says, as it goes.
 *
 *   marker_states watch PATH   one line a state, as soon as it is there, until the
 *                              attempt is over: "SEQ STATUS BY GROUP CAUSE", with - for
 *                              what there is not, and "missed" where seq says that a
 *                              state came and went between two looks. Says "watching"
 *                              before it looks for the first time.
 *   marker_states self PATH    0 when the marker's group is this very process, down to
 *                              its id, its supervisor lives and owns the lock
 *
 * It looks all the time, and not when inotify says so: states may last microseconds.
 * Exit status: 0; 1 not so, or not over within 20 s; 2 usage. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fence/attempt.h"
#include "fence/clock.h"

#define PATIENCE_MS 20000

/* Where nothing has to be signalled an attempt goes from active to terminated in one
 * replacement, and its seq by two. */
static bool is_missed(const struct fence_marker *marker, int64_t last_seq,
		      enum fence_marker_status last_status)
{
	bool signalled =
		marker->result.reap == FENCE_REAP_TERM || marker->result.reap == FENCE_REAP_KILL;
	bool two_steps = last_status == FENCE_MARKER_ACTIVE &&
			 marker->status == FENCE_MARKER_TERMINATED && !signalled;

	return marker->seq > last_seq + (two_steps ? 2 : 1);
}

static void print_state(const struct fence_marker *marker, int64_t last_seq,
			enum fence_marker_status last_status)
{
	if (is_missed(marker, last_seq, last_status))
		printf("missed\n");
	printf("%lld %s %s %s %s\n", (long long)marker->seq,
	       fence_marker_status_word(marker->status),
	       marker->has_by ? fence_marker_by_word(marker->by) : "-",
	       marker->group.pid > 0 ? "group" : "-",
	       marker->has_result ? fence_cause_word(marker->result.cause) : "-");
}

static int watch(const char *path)
{
	int64_t stop_at_ms = fence_now_ms() + PATIENCE_MS;
	struct fence_marker marker;
	enum fence_marker_status last_status = FENCE_MARKER_ACTIVE;
	int64_t last_seq = 0;

	printf("watching\n");
	(void)fflush(stdout);
	while (fence_now_ms() < stop_at_ms) {
		if (fence_marker_read(path, FENCE_MARKER_V1, &marker, NULL, NULL) < 0)
			continue;
		if (marker.seq != last_seq)
			print_state(&marker, last_seq, last_status);
		last_seq = marker.seq;
		last_status = marker.status;
		if (fence_attempt_is_over(&marker))
			return 0;
	}
	return 1;
}

static int is_self(const char *path)
{
	enum fence_attempt_life life;
	struct fence_marker_writer writer;
	struct fence_marker marker;
	struct fence_ident self;
	pid_t owner = 0;

	if (fence_marker_read(path, FENCE_MARKER_V1, &marker, NULL, NULL) < 0 ||
	    fence_ident_self(&self) < 0)
		return fprintf(stderr, "no authentic marker\n"), 1;
	if (!fence_ident_same(&marker.group, &self) || marker.group.start_ticks == 0)
		return fprintf(stderr, "the group is another: %s", marker.text), 1;
	if (marker.group.id != self.id)
		return fprintf(stderr, "its id is another: %s", marker.text), 1;
	if (fence_attempt_judge(&marker, &life, NULL, NULL) < 0 || life != FENCE_ATTEMPT_ALIVE)
		return fprintf(stderr, "the supervisor does not live: %s", marker.text), 1;
	if (fence_marker_writer_open(path, &writer, NULL) < 0 ||
	    fence_attempt_owner(&writer, &owner) != 1 || owner != marker.supervisor.pid)
		return fprintf(stderr, "the lock's owner is %d: %s", (int)owner, marker.text), 1;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "watch") == 0)
		return watch(argv[2]);
	if (argc == 3 && strcmp(argv[1], "self") == 0)
		return is_self(argv[2]);
	fprintf(stderr, "marker_states: see the top of its source\n");
	return 2;
}
