/* What is in a gates.yaml (fence-gate list) and what a gate would run (fence-gate
 * plan), for people or as one JSON line (fence-gate-list/v1, fence-gate-plan/v1). */
#ifndef GATE_REPORT_LIST_H
#define GATE_REPORT_LIST_H

#include "fence/err.h"
#include "gate/plan.h"

/* Write to `fd`: 0, or -errno with words. */
int gate_list_print(const struct gate_config *config, int fd, bool json, struct fence_err *err);

/* `environment` is ours: the plan names what each stage would get of it. */
int gate_plan_print(const struct gate_plan *plan, char *const *environment, int fd, bool json,
		    struct fence_err *err);

#endif
