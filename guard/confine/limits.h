/* What the command may use up: of all its processes together (memory, processes,
 * processors) and of each (setrlimit(2)). */
#ifndef GUARD_CONFINE_LIMITS_H
#define GUARD_CONFINE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "fence/cgroup_bound.h"
#include "fence/err.h"
#include "fence/spawn.h"
#include "guard/policy/policy.h"

struct guard_limits {
	const struct guard_policy *policy;
	struct fence_cgroup_bound *group; /* NULL: none is needed, or there is none */
	bool pids_by_rlimit;
};

/* The launcher's part, before init is born: the cgroup, or else the second way. Where
 * nothing is asked for, nothing is done. */
int guard_limits_prepare(struct guard_limits *limits, const struct guard_policy *policy,
			 bool real_root, struct fence_err *err);

/* Init's part: into the group; or a proof that the second way holds. */
int guard_limits_enter(const struct guard_limits *limits, struct fence_err *err);

/* The launcher's part, when nothing of the command lives any more. */
void guard_limits_end(struct guard_limits *limits);

/* Those of each process, for the command's birth; returns how many. */
#define GUARD_LIMITS_OF_EACH (GUARD_RLIMITS_MAX + 1)
size_t guard_limits_of_each(const struct guard_limits *limits,
			    struct fence_spawn_limit ret[GUARD_LIMITS_OF_EACH]);

/* The words for a birth that failed with `rc` for the sake of one of them. */
int guard_limits_explain(const struct guard_policy *policy, int rc, struct fence_err *err);

#endif
