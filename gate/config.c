#include "gate/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence/clock.h"
#include "fence/opts.h"

static const char *const sandbox_words[] = {
	[GATE_SANDBOX_GATE] = "gate",
	[GATE_SANDBOX_CHROMIUM] = "chromium",
	[GATE_SANDBOX_NONE] = "none",
};

const char *gate_sandbox_word(enum gate_sandbox sandbox)
{
	return sandbox_words[sandbox];
}

/* --- small values ---------------------------------------------------------------- */

static void fault_at(struct fence_yaml *yaml, const struct fence_yaml_node *node, const char *what)
{
	fence_yaml_fault(yaml, node->line, node->column, "%s", what);
}

static void take_duration(struct fence_yaml *yaml, const struct fence_yaml_node *value,
			  int64_t min_ms, int64_t max_ms, const char *range, int64_t *ret)
{
	int64_t got_ms;
	int rc = fence_parse_duration(value->text, &got_ms);

	if (rc == -EINVAL)
		fence_yaml_fault(yaml, value->line, value->column,
				 "\"%s\" is no duration: \"%.64s\"; write 250ms, 5s or 10m",
				 value->key, value->text);
	else if (rc < 0 || got_ms < min_ms || got_ms > max_ms)
		fence_yaml_fault(yaml, value->line, value->column,
				 "\"%s\" is \"%.64s\"; it must be %s", value->key, value->text,
				 range);
	else
		*ret = got_ms;
}

/* Ids name files of the run's folder and options of the command line. */
static bool is_id(const char *text)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	size_t length = strlen(text);

	if (length == 0 || length > GATE_ID_BYTES || !strchr(letters, text[0]))
		return false;
	return strspn(text + 1,
		      "._-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") ==
	       length - 1;
}

static const char *take_id(struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	if (!is_id(value->text)) {
		fence_yaml_fault(yaml, value->line, value->column,
				 "\"%.80s\" is no id; use 1 to %d of A-Z a-z 0-9 . _ -, "
				 "a letter or digit first",
				 value->text, GATE_ID_BYTES);
		return NULL;
	}
	return value->text;
}

static bool is_env_name(const char *text, size_t length)
{
	if (length == 0 || (text[0] >= '0' && text[0] <= '9'))
		return false;
	return strspn(text, "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") >=
	       length;
}

/* A list of scalars; each is checked with `check`, which adds the fault. */
static void take_names(struct fence_yaml *yaml, const struct fence_yaml_node *list,
		       bool (*check)(struct fence_yaml *yaml, const struct fence_yaml_node *item),
		       struct gate_names *ret)
{
	struct gate_names names = { 0 };

	if (list->count > GATE_MAX_STAGES) {
		fence_yaml_fault(yaml, list->line, list->column, "\"%s\" has more than %d entries",
				 list->key, GATE_MAX_STAGES);
		return;
	}
	names.at = fence_yaml_alloc(yaml, (list->count + 1) * sizeof(*names.at));
	if (!names.at) {
		fault_at(yaml, list, "out of memory");
		return;
	}
	for (const struct fence_yaml_node *item = list->first; item; item = item->next) {
		if (item->kind != FENCE_YAML_SCALAR) {
			fence_yaml_fault(yaml, item->line, item->column,
					 "an entry of \"%s\" must be a scalar, not %s", list->key,
					 fence_yaml_kind_name(item->kind));
			continue;
		}
		if (check(yaml, item))
			names.at[names.count++] = (struct gate_name){ .text = item->text,
								      .line = item->line,
								      .column = item->column };
	}
	*ret = names;
}

static bool check_id(struct fence_yaml *yaml, const struct fence_yaml_node *item)
{
	return take_id(yaml, item) != NULL;
}

static bool check_env_name(struct fence_yaml *yaml, const struct fence_yaml_node *item)
{
	if (is_env_name(item->text, strlen(item->text)))
		return true;
	fence_yaml_fault(yaml, item->line, item->column,
			 "\"%.64s\" is no name of an environment variable", item->text);
	return false;
}

