/* The policy file, by way of fence-policy: the program beside this one that reads
 * YAML, so that exec carries no reader that most launches do not need. */
#ifndef GUARD_POLICY_LOAD_H
#define GUARD_POLICY_LOAD_H

#include "fence/err.h"
#include "guard/policy/policy.h"

/* Has `file` read and checked and takes over what it says for the profile `name`; what
 * options said before stays and comes after it. The words of a fault are the first
 * one's, with its place. -ENOENT when fence-policy is not there: nothing is run
 * without it. */
int guard_policy_load(struct guard_policy *policy, const char *file, const char *name,
		      struct fence_err *err);

/* The same from what fence-policy wrote. The bytes become the policy's, also on
 * failure. */
int guard_policy_take(struct guard_policy *policy, char *bytes, size_t count,
		      struct fence_err *err);

#endif
