/* The browser's environment: the caller's, without what loads code into the
 * browser or takes its sandbox off, and with every place for files of its own
 * inside the launch's private root. */
#ifndef GUARD_BROWSER_ENVIRON_H
#define GUARD_BROWSER_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>

/* Is this `NAME=VALUE` kept from the browser? `ret_is_dangerous` tells what is
 * kept out for safety from what is only replaced or ours. */
bool environ_is_dropped(const char *variable, bool *ret_is_dangerous);

/* Builds the environment. `*ret` and all strings in it are one allocation and the
 * caller's; `ret_dropped` counts what was kept out for safety. -ENOMEM. */
int environ_build(char *const *from, const char *root, char ***ret, unsigned int *ret_dropped);

#endif
