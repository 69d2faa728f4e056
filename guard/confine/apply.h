/* Confinement of this very process, in the one right order. */
#ifndef GUARD_CONFINE_APPLY_H
#define GUARD_CONFINE_APPLY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fence/err.h"
#include "guard/confine/limits.h"
#include "guard/confine/nesting.h"
#include "guard/confine/plan.h"
#include "guard/policy/policy.h"

struct guard_confine {
	const struct guard_policy *policy;
	bool real_root; /* no user namespace is needed */
	uid_t uid;	/* the caller's */
	gid_t gid;
	int explainer_sock;	      /* where the listener of --explain goes; -1: there is none */
	struct guard_limits limits;   /* prepared by the caller */
	struct guard_nesting nesting; /* as_root, owns_cgroup: by the caller */
	bool shares_cgroup_names;     /* no cgroup namespace could be had */
	struct guard_plan plan;	      /* home and tmp_dir are filled by the caller */
};

/* The CLONE_NEW* flags that the process which calls guard_confine_apply must have
 * been born with. */
uint64_t guard_confine_namespaces(const struct guard_confine *confine);

/* All stages; *ret_stage names the one under way when it fails. */
int guard_confine_apply(struct guard_confine *confine, const char **ret_stage,
			struct fence_err *err);

#endif
