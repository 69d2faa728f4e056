/* Births. This module is the only one that forks.
 *
 * fence_spawn_exec starts a program; fence_spawn_fork starts a copy of us (a
 * monitor, an init in new namespaces). */
#ifndef FENCE_SPAWN_H
#define FENCE_SPAWN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fence/err.h"

enum fence_spawn_session {
	FENCE_SPAWN_INHERIT,	 /* the caller's session and group */
	FENCE_SPAWN_OWN_GROUP,	 /* a process group of its own */
	FENCE_SPAWN_OWN_SESSION, /* a session of its own: no terminal can reach it, nor it a
				    terminal */
};

/* One resource limit, in the resource's own unit (setrlimit(2)). */
struct fence_spawn_limit {
	int resource;
	uint64_t soft, hard; /* UINT64_MAX: none */
};

/* Everything the child half does, in this order. All of it is prepared before
 * the birth; the plan and what it points to stay the caller's. */
struct fence_spawn_plan {
	const char *file; /* what to execute: a path (fence_spawn_find) */
	char *const *argv;
	char *const *envp;
	enum fence_spawn_session session;
	bool foreground; /* OWN_GROUP: and make it the foreground group of the terminal among 0-2 */
	bool own_terminal;   /* OWN_SESSION: what it has as 0 becomes its controlling terminal */
	int stdio[3];	     /* descriptors to have as 0, 1, 2; -1: as inherited */
	const char *dir;     /* working directory; NULL: as inherited */
	int umask;	     /* -1: as inherited */
	const int *keep_fds; /* descriptors above 2 that stay open, ascending; */
	size_t keep_count;   /* all others are closed */
	bool fds_are_set;    /* none of it: every descriptor is close-on-exec or meant to stay */
	int nice;	     /* added to the caller's; 0: as inherited */
	const struct fence_spawn_limit *limits;
	size_t limit_count;
	bool keep_signals;    /* leave ignored signals and `mask` as given; else all default, none
				    blocked */
	const sigset_t *mask; /* with keep_signals: the mask the command gets */

	/* Born into this cgroup; 0: into the caller's. `cgroup_id` is what a gate is told. */
	int cgroup_fd;
	uint64_t cgroup_id;

	/* What is done in the child for its containment, with words in `gate_err` when it
	 * fails: `contain` before the gate is asked, `contained` after. NULL: nothing. */
	int (*contain)(void *arg, struct fence_err *err);
	int (*contained)(void *arg, struct fence_err *err);
	void *contain_arg;

	/* Asked in the child itself, once it leads its group or session and before it is
	 * anything else of the command's: 0 lets it go on; -errno, with words in `gate_err`,
	 * ends it there. The child is in the parent's memory (in a copy of it with a
	 * cgroup_fd), the parent stands still and is to have one thread only: so a gate may do
	 * what the parent itself could. `gate_err` is in memory that both have. */
	int (*gate)(void *arg, uint64_t cgroup_id, struct fence_err *err);
	void *gate_arg;
	struct fence_err *gate_err;
};

enum fence_spawn_step {
	FENCE_SPAWN_STEP_FORK,
	FENCE_SPAWN_STEP_SESSION,
	FENCE_SPAWN_STEP_CONTAIN,
	FENCE_SPAWN_STEP_GATE,
	FENCE_SPAWN_STEP_STDIO,
	FENCE_SPAWN_STEP_DIR,
	FENCE_SPAWN_STEP_FDS,
	FENCE_SPAWN_STEP_NICE,
	FENCE_SPAWN_STEP_LIMITS,
	FENCE_SPAWN_STEP_SIGNALS,
	FENCE_SPAWN_STEP_EXEC,
};

/* "fork", "change directory", "execute": for a message or a record. */
const char *fence_spawn_step_name(enum fence_spawn_step step);

/* Starts the program; returns once exec(2) has succeeded or failed. The caller
 * must have all signals blocked (the child is born into its memory, vfork-like,
 * which is what makes this cheap). 0 with the pid and, unless NULL, a
 * close-on-exec pidfd; or -errno with the failed step, and no child remains. */
int fence_spawn_exec(const struct fence_spawn_plan *plan, pid_t *ret_pid, int *ret_pidfd,
		     enum fence_spawn_step *ret_step);

/* One look-up as execvp(3) does it, done before the fork: a name with a slash is
 * itself (relative to `dir` when that is given), else the first executable file
 * in `search` (a PATH value; NULL or empty means the standard path).
 * -ENOENT: not found (127); -EACCES and others: found, but cannot be executed
 * (126); -ENAMETOOLONG. */
int fence_spawn_find(const char *name, const char *search, const char *dir, char *ret_path,
		     size_t size_bytes);

/* A copy of the caller with CLONE_NEW* flags (0: none). Returns 0 in the child,
 * 1 in the parent with the pid and, unless NULL, a close-on-exec pidfd; or
 * -errno. The child has the parent's signal mask. With flags the C library's
 * notion of the thread id is the parent's: the child must use
 * kill(getpid(), sig), never raise(3). */
int fence_spawn_fork(uint64_t clone_flags, pid_t *ret_pid, int *ret_pidfd);

#endif
