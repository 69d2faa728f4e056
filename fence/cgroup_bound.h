/* A control group, version 2, that bounds what a command and all that it starts use up
 * together: a group of our own below the one that we are in, with the controllers'
 * files (cgroups(7)). Only what cannot be had any other way: a limit of setrlimit(2) is
 * for each process, or for each user. */
#ifndef FENCE_CGROUP_BOUND_H
#define FENCE_CGROUP_BOUND_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "fence/err.h"

enum fence_cgroup_controller {
	FENCE_CGROUP_MEMORY,
	FENCE_CGROUP_PIDS,
	FENCE_CGROUP_CPU,
	FENCE_CGROUP_CONTROLLERS,
};

/* "memory", "pids", "cpu". */
const char *fence_cgroup_controller_name(enum fence_cgroup_controller controller);

/* By controller: bytes; processes and threads; thousandths of one processor.
 * UINT64_MAX: not bounded. */
struct fence_cgroup_bounds {
	uint64_t most[FENCE_CGROUP_CONTROLLERS];
};

struct fence_cgroup_bound {
	char parent[PATH_MAX]; /* the group that we were in */
	char path[PATH_MAX];   /* the group itself */
	char leaf[PATH_MAX];   /* where we went ourselves; "": nowhere */
	int dir_fd;	       /* of the group, and locked: who sweeps sees that we live */
	int leaf_fd;	       /* the same of the leaf */
	int procs_fd;	       /* what is written to it, "0", moves the writer into the group */
	bool enabled[FENCE_CGROUP_CONTROLLERS]; /* in our parent, for our sake */
};

/* Nothing yet, and nothing to end. */
#define FENCE_CGROUP_BOUND_NONE                                                                    \
	((struct fence_cgroup_bound){ .dir_fd = -1, .leaf_fd = -1, .procs_fd = -1 })

/* Makes the group and writes its bounds; `procs_fd` lets a child move itself there, also
 * out of a user namespace. A group may not both have processes and give controllers to
 * groups in it: where that is in the way, we go into a group beside the new one for as
 * long as it lives, if we are alone. Groups that somebody left who was killed are removed.
 * -errno with words and with what to do; then all is as it was. */
int fence_cgroup_bound_make(const struct fence_cgroup_bounds *bounds,
			    struct fence_cgroup_bound *ret, struct fence_err *err);

/* When nothing lives in it any more: the group goes, and all is as it was. */
void fence_cgroup_bound_end(struct fence_cgroup_bound *bound);

struct fence_cgroup_use {
	bool memory_known, pids_known;
	uint64_t memory_kills;	    /* processes that were killed for want of memory */
	uint64_t memory_peak_bytes; /* 0: not known (Linux 5.19 tells) */
	uint64_t pids_refused;	    /* births that were refused */
};

/* What became of it; before it ends. */
void fence_cgroup_bound_use(const struct fence_cgroup_bound *bound, struct fence_cgroup_use *ret);

/* --- for tests: no kernel is needed ---------------------------------------------------- */

/* Whether a list as cgroup.controllers has it ("cpu io memory") names the controller. */
bool fence_cgroup_lists(const char *list, enum fence_cgroup_controller controller);

/* What is written to memory.max, pids.max or cpu.max. */
void fence_cgroup_bound_text(enum fence_cgroup_controller controller, uint64_t most, char *ret,
			     size_t size_bytes);

#endif
