/* What a command did in its private copy of a repository, which nobody keeps. */
#ifndef GUARD_CONFINE_DISCARD_H
#define GUARD_CONFINE_DISCARD_H

#include <stdbool.h>

#include "guard/confine/names.h"

/* Is there anything in the upper folder of an overlay that somebody would miss: objects,
 * references, settings, or that something is gone? An index that was only refreshed, locks
 * and the like are not. Looks at a bounded number of names; if they are more, the answer
 * is yes. */
bool guard_discard_matters(int upper_fd);

/* One line on standard error for each of them. */
void guard_discard_tell(const struct guard_names *paths);

#endif
