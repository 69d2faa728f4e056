/* The proof that a running browser's renderers are in Chromium's sandbox, made
 * from outside. It only reads /proc and decides; what follows from a weak
 * renderer is the caller's business.
 *
 * The caller must be of the browser's uid in the browser's user namespace (it is
 * then the owner of the namespace that Chromium makes, which is what lets it read
 * the renderers' links), or have CAP_SYS_PTRACE. */
#ifndef GUARD_BROWSER_PROOF_H
#define GUARD_BROWSER_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "guard/browser/proc.h"

enum proof_state {
	PROOF_PENDING,	 /* no renderer was judged yet */
	PROOF_UNPROVEN,	 /* some layer of some renderer could not be read */
	PROOF_WEAKENED,	 /* a renderer is not in some layer */
	PROOF_SANDBOXED, /* at least one renderer, and every one is in every layer */
};
const char *proof_state_word(enum proof_state state);

enum standing {
	STANDING_PENDING, /* young: its sandbox is still being put on */
	STANDING_PROVEN,
	STANDING_UNPROVEN,
	STANDING_WEAK,
	STANDING_VANISHED, /* ended before it could be judged */
};
const char *standing_word(enum standing standing);

#define PROOF_PROCESSES 512 /* known at one time */
#define PROOF_RENDERERS 64  /* whose facts are kept; of more, the latest */

/* One renderer's facts as last read. */
struct proof_renderer {
	pid_t pid;
	uint64_t start_ticks;
	enum standing standing;
	struct proc_layers layers;
	unsigned int missing, unknown; /* of enum layer */
	int64_t settle_ms;	       /* from first seen to judged */
};

struct proof_process {
	pid_t pid; /* 0: a free place */
	uint64_t start_ticks;
	enum proc_type type;
	bool is_settled; /* its type, and for a renderer its standing, will not change */
	bool is_seen;
	int64_t first_seen_ms;
	struct proof_renderer renderer;
};

struct proof {
	int proc_fd;
	int browser_fd; /* the browser's folder in /proc */
	pid_t pid;
	uint64_t start_ticks;
	bool has_browser_layers;
	struct proc_layers browser;

	struct proof_process processes[PROOF_PROCESSES];
	size_t places; /* of these were ever used */
	int64_t last_met_ms;
	int64_t full_look_at_ms;
	bool table_was_full; /* there were more processes than places: never proven */

	/* What was ever seen. */
	unsigned int seen[PROC_TYPES];
	unsigned int standings[STANDING_VANISHED + 1]; /* of renderers that were judged */
	unsigned int lacking; /* layers that some judged renderer was not seen in */
	struct proof_renderer kept[PROOF_RENDERERS];
	unsigned int kept_count; /* ever; the last PROOF_RENDERERS are in `kept` */
	int64_t first_renderer_at_ms, first_proven_at_ms; /* 0: not yet */
};

/* Binds to a running process; -ESRCH when it is gone or not this one. `start_ticks`
 * 0: whoever has this pid now. The descriptors are the proof's (proof_close). */
int proof_open(struct proof *proof, pid_t pid, uint64_t start_ticks);
void proof_close(struct proof *proof);

/* Looks once. 1: a renderer was judged or is new; 0: nothing changed; -ESRCH: the
 * browser is gone; other -errno. */
int proof_look(struct proof *proof, int64_t now_ms);

/* The browser is gone: whoever was not judged has vanished. */
void proof_finish(struct proof *proof);

/* When to look again: soon while somebody is young or nobody was seen. */
int64_t proof_next_ms(const struct proof *proof, int64_t now_ms);

bool proof_has_pending(const struct proof *proof);
enum proof_state proof_state(const struct proof *proof);

/* Does the browser's own command line hold no switch that weakens it? 1, 0, or
 * -errno in `command_line`, which is negative at first and stays once it is 0. It is
 * read until it is known, and again at every news of renderers: what was read first
 * may have been a launcher's, which then became the browser. */
void proof_command_line(const struct proof *proof, bool is_news, int *command_line);

#endif
