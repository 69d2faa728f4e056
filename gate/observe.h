/* From what the group runner and fence-guard said to one observation of a stage. */
#ifndef GATE_OBSERVE_H
#define GATE_OBSERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "fence/group.h"
#include "gate/config.h"
#include "gate/guard_status.h"
#include "gate/verdict.h"

struct gate_observation {
	enum gate_outcome outcome;
	bool has_exit; /* the command's own end is known */
	bool signalled;
	int number;	  /* exit status or signal */
	char detail[160]; /* what happened, in words */
	char hint[200];	  /* what to do; may be empty */
	int64_t wall_us;
	bool has_printed; /* there is a log */
	struct gate_leftover leftover;
};

/* Pure. `status` is NULL for a stage without a sandbox. A time-out that we ended
 * is a time-out whatever the command's status was; a confined stage has run only if
 * fence-guard said so. */
void gate_observe(const struct gate_stage *stage, const struct fence_group_result *result,
		  const struct gate_guard_status *status, struct gate_observation *ret);

/* The same for a stage that never became a group. */
void gate_observe_not_executed(const char *detail, const char *hint, struct gate_observation *ret);

#endif
