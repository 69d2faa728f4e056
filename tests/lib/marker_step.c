/* marker_step: steps that fence-marker cannot be told to make, and looks.
 *
 *   marker_step over PATH       makes a marker of the attempt "new" over an ended one
 *   marker_step naive PATH      the control: writes the next state into the file itself
 *   marker_step seed STEP PATH  makes what create, replace, over or naive starts from
 *   marker_step state PATH      "none", or attempt, status and seq of the authentic
 *                               marker; else the rule, and exit status 1
 *   marker_step probe           exit status 77: the tests' tracer does not know this
 *                               processor
 */
#include "tests/lib/marker_step.h"

#include "fence/marker_compose.h"

static int do_over(const char *path)
{
	struct fence_err err = { 0 };
	const struct fence_marker_birth birth = { .attempt_id = "new",
						  .supervisor_pid = getppid(),
						  .over_ended = true,
						  .lock_wait_ms = LOCK_WAIT_MS };
	struct fence_marker_writer writer;
	struct fence_marker marker;
	bool made = false;
	char line[1200];
	int rc = fence_marker_writer_open(path, &writer, &err);

	if (rc == 0) {
		rc = fence_marker_create(&writer, &birth, &marker, &made, &err);
		fence_marker_writer_close(&writer);
	}
	if (rc == 0)
		return 0;
	(void)fence_write_full(STDOUT_FILENO, made ? "not-durable" : "not-created", 11);
	(void)fence_write_full(STDERR_FILENO, line,
			       fence_err_line(&err, "marker_step", line, sizeof(line)));
	return made ? 1 : 77;
}

static int do_naive(const char *path)
{
	struct fence_marker_news news = { .status = FENCE_MARKER_ACTIVE };
	struct fence_marker old, next;
	enum fence_marker_rule rule;
	owned_fd fd = -1;

	if (look(path, &old, &rule) != 1)
		return 2;
	news.place = old.place;
	news.seq = old.seq + 1;
	memset(news.nonce, "0123456789abcdef"[news.seq % 16], sizeof(news.nonce) - 1);
	must(fence_marker_compose(old.text, old.text_bytes, old.format, &news, &next, NULL) == 0,
	     "compose");
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	must(fd >= 0, "open");
	must(fence_write_full(fd, next.text, next.text_bytes) == 0, "write");
	return 0;
}

static int say_state(const char *path)
{
	struct fence_marker marker;
	enum fence_marker_rule rule;

	switch (look(path, &marker, &rule)) {
	case 0:
		printf("none\n");
		return 0;
	case 1:
		printf("%s %s %" PRId64 "\n", marker.attempt_id,
		       fence_marker_status_word(marker.status), marker.seq);
		return 0;
	default:
		printf("torn: rule %s\n", fence_marker_rule_word(rule));
		return 1;
	}
}

int main(int argc, char **argv)
{
	struct round round = { .step = STEP_CREATE };

	if (argc == 2 && strcmp(argv[1], "probe") == 0) {
#if defined(__x86_64__)
		return 0;
#else
		return 77;
#endif
	}
	if (argc == 3 && strcmp(argv[1], "over") == 0)
		return do_over(argv[2]);
	if (argc == 3 && strcmp(argv[1], "naive") == 0)
		return do_naive(argv[2]);
	if (argc == 3 && strcmp(argv[1], "state") == 0)
		return say_state(argv[2]);
	if (argc == 4 && strcmp(argv[1], "seed") == 0 && step_of(argv[2]) != STEPS) {
		round.step = step_of(argv[2]);
		round.path = argv[3];
		seed(&round);
		return 0;
	}
	fprintf(stderr, "marker_step: see the top of its source\n");
	return 2;
}
