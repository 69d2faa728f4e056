/* supervisor_race: supervisors that are cancelled, or killed, at random moments.
 *
 *   supervisor_race [-s SEED] cancel COUNT FOLDER
 *   supervisor_race [-s SEED] [-c CONTAIN] kill WHO COUNT FOLDER
 *       WHO: supervisor, runner, executor, supervisor+executor, supervisor+runner
 *
 * COUNT attempts, one after the other, each with a marker of its own in FOLDER. The
 * programs are taken from PATH; the command is supervisor_crew. After each of them:
 *
 *   - nothing of it is left: a pipe that all of its processes hold has ended, the
 *     command and its daemon have by their pidfds, and, since this program is a child
 *     subreaper, there is nothing left to wait for. It was so within a second, or, when
 *     supervisor and runner were killed at once, once repair had been there;
 *   - the marker is authentic and tells the truth, and `fence-marker repair` too;
 *   - beside the marker and its lock the folder is empty.
 *
 * Prints what happened how often; every fault with the seed and the number of its
 * attempt. Exit status 1 when there was one. */
#include "tests/lib/supervisor_trial.h"

enum victim {
	SUPERVISOR = 1,
	RUNNER = 2,
	EXECUTOR = 4,
};

static const struct {
	const char *word;
	unsigned int victims;
} victims[] = {
	{ "supervisor", SUPERVISOR },
	{ "runner", RUNNER },
	{ "executor", EXECUTOR },
	{ "supervisor+executor", SUPERVISOR | EXECUTOR },
	{ "supervisor+runner", SUPERVISOR | RUNNER },
};

/* --- killing --------------------------------------------------------------------------------- */

struct search {
	pid_t parent, found;
};

static int is_child(const struct fence_proc_stat *proc, void *arg)
{
	struct search *search = arg;

	if (proc->parent != search->parent)
		return 0;
	search->found = proc->pid;
	return 1;
}

/* The supervisor's child is the runner; it has no other. To look through all processes
 * takes longer than an attempt does, but kernels may lack the other way. */
static pid_t runner_of(pid_t supervisor)
{
	struct search search = { .parent = supervisor };
	char path[64], text[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)supervisor,
		       (int)supervisor);
	if (supervisor > 0 && fence_read_file(AT_FDCWD, path, text, sizeof(text)) >= 0)
		return (pid_t)strtol(text, NULL, 10);
	if (supervisor > 0)
		(void)fence_proc_each(is_child, &search);
	return search.found;
}

/* Half of the executors are held by their pipe, half by their pid. */
static void start_attempt(struct race *race, struct trial *trial, unsigned int who)
{
	bool speaks = (who & EXECUTOR) != 0 && trial->number % 2 == 0;
	bool deaf = trial->number % 3 == 0;
	const int stdio[3] = { race->null_fd, race->null_fd, trial->end_fd };
	char executor[16];
	const char *words[ARGS] = {
		"fence-supervisor", "--attempt", "a",	    "--marker", trial->marker,
		"--durable",	    "none",	 "--grace", GRACE,	"-q"
	};
	size_t count = 10;

	if ((who & EXECUTOR) != 0 && !speaks) {
		trial->executor = start_executor(race, trial, NULL);
		(void)snprintf(executor, sizeof(executor), "%d", (int)trial->executor);
		words[count++] = "--executor";
		words[count++] = executor;
	}
	if (!speaks)
		words[count++] = "--create";
	if (race->contain != NULL) {
		words[count++] = "--contain";
		words[count++] = race->contain;
	}
	words[count++] = "--";
	words[count++] = "supervisor_crew";
	if (deaf)
		words[count++] = "deaf";
	if (trial->number % 4 == 2)
		words[count++] = "leaves";
	if (speaks)
		trial->executor = start_executor(race, trial, words);
	else
		trial->supervisor = start(words, stdio);
	(void)fence_close_fd(&trial->end_fd);
}

static pid_t find_supervisor(const struct race *race, const struct trial *trial)
{
	return trial->supervisor > 0 ? trial->supervisor
				     : __atomic_load_n(&race->shared->supervisor, __ATOMIC_ACQUIRE);
}

/* Children, and what we adopt: none of them is reaped before await_end, so their numbers
 * are theirs. The runner is the supervisor's child, and is opened first. */