static void warn_ambiguous(struct fence_yaml *yaml, const struct fence_yaml_node *node)
{
	if (fence_yaml_is_ambiguous(node))
		fence_yaml_warn(yaml, node->line, node->column,
				"\"%.64s\" stays the string \"%.64s\"; quote it to say so",
				node->text, node->text);
}

/* --- a stage ---------------------------------------------------------------------- */

static void stage_id(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_stage *stage = arg;

	stage->id = take_id(yaml, value);
	stage->line = value->line;
	stage->column = value->column;
}

static bool is_shell(const char *path)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh", "ksh" };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(name, shells[i]) == 0)
			return true;
	return false;
}

static bool has_pipe(const char *script)
{
	for (const char *at = strchr(script, '|'); at; at = strchr(at + 1, '|')) {
		if (at[1] != '|')
			return true;
		at++;
	}
	return false;
}

static bool names_pipefail(const struct gate_stage *stage)
{
	for (size_t i = 1; i < stage->argc; i++)
		if (strstr(stage->argv[i], "pipefail"))
			return true;
	return false;
}

/* `sh -c "false | tee log"` passes: the shell hands on the last command's status. */
static void warn_pipe(struct fence_yaml *yaml, const struct gate_stage *stage,
		      const struct fence_yaml_node *list)
{
	const struct fence_yaml_node *item = list->first;

	if (stage->argc < 3 || !is_shell(stage->argv[0]))
		return;
	for (size_t i = 1; i + 1 < stage->argc; i++) {
		if (stage->argv[i][0] != '-' || !strchr(stage->argv[i], 'c'))
			continue;
		for (size_t skip = 0; skip <= i && item; skip++)
			item = item->next;
		if (item && has_pipe(item->text) && !names_pipefail(stage))
			fence_yaml_warn(yaml, item->line, item->column,
					"a pipe without pipefail passes when its last command "
					"does; set -o pipefail, or take the pipe away");
		return;
	}
}

static void stage_command(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_stage *stage = arg;

	if (!value->first || value->count > GATE_MAX_ARGS) {
		fence_yaml_fault(yaml, value->line, value->column,
				 "\"command\" must have 1 to %d words", GATE_MAX_ARGS);
		return;
	}
	stage->argv = fence_yaml_alloc(yaml, (value->count + 1) * sizeof(*stage->argv));
	if (!stage->argv) {
		fault_at(yaml, value, "out of memory");
		return;
	}
	for (const struct fence_yaml_node *item = value->first; item; item = item->next) {
		if (item->kind != FENCE_YAML_SCALAR) {
			fence_yaml_fault(yaml, item->line, item->column,
					 "a word of \"command\" must be a scalar, not %s",
					 fence_yaml_kind_name(item->kind));
		} else {
			warn_ambiguous(yaml, item);
			/* execve wants char *, and writes nothing. */
			stage->argv[stage->argc++] = (char *)(uintptr_t)item->text;
		}
	}
	if (stage->argc != value->count)
		return;
	if (!stage->argv[0][0])
		fault_at(yaml, value->first, "the first word of \"command\" is empty");
	warn_pipe(yaml, stage, value);
}

static void stage_timeout(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_stage *stage = arg;

	take_duration(yaml, value, 1, GATE_TIMEOUT_MAX, "more than 0 and at most 24h",
		      &stage->timeout_ms);
}

static void stage_idle_timeout(void *arg, struct fence_yaml *yaml,
			       const struct fence_yaml_node *value)
{
	struct gate_stage *stage = arg;

	take_duration(yaml, value, 1, GATE_TIMEOUT_MAX, "more than 0 and at most 24h",
		      &stage->idle_timeout_ms);
}

static void stage_grace(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_stage *stage = arg;

	take_duration(yaml, value, 0, GATE_GRACE_MAX, "at most 10m", &stage->grace_ms);
}

static void stage_needs(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_stage *stage = arg;

	take_names(yaml, value, check_id, &stage->needs);
}

static void stage_sandbox(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_stage *stage = arg;
	int chosen = fence_yaml_choice(yaml, value, sandbox_words,
				       sizeof(sandbox_words) / sizeof(sandbox_words[0]));

	if (chosen >= 0)
		stage->sandbox = (enum gate_sandbox)chosen;
}

