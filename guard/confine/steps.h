/* The steps that are not mounts. Each does one thing to this process and is a row
 * of apply.c's table. A descriptor that a step opens stays open: all are closed by one
 * call before the command starts (init.c), or go with the process when a step fails. */
#ifndef GUARD_CONFINE_STEPS_H
#define GUARD_CONFINE_STEPS_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fence/err.h"
#include "guard/confine/plan.h"

/* We have all that it takes to confine without a user namespace. */
bool guard_is_privileged(void);

/* In a new user namespace: the caller's own uid and gid, mapped to themselves. */
int guard_map_self(uid_t uid, gid_t gid, struct fence_err *err);

/* Brings lo up in this network namespace. */
int guard_lo_up(struct fence_err *err);

/* Drops every capability that is not in `keep`, for good. no_new_privs must be set. */
int guard_drop_caps(uint64_t keep, struct fence_err *err);

/* Keeps `keep` and no other, through execve(2) as well, which drop_caps does not. */
int guard_keep_ambient(uint64_t keep, struct fence_err *err);

/* A net under the mounts: writing anywhere but in the plan's writable places is
 * refused once more, and so are abstract sockets of others. Sets plan->landlock to
 * what this kernel could do of it; only an error of a kernel that can is an error. */
int guard_landlock(const struct guard_policy *policy, struct guard_plan *plan,
		   struct fence_err *err);

/* Profile landlock's: nothing is written, renamed or made but in the plan's writable
 * folders, and no abstract socket and no process of others is reached; all of it (version
 * 6) or an error. What may be written is reached by the plan's object_fd. */
int guard_landlock_alone(struct guard_plan *plan, struct fence_err *err);

/* no_new_privs, for good: nothing that is executed gains anything. */
int guard_no_new_privs(struct fence_err *err);

/* The filter that was made at build time, or the policy's own; nobody may change it. */
struct sock_fprog guard_filter(const struct guard_policy *policy);

/* Loads it; no_new_privs must be set. */
int guard_load_filter(const struct guard_policy *policy, struct fence_err *err);

#endif
