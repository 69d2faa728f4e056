/* The outside: gives birth to init in its namespaces, relays signals to it, hears
 * from it how the command went, and writes the status records. */
#ifndef GUARD_CONFINE_LAUNCH_H
#define GUARD_CONFINE_LAUNCH_H

#include "fence/err.h"
#include "guard/policy/policy.h"

/* Runs the command to its end; nothing of it is left then. Returns the exit status
 * to give: the command's, 128+n, or 125, 126, 127 with words in `err`. What went
 * wrong without changing the status (a record that could not be written) is in
 * `err`, too. */
int guard_launch(const struct guard_policy *policy, char *const *argv, char *const *envp,
		 struct fence_err *err);

#endif
