/* The hashes that references, logs and states of git's name, as the lines of a file. */
#ifndef GUARD_CONFINE_KEEP_NAMES_H
#define GUARD_CONFINE_KEEP_NAMES_H

#include <stddef.h>

#include "guard/confine/keep_copy.h"

struct guard_keep_names {
	struct guard_keep_copy *copy; /* set before */
	char *text;
	size_t length, size_bytes;
};

/* Those of one folder of git's, with its work trees. 0 or -ENOMEM; what is no hash is passed
 * over. */
int guard_keep_names_collect(int git_fd, struct guard_keep_names *names);

/* After a comment that says what it is of. 0 or -errno. */
int guard_keep_names_write(const struct guard_keep_names *names, int fd);

void guard_keep_names_free(struct guard_keep_names *names);

#endif
