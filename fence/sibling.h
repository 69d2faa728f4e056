/* The programs find each other in their own folder, then in the compiled-in one. */
#ifndef FENCE_SIBLING_H
#define FENCE_SIBLING_H

#include <stddef.h>

/* Where that program is: 0, or -ENOENT. */
int fence_sibling_find(const char *program, char *ret_path, size_t size_bytes);

#endif
