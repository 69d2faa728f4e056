/* The order of a run: make the folder, start what is ready, and at each end of a
 * stage observe it, write its part, start what became ready; when nothing runs and
 * nothing is ready, judge, write the record, and say so. A request to stop changes
 * only what is started and what is stopped: the end is the same. */
#include "gate/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/group.h"
#include "fence/loop.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "gate/launch.h"
#include "gate/observe.h"
#include "gate/report/record.h"
#include "gate/report/text.h"
#include "gate/store.h"

enum progress { WAITING, RUNNING, ENDED };

struct run;

/* A stage that runs. */
struct slot {
	struct run *run;
	size_t at;		   /* in the plan */
	struct fence_group *group; /* NULL: the slot is free */
	struct fence_watch watch;
	struct gate_launch launch;
	int status_fd;	    /* -1: not confined */
	int log_fd;	    /* -1: none; kept for the next stage while nothing was printed */
	const char *log_of; /* the stage whose name the log has */
	char started_at[25];
};

struct run {
	const struct gate_run_conf *conf;
	const struct gate_plan *plan;
	struct gate_store store;
	struct fence_loop loop;
	struct fence_watch signals;
	int signal_fd, null_fd, parts_fd;
	char guard[PATH_MAX];	    /* empty: no stage needs it */
	struct fence_err guard_err; /* why it cannot be used */
	enum progress *progress;
	struct gate_observation *seen;
	struct gate_part_place *places;
	size_t *position; /* of a stage in the plan */
	struct slot *slots;
	struct fence_group **groups; /* of the slots, for the group runner */
	unsigned int running;
	size_t first_waiting; /* nothing before it waits */
	bool cancelled;
	bool stopping; /* nothing is started any more */
	struct gate_json parts;
	struct gate_text text;
	char started_at[25];
	int64_t start_ms;
	struct fence_err *err; /* the loop hands back one number; the words wait here */
};

/* --- the end of a stage ------------------------------------------------------------- */

static int write_part(struct run *run, size_t at, const struct gate_stage_part *part,
		      struct fence_err *err)
{
	int rc = gate_record_part(&run->parts, part, &run->places[at]);

	return rc < 0 ? fence_fail(err, rc, "write %s/stages.jsonl", run->store.path) : 0;
}

/* Notes the end of a stage that has been observed; the part's stage and observation
 * are filled in here. */
static int end_stage(struct run *run, size_t at, struct gate_stage_part *part,
		     struct fence_err *err)
{
	run->progress[at] = ENDED;
	part->stage = gate_plan_stage(run->plan, at);
	part->seen = &run->seen[at];
	if (run->conf->fail_fast && run->seen[at].outcome != GATE_PASSED)
		run->stopping = true;
	gate_text_stage(&run->text, run->plan, at, &run->seen[at]);
	(void)gate_text_flush(&run->text);
	return write_part(run, at, part, err);
}

static int end_unstarted(struct run *run, size_t at, struct fence_err *err)
{
	struct gate_stage_part part = { 0 };

	return end_stage(run, at, &part, err);
}

static void observe_slot(struct slot *slot, struct gate_guard_status *status)
{
	struct run *run = slot->run;
	const struct gate_stage *stage = gate_plan_stage(run->plan, slot->at);
	bool is_confined = slot->status_fd >= 0;

	if (is_confined && gate_guard_status_read(slot->status_fd, status) < 0)
		*status = (struct gate_guard_status){ .garbled = true };
	gate_observe(stage, fence_group_result(slot->group), is_confined ? status : NULL,
		     &run->seen[slot->at]);
}

static void free_slot(struct slot *slot)
{
	size_t number = (size_t)(slot - slot->run->slots);

	/* Also where the gate cannot go on: other stages run, and stay out of it. */
	fence_group_abandon(slot->group, slot->run->groups, slot->run->conf->jobs);
	slot->group = NULL;
	slot->run->groups[number] = NULL;
	gate_launch_free(&slot->launch);
	fence_close_fd(&slot->status_fd);
}

/* A log that has something in it is done with. An empty one goes on to the next stage
 * of the slot: making a file costs more than starting a stage where many files were
 * deleted a moment ago (ext4 looks at each inode that it freed within a minute). */
static void end_log(struct slot *slot)
{
	if (slot->run->seen[slot->at].has_printed)
		fence_close_fd(&slot->log_fd);
}

