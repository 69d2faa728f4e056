#include "guard/browser/proof.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/browser/flags.h"

/* Namespaces and root are there from birth: BIRTH_MS only forgives a look in the
 * middle of it. The filter and the loss of capabilities come some milliseconds
 * later. A renderer that has run for SETTLE_CPU_TICKS and still shows none after
 * SETTLE_MS is weak; on a machine so busy that it has hardly run, it is given
 * SETTLE_CAP_MS. */
#define BIRTH_MS	 100
#define LATE_LAYERS	 (LAYER_SECCOMP | LAYER_CAPS)
#define SETTLE_MS	 2000
#define SETTLE_CPU_TICKS 5
#define SETTLE_CAP_MS	 10000

/* A look at everything reads a file for each of the browser's threads; between them
 * only the zygotes' children are read, which is where renderers are born. */
#define FULL_LOOK_MS	  50 /* until one is proven; zygotes come long before renderers */
#define CALM_FULL_LOOK_MS 200
#define YOUNG_LOOK_MS	  2 /* while a renderer is young */
#define EARLY_LOOK_MS	  5 /* until one is proven */
#define CALM_LOOK_MS	  20
#define IDLE_LOOK_MS	  50 /* when nobody was born for ... */
#define IDLE_AFTER_MS	  2000
#define NEWBORN_MS	  100 /* as long a process is asked at each look what it is */

#define ANCESTORS 16

const char *proof_state_word(enum proof_state state)
{
	static const char *const words[] = {
		[PROOF_PENDING] = "pending",
		[PROOF_UNPROVEN] = "unproven",
		[PROOF_WEAKENED] = "weakened",
		[PROOF_SANDBOXED] = "sandboxed",
	};

	return words[state];
}

const char *standing_word(enum standing standing)
{
	static const char *const words[] = {
		[STANDING_PENDING] = "pending",	  [STANDING_PROVEN] = "proven",
		[STANDING_UNPROVEN] = "unproven", [STANDING_WEAK] = "weak",
		[STANDING_VANISHED] = "vanished",
	};

	return words[standing];
}

int proof_open(struct proof *proof, pid_t pid, uint64_t start_ticks)
{
	owned_fd proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	owned_fd browser_fd = proc_fd < 0 ? -errno : proc_open(proc_fd, pid);
	struct proc_stat stat;
	int rc;

	if (browser_fd < 0)
		return browser_fd;
	rc = proc_read_stat(browser_fd, &stat);
	if (rc < 0)
		return rc;
	if (start_ticks != 0 && start_ticks != stat.start_ticks)
		return -ESRCH;
	memset(proof, 0, sizeof(*proof));
	proof->pid = pid;
	proof->start_ticks = stat.start_ticks;
	proof->proc_fd = fence_take_fd(&proc_fd);
	proof->browser_fd = fence_take_fd(&browser_fd);
	return 0;
}

void proof_close(struct proof *proof)
{
	fence_close_fd(&proof->proc_fd);
	fence_close_fd(&proof->browser_fd);
}

/* --- the table of processes --------------------------------------------------------- */

static struct proof_process *find(struct proof *proof, pid_t pid)
{
	for (size_t i = 0; i < proof->places; i++)
		if (proof->processes[i].pid == pid)
			return &proof->processes[i];
	return NULL;
}

static struct proof_process *find_place(struct proof *proof)
{
	struct proof_process *place = find(proof, 0);

	if (place == NULL && proof->places < PROOF_PROCESSES)
		place = &proof->processes[proof->places++];
	return place;
}

static void keep(struct proof *proof, const struct proof_process *process)
{
	if (process->type == PROC_RENDERER)
		proof->kept[proof->kept_count++ % PROOF_RENDERERS] = process->renderer;
}

static void settle(struct proof *proof, struct proof_process *process, enum standing standing,
		   int64_t now_ms)
{
	process->is_settled = true;
	proof->seen[process->type]++;
	if (process->type != PROC_RENDERER)
		return;
	process->renderer.standing = standing;
	process->renderer.settle_ms = now_ms - process->first_seen_ms;
	proof->standings[standing]++;
	if (standing != STANDING_VANISHED)
		proof->lacking |= process->renderer.missing | process->renderer.unknown;
	keep(proof, process);
	if (standing == STANDING_PROVEN && proof->first_proven_at_ms == 0)
		proof->first_proven_at_ms = now_ms;
}

