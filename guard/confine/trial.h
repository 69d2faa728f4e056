/* What this host lets us do: each step of a confinement, tried for real in a child. */
#ifndef GUARD_CONFINE_TRIAL_H
#define GUARD_CONFINE_TRIAL_H

#include <stdbool.h>

#include "guard/confine/cause.h"
#include "guard/confine/plan.h"
#include "guard/policy/policy.h"

enum guard_trial {
	GUARD_TRIAL_USERNS,
	GUARD_TRIAL_MAP,
	GUARD_TRIAL_PIDNS,
	GUARD_TRIAL_MOUNTNS,
	GUARD_TRIAL_MOUNTS,
	GUARD_TRIAL_PROC,
	GUARD_TRIAL_OVERLAY,
	GUARD_TRIAL_NETNS,
	GUARD_TRIAL_LO,
	GUARD_TRIAL_OTHERNS,
	GUARD_TRIAL_CGROUPNS,
	GUARD_TRIAL_FILTER,
	GUARD_TRIAL_NOTIFIER,
	GUARD_TRIAL_LANDLOCK,
	GUARD_TRIAL_CGROUP,
	GUARD_TRIAL_BROWSER,
	GUARD_TRIAL_COUNT,
};

/* "user-namespace": for programs. "make a user namespace": for people. */
const char *guard_trial_word(enum guard_trial trial);
const char *guard_trial_sentence(enum guard_trial trial);

struct guard_finding {
	int rc;	    /* 0: it works; else -errno */
	int number; /* Landlock: its ABI */
	char detail[256];
	struct guard_cause cause; /* when it does not */
};

/* Tries everything, in order; changes nothing that lasts. -errno only when no child could
 * be had at all. The caller must be single-threaded. */
int guard_trial_all(struct guard_finding ret[GUARD_TRIAL_COUNT], struct fence_err *err);

enum guard_layer_name {
	GUARD_LAYER_NAMESPACES,
	GUARD_LAYER_MOUNTS,
	GUARD_LAYER_CAPABILITIES,
	GUARD_LAYER_SECCOMP,
	GUARD_LAYER_LANDLOCK,
	GUARD_LAYER_COUNT,
};

const char *guard_layer_name_word(enum guard_layer_name layer);

struct guard_outlook {
	bool starts; /* exec would run a command in this profile */
	bool whole;  /* and each of its layers is enforced */
	enum guard_layer layers[GUARD_LAYER_COUNT];
	bool lacks[GUARD_TRIAL_COUNT]; /* what keeps it from being so */
};

/* What these findings mean for a profile. `privileged`: no user namespace is needed. */
void guard_outlook(const struct guard_finding findings[GUARD_TRIAL_COUNT],
		   const struct guard_profile *profile, bool privileged, struct guard_outlook *ret);

#endif