static int end_slot(struct slot *slot, struct fence_err *err)
{
	struct run *run = slot->run;
	struct gate_guard_status status = { 0 };
	struct gate_stage_part part = { .group = slot->group,
					.environment = slot->launch.environment,
					.started_at = slot->started_at };
	int rc;

	fence_loop_remove(&run->loop, &slot->watch);
	run->running--;
	observe_slot(slot, &status);
	part.status = slot->status_fd >= 0 ? &status : NULL;
	rc = end_stage(run, slot->at, &part, err);
	end_log(slot);
	free_slot(slot);
	return rc;
}

/* --- the start of a stage ------------------------------------------------------------- */

static struct slot *free_place(struct run *run)
{
	for (unsigned int i = 0; i < run->conf->jobs; i++)
		if (!run->slots[i].group)
			return &run->slots[i];
	return NULL;
}

static int slot_ready(void *arg, uint32_t epoll_events);

/* 0: it runs; 1: it could not be executed, with the reason in `why`; else -errno with
 * words in `err`, for what is the run's fault and not the stage's. */
static int start_group(struct slot *slot, struct fence_err *why, struct fence_err *err)
{
	struct run *run = slot->run;
	const struct gate_stage *stage = gate_plan_stage(run->plan, slot->at);
	struct gate_launch_where where = { .root = run->conf->root,
					   .environment = run->conf->environment,
					   .guard = run->guard,
					   .null_fd = run->null_fd,
					   .log_fd = slot->log_fd,
					   .status_fd = slot->status_fd };
	int rc;

	if (stage->sandbox != GATE_SANDBOX_NONE && !run->guard[0]) {
		*why = run->guard_err;
		return 1;
	}
	if (gate_launch_make(stage, &where, &slot->launch, why) < 0)
		return 1;
	if (fence_group_start(&slot->launch.plan, &slot->group, why) < 0)
		return 1;
	fence_wall_stamp(slot->started_at);
	slot->watch.ready = slot_ready;
	slot->watch.arg = slot;
	rc = fence_loop_add(&run->loop, &slot->watch, fence_group_fd(slot->group), EPOLLIN);
	return rc < 0 ? fence_fail(err, rc, "watch stage %s", stage->id) : 0;
}

static int not_executed(struct slot *slot, const struct fence_err *why, struct fence_err *err)
{
	char detail[128];
	const char *reason = why->why[0] ? why->why : fence_errno_words(why->code);

	(void)snprintf(detail, sizeof(detail), "%.60s: %.60s", why->what, reason);
	gate_observe_not_executed(detail, why->hint, &slot->run->seen[slot->at]);
	free_slot(slot);
	return end_unstarted(slot->run, slot->at, err);
}

static int open_log(struct slot *slot, const char *stage, struct fence_err *err)
{
	const struct gate_store *store = &slot->run->store;
	int rc;

	if (slot->log_fd < 0) {
		slot->log_fd = gate_store_create(store, stage, ".log", err);
		slot->log_of = stage;
		return slot->log_fd < 0 ? slot->log_fd : 0;
	}
	rc = gate_store_rename(store, slot->log_of, stage, ".log");
	slot->log_of = stage;
	return rc < 0 ? fence_fail(err, rc, "name %s/%s.log", store->path, stage) : 0;
}

static int start_stage(struct run *run, size_t at, struct fence_err *err)
{
	const struct gate_stage *stage = gate_plan_stage(run->plan, at);
	struct slot *slot = free_place(run);
	struct fence_err why = { 0 };
	int rc;

	if (!slot) /* never: fewer run than there are slots */
		return fence_fail(err, -EAGAIN, "start stage %s", stage->id);
	slot->run = run;
	slot->at = at;
	slot->status_fd = -1;
	rc = open_log(slot, stage->id, err);
	if (rc < 0)
		return rc;
	if (stage->sandbox != GATE_SANDBOX_NONE)
		slot->status_fd = gate_store_create(&run->store, stage->id, ".guard.jsonl", err);
	if (stage->sandbox != GATE_SANDBOX_NONE && slot->status_fd < 0)
		return slot->status_fd;
	rc = start_group(slot, &why, err);
	if (rc == 1)
		return not_executed(slot, &why, err);
	if (rc < 0)
		return rc;
	run->groups[slot - run->slots] = slot->group;
	run->progress[at] = RUNNING;
	run->running++;
	return 0;
}

/* --- who is next ------------------------------------------------------------------------ */

/* The first need that is in the way, or SIZE_MAX; the plan has every need before the
 * stage itself. */