/* It is gone. One that was seen outside a layer which is there from birth was weak
 * all its life; of any other that was not judged nothing can be said. The filter and
 * the capabilities come later, and the ancestry is lost when a parent dies first. */
static void drop(struct proof *proof, struct proof_process *process, int64_t now_ms)
{
	const unsigned int late = LATE_LAYERS | LAYER_ANCESTRY;

	if (!process->is_settled)
		settle(proof, process,
		       (process->renderer.missing & ~late) != 0 ? STANDING_WEAK : STANDING_VANISHED,
		       now_ms);
	process->pid = 0;
}

/* --- one process ---------------------------------------------------------------------- */

/* Does the chain of parents end at the browser, this very process, and is at least
 * one process between them? */
static bool descends_from_browser(const struct proof *proof, const struct proc_stat *of)
{
	uint64_t child_start = of->start_ticks;
	pid_t at = of->ppid;

	if (at == proof->pid)
		return false;
	for (unsigned int i = 0; i < ANCESTORS && at > 1; i++) {
		owned_fd fd = proc_open(proof->proc_fd, at);
		struct proc_stat stat;

		/* A parent is never younger than its child. */
		if (fd < 0 || proc_read_stat(fd, &stat) < 0 || stat.start_ticks > child_start)
			return false;
		if (at == proof->pid)
			return stat.start_ticks == proof->start_ticks;
		child_start = stat.start_ticks;
		at = stat.ppid;
	}
	return false;
}

static bool has_had_its_time(const struct proof_process *process, const struct proc_stat *stat,
			     int64_t now_ms)
{
	int64_t age_ms = now_ms - process->first_seen_ms;

	if ((process->renderer.missing & ~(unsigned int)LATE_LAYERS) != 0)
		return age_ms >= BIRTH_MS;
	return age_ms >= SETTLE_CAP_MS ||
	       (age_ms >= SETTLE_MS && stat->cpu_ticks >= SETTLE_CPU_TICKS);
}

static bool is_browser_alive(const struct proof *proof)
{
	struct proc_stat stat;

	return proc_read_stat(proof->browser_fd, &stat) == 0 && stat.state != 'Z' &&
	       stat.state != 'X';
}

static int judge_renderer(struct proof *proof, struct proof_process *process, int dir_fd,
			  const struct proc_stat *stat, int64_t now_ms)
{
	struct proof_renderer *renderer = &process->renderer;
	struct proc_layers browser;
	unsigned int missing, unknown;
	int rc;

	renderer->pid = process->pid;
	renderer->start_ticks = process->start_ticks;
	rc = proc_read_layers(dir_fd, &renderer->layers);
	if (rc < 0)
		return rc;
	/* As the browser is now: a launcher may have put it into a namespace or under a
	 * filter of its own since the last look, which is not the renderer's merit. */
	rc = proc_read_layers(proof->browser_fd, &browser);
	if (rc < 0)
		return 0;
	proof->browser = browser;
	layers_judge(&browser, &renderer->layers, &missing, &unknown);
	if (!descends_from_browser(proof, stat))
		missing |= LAYER_ANCESTRY;
	/* A browser that ends takes the ancestry of all with it, and is no judge any more. */
	if ((missing & LAYER_ANCESTRY) != 0 && !is_browser_alive(proof))
		return 0;
	renderer->missing = missing;
	renderer->unknown = unknown;
	if (renderer->missing == 0 && renderer->unknown == 0)
		settle(proof, process, STANDING_PROVEN, now_ms);
	else if (has_had_its_time(process, stat, now_ms))
		settle(proof, process, renderer->missing != 0 ? STANDING_WEAK : STANDING_UNPROVEN,
		       now_ms);
	return 0;
}

/* A child of the zygote is called zygote until it is told what it will be, and a
 * child of the browser is called nothing until it executes. Either may take any time
 * on a busy machine, so these two are never taken for an answer. */
static bool may_still_change_type(const struct proof_process *process)
{
	return process->type == PROC_ZYGOTE || process->type == PROC_OTHER;
}

/* A title is written byte by byte, and half of one is a type that nobody knows, so a
 * young renderer is asked again, too. */
static int ask_type(struct proof *proof, struct proof_process *process, int dir_fd, int64_t now_ms)
{
	int64_t age_ms = now_ms - process->first_seen_ms;
	enum proc_type type;
	int rc;

	if (process->type == PROC_RENDERER && age_ms >= NEWBORN_MS)
		return 0;
	rc = proc_read_type(dir_fd, &type);
	if (rc < 0 || type == process->type)
		return rc;
	if (process->is_settled)
		proof->seen[process->type]--;
	process->is_settled = false;
	process->type = type;
	/* It was waiting until now; what a renderer must do it begins only here. */
	if (age_ms >= NEWBORN_MS)
		process->first_seen_ms = now_ms;
	return 0;
}

