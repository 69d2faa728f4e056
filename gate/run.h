/* Runs a plan: stages in parallel as far as their needs allow, each as a group of
 * its own, and writes everything down. */
#ifndef GATE_RUN_H
#define GATE_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "fence/err.h"
#include "gate/plan.h"
#include "gate/verdict.h"

#define GATE_MAX_JOBS 256

struct gate_run_conf {
	unsigned int jobs;
	bool fail_fast;	  /* stop at the first stage that does not pass */
	bool json;	  /* the record on standard output */
	const char *root; /* absolute */
	int root_fd;
	const char *config_path;
	char *const *environment;
};

/* 0 with the verdict, or -errno with words when the run itself could not be carried
 * out or written down: -EINVAL for what the caller can correct (no PATH). */
int gate_run(const struct gate_run_conf *conf, const struct gate_plan *plan,
	     enum gate_verdict_kind *ret, struct fence_err *err);

#endif
