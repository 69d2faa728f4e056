/* What fence-guard said about a confined stage: the lines of its --status-fd
 * (fence-guard-status/v1, one JSON object each). */
#ifndef GATE_GUARD_STATUS_H
#define GATE_GUARD_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include "fence/group.h"

#define GATE_STATUS_MAX_BYTES 65536

/* Processes that a stage left behind when its command ended. */
struct gate_leftover {
	unsigned int count; /* all; the first ones are named */
	struct {
		int pid; /* of a confined stage: as in the sandbox */
		char name[16];
	} first[FENCE_GROUP_PIDS];
};

struct gate_guard_status {
	bool failed; /* confinement could not be set up, or the command not executed */
	char failed_stage[48];
	int failed_errno;
	char failed_what[160]; /* "find nope", and */
	char failed_why[96];   /* "No such file or directory" */
	char failed_path[256];
	char failed_hint[256];
	bool executed;	   /* the command was executed in confinement */
	char layers[1024]; /* JSON text of the layers; empty: not said or too long */
	bool ended;	   /* and its end was seen */
	bool signalled;
	int number; /* exit status or signal */
	struct gate_leftover leftover;
	char discarded[256]; /* a repository in whose copy something was done; empty: none */
	char kept[192];	     /* the folder that has it, if that is said */
	bool garbled;	     /* a line was not what it should be */
};

/* Reads all lines of the text; a last line without its newline is one that the
 * guard did not finish. */
void gate_guard_status_parse(const char *text, size_t size_bytes, struct gate_guard_status *ret);

/* The same from a descriptor, from its beginning. 0 or -errno. */
int gate_guard_status_read(int fd, struct gate_guard_status *ret);

#endif