/* 1: something about it changed. */
static int look_at(struct proof *proof, struct proof_process *process, int64_t now_ms)
{
	owned_fd dir_fd = proc_open(proof->proc_fd, process->pid);
	bool was_renderer = process->type == PROC_RENDERER;
	struct proc_stat stat;
	int rc = dir_fd < 0 ? dir_fd : proc_read_stat(dir_fd, &stat);

	if (rc == 0 && stat.start_ticks != process->start_ticks)
		rc = -ESRCH;
	if (rc == 0 && stat.state == 'Z')
		rc = -ESRCH;
	if (rc == 0)
		rc = ask_type(proof, process, dir_fd, now_ms);
	if (rc == 0 && process->type == PROC_RENDERER) {
		if (proof->first_renderer_at_ms == 0)
			proof->first_renderer_at_ms = now_ms;
		rc = judge_renderer(proof, process, dir_fd, &stat, now_ms);
	} else if (rc == 0 && !process->is_settled &&
		   (!may_still_change_type(process) ||
		    now_ms - process->first_seen_ms >= SETTLE_MS)) {
		settle(proof, process, STANDING_PENDING, now_ms);
	}
	if (rc < 0)
		drop(proof, process, now_ms);
	return process->type == PROC_RENDERER &&
	       (!was_renderer || process->is_settled || process->pid == 0);
}

/* Enters a process that is not known yet; one that has a known number and another
 * start is another process. */
static void meet(struct proof *proof, pid_t pid, int64_t now_ms)
{
	struct proof_process *place = find(proof, pid);
	owned_fd dir_fd = proc_open(proof->proc_fd, pid);
	struct proc_stat stat;

	if (dir_fd < 0 || proc_read_stat(dir_fd, &stat) < 0)
		return;
	if (place != NULL && place->start_ticks == stat.start_ticks) {
		place->is_seen = true;
		return;
	}
	if (place != NULL)
		drop(proof, place, now_ms);
	else
		place = find_place(proof);
	if (place == NULL) {
		proof->table_was_full = true;
		return;
	}
	*place = (struct proof_process){ .pid = pid,
					 .start_ticks = stat.start_ticks,
					 .type = PROC_OTHER,
					 .is_seen = true,
					 .first_seen_ms = now_ms };
	proof->last_met_ms = now_ms;
}

/* --- looking -------------------------------------------------------------------------- */

static void meet_zygote_children(struct proof *proof, int64_t now_ms)
{
	pid_t pids[PROOF_PROCESSES];

	for (size_t i = 0; i < proof->places; i++) {
		const struct proof_process *it = &proof->processes[i];
		ssize_t count;

		if (it->pid == 0 || it->type != PROC_ZYGOTE)
			continue;
		count = proc_children(proof->proc_fd, it->pid, false, pids, PROOF_PROCESSES);
		proof->table_was_full = proof->table_was_full || count == -EFBIG;
		for (ssize_t k = 0; k < count; k++)
			meet(proof, pids[k], now_ms);
	}
}

#define ALL_PIDS ((size_t)2 * PROOF_PROCESSES) /* the table being full must show */

static int meet_everybody(struct proof *proof, int64_t now_ms)
{
	pid_t pids[ALL_PIDS];
	ssize_t count = proc_descendants(proof->proc_fd, proof->pid, pids, ALL_PIDS);

	proof->table_was_full = proof->table_was_full || count == -EFBIG;
	if (count < 0)
		return (int)count;
	for (size_t i = 0; i < proof->places; i++)
		proof->processes[i].is_seen = false;
	for (ssize_t i = 0; i < count; i++)
		meet(proof, pids[i], now_ms);
	/* Who is no longer below the browser is looked at once more, which finds it
	 * dead; if it lives on, it has lost its ancestry. */
	for (size_t i = 0; i < proof->places; i++)
		if (proof->processes[i].pid != 0 && !proof->processes[i].is_seen &&
		    proof->processes[i].is_settled)
			proof->processes[i].pid = 0;
	return 0;
}

/* A process that has long been no renderer will hardly become one; so it is asked
 * only now and then. */
