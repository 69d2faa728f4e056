/* The parts of plan building that know each other. */
#ifndef GUARD_CONFINE_PLAN_BUILD_H
#define GUARD_CONFINE_PLAN_BUILD_H

#include "guard/confine/glance.h"
#include "guard/confine/plan.h"
#include "guard/confine/resolve.h"

/* Adds an operation. Takes the object's descriptor over, also on failure. */
int guard_plan_add(struct guard_plan *plan, enum guard_op_kind kind, bool named,
		   struct guard_object *object, struct fence_err *err);

/* The operation that decides about `path`: the deepest at or above it, pins left
 * out; NULL when it is as the read-only root is. Valid until the next addition. */
const struct guard_op *guard_plan_nearest(const struct guard_plan *plan, const char *path);

/* The way out when a folder is closed: `rc` is -EACCES, else nothing is hinted. */
void guard_hint_closed(int rc, struct fence_err *err);

/* Makes what `path` names read-only and everything above it, up to the writable
 * root, unrenamable; links on the way too. `named`: by an option, else a default,
 * for which a missing path is fine. */
int guard_plan_protect(struct guard_plan *plan, const char *base, const char *path, bool named,
		       struct fence_err *err);

/* A folder of git's that the command shall have a private copy of: an overlay, and all
 * above it pinned as with guard_plan_protect. 1 when it gets one; 0 when a rule, the profile
 * or the folder's owner is against it, or when it is no repository. */
int guard_plan_private(struct guard_plan *plan, const char *base, const char *path,
		       struct fence_err *err);

/* Makes what `path` names unreadable. Where it lies in a writable folder it is pinned
 * like what is protected: moved away, it would be open to the next command. A missing
 * path is noted when it was named. */
int guard_plan_mask(struct guard_plan *plan, const char *base, const char *path, bool named,
		    struct fence_err *err);

/* The names of `list` in `base`. `glance`, of `base`, may be NULL. */
int guard_plan_protect_list(struct guard_plan *plan, const char *base, const char *const *list,
			    const struct guard_glance *glance, struct fence_err *err);

/* A folder that a pointer names, or nothing (ret->fd -1) when it is not there. */
int guard_plan_find_folder(const char *base, const char *path, struct guard_object *ret);

/* The repository that a writable root is the work tree of, or is itself. */
int guard_plan_protect_git(struct guard_plan *plan, const char *root,
			   const struct guard_glance *glance, struct fence_err *err);

/* The modules of every work tree that `root` lies in: git of an outer repository runs in
 * what its index says is one, wherever it was made. Of the repository that git finds from
 * `root`, where that has none itself, the command has a copy. */
int guard_plan_protect_enclosing(struct guard_plan *plan, const char *root,
				 const struct guard_glance *glance, struct fence_err *err);

/* The defaults inside every writable root, and the masks. */
int guard_plan_add_defaults(struct guard_plan *plan, struct fence_err *err);

/* Sorts, settles what is said twice, finds parents, refuses what cannot be. */
int guard_plan_settle(struct guard_plan *plan, struct fence_err *err);

#endif