static void kill_victims(struct race *race, struct trial *trial, unsigned int who)
{
	pid_t supervisor = find_supervisor(race, trial);
	owned_fd runner = -1;
	pid_t pid = (who & RUNNER) != 0 ? runner_of(supervisor) : 0;

	if (pid > 0)
		runner = fence_pidfd_open(pid, 0);
	if (runner >= 0 && runner_of(supervisor) != pid)
		fence_close_fd(&runner);
	if ((who & EXECUTOR) != 0)
		(void)kill(trial->executor, SIGKILL);
	if ((who & SUPERVISOR) != 0 && supervisor > 0)
		(void)kill(supervisor, SIGKILL);
	if (runner >= 0)
		(void)fence_pidfd_signal(runner, SIGKILL, 0);
	else if (who == RUNNER && runner_of(supervisor) != 0)
		fault(race, trial, "the runner could not be opened");
	trial->supervisor = supervisor;
}

/* A signal that was sent is not yet a death. */
static void await_supervisor(struct race *race, struct trial *trial, int64_t since_us)
{
	bool none_left;

	while (!trial->supervisor_reaped && fence_now_us() < since_us + LIMIT_MS * 1000) {
		wait_until(trial, fence_now_us() + 100);
		reap_dead(trial, &none_left);
	}
	if (!trial->supervisor_reaped)
		fault(race, trial, "the supervisor does not die");
}

static bool read_marker(const struct trial *trial, struct fence_marker *ret, struct fence_err *err)
{
	return fence_marker_read(trial->marker, FENCE_MARKER_V1, ret, NULL, err) == 0;
}

enum {
	NO_MARKER,
	NOT_STARTED,
	STARTED,
	OVER_ALREADY,
};

static void check_said(struct race *race, struct trial *trial, const char *said, int status,
		       const char *outcome)
{
	if (status != 0 || strstr(said, outcome) == NULL)
		fault(race, trial, "repair does not say \"%s\" but exits with %d: %s", outcome,
		      status, said);
}

static bool runs(const struct trial *trial)
{
	return !has_ended(trial->command_pidfd) || !has_ended(trial->daemon_pidfd);
}

/* What the runner had killed before it was killed itself is on its way out: it runs, and
 * nobody can find anything of it any more. */
static bool runs_on(const struct trial *trial)
{
	int64_t stop_at_ms = fence_now_ms() + LIMIT_MS;

	while (runs(trial) && fence_now_ms() < stop_at_ms)
		(void)poll(NULL, 0, 1);
	return runs(trial);
}

static void ask_repair(struct race *race, struct trial *trial, bool over, bool orphaned)
{
	const char *const dry[] = { "fence-marker", "repair", trial->marker, NULL };
	const char *const apply[] = { "fence-marker", "repair",	   trial->marker,
				      "--apply",      "--durable", "none",
				      "--grace",      GRACE,	   NULL };
	char said[512];
	int status = ask(dry, said);

	check_said(race, trial, said, status, over ? " nothing-to-do: " : " would-repair: ");
	if (orphaned && strstr(said, "; found: ") == NULL && runs_on(trial))
		fault(race, trial, "it runs, and repair does not find it: %s", said);
	status = ask(apply, said);
	check_said(race, trial, said, status, over ? " nothing-to-do: " : " repaired: ");
}

/* Its id is never given out again while the machine is up. */
static void check_cgroup(struct race *race, struct trial *trial, uint64_t id)
{
	owned_mem char *path = NULL;
	owned_fd fd = -1;

	if (id != 0 && fence_cgroup_find(id, &fd, &path) == 0)
		fault(race, trial, "the cgroup %s is left", path);
}

static void check_repair(struct race *race, struct trial *trial, bool orphaned)
{
	struct fence_marker marker;
	struct fence_err err = { 0 };
	bool over;

	if (!read_marker(trial, &marker, &err)) {
		if (access(trial->marker, F_OK) == 0 || trial->command_ran)
			fault(race, trial, "the marker is not authentic: %s: %s", err.what,
			      err.why);
		race->happened[NO_MARKER]++;
		return;
	}
	over = fence_attempt_is_over(&marker);
	race->happened[over ? OVER_ALREADY : marker.group.pid > 0 ? STARTED : NOT_STARTED]++;
	ask_repair(race, trial, over, orphaned);
	if (orphaned)
		check_ended(race, trial, fence_now_us(), LIMIT_MS);
	if (!read_marker(trial, &marker, &err) || marker.status != FENCE_MARKER_TERMINATED ||
	    !marker.has_result)
		fault(race, trial, "after repair it is %s", marker.text);
	check_cgroup(race, trial, marker.group_cgroup);
}