static bool is_due(const struct proof_process *process, bool is_full, int64_t now_ms)
{
	if (process->pid == 0)
		return false;
	if (process->is_settled)
		return is_full && may_still_change_type(process);
	return is_full || process->type == PROC_RENDERER ||
	       now_ms - process->first_seen_ms < NEWBORN_MS;
}

int proof_look(struct proof *proof, int64_t now_ms)
{
	struct proc_stat stat;
	bool is_full;
	int changed = 0;
	int rc = proc_read_stat(proof->browser_fd, &stat);

	if (rc == 0 && stat.state == 'Z')
		rc = -ESRCH;
	/* While it executes, a process that changed its uid may not be looked into. */
	if (rc == 0 && !proof->has_browser_layers) {
		rc = proc_read_layers(proof->browser_fd, &proof->browser);
		proof->has_browser_layers = rc == 0 && proof->browser.user_ns != 0;
	}
	if (rc < 0)
		return rc;
	is_full = now_ms >= proof->full_look_at_ms;
	if (is_full) {
		rc = meet_everybody(proof, now_ms);
		proof->full_look_at_ms =
			now_ms +
			(proof->standings[STANDING_PROVEN] == 0 ? FULL_LOOK_MS : CALM_FULL_LOOK_MS);
	} else {
		meet_zygote_children(proof, now_ms);
	}
	for (size_t i = 0; i < proof->places; i++) {
		struct proof_process *it = &proof->processes[i];

		if (is_due(it, is_full, now_ms) && look_at(proof, it, now_ms) > 0)
			changed = 1;
	}
	return rc < 0 ? rc : changed;
}

void proof_finish(struct proof *proof)
{
	for (size_t i = 0; i < proof->places; i++)
		if (proof->processes[i].pid != 0)
			drop(proof, &proof->processes[i], proof->processes[i].first_seen_ms);
}

bool proof_has_pending(const struct proof *proof)
{
	for (size_t i = 0; i < proof->places; i++) {
		const struct proof_process *it = &proof->processes[i];

		if (it->pid != 0 && !it->is_settled && it->type == PROC_RENDERER)
			return true;
	}
	return false;
}

int64_t proof_next_ms(const struct proof *proof, int64_t now_ms)
{
	if (proof_has_pending(proof))
		return now_ms + YOUNG_LOOK_MS;
	if (proof->standings[STANDING_PROVEN] == 0)
		return now_ms + EARLY_LOOK_MS;
	return now_ms + (now_ms - proof->last_met_ms < IDLE_AFTER_MS ? CALM_LOOK_MS : IDLE_LOOK_MS);
}

enum proof_state proof_state(const struct proof *proof)
{
	if (proof->standings[STANDING_WEAK] > 0)
		return PROOF_WEAKENED;
	if (proof->standings[STANDING_UNPROVEN] > 0 || proof->table_was_full)
		return PROOF_UNPROVEN;
	if (proof->standings[STANDING_PROVEN] > 0)
		return PROOF_SANDBOXED;
	return proof->standings[STANDING_VANISHED] > 0 ? PROOF_UNPROVEN : PROOF_PENDING;
}

/* --- the browser's own command line ---------------------------------------------------- */

/* More than the kernel takes for all arguments of one execve(2). */
#define LINE_BYTES (8 << 20)

static int judge_line(const char *text, ssize_t length)
{
	size_t count = 0, at = 0;
	owned_mem char **words = NULL;

	for (ssize_t i = 0; i < length; i++)
		count += text[i] == '\0';
	if (length > 0 && text[length - 1] != '\0')
		count++; /* the buffer ends in a NUL of its own */
	if (count == 0)
		return -ESRCH;
	words = malloc(count * sizeof(*words));
	if (words == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		words[i] = (char *)(uintptr_t)text + at;
		at += strlen(words[i]) + 1;
	}
	return flags_are_clean(words + 1, count - 1);
}

static int read_line(const struct proof *proof)
{
	owned_mem char *text = malloc(LINE_BYTES);
	ssize_t length = text == NULL
				 ? -ENOMEM
				 : fence_read_file(proof->browser_fd, "cmdline", text, LINE_BYTES);

	return length < 0 ? (int)length : judge_line(text, length);
}

void proof_command_line(const struct proof *proof, bool is_news, int *command_line)
{
	int rc;

	if (*command_line == 0 || (*command_line == 1 && !is_news))
		return;
	rc = read_line(proof);
	/* One that has ended says nothing new. */
	if (rc >= 0 || *command_line < 0 || (rc != -ESRCH && rc != -ENOENT))
		*command_line = rc;
}
