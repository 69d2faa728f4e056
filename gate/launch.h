/* How one stage is started: the plan for the group runner. A stage with a sandbox
 * is executed by fence-guard, one without directly. */
#ifndef GATE_LAUNCH_H
#define GATE_LAUNCH_H

#include <limits.h>
#include <stddef.h>

#include "fence/err.h"
#include "fence/group.h"
#include "gate/config.h"

/* Finds a program of ours: beside this one, else in the folder that was compiled in.
 * 0 or -ENOENT with words. */
int gate_find_program(const char *name, char *ret_path, size_t size_bytes, struct fence_err *err);

struct gate_launch {
	struct fence_group_plan plan;
	char file[PATH_MAX];
	char **environment;
	char **argv; /* of a confined stage; NULL: the stage's own */
	int keep_fd; /* the status descriptor */
	char keep_text[16];
	char protect[PATH_MAX + 16];
};

struct gate_launch_where {
	const char *root;	  /* absolute; the working directory */
	char *const *environment; /* ours */
	const char *guard;	  /* path of fence-guard */
	int null_fd, log_fd, status_fd;
};

/* Fills the plan. Borrows from the stage and from `where`; free with
 * gate_launch_free in any case. -ENOENT and others with words: the command cannot
 * be found or executed. */
int gate_launch_make(const struct gate_stage *stage, const struct gate_launch_where *where,
		     struct gate_launch *ret, struct fence_err *err);
void gate_launch_free(struct gate_launch *launch);

#endif