static size_t need_in_the_way(const struct run *run, size_t at)
{
	const struct gate_names *needs = &gate_plan_stage(run->plan, at)->needs;

	for (size_t i = 0; i < needs->count; i++) {
		size_t need = run->position[needs->at[i].index];

		if (run->progress[need] != ENDED || run->seen[need].outcome != GATE_PASSED)
			return need;
	}
	return SIZE_MAX;
}

static int refuse_stage(struct run *run, size_t at, enum gate_outcome outcome, const char *need,
			struct fence_err *err)
{
	struct gate_observation *seen = &run->seen[at];

	*seen = (struct gate_observation){ .outcome = outcome };
	if (need)
		(void)snprintf(seen->detail, sizeof(seen->detail),
			       "was not run: it needs \"%s\", which did not pass", need);
	else
		(void)snprintf(seen->detail, sizeof(seen->detail), "was not run: the run %s",
			       run->cancelled ? "was cancelled" : "stops at the first failure");
	return end_unstarted(run, at, err);
}

static int consider(struct run *run, size_t at, struct fence_err *err)
{
	size_t need = need_in_the_way(run, at);

	if (need != SIZE_MAX && run->progress[need] == ENDED)
		return refuse_stage(run, at, GATE_BLOCKED, gate_plan_stage(run->plan, need)->id,
				    err);
	if (run->stopping)
		return refuse_stage(run, at, GATE_NOT_STARTED, NULL, err);
	if (need != SIZE_MAX || run->running == run->conf->jobs)
		return 0;
	return start_stage(run, at, err);
}

/* Starts what can start, and refuses what no longer can. One pass is enough: needs
 * come first in the plan. */
