/* The programs find each other in their own folder, then in the compiled-in one. */
#ifndef GUARD_SIBLING_H
#define GUARD_SIBLING_H

#include <stddef.h>

#include "fence/err.h"

/* Where that program is: 0, or -ENOENT. */
int guard_sibling_find(const char *program, char *ret_path, size_t size_bytes);

/* Becomes that program; argv[0] is replaced by its path. Returns only to say why not. */
int guard_become(const char *program, char **argv, struct fence_err *err);

#endif
