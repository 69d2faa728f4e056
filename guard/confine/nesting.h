/* What a command that may make sandboxes of its own (--allow-nesting) must not get by
 * that, beside what the kernel itself holds against whoever is root of a namespace. */
#ifndef GUARD_CONFINE_NESTING_H
#define GUARD_CONFINE_NESTING_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fence/err.h"
#include "guard/confine/plan.h"

struct guard_nesting {
	bool as_root;	  /* the command's uid 0 is the machine's, or may be */
	bool owns_cgroup; /* the command may write to the cgroup that it is in */
	bool has_pins;	  /* something in a writable folder is held in its place by a mount */
};

/* A plan whose command could undo what is held in its place, if it got rid of the mounts. */
bool guard_plan_has_pins(const struct guard_plan *plan);

/* As root a folder of the host's may be written only with --allow-set-id: set-id files of
 * the host's can be copied into it. */
int guard_nesting_check(const struct guard_nesting *nesting, const struct guard_plan *plan,
			struct fence_err *err);

/* The cgroup that we are in, or one of several, may be written by us; also when that cannot
 * be told. Needs the host's /proc. */
bool guard_owns_cgroup(void);

/* The capabilities that the command keeps for it. */
uint64_t guard_nesting_caps(const struct guard_nesting *nesting);

/* The filter beside the usual one; returns how many lines it has. */
#define GUARD_NESTING_LINES 64
size_t guard_nesting_filter(const struct guard_nesting *nesting,
			    struct sock_filter ret[GUARD_NESTING_LINES]);

/* Loads it; no_new_privs must be set. */
int guard_nesting_load(const struct guard_nesting *nesting, struct fence_err *err);

/* By what the filter on us answers. */
enum guard_inside {
	GUARD_INSIDE_NOTHING, /* or of somebody else's sandbox */
	GUARD_INSIDE_GUARD,
	GUARD_INSIDE_NESTING, /* fence-guard's, with --allow-nesting */
};
enum guard_inside guard_inside(void);

#endif