static void stage_policy(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_stage *stage = arg;

	if (value->text[0] == '\0')
		fault_at(yaml, value, "\"policy\" is empty; it is the path of a policy file");
	stage->policy = value->text;
	stage->policy_line = value->line;
	stage->policy_column = value->column;
}

static void stage_leaks(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	static const char *const words[] = { "warn", "fail" };
	struct gate_stage *stage = arg;

	stage->leaks_fail = fence_yaml_choice(yaml, value, words, 2) == 1;
}

static void env_keep(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_stage *stage = arg;

	take_names(yaml, value, check_env_name, &stage->env_keep);
}

static const char *join_setting(struct fence_yaml *yaml, const struct fence_yaml_node *item)
{
	size_t size_bytes = strlen(item->key) + strlen(item->text) + 2;
	char *setting = fence_yaml_alloc(yaml, size_bytes);

	if (setting)
		(void)snprintf(setting, size_bytes, "%s=%s", item->key, item->text);
	return setting;
}

static void env_set(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_stage *stage = arg;
	struct gate_names set = { 0 };

	set.at = fence_yaml_alloc(yaml, (value->count + 1) * sizeof(*set.at));
	for (const struct fence_yaml_node *item = value->first; set.at && item; item = item->next) {
		const char *setting;

		if (item->kind != FENCE_YAML_SCALAR || !is_env_name(item->key, strlen(item->key))) {
			fence_yaml_fault(yaml, item->key_line, item->key_column,
					 "\"set\" wants NAME: value, with a name of an "
					 "environment variable and a scalar");
			continue;
		}
		warn_ambiguous(yaml, item);
		setting = join_setting(yaml, item);
		if (setting)
			set.at[set.count++] = (struct gate_name){ .text = setting,
								  .line = item->line,
								  .column = item->column };
	}
	if (!set.at || set.count > value->count)
		fault_at(yaml, value, "out of memory");
	stage->env_set = set;
}

static const struct fence_yaml_key env_keys[] = {
	{ "keep", FENCE_YAML_LIST, false, env_keep },
	{ "set", FENCE_YAML_MAPPING, false, env_set },
};

static void stage_env(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	fence_yaml_take(yaml, value, "\"env\"", env_keys, sizeof(env_keys) / sizeof(env_keys[0]),
			arg);
}

/* Rows without a function are keys of the format that come later; they are refused
 * rather than read and ignored. */
static const struct fence_yaml_key stage_keys[] = {
	{ "id", FENCE_YAML_SCALAR, true, stage_id },
	{ "command", FENCE_YAML_LIST, true, stage_command },
	{ "timeout", FENCE_YAML_SCALAR, false, stage_timeout },
	{ "idleTimeout", FENCE_YAML_SCALAR, false, stage_idle_timeout },
	{ "grace", FENCE_YAML_SCALAR, false, stage_grace },
	{ "needs", FENCE_YAML_LIST, false, stage_needs },
	{ "sandbox", FENCE_YAML_SCALAR, false, stage_sandbox },
	{ "policy", FENCE_YAML_SCALAR, false, stage_policy },
	{ "env", FENCE_YAML_MAPPING, false, stage_env },
	{ "leaks", FENCE_YAML_SCALAR, false, stage_leaks },
	{ "slowAfter", FENCE_YAML_ANY, false, NULL },
	{ "requiresStack", FENCE_YAML_ANY, false, NULL },
	{ "select", FENCE_YAML_ANY, false, NULL },
	{ "expect", FENCE_YAML_ANY, false, NULL },
	{ "uses", FENCE_YAML_ANY, false, NULL },
	{ "artifacts", FENCE_YAML_ANY, false, NULL },
	{ "retries", FENCE_YAML_ANY, false, NULL },
};

/* --- a gate ----------------------------------------------------------------------- */

static void gate_id(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_gate *gate = arg;

	gate->id = take_id(yaml, value);
	gate->line = value->line;
	gate->column = value->column;
}

static void gate_tier(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	static const char *const words[] = { "full", "targeted" };
	struct gate_gate *gate = arg;

	gate->targeted = fence_yaml_choice(yaml, value, words, 2) == 1;
}

static void gate_stages(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_gate *gate = arg;

	if (value->count == 0)
		fault_at(yaml, value, "a gate without stages judges nothing; name at least one");
	take_names(yaml, value, check_id, &gate->stages);
}

