/* Which rule, if any, a system call meets: what --explain tells. The call is answered by
 * others: by the filter, the mounts, the network. */
#ifndef GUARD_CONFINE_JUDGING_H
#define GUARD_CONFINE_JUDGING_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "fence/text.h"
#include "guard/confine/plan.h"

/* The numbers of the calls that a filter lets pass and that others may refuse. */
#define GUARD_WATCHED_MAX 64
size_t guard_watched_calls(int ret[GUARD_WATCHED_MAX]);

/* Adds "CALL OBJECT: ERRNO by ENFORCER: RULE" to `text`: true when the call is refused.
 * `error`: the filter's errno; 0: it lets it pass, and the plan decides. */
bool guard_judge_call(const struct guard_plan *plan, pid_t pid, const struct seccomp_data *data,
		      int error, struct fence_text *text);

#endif
