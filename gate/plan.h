/* What a gate runs, and in which order: its stages and all that they need, each
 * after what it needs, otherwise in the order of the gate. */
#ifndef GATE_PLAN_H
#define GATE_PLAN_H

#include <stddef.h>

#include "gate/config.h"

struct gate_plan {
	const struct gate_config *config;
	const struct gate_gate *gate;
	size_t *order; /* indices of stages */
	size_t count;
};

/* 0 or -ENOMEM. The configuration has been checked and outlives the plan. */
int gate_plan_make(const struct gate_config *config, const struct gate_gate *gate,
		   struct gate_plan *ret);
void gate_plan_free(struct gate_plan *plan);

static inline const struct gate_stage *gate_plan_stage(const struct gate_plan *plan, size_t at)
{
	return &plan->config->stages[plan->order[at]];
}

#endif