static void gate_changes(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_gate *gate = arg;

	(void)yaml;
	gate->changes = value->text;
}

static const struct fence_yaml_key gate_keys[] = {
	{ "id", FENCE_YAML_SCALAR, true, gate_id },
	{ "tier", FENCE_YAML_SCALAR, false, gate_tier },
	{ "stages", FENCE_YAML_LIST, true, gate_stages },
	{ "changes", FENCE_YAML_SCALAR, false, gate_changes },
	{ "flaky", FENCE_YAML_ANY, false, NULL },
};

/* --- the file ---------------------------------------------------------------------- */

static void file_version(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)arg;
	if (strcmp(value->text, "1") != 0)
		fence_yaml_fault(yaml, value->line, value->column,
				 "version \"%.64s\" is not known; this program reads version 1",
				 value->text);
}

/* An array of `size_bytes` elements for the entries of a list, or NULL with a fault. */
static void *list_array(struct fence_yaml *yaml, const struct fence_yaml_node *list, size_t max,
			size_t size_bytes)
{
	void *array;

	if (list->count > max) {
		fence_yaml_fault(yaml, list->line, list->column, "more than %zu %s", max,
				 list->key);
		return NULL;
	}
	array = fence_yaml_alloc(yaml, (list->count + 1) * size_bytes);
	if (!array)
		fault_at(yaml, list, "out of memory");
	return array;
}

static void file_stages(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_config *config = arg;

	config->stages = list_array(yaml, value, GATE_MAX_STAGES, sizeof(*config->stages));
	if (!config->stages)
		return;
	for (const struct fence_yaml_node *item = value->first; item; item = item->next) {
		struct gate_stage *stage = &config->stages[config->stage_count++];

		stage->timeout_ms = GATE_TIMEOUT_MS;
		stage->grace_ms = GATE_GRACE_MS;
		fence_yaml_take(yaml, item, "a stage", stage_keys,
				sizeof(stage_keys) / sizeof(stage_keys[0]), stage);
	}
}

static void file_gates(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct gate_config *config = arg;

	config->gates = list_array(yaml, value, GATE_MAX_GATES, sizeof(*config->gates));
	if (!config->gates)
		return;
	for (const struct fence_yaml_node *item = value->first; item; item = item->next)
		fence_yaml_take(yaml, item, "a gate", gate_keys,
				sizeof(gate_keys) / sizeof(gate_keys[0]),
				&config->gates[config->gate_count++]);
}

static const struct fence_yaml_key file_keys[] = {
	{ "version", FENCE_YAML_SCALAR, true, file_version },
	{ "stages", FENCE_YAML_LIST, true, file_stages },
	{ "gates", FENCE_YAML_LIST, true, file_gates },
};

static void take_file(struct gate_config *config)
{
	struct fence_yaml *yaml = config->yaml;

	if (!yaml->root)
		return;
	fence_yaml_take(yaml, yaml->root, "the file", file_keys,
			sizeof(file_keys) / sizeof(file_keys[0]), config);
	gate_config_check(config);
}

int gate_config_parse(const char *text, size_t size_bytes, struct gate_config *ret)
{
	int rc;

	*ret = (struct gate_config){ 0 };
	rc = fence_yaml_parse(text, size_bytes, &ret->yaml);
	if (rc < 0)
		return rc;
	take_file(ret);
	return 0;
}

int gate_config_read(int dir_fd, const char *path, struct gate_config *ret, struct fence_err *err)
{
	int rc;

	*ret = (struct gate_config){ 0 };
	rc = fence_yaml_read(dir_fd, path, &ret->yaml, err);
	if (rc < 0)
		return rc;
	take_file(ret);
	return 0;
}

void gate_config_free(struct gate_config *config)
{
	fence_yaml_free(config->yaml);
	*config = (struct gate_config){ 0 };
}

const struct gate_gate *gate_config_find(const struct gate_config *config, const char *id)
{
	for (size_t i = 0; i < config->gate_count; i++)
		if (strcmp(config->gates[i].id, id) == 0)
			return &config->gates[i];
	return NULL;
}
