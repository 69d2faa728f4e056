/* A policy file, read and checked: fence-policy(5). Everything that is wrong is a fault
 * in the tree, with its place; what is right becomes, for the one profile that is asked
 * for, the form of policy/wire.h. */
#ifndef GUARD_READER_READER_H
#define GUARD_READER_READER_H

#include "fence/conf/yaml.h"
#include "fence/err.h"
#include "guard/policy/wire.h"

#define GUARD_READER_PROFILES 64
#define GUARD_READER_COMMANDS 1024
#define GUARD_READER_NET      1024
#define GUARD_READER_ENV      1024
#define GUARD_NAME_MAX	      32 /* of a profile, in bytes */

struct guard_reader {
	const char *profile; /* the one that is asked for */
	const char *home;    /* what ~ is; NULL: unknown */
	struct fence_yaml *yaml;
	struct guard_wire head; /* the profile itself */
	struct guard_wire body; /* the rest, in the order of the file */
};

/* Checks reader->yaml. 0 also with faults: look at yaml->error_total. -ENOMEM,
 * -EFBIG. */
int guard_reader_check(struct guard_reader *reader);

/* The whole stream: the policy, or its first fault. `file` is as it was named, `path`
 * absolute. */
int guard_reader_compile(const struct guard_reader *reader, const char *file, const char *path,
			 struct guard_wire *ret);

void guard_reader_free(struct guard_reader *reader);

#endif
