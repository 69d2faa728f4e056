/* Profile landlock: a confinement without namespaces and mounts, for hosts that have none
 * and for commands that need no more. The command takes our place. */
#ifndef GUARD_CONFINE_NARROW_H
#define GUARD_CONFINE_NARROW_H

#include "fence/err.h"
#include "guard/policy/policy.h"

/* Becomes the command; returns only when that fails: 125, 126 or 127, with words. */
int guard_narrow_exec(const struct guard_policy *policy, char *const *argv, char *const *envp,
		      struct fence_err *err);

#endif
