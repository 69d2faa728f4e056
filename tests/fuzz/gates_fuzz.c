/* Any bytes at all as gates.yaml: what is accepted can be planned, each stage comes
 * once and after what it needs, and every value is within its limits. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gate/environ.h"
#include "gate/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void must(bool claim)
{
	if (!claim)
		abort();
}

static void check_stage(const struct gate_stage *stage)
{
	static char path[] = "PATH=/bin";
	static char *const ours[] = { path, NULL };
	char **environment = NULL;

	must(stage->id && strlen(stage->id) <= GATE_ID_BYTES && !strchr(stage->id, '/'));
	must(stage->argc > 0 && stage->argv[0][0] && !stage->argv[stage->argc]);
	must(stage->timeout_ms > 0 && stage->timeout_ms <= GATE_TIMEOUT_MAX);
	must(stage->grace_ms >= 0 && stage->grace_ms <= GATE_GRACE_MAX);
	if (gate_environ_make(stage, ours, &environment, NULL) == 0)
		must(gate_environ_get(environment, "PATH") != NULL);
	free(environment);
}

static void check_plan(const struct gate_config *config, const struct gate_gate *gate)
{
	static bool placed[GATE_MAX_STAGES];
	struct gate_plan plan;

	memset(placed, 0, sizeof(placed));
	if (gate_plan_make(config, gate, &plan) < 0)
		return;
	must(plan.count >= gate->stages.count && plan.count <= config->stage_count);
	for (size_t i = 0; i < plan.count; i++) {
		const struct gate_stage *stage = gate_plan_stage(&plan, i);

		for (size_t k = 0; k < stage->needs.count; k++)
			must(placed[stage->needs.at[k].index]);
		must(!placed[plan.order[i]]);
		placed[plan.order[i]] = true;
	}
	gate_plan_free(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct gate_config config;

	if (gate_config_parse((const char *)data, size_bytes, &config) < 0)
		return 0;
	if (config.yaml->error_total == 0) {
		for (size_t i = 0; i < config.stage_count; i++)
			check_stage(&config.stages[i]);
		for (size_t i = 0; i < config.gate_count; i++)
			check_plan(&config, &config.gates[i]);
	}
	gate_config_free(&config);
	return 0;
}