/* A first state in the place of a killed writer's temporary takes that away. */
static void make_new_one(struct race *race, struct trial *trial)
{
	const struct fence_marker_birth birth = { .attempt_id = "b",
						  .supervisor_pid = getpid(),
						  .durable = FENCE_MARKER_DURABLE_NONE,
						  .over_ended = true };
	struct fence_marker_writer writer;
	struct fence_marker marker;
	struct fence_err err = { 0 };
	bool made;

	if (fence_marker_writer_open(trial->marker, &writer, &err) < 0)
		die("open the marker's folder", err.code);
	if (fence_marker_create(&writer, &birth, &marker, &made, &err) < 0)
		fault(race, trial, "no new marker can be made: %s: %s", err.what, err.why);
	fence_marker_writer_close(&writer);
}

/* While it lives repair must keep its hands off. */
static void check_alive(struct race *race, struct trial *trial)
{
	const char *const apply[] = { "fence-marker", "repair", trial->marker, "--apply", NULL };
	struct fence_marker marker;
	char said[512];
	int status;

	while (!trial->command_ran && !trial->at_end)
		wait_until(trial, fence_now_us() + 1000);
	if (!read_marker(trial, &marker, NULL)) {
		fault(race, trial, "it runs, and there is no authentic marker");
		return;
	}
	status = ask(apply, said);
	if (status != 77 || strstr(said, " alive: ") == NULL ||
	    (!trial->is_contained && has_ended(trial->command_pidfd)))
		fault(race, trial, "repair of a living supervisor's exits with %d: %s", status,
		      said);
}

static void kill_one(struct race *race, unsigned int who, int number)
{
	struct trial trial;
	bool orphaned = who == (SUPERVISOR | RUNNER);
	int64_t killed_us;
	int64_t begin_us;

	open_trial(race, &trial, number);
	begin_us = fence_now_us();
	start_attempt(race, &trial, who);
	if (number % 24 == 1)
		check_alive(race, &trial);
	else if (who == RUNNER)
		while (runner_of(trial.supervisor) == 0 &&
		       fence_now_us() < begin_us + PATIENCE_MS * INT64_C(1000))
			wait_until(&trial, fence_now_us() + 50);
	/* Half of the moments lie in the first third, where the start is. */
	wait_until(&trial, fence_now_us() + below(race, race->span_us / (number % 2 == 0 ? 1 : 3)));
	kill_victims(race, &trial, who);
	killed_us = fence_now_us();
	if (orphaned)
		await_supervisor(race, &trial, killed_us);
	else
		check_ended(race, &trial, killed_us, LIMIT_MS);
	check_repair(race, &trial, orphaned);
	if (orphaned && !trial.at_end)
		check_ended(race, &trial, fence_now_us(), LIMIT_MS);
	make_new_one(race, &trial);
	if (trial.broken)
		clean_up(&trial);
	check_folder(race, &trial);
	close_trial(&trial);
}

/* How long it takes until the daemon runs. */
static void calibrate(struct race *race)
{
	int64_t sum_us = 0;

	for (int i = 0; i < 3; i++) {
		struct trial trial;
		int64_t begin_us;

		open_trial(race, &trial, 1);
		begin_us = fence_now_us();
		start_attempt(race, &trial, SUPERVISOR);
		while (!trial.daemon_ran && !trial.at_end &&
		       fence_now_us() < begin_us + PATIENCE_MS * INT64_C(1000))
			wait_until(&trial, fence_now_us() + 100);
		if (!trial.daemon_ran)
			die("the crew does not come up", ETIMEDOUT);
		sum_us += fence_now_us() - begin_us;
		(void)kill(trial.supervisor, SIGTERM);
		check_ended(race, &trial, fence_now_us(), LIMIT_MS);
		if (trial.broken)
			clean_up(&trial);
		check_folder(race, &trial);
		close_trial(&trial);
	}
	race->span_us = sum_us / 3 * 3 / 2;
	race->worst_us = 0;
}

static void race_kill(struct race *race, unsigned int who, int count)
{
	calibrate(race);
	for (int i = 0; i < count; i++)
		kill_one(race, who, i);
	printf("%d killed: no marker yet %u, not started %u, started %u, over already %u; "
	       "ended within %lld ms; moments within %lld us\n",
	       count, race->happened[NO_MARKER], race->happened[NOT_STARTED],
	       race->happened[STARTED], race->happened[OVER_ALREADY],
	       (long long)race->worst_us / 1000, (long long)race->span_us);
}

/* --- cancelling ---------------------------------------------------------------------------- */

enum {
	CANCELLED_BEFORE, /* the start */
	CANCELLED_RUNNING,
	CANCELLED_ENDING,
	CANCELLED_LATE, /* it was over */
};

