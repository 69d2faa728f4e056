/* What git did in a private copy of a repository, kept aside on the host: a folder for each
 * repository and run in `kept` of the registry (placeholder.h), which nothing in here reads
 * again. It is whole or marked as what it is:
 *
 *  - while it is written its name begins with a dot, and its writer holds a lock on it; one
 *    that nobody holds is what a killed writer left, and goes with the next keeping;
 *  - then it gets its name, TIME-PID-SIZE: when in UTC, and how much it takes in KiB.
 *
 * With each keeping the oldest go, when there are too many, or too much, or they are too old. */
#ifndef GUARD_CONFINE_KEEP_H
#define GUARD_CONFINE_KEEP_H

#include <stdint.h>
#include <time.h>

#include "guard/confine/keep_copy.h"

#define GUARD_KEEP_FOLDERS_MAX	64
#define GUARD_KEEP_BYTES_MAX	(UINT64_C(1024) * 1024 * 1024)
#define GUARD_KEEP_DAYS_MAX	30
#define GUARD_KEEP_FOLDER_BYTES 160

/* Of one run, for all its repositories together. */
#define GUARD_KEEP_BOUNDS                                                                          \
	{                                                                                          \
		.depth = 16, .names = 100000, .bytes = UINT64_C(256) * 1024 * 1024                 \
	}

struct guard_kept {
	char folder[GUARD_KEEP_FOLDER_BYTES]; /* where it is; "": it is not */
	const char *why;		      /* words: why it is not, or not all; NULL: all is */
};

/* Keeps what there is in `upper_fd`, the folder of what was written in `path`, within
 * `left`, of which it takes. 1: ret says where; 0: there is nothing to keep; -errno: it is
 * lost, and ret says why. */
int guard_keep(int upper_fd, const char *path, struct guard_keep_bounds *left,
	       struct guard_kept *ret);

/* The folder `kept`, ours alone: an owned descriptor. `registry_fd` has it, or gets it. */
int guard_keep_open_folder(int registry_fd);

/* Removes what killed writers left, and the oldest but `own`, until the rest is within the
 * bounds. Names that are not as ours are left alone. */
void guard_keep_tidy(int kept_fd, const char *own, time_t now);

#endif
