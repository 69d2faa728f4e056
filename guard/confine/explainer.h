/* The process behind --explain: a child of the launcher, outside of the confinement. It
 * answers what the asking filter asks, as the enforcing filter would have, and tells of
 * refusals, a line each. When it dies, its listener goes with it: calls that are asked
 * about then fail with ENOSYS, and the launcher, which sees it end, ends the command. */
#ifndef GUARD_CONFINE_EXPLAINER_H
#define GUARD_CONFINE_EXPLAINER_H

#include <sys/types.h>

#include "fence/err.h"
#include "guard/confine/plan.h"

#define GUARD_EXPLAINED_MAX 200 /* lines; then one that says so */

/* Starts it. *ret_sock is for init, which sends the listener there; whoever else has it
 * closes it. `plan` has home and tmp_dir filled, and nothing else: the copy in the child
 * is its own. It ends with 0 once nobody is left to ask. */
int guard_explainer_start(const struct guard_plan *plan, const struct guard_policy *policy,
			  pid_t *ret_pid, int *ret_sock, struct fence_err *err);

/* In init, before it loads the filter, where the policy has a root of its own: what is planned
 * cannot be known elsewhere. */
int guard_explainer_tell(const struct guard_plan *plan, int sock, struct fence_err *err);

/* In init, in place of guard_load_filter: loads the filter that asks, and hands its
 * listener over. */
int guard_explainer_load(const struct guard_policy *policy, int sock, struct fence_err *err);

#endif