struct seen {
	int64_t seq;
	enum fence_marker_status status;
	bool any, cancelled;
};

/* States only ever follow each other as they may. */
static void observe(struct race *race, struct trial *trial, struct seen *seen)
{
	struct fence_marker marker;

	if (!read_marker(trial, &marker, NULL)) {
		if (seen->any)
			fault(race, trial, "the marker is not authentic any more");
		return;
	}
	if (seen->any && marker.seq < seen->seq)
		fault(race, trial, "seq goes back from %lld to %s", (long long)seen->seq,
		      marker.text);
	if (seen->any && marker.seq > seen->seq && seen->status != marker.status &&
	    (seen->status == FENCE_MARKER_TERMINATED || seen->status == FENCE_MARKER_CANCELLED))
		fault(race, trial, "%s follows %s", marker.text,
		      fence_marker_status_word(seen->status));
	*seen = (struct seen){ marker.seq, marker.status, true, false };
}

static void observe_until(struct race *race, struct trial *trial, struct seen *seen,
			  struct fence_marker_watch *watch, int64_t at_us, bool until_seen)
{
	while (!trial->at_end && fence_now_us() < at_us && !(until_seen && seen->any)) {
		int64_t left_us = at_us - fence_now_us();
		struct timespec left = { .tv_nsec = left_us > 900000 ? 900000000
						    : left_us < 0    ? 0
								     : left_us * 1000 };
		struct pollfd events[] = { { .fd = trial->pipe_fd, .events = POLLIN },
					   { .fd = watch->fd, .events = POLLIN } };

		if (ppoll(events, 2, &left, NULL) <= 0)
			continue;
		if (events[0].revents != 0)
			hear(trial);
		if (events[1].revents != 0 && fence_marker_watch_take(watch) == 1)
			observe(race, trial, seen);
	}
}

/* true: it is cancelled now, and was in `ret`'s phase before. */
static bool cancel(struct race *race, struct trial *trial, int *ret_phase)
{
	const struct fence_attempt_step step = { .attempt_id = "a",
						 .status = FENCE_MARKER_CANCELLED,
						 .by = FENCE_MARKER_BY_CANCEL,
						 .durable = FENCE_MARKER_DURABLE_NONE,
						 .lock_wait_ms = 5000 };
	enum fence_marker_answer answer;
	struct fence_marker_writer writer;
	struct fence_marker before, after;
	struct fence_err err = { 0 };
	int rc;

	if (fence_marker_writer_open(trial->marker, &writer, &err) < 0)
		die("open the marker", err.code);
	if (!read_marker(trial, &before, &err))
		fault(race, trial, "not authentic when it is to be cancelled: %s", err.why);
	rc = fence_attempt_advance(&writer, &step, &after, &answer, &err);
	fence_marker_writer_close(&writer);
	if (rc != 0 && rc != -EPERM)
		fault(race, trial, "cannot be cancelled: %s: %s", err.what, err.why);
	if (rc == 0 && (answer != FENCE_MARKER_REPLACED || after.status != FENCE_MARKER_CANCELLED))
		fault(race, trial, "replaced, and yet it is %s", after.text);
	*ret_phase = rc != 0					 ? CANCELLED_LATE
		     : before.status == FENCE_MARKER_TERMINATING ? CANCELLED_ENDING
		     : after.group.pid == 0			 ? CANCELLED_BEFORE
								 : CANCELLED_RUNNING;
	return rc == 0;
}

static void start_short(struct race *race, struct trial *trial)
{
	/* An end of its own, one with something left, a deaf one, and a time-out. */
	static const char *const shapes[4][4] = {
		{ "0", "alone", "leaves", NULL },
		{ "0", "leaves", NULL },
		{ "0", "leaves", "deaf", NULL },
		{ "4ms", "deaf", NULL },
	};
	const char *const *shape = shapes[trial->number % 4];
	const int stdio[3] = { race->null_fd, race->null_fd, trial->end_fd };
	const char *words[ARGS] = {
		"fence-supervisor", "--create", "--attempt",	   "a",	  "--marker", trial->marker,
		"--durable",	    "none",	"--grace",	   "4ms", "-q",	      "--timeout",
		shape[0],	    "--",	"supervisor_crew",
	};
	size_t count = 15;

	for (int i = 1; shape[i] != NULL; i++)
		words[count++] = shape[i];
	trial->supervisor = start(words, stdio);
	(void)fence_close_fd(&trial->end_fd);
}

