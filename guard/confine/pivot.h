/* Another mount as the root of this process, which must be alone in a mount namespace of
 * its own. */
#ifndef GUARD_CONFINE_PIVOT_H
#define GUARD_CONFINE_PIVOT_H

#include <stddef.h>

#include "fence/err.h"

/* `root_fd` is a mount that lies on "/". From then on paths begin in it; the old root lies
 * on top of it, where ".." of "/" leads, until it is left. Works in the new root. */
int guard_pivot_enter(int root_fd, struct fence_err *err);

/* Takes away what lies on the new root: the old one, and on that what was the root in
 * between, `count` in all. Nothing leads to them any more. Works in "/" afterwards. */
int guard_pivot_leave(int root_fd, size_t count, struct fence_err *err);

#endif
