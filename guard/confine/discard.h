/* What a command did in its private copy of a repository, which the repository does not get. */
#ifndef GUARD_CONFINE_DISCARD_H
#define GUARD_CONFINE_DISCARD_H

#include <stdbool.h>
#include <stddef.h>

#include "guard/confine/keep.h"

/* Is there anything in the upper folder of an overlay that somebody would miss: objects,
 * references, settings, or that something is gone? An index that was only refreshed, locks
 * and the like are not. Looks at a bounded number of names; if they are more, the answer
 * is yes. */
bool guard_discard_matters(int upper_fd);

#define GUARD_STASH_BYTES 80 /* room for a name of SHA-256 */

/* The newest stash in this folder of git's, as its file has it; "" when there is none. */
void guard_discard_stash(int git_fd, char *ret, size_t size_bytes);

/* One line on standard error: where it is, or that it is lost. What a stash took out of the
 * work tree, which is the host's, is gone there, unless the repository at `path` itself has
 * it. */
void guard_discard_tell(const char *path, const char *stash, const struct guard_kept *kept);

#endif
