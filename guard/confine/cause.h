/* What keeps this host from a step of the confinement, and what to do about it: the
 * one place that knows. exec's messages and doctor's report come from here. */
#ifndef GUARD_CONFINE_CAUSE_H
#define GUARD_CONFINE_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

#include "fence/err.h"

enum guard_step {
	GUARD_STEP_NAMESPACES, /* clone(2) with CLONE_NEW* */
	GUARD_STEP_CGROUPNS,   /* the same with CLONE_NEWCGROUP alone */
	GUARD_STEP_MAP,	       /* /proc/self/uid_map and its like */
	GUARD_STEP_LO,	       /* lo of a new network namespace */
	GUARD_STEP_MOUNTS,     /* mount(2), and the calls by descriptor */
	GUARD_STEP_OVERLAY,    /* an overlay of a folder and of memory */
	GUARD_STEP_PROC,       /* a fresh /proc */
	GUARD_STEP_SECCOMP,    /* a filter, a notifier */
	GUARD_STEP_LANDLOCK,
	GUARD_STEP_CGROUP,
};

struct guard_cause {
	const char *word; /* one of a closed list, see fence-guard(1) */
	char remedy[sizeof(((struct fence_err *)NULL)->hint)];
};

/* Why `step` failed with `rc` (-errno): looks at the host's settings and at what we
 * are. Needs the host's /proc; nothing here can fail, the worst is "unknown". */
void guard_cause_find(enum guard_step step, int rc, struct guard_cause *ret);

/* The same as the hint of an error that has none yet. */
void guard_cause_hint(enum guard_step step, struct fence_err *err);

/* The hint for an error of a stage of apply.h ("namespaces", "mounts"...): of another
 * stage, or with an errno that no host's setting causes, nothing is hinted. */
void guard_cause_hint_stage(const char *stage, struct fence_err *err);

/* Something is mounted in this folder (without links), or nobody can tell. */
bool guard_mounts_below(const char *path);

/* A seccomp filter is on this process. */
bool guard_is_filtered(void);

#endif
