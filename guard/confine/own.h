/* A policy's own words about system calls, in the filter.
 *
 * The filter stays the one that was made at build time: behind the lines with which it
 * looks at the architecture and the number, each call that the policy names gets its
 * answer at once, and every other goes on through what was there. So
 *  - a call that is allowed loses its own rule and no other, whatever the options make of
 *    the filter (ports, user namespaces, set-id files, --strict);
 *  - nothing that was judged by its arguments is judged otherwise;
 *  - there is one filter as before, which --explain asks, and which costs one call to load;
 *  - and it takes no libseccomp, neither here nor in what reads the file. (A second filter
 *    on top, made by libseccomp, could have refused more; it could have allowed nothing,
 *    since of several filters the strictest answer counts.)
 * A call that is not named is answered by one comparison more for each that is, where
 * the kernel asks the filter at all: calls that pass whatever their arguments it remembers. */
#ifndef GUARD_CONFINE_OWN_H
#define GUARD_CONFINE_OWN_H

#include "fence/err.h"
#include "guard/policy/policy.h"

/* The architecture is compared, and the number loaded, in so many lines of a filter of
 * ours (policy/gen/make_filters.c). */
#define GUARD_FILTER_PROLOGUE 4

/* Makes the policy's own_filter, if it names calls; everything else of it is settled. 0, or
 * -ENOMEM, or -E2BIG: longer than the kernel takes. */
int guard_own_filter(struct guard_policy *policy, struct fence_err *err);

#endif
