/* From what works to what a profile gets. */
#include "guard/confine/trial.h"

#include <errno.h>
#include <string.h>

const char *guard_layer_name_word(enum guard_layer_name layer)
{
	static const char *const words[] = {
		[GUARD_LAYER_NAMESPACES] = "namespaces",     [GUARD_LAYER_MOUNTS] = "mounts",
		[GUARD_LAYER_CAPABILITIES] = "capabilities", [GUARD_LAYER_SECCOMP] = "seccomp",
		[GUARD_LAYER_LANDLOCK] = "landlock",
	};

	return words[layer];
}

/* With Landlock's sixth version abstract sockets of others are out of reach. */
#define LANDLOCK_WHOLE 6
#define LANDLOCK_LEAST 2 /* the first that can allow renames between folders */

struct need {
	enum guard_trial trial;
	enum guard_layer_name layer;
	bool always;	/* profile none needs it, too */
	bool user_only; /* not where we are privileged */
};

/* Without one of these nothing is started. */
static const struct need needs[] = {
	{ GUARD_TRIAL_USERNS, GUARD_LAYER_NAMESPACES, true, true },
	{ GUARD_TRIAL_MAP, GUARD_LAYER_NAMESPACES, true, true },
	{ GUARD_TRIAL_PIDNS, GUARD_LAYER_NAMESPACES, true, false },
	{ GUARD_TRIAL_MOUNTNS, GUARD_LAYER_NAMESPACES, true, false },
	{ GUARD_TRIAL_NETNS, GUARD_LAYER_NAMESPACES, false, false },
	{ GUARD_TRIAL_LO, GUARD_LAYER_NAMESPACES, false, false },
	{ GUARD_TRIAL_OTHERNS, GUARD_LAYER_NAMESPACES, false, false },
	{ GUARD_TRIAL_MOUNTS, GUARD_LAYER_MOUNTS, false, false },
	{ GUARD_TRIAL_FILTER, GUARD_LAYER_SECCOMP, false, false },
};

static enum guard_layer landlock_layer(const struct guard_finding *finding)
{
	if (finding->rc != 0 || finding->number < LANDLOCK_LEAST)
		return GUARD_LAYER_OFF;
	return finding->number < LANDLOCK_WHOLE ? GUARD_LAYER_DEGRADED : GUARD_LAYER_ENFORCED;
}

static void take(struct guard_outlook *outlook, enum guard_trial trial, enum guard_layer_name layer,
		 enum guard_layer how)
{
	outlook->lacks[trial] = true;
	if (how < outlook->layers[layer])
		outlook->layers[layer] = how;
}

/* What is missing there makes less of a layer, and starts all the same; profile none has
 * nothing under its /proc. */
static void weaken(const struct guard_finding findings[GUARD_TRIAL_COUNT], bool confine,
		   struct guard_outlook *ret)
{
	enum guard_layer landlock = landlock_layer(&findings[GUARD_TRIAL_LANDLOCK]);

	/* A filter's refusal, as launch.c has it. */
	if (confine && findings[GUARD_TRIAL_CGROUPNS].rc != 0) {
		take(ret, GUARD_TRIAL_CGROUPNS, GUARD_LAYER_NAMESPACES, GUARD_LAYER_DEGRADED);
		ret->starts &= findings[GUARD_TRIAL_CGROUPNS].rc == -EPERM;
	}
	if (findings[GUARD_TRIAL_PROC].rc != 0) {
		take(ret, GUARD_TRIAL_PROC, GUARD_LAYER_MOUNTS, GUARD_LAYER_DEGRADED);
		ret->starts &= confine;
	}
	if (confine && landlock != GUARD_LAYER_ENFORCED)
		take(ret, GUARD_TRIAL_LANDLOCK, GUARD_LAYER_LANDLOCK, landlock);
}

/* Landlock is all that profile landlock has, with the filter. */
static void foresee_narrow(const struct guard_finding findings[GUARD_TRIAL_COUNT],
			   struct guard_outlook *ret)
{
	ret->layers[GUARD_LAYER_NAMESPACES] = ret->layers[GUARD_LAYER_MOUNTS] = GUARD_LAYER_OFF;
	if (landlock_layer(&findings[GUARD_TRIAL_LANDLOCK]) != GUARD_LAYER_ENFORCED)
		take(ret, GUARD_TRIAL_LANDLOCK, GUARD_LAYER_LANDLOCK, GUARD_LAYER_OFF);
	if (findings[GUARD_TRIAL_FILTER].rc != 0)
		take(ret, GUARD_TRIAL_FILTER, GUARD_LAYER_SECCOMP, GUARD_LAYER_OFF);
	ret->starts = !ret->lacks[GUARD_TRIAL_LANDLOCK] && !ret->lacks[GUARD_TRIAL_FILTER];
}

static void foresee_whole(const struct guard_finding findings[GUARD_TRIAL_COUNT], bool confine,
			  bool privileged, struct guard_outlook *ret)
{
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		if ((!confine && !needs[i].always) || (privileged && needs[i].user_only) ||
		    findings[needs[i].trial].rc == 0)
			continue;
		take(ret, needs[i].trial, needs[i].layer, GUARD_LAYER_OFF);
		ret->starts = false;
	}
	weaken(findings, confine, ret);
}

void guard_outlook(const struct guard_finding findings[GUARD_TRIAL_COUNT],
		   const struct guard_profile *profile, bool privileged, struct guard_outlook *ret)
{
	bool confine = profile->confine;

	memset(ret, 0, sizeof(*ret));
	ret->starts = true;
	for (int i = 0; i < GUARD_LAYER_COUNT; i++)
		ret->layers[i] = confine || i == GUARD_LAYER_NAMESPACES ? GUARD_LAYER_ENFORCED
									: GUARD_LAYER_OFF;
	if (profile->narrow)
		foresee_narrow(findings, ret);
	else
		foresee_whole(findings, confine, privileged, ret);
	/* Nothing is enforced on what is not started. */
	for (int i = 0; i < GUARD_LAYER_COUNT && !ret->starts; i++)
		ret->layers[i] = GUARD_LAYER_OFF;
	ret->whole = ret->starts;
	for (int i = 0; i < GUARD_TRIAL_COUNT; i++)
		ret->whole &= !ret->lacks[i];
}