static int start_ready(struct run *run, struct fence_err *err)
{
	while (run->first_waiting < run->plan->count &&
	       run->progress[run->first_waiting] != WAITING)
		run->first_waiting++;
	for (size_t at = run->first_waiting; at < run->plan->count; at++) {
		int rc;

		if (run->progress[at] != WAITING)
			continue;
		if (!run->stopping && run->running == run->conf->jobs)
			return 0;
		rc = consider(run, at, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void stop_running(struct run *run)
{
	for (unsigned int i = 0; i < run->conf->jobs; i++)
		if (run->slots[i].group)
			(void)fence_group_stop(run->slots[i].group, FENCE_CAUSE_CANCELLED);
}

/* --- events ------------------------------------------------------------------------------ */

#define RUN_ENDED 1

static int go_on(struct run *run)
{
	bool was_stopping = run->stopping;
	int rc = start_ready(run, run->err);

	if (rc < 0)
		return rc;
	if (run->stopping && !was_stopping) {
		stop_running(run);
		rc = start_ready(run, run->err);
		if (rc < 0)
			return rc;
	}
	return run->running == 0 ? RUN_ENDED : 0;
}

static int slot_ready(void *arg, uint32_t epoll_events)
{
	struct slot *slot = arg;
	struct run *run = slot->run;
	bool was_stopping = run->stopping;
	int rc;

	(void)epoll_events;
	rc = fence_group_step(slot->group, run->groups, run->conf->jobs, run->err);
	if (rc <= 0)
		return rc;
	rc = end_slot(slot, run->err);
	if (rc < 0)
		return rc;
	if (run->stopping && !was_stopping)
		stop_running(run);
	return go_on(run);
}

static int cancel(struct run *run)
{
	run->cancelled = true;
	run->stopping = true;
	stop_running(run);
	return go_on(run);
}

/* The stages are in sessions of their own, where the terminal's ^Z does not reach. */
static void pass_on(struct run *run, int sig)
{
	for (unsigned int i = 0; i < run->conf->jobs; i++)
		if (run->slots[i].group)
			(void)fence_group_signal(run->slots[i].group, sig);
}

/* A child stopped or died; of one that died its socket says so. */
static int wake_monitors(struct run *run)
{
	for (unsigned int i = 0; i < run->conf->jobs; i++) {
		int rc = run->slots[i].group ? fence_group_wake(run->slots[i].group) : 0;

		if (rc < 0)
			return fence_fail(run->err, rc, "continue a stopped monitor");
	}
	return 0;
}

/* The first request stops with the grace, each further one is KILL now. TSTP and CONT
 * stop and continue the stages, their time-outs, and us. */
static int signal_ready(void *arg, uint32_t epoll_events)
{
	struct run *run = arg;
	struct signalfd_siginfo info;
	ssize_t got = fence_read_some(run->signal_fd, &info, sizeof(info));

	(void)epoll_events;
	if (got < 0)
		return got == -EAGAIN ? 0 : (int)got;
	if (info.ssi_signo == SIGCHLD)
		return wake_monitors(run);
	if (info.ssi_signo != SIGTSTP && info.ssi_signo != SIGCONT)
		return cancel(run);
	pass_on(run, (int)info.ssi_signo);
	if (info.ssi_signo == SIGTSTP)
		(void)kill(getpid(), SIGSTOP);
	return 0;
}

/* --- a run ---------------------------------------------------------------------------------- */

static int watch_signals(struct run *run, struct fence_err *err)
{
	static const int numbers[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGCHLD
	};
	sigset_t wanted;
	int rc;

	(void)sigemptyset(&wanted);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		(void)sigaddset(&wanted, numbers[i]);
	run->signal_fd = fence_signals_take(&wanted, NULL);
	if (run->signal_fd < 0)
		return fence_fail(err, run->signal_fd, "take over signals");
	run->signals.ready = signal_ready;
	run->signals.arg = run;
	rc = fence_loop_add(&run->loop, &run->signals, run->signal_fd, EPOLLIN);
	return rc < 0 ? fence_fail(err, rc, "watch signals") : 0;
}

static int allocate(struct run *run, struct fence_err *err)
{
	size_t count = run->plan->count;

	run->progress = calloc(count + 1, sizeof(*run->progress));
	run->seen = calloc(count + 1, sizeof(*run->seen));
	run->places = calloc(count + 1, sizeof(*run->places));
	run->position = calloc(run->plan->config->stage_count + 1, sizeof(*run->position));
	run->slots = calloc(run->conf->jobs, sizeof(*run->slots));
	run->groups = calloc(run->conf->jobs, sizeof(struct fence_group *));
	if (!run->progress || !run->seen || !run->places || !run->position || !run->slots ||
	    !run->groups)
		return fence_fail(err, -ENOMEM, "start the run");
	for (size_t i = 0; i < count; i++)
		run->position[run->plan->order[i]] = i;
	for (unsigned int i = 0; i < run->conf->jobs; i++)
		run->slots[i].status_fd = run->slots[i].log_fd = -1;
	return 0;
}

/* A guard that is missing is the business of the stages that need it. */
static void find_guard(struct run *run)
{
	if (gate_find_program("fence-guard", run->guard, sizeof(run->guard), &run->guard_err) < 0)
		run->guard[0] = '\0';
}

static int open_files(struct run *run, struct fence_err *err)
{
	int rc;

	run->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (run->null_fd < 0)
		return fence_fail(err, -errno, "open /dev/null");
	rc = gate_store_open(run->conf->root_fd, &run->store, err);
	if (rc < 0)
		return rc;
	run->parts_fd = gate_store_create(&run->store, "stages", ".jsonl", err);
	if (run->parts_fd < 0)
		return run->parts_fd;
	gate_json_init(&run->parts, run->parts_fd);
	return 0;
}

static int open_run(struct run *run, struct fence_err *err)
{
	int rc = fence_group_prepare(NULL, err);

	if (rc == 0)
		rc = allocate(run, err);
	if (rc < 0)
		return rc;
	rc = fence_loop_open(&run->loop);
	if (rc < 0)
		return fence_fail(err, rc, "open an event loop");
	rc = watch_signals(run, err);
	if (rc == 0)
		rc = open_files(run, err);
	find_guard(run);
	return rc;
}

/* What still runs after a failure of our own is killed by freeing it. */
static void close_run(struct run *run)
{
	for (unsigned int i = 0; run->slots && i < run->conf->jobs; i++) {
		if (run->slots[i].group)
			free_slot(&run->slots[i]);
		fence_close_fd(&run->slots[i].log_fd);
	}
	if (run->loop.epoll_fd >= 0)
		fence_loop_close(&run->loop);
	fence_close_fd(&run->signal_fd);
	fence_close_fd(&run->null_fd);
	fence_close_fd(&run->parts_fd);
	gate_store_close(&run->store);
	free(run->progress);
	free(run->seen);
	free(run->places);
	free(run->position);
	free(run->slots);
	free(run->groups);
}

static int run_stages(struct run *run, struct fence_err *err)
{
	int rc = go_on(run);

	if (rc == 0)
		rc = fence_loop_run(&run->loop);
	if (rc < 0 && err->code == 0)
		return fence_fail(err, rc, "wait for stages");
	return rc < 0 ? rc : 0;
}

/* --- judging and writing down ---------------------------------------------------------------- */

static int judge(const struct run *run, struct gate_verdict *ret, struct fence_err *err)
{
	size_t count = run->plan->count;
	owned_mem struct gate_stage_seen *stages = calloc(count + 1, sizeof(*stages));
	struct gate_seen seen = { .stages = stages,
				  .stage_count = count,
				  .declared_count = count,
				  .cancelled = run->cancelled };

	if (!stages)
		return fence_fail(err, -ENOMEM, "judge the run");
	for (size_t i = 0; i < count; i++)
		stages[i] = (struct gate_stage_seen){
			.id = gate_plan_stage(run->plan, i)->id,
			.outcome = run->seen[i].outcome,
			.detail = run->seen[i].detail[0] ? run->seen[i].detail : NULL,
			.hint = run->seen[i].hint[0] ? run->seen[i].hint : NULL,
		};
	gate_judge(&seen, ret);
	return 0;
}

static void show(struct run *run, const struct gate_summary *summary)
{
	for (size_t i = 0; i < run->plan->count; i++)
		if (run->seen[i].outcome != GATE_PASSED && run->seen[i].wall_us > 0)
			gate_text_tail(&run->text, &run->store, gate_plan_stage(run->plan, i),
				       &run->seen[i]);
	gate_text_summary(&run->text, summary);
	(void)gate_text_flush(&run->text);
}

/* The record as it lies on the disk, onto standard output. */
static int print_record(const struct run *run, struct fence_err *err)
{
	owned_fd fd = gate_store_read(&run->store, "record", ".json");
	char chunk[16384];

	if (fd < 0)
		return fence_fail(err, fd, "open %s/record.json", run->store.path);
	for (;;) {
		ssize_t got = fence_read_some(fd, chunk, sizeof(chunk));
		int rc;

		if (got < 0)
			return fence_fail(err, (int)got, "read %s/record.json", run->store.path);
		if (got == 0)
			return 0;
		rc = fence_write_full(STDOUT_FILENO, chunk, (size_t)got);
		if (rc < 0)
			return fence_fail(err, rc, "write to standard output");
	}
}

/* The empty files that no stage took over. */
static void remove_empty_logs(struct run *run)
{
	for (unsigned int i = 0; i < run->conf->jobs; i++)
		if (run->slots[i].log_fd >= 0)
			(void)gate_store_remove(&run->store, run->slots[i].log_of, ".log");
}

static int finish(struct run *run, enum gate_verdict_kind *ret, struct fence_err *err)
{
	struct gate_verdict verdict;
	char ended_at[25];
	struct gate_summary summary = { .plan = run->plan,
					.seen = run->seen,
					.verdict = &verdict,
					.store = &run->store,
					.root = run->conf->root,
					.wall_ms = fence_now_ms() - run->start_ms };
	struct gate_record record = { .summary = &summary,
				      .config_path = run->conf->config_path,
				      .started_at = run->started_at,
				      .ended_at = ended_at,
				      .jobs = run->conf->jobs,
				      .cancelled = run->cancelled,
				      .environment = run->conf->environment,
				      .parts_fd = run->parts_fd,
				      .places = run->places };
	int rc = judge(run, &verdict, err);

	fence_wall_stamp(ended_at);
	remove_empty_logs(run);
	if (rc == 0)
		rc = gate_record_write(&record, err);
	if (rc < 0)
		return rc;
	show(run, &summary);
	if (run->conf->json)
		rc = print_record(run, err);
	*ret = verdict.kind;
	return rc;
}

int gate_run(const struct gate_run_conf *conf, const struct gate_plan *plan,
	     enum gate_verdict_kind *ret, struct fence_err *err)
{
	struct run run = { .conf = conf,
			   .plan = plan,
			   .store = { .run_fd = -1 },
			   .loop = { .epoll_fd = -1 },
			   .signal_fd = -1,
			   .null_fd = -1,
			   .parts_fd = -1,
			   .start_ms = fence_now_ms(),
			   .err = err };
	int rc;

	fence_wall_stamp(run.started_at);
	gate_text_init(&run.text, STDERR_FILENO, conf->environment);
	rc = open_run(&run, err);
	if (rc == 0)
		rc = run_stages(&run, err);
	if (rc == 0)
		rc = finish(&run, ret, err);
	close_run(&run);
	return rc;
}
