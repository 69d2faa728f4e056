#ifndef GUARD_BECOME_H
#define GUARD_BECOME_H

#include "fence/err.h"

/* Becomes that program of ours (fence/sibling.h finds it); argv[0] is replaced by its path.
 * Returns only to say why not. */
int guard_become(const char *program, char **argv, struct fence_err *err);

#endif
