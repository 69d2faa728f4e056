/* The environment of a stage: PATH and, when set, the few names below, then what
 * the stage keeps and sets by name. Everything else of ours is withheld:
 * credentials, GIT_*, MAKEFLAGS (whose jobserver would be leaked), LD_*. */
#ifndef GATE_ENVIRON_H
#define GATE_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>

#include "fence/err.h"
#include "gate/config.h"

/* Whether every stage gets this name of ours. `length` bytes of `name` count. */
bool gate_environ_is_base(const char *name, size_t length);

/* Makes the environment, NULL at the end. The strings are borrowed from `ours` and
 * from the configuration; the array is the caller's to free. A later setting of a
 * name takes the place of an earlier one. -EINVAL with words when there is no
 * PATH; -ENOMEM. */
int gate_environ_make(const struct gate_stage *stage, char *const *ours, char ***ret,
		      struct fence_err *err);

/* The value of a name, or NULL. */
const char *gate_environ_get(char *const *environment, const char *name);

/* The bytes of "NAME=value" before the '='. */
size_t gate_environ_name_length(const char *setting);

#endif
