/* A growing list of paths for the record. */
#ifndef GUARD_CONFINE_NAMES_H
#define GUARD_CONFINE_NAMES_H

#include <stddef.h>

struct guard_names {
	char **items;
	size_t count;
};

/* Adds a copy. 0 or -ENOMEM. */
int guard_names_add(struct guard_names *names, const char *name);
void guard_names_free(struct guard_names *names);

#endif