static void check_final(struct race *race, struct trial *trial, bool cancelled)
{
	struct fence_marker marker;
	enum fence_marker_status wanted =
		cancelled ? FENCE_MARKER_CANCELLED : FENCE_MARKER_TERMINATED;

	if (!read_marker(trial, &marker, NULL))
		fault(race, trial, "no authentic marker at the end");
	else if (marker.status != wanted || !marker.has_result || marker.result.survivors != 0)
		fault(race, trial, "%s, but at the end it is %s",
		      cancelled ? "cancelled" : "too late to be cancelled", marker.text);
	if (!trial->supervisor_reaped)
		fault(race, trial, "the supervisor has not ended");
	else if (trial->supervisor_exit.signalled)
		fault(race, trial, "the supervisor died of signal %d",
		      trial->supervisor_exit.number);
}

static void cancel_one(struct race *race, int number)
{
	struct fence_marker_watch watch;
	struct seen seen = { .any = false };
	struct fence_err err = { 0 };
	struct trial trial;
	int64_t begin_us = fence_now_us();
	bool cancelled;
	int phase;

	open_trial(race, &trial, number);
	if (fence_marker_watch_open(trial.marker, &watch, &err) < 0)
		die("watch the folder", err.code);
	start_short(race, &trial);
	observe_until(race, &trial, &seen, &watch, begin_us + PATIENCE_MS * INT64_C(1000), true);
	observe_until(race, &trial, &seen, &watch,
		      fence_now_us() + below(race, race->span_us + (number % 4 == 3 ? 8000 : 0)),
		      false);
	cancelled = cancel(race, &trial, &phase);
	race->happened[phase]++;
	observe(race, &trial, &seen);
	begin_us = fence_now_us();
	observe_until(race, &trial, &seen, &watch, begin_us + LIMIT_MS * 1000, false);
	check_ended(race, &trial, begin_us, LIMIT_MS);
	observe(race, &trial, &seen);
	check_final(race, &trial, cancelled);
	if (phase == CANCELLED_BEFORE && trial.command_ran)
		fault(race, &trial, "cancelled before the start, and yet it ran");
	fence_marker_watch_close(&watch);
	if (trial.broken)
		clean_up(&trial);
	check_folder(race, &trial);
	close_trial(&trial);
}

static void race_cancel(struct race *race, int count)
{
	calibrate(race);
	for (int i = 0; i < count; i++)
		cancel_one(race, i);
	printf("%d cancelled: before the start %u, while it ran %u, while it ended %u, "
	       "too late %u; ended within %lld ms; moments within %lld us\n",
	       count, race->happened[CANCELLED_BEFORE], race->happened[CANCELLED_RUNNING],
	       race->happened[CANCELLED_ENDING], race->happened[CANCELLED_LATE],
	       (long long)race->worst_us / 1000, (long long)race->span_us);
}

/* --- main --------------------------------------------------------------------------------------
 */

static unsigned int victims_of(const char *word)
{
	for (size_t i = 0; i < sizeof(victims) / sizeof(victims[0]); i++)
		if (strcmp(victims[i].word, word) == 0)
			return victims[i].victims;
	return 0;
}

static void prepare(struct race *race)
{
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		die("become a subreaper", errno);
	race->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	race->shared = mmap(NULL, sizeof(*race->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (race->null_fd < 0 || race->shared == MAP_FAILED)
		die("prepare", errno);
}

int main(int argc, char **argv)
{
	struct race race = { .seed = (unsigned long long)fence_now_us() };
	int at = 1;
	int64_t count;

	for (; argc > at + 3 && argv[at][0] == '-'; at += 2) {
		if (strcmp(argv[at], "-s") == 0)
			race.seed = strtoull(argv[at + 1], NULL, 10);
		else if (strcmp(argv[at], "-c") == 0)
			race.contain = argv[at + 1];
		else
			die(argv[at], EINVAL);
	}
	race.random = race.seed * 2 + 1;
	if (argc < at + 3 || fence_parse_number(argv[argc - 2], 1, 100000, &count) < 0) {
		fprintf(stderr, "supervisor_race: see the top of its source\n");
		return 2;
	}
	race.folder = argv[argc - 1];
	prepare(&race);
	if (strcmp(argv[at], "cancel") == 0 && argc == at + 3)
		race_cancel(&race, (int)count);
	else if (strcmp(argv[at], "kill") == 0 && argc == at + 4 && victims_of(argv[at + 1]) != 0)
		race_kill(&race, victims_of(argv[at + 1]), (int)count);
	else
		die(argv[at], EINVAL);
	if (race.faults > 0)
		printf("%d faults, seed %llu\n", race.faults, race.seed);
	return race.faults > 0 ? 1 : 0;
}
