#include "gate/plan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "fence/own.h"

struct visit {
	struct gate_plan *plan;
	bool *seen;
	size_t *path; /* stages whose needs are being placed */
	size_t *next; /* at each, the need to look at next */
};

/* Places what the stage needs, then the stage. There is no cycle: that was checked. */
static void place(struct visit *visit, size_t stage)
{
	size_t depth = 0;

	if (visit->seen[stage])
		return;
	visit->path[depth] = stage;
	visit->next[depth++] = 0;
	visit->seen[stage] = true;
	while (depth > 0) {
		size_t at = visit->path[depth - 1];
		const struct gate_names *needs = &visit->plan->config->stages[at].needs;
		size_t need;

		if (visit->next[depth - 1] == needs->count) {
			visit->plan->order[visit->plan->count++] = at;
			depth--;
			continue;
		}
		need = needs->at[visit->next[depth - 1]++].index;
		if (visit->seen[need])
			continue;
		visit->seen[need] = true;
		visit->path[depth] = need;
		visit->next[depth++] = 0;
	}
}

int gate_plan_make(const struct gate_config *config, const struct gate_gate *gate,
		   struct gate_plan *ret)
{
	size_t count = config->stage_count;
	owned_mem bool *seen = calloc(count + 1, sizeof(*seen));
	owned_mem size_t *path = calloc(count + 1, sizeof(*path));
	owned_mem size_t *next = calloc(count + 1, sizeof(*next));
	struct gate_plan plan = { .config = config, .gate = gate };
	struct visit visit = { .plan = &plan, .seen = seen, .path = path, .next = next };

	plan.order = calloc(count + 1, sizeof(*plan.order));
	if (!seen || !path || !next || !plan.order) {
		free(plan.order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < gate->stages.count; i++)
		place(&visit, gate->stages.at[i].index);
	*ret = plan;
	return 0;
}

void gate_plan_free(struct gate_plan *plan)
{
	free(plan->order);
	*plan = (struct gate_plan){ 0 };
}
