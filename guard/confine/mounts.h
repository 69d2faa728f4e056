/* The view of files: carries a plan out in a mount namespace of our own. */
#ifndef GUARD_CONFINE_MOUNTS_H
#define GUARD_CONFINE_MOUNTS_H

#include <stdbool.h>

#include "fence/err.h"
#include "guard/confine/plan.h"

struct guard_mounts {
	bool real_root;	   /* no user namespace is needed */
	bool keep_proc_rw; /* --allow-userns: the command must write its own maps */
	bool nesting;	   /* --allow-nesting: and others may have a /proc of their own */
};

/* Everything in `plan`, in its order, and a fresh /proc of this pid namespace. The
 * working directory is somewhere else then.
 * Flags are only ever added: what the host has read-only stays so. */
int guard_mounts_apply(struct guard_mounts *mounts, struct guard_plan *plan, struct fence_err *err);

/* Profile none: nothing but the fresh /proc. */
int guard_mounts_proc_only(struct fence_err *err);

#endif
