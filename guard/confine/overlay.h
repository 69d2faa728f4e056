/* A folder that may be written while the host's stays what it is: an overlay (overlayfs) of
 * it and of memory. */
#ifndef GUARD_CONFINE_OVERLAY_H
#define GUARD_CONFINE_OVERLAY_H

#include <stdbool.h>

#include "fence/err.h"
#include "guard/confine/plan.h"

/* Makes the operation's mount in op->tree_fd. `name` is a folder that is made for it in the
 * working directory, a tmpfs. What is mounted in the host's folder is not in it. Its flags
 * are those of the host's mount, and nosuid and nodev. */
int guard_overlay_make(struct guard_op *op, const char *name, bool real_root,
		       struct fence_err *err);

/* The same for an operation that is private, with an entry in plan->privates: also when
 * it fails, which is no error there. */
int guard_overlay_make_private(struct guard_plan *plan, struct guard_op *op, const char *name,
			       bool real_root);

#endif
