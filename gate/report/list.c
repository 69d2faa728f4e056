#include "gate/report/list.h"

#include <stdio.h>
#include <string.h>

#include "fence/own.h"
#include "gate/environ.h"
#include "gate/report/record.h"
#include "gate/report/text.h"

static int written(int rc, struct fence_err *err)
{
	return rc < 0 ? fence_fail(err, rc, "write to standard output") : 0;
}

/* --- list ------------------------------------------------------------------------ */

static void list_names(struct gate_text *text, const struct gate_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		gate_text_add(text, "%s%s", i > 0 ? " " : "", names->at[i].text);
}

static int list_text(const struct gate_config *config, int fd)
{
	static char *const no_environment[] = { NULL };
	struct gate_text text;

	gate_text_init(&text, fd, no_environment);
	for (size_t i = 0; i < config->gate_count; i++) {
		const struct gate_gate *gate = &config->gates[i];

		gate_text_add(&text, "%s (%s): ", gate->id, gate->targeted ? "targeted" : "full");
		list_names(&text, &gate->stages);
		gate_text_add(&text, "\n");
	}
	return gate_text_flush(&text);
}

static int list_json(const struct gate_config *config, int fd)
{
	struct gate_json json;

	gate_json_init(&json, fd);
	fence_jsonw_open(gate_json_small(&json), NULL, '{');
	fence_jsonw_head(gate_json_small(&json), "fence-gate-list/v1", "fence-gate");
	fence_jsonw_open(gate_json_small(&json), "gates", '[');
	for (size_t i = 0; i < config->gate_count; i++) {
		const struct gate_gate *gate = &config->gates[i];

		fence_jsonw_open(gate_json_small(&json), NULL, '{');
		gate_json_string(&json, "id", gate->id);
		gate_json_string(&json, "tier", gate->targeted ? "targeted" : "full");
		gate_json_string(&json, "changes", gate->changes);
		gate_json_names(&json, "stages", &gate->stages);
		fence_jsonw_close(gate_json_small(&json), '}');
	}
	fence_jsonw_close(gate_json_small(&json), ']');
	fence_jsonw_open(gate_json_small(&json), "stages", '[');
	for (size_t i = 0; i < config->stage_count; i++)
		gate_json_string(&json, NULL, config->stages[i].id);
	fence_jsonw_close(gate_json_small(&json), ']');
	fence_jsonw_close(gate_json_small(&json), '}');
	return gate_json_line(&json);
}

int gate_list_print(const struct gate_config *config, int fd, bool json, struct fence_err *err)
{
	return written(json ? list_json(config, fd) : list_text(config, fd), err);
}

/* --- plan ------------------------------------------------------------------------ */

static void plan_words(struct gate_text *text, char *const *words)
{
	for (char *const *at = words; *at; at++) {
		gate_text_add(text, " ");
		gate_text_visible(text, *at, strlen(*at));
	}
}

static void plan_environment(struct gate_text *text, char *const *environment)
{
	for (char *const *at = environment; *at; at++) {
		gate_text_add(text, " ");
		gate_text_visible(text, *at, gate_environ_name_length(*at));
	}
}

static void plan_stage_text(struct gate_text *text, const struct gate_stage *stage, size_t number,
			    char *const *environment)
{
	gate_text_add(text, "%zu. %s\n   command:", number, stage->id);
	plan_words(text, stage->argv);
	gate_text_add(text, "\n   sandbox: %s, timeout: %lld ms, grace: %lld ms\n",
		      gate_sandbox_word(stage->sandbox), (long long)stage->timeout_ms,
		      (long long)stage->grace_ms);
	if (stage->policy) {
		gate_text_add(text, "   policy: ");
		gate_text_visible(text, stage->policy, strlen(stage->policy));
		gate_text_add(text, "\n");
	}
	if (stage->needs.count > 0) {
		gate_text_add(text, "   needs: ");
		list_names(text, &stage->needs);
		gate_text_add(text, "\n");
	}
	gate_text_add(text, "   environment:");
	plan_environment(text, environment);
	gate_text_add(text, "\n");
}

static void plan_stage_json(struct gate_json *json, const struct gate_stage *stage,
			    char *const *environment)
{
	fence_jsonw_open(gate_json_small(json), NULL, '{');
	gate_json_string(json, "id", stage->id);
	gate_json_words(json, "command", stage->argv);
	gate_json_string(json, "sandbox", gate_sandbox_word(stage->sandbox));
	if (stage->policy)
		gate_json_string(json, "policy", stage->policy);
	gate_json_names(json, "needs", &stage->needs);
	fence_jsonw_int(gate_json_small(json), "timeoutMs", stage->timeout_ms);
	fence_jsonw_int(gate_json_small(json), "graceMs", stage->grace_ms);
	fence_jsonw_open(gate_json_small(json), "environment", '[');
	for (char *const *at = environment; *at; at++)
		gate_json_text(json, NULL, *at, gate_environ_name_length(*at));
	fence_jsonw_close(gate_json_small(json), ']');
	fence_jsonw_close(gate_json_small(json), '}');
}

/* Exactly one of `text` and `json` is there. */
static int plan_stages(const struct gate_plan *plan, char *const *ours, struct gate_text *text,
		       struct gate_json *json, struct fence_err *err)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct gate_stage *stage = gate_plan_stage(plan, i);
		owned_mem char **environment = NULL;
		int rc = gate_environ_make(stage, ours, &environment, err);

		if (rc < 0)
			return rc;
		if (text)
			plan_stage_text(text, stage, i + 1, environment);
		else
			plan_stage_json(json, stage, environment);
	}
	return 0;
}

static int plan_text(const struct gate_plan *plan, char *const *ours, int fd, struct fence_err *err)
{
	struct gate_text text;
	int rc;

	gate_text_init(&text, fd, ours);
	rc = plan_stages(plan, ours, &text, NULL, err);
	return rc < 0 ? rc : written(gate_text_flush(&text), err);
}

static int plan_json(const struct gate_plan *plan, char *const *ours, int fd, struct fence_err *err)
{
	struct gate_json json;
	int rc;

	gate_json_init(&json, fd);
	fence_jsonw_open(gate_json_small(&json), NULL, '{');
	fence_jsonw_head(gate_json_small(&json), "fence-gate-plan/v1", "fence-gate");
	gate_json_string(&json, "gate", plan->gate->id);
	fence_jsonw_open(gate_json_small(&json), "stages", '[');
	rc = plan_stages(plan, ours, NULL, &json, err);
	if (rc < 0)
		return rc;
	fence_jsonw_close(gate_json_small(&json), ']');
	fence_jsonw_close(gate_json_small(&json), '}');
	return written(gate_json_line(&json), err);
}

int gate_plan_print(const struct gate_plan *plan, char *const *environment, int fd, bool json,
		    struct fence_err *err)
{
	return json ? plan_json(plan, environment, fd, err) : plan_text(plan, environment, fd, err);
}
