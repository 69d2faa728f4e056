/* A root of the command's own: a folder of the host in place of the machine's root, and
 * what is brought into it. From guard_root_enter on every path is looked up in it, by the
 * kernel, so all that is planned afterwards is about what the command will see; the host's
 * root still lies on top of it, since parts of the view are made from it, until
 * guard_root_leave. */
#ifndef GUARD_CONFINE_ROOT_H
#define GUARD_CONFINE_ROOT_H

#include <limits.h>
#include <stdbool.h>

#include "fence/err.h"
#include "guard/confine/plan.h"

/* Enters plan->policy->root, which must be set, and fills plan->inner. This process must be
 * alone in a mount namespace of its own. Works in "/" afterwards. */
int guard_root_enter(struct guard_plan *plan, struct fence_err *err);

/* Nothing leads to the host's root any more, but plan->inner.host_fd. */
int guard_root_leave(struct guard_plan *plan, struct fence_err *err);

/* What an absolute path without links in the root is called on the host. */
int guard_root_outer(const struct guard_plan *plan, const char *path, char ret[PATH_MAX]);

/* Where in the root a path of the host's is to be seen, once for each way to it. */
int guard_root_inner(const struct guard_plan *plan, const char *path, struct guard_names *ret);

/* A path in the root is one of the machine itself: its root, or in its /proc or /sys. */
bool guard_root_is_machine(const struct guard_plan *plan, const char *path);

/* Something to write to that is in no folder of the host: -EROFS, with words; -EINVAL: that
 * is the machine's root itself, or of its /proc. */
int guard_root_check(struct guard_plan *plan, struct fence_err *err);

#endif
