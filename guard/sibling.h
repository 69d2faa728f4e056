/* The programs find each other in their own folder, then in the compiled-in one. */
#ifndef GUARD_SIBLING_H
#define GUARD_SIBLING_H

#include "fence/err.h"

/* Becomes that program; argv[0] is replaced by its path. Returns only to say why not. */
int guard_become(const char *program, char **argv, struct fence_err *err);

#endif
