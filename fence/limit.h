/* Resource limits of setrlimit(2) by their names, as a command line has them. */
#ifndef FENCE_LIMIT_H
#define FENCE_LIMIT_H

#include "fence/err.h"
#include "fence/spawn.h"

/* "nofile=1024", "nofile=256:4096" (soft:hard; one number is both), "core=0",
 * "fsize=1GiB", "nproc=unlimited". -EINVAL with words. */
int fence_limit_parse(const char *text, struct fence_spawn_limit *ret, struct fence_err *err);

/* "nofile": of a resource that fence_limit_parse gives. */
const char *fence_limit_name(int resource);

#endif
