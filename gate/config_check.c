/* What can be judged only once the whole file is known: ids given twice, names of
 * stages that do not exist, needs that go round in a circle. */
#include "gate/config.h"

#include <stdlib.h>
#include <string.h>

#include "fence/opts.h"
#include "fence/own.h"
#include "fence/text.h"

/* Ids sorted, so that 1,024 stages are not compared with each other one by one. */
struct id_row {
	const char *id;
	size_t index;
	unsigned int line, column;
};

static int compare_ids(const void *a, const void *b)
{
	const struct id_row *left = a, *right = b;
	int order = strcmp(left->id, right->id);

	if (order != 0)
		return order;
	return left->index < right->index ? -1 : left->index > right->index;
}

static int compare_word(const void *word, const void *row)
{
	return strcmp(word, ((const struct id_row *)row)->id);
}

static void refuse_twice(struct fence_yaml *yaml, const char *what, struct id_row *rows,
			 size_t count)
{
	qsort(rows, count, sizeof(*rows), compare_ids);
	for (size_t i = 1; i < count; i++)
		if (strcmp(rows[i].id, rows[i - 1].id) == 0)
			fence_yaml_fault(yaml, rows[i].line, rows[i].column,
					 "%s \"%s\" on line %u is on line %u already", what,
					 rows[i].id, rows[i].line, rows[i - 1].line);
}

/* The id that was probably meant, or NULL. Each costs up to 1,024 comparisons, so none is
 * looked for once more faults were found than are shown. */
static const char *nearest_id(const struct fence_yaml *yaml, const char *text,
			      const struct id_row *rows, size_t count)
{
	const char *ids[GATE_MAX_STAGES];

	if (yaml->error_total >= FENCE_YAML_MAX_FAULTS)
		return NULL;
	for (size_t i = 0; i < count; i++)
		ids[i] = rows[i].id;
	return fence_nearest(text, ids, count);
}

static void resolve(struct gate_config *config, struct gate_names *names, const char *what,
		    const struct id_row *rows, size_t count)
{
	for (size_t i = 0; i < names->count; i++) {
		struct gate_name *name = &names->at[i];
		const struct id_row *row = NULL;
		const char *nearest;

		if (count > 0)
			row = bsearch(name->text, rows, count, sizeof(*rows), compare_word);
		name->index = SIZE_MAX;
		if (row) {
			name->index = row->index;
			continue;
		}
		nearest = nearest_id(config->yaml, name->text, rows, count);
		if (nearest)
			fence_yaml_fault(config->yaml, name->line, name->column,
					 "%s unknown stage \"%s\"; did you mean \"%s\"", what,
					 name->text, nearest);
		else
			fence_yaml_fault(config->yaml, name->line, name->column,
					 "%s unknown stage \"%s\"", what, name->text);
	}
}

static void refuse_repeats(struct gate_config *config, const struct gate_names *names,
			   unsigned int *seen_by, unsigned int mark)
{
	for (size_t i = 0; i < names->count; i++) {
		const struct gate_name *name = &names->at[i];

		if (name->index == SIZE_MAX)
			continue;
		if (seen_by[name->index] == mark)
			fence_yaml_fault(config->yaml, name->line, name->column,
					 "stage \"%s\" is named twice in this list", name->text);
		seen_by[name->index] = mark;
	}
}

/* --- cycles ----------------------------------------------------------------------- */

enum colour { UNSEEN, ON_PATH, DONE };

struct walk {
	struct gate_config *config;
	enum colour *colours;
	size_t *path; /* the stages from the start of the walk to here */
	size_t *next; /* at each of them, the need to look at next */
	size_t depth;
};

static void report_cycle(struct walk *walk, const struct gate_name *closing)
{
	char words[200];
	struct fence_text text;
	size_t from = walk->depth;

	fence_text_init(&text, words, sizeof(words) - 4);
	while (from > 0 && walk->path[from - 1] != closing->index)
		from--;
	for (size_t i = from - 1; i < walk->depth; i++)
		fence_text_add(&text, "%s -> ", walk->config->stages[walk->path[i]].id);
	fence_text_add(&text, "%s", closing->text);
	fence_yaml_fault(walk->config->yaml, closing->line, closing->column,
			 "needs go in a circle: %s%s", words, text.truncated ? "..." : "");
}

static void enter(struct walk *walk, size_t stage)
{
	walk->colours[stage] = ON_PATH;
	walk->path[walk->depth] = stage;
	walk->next[walk->depth++] = 0;
}

/* Depth first with a path of our own: 1,024 stages in a row cost no stack. */
static void walk_from(struct walk *walk, size_t start)
{
	enter(walk, start);
	while (walk->depth > 0) {
		size_t at = walk->path[walk->depth - 1];
		const struct gate_names *needs = &walk->config->stages[at].needs;
		const struct gate_name *need;

		if (walk->next[walk->depth - 1] == needs->count) {
			walk->colours[at] = DONE;
			walk->depth--;
			continue;
		}
		need = &needs->at[walk->next[walk->depth - 1]++];
		if (need->index == SIZE_MAX)
			continue;
		if (walk->colours[need->index] == ON_PATH)
			report_cycle(walk, need);
		else if (walk->colours[need->index] == UNSEEN)
			enter(walk, need->index);
	}
}

static void refuse_cycles(struct gate_config *config)
{
	size_t count = config->stage_count;
	struct walk walk = { .config = config };

	walk.colours = fence_yaml_alloc(config->yaml, count * sizeof(*walk.colours));
	walk.path = fence_yaml_alloc(config->yaml, count * sizeof(*walk.path));
	walk.next = fence_yaml_alloc(config->yaml, count * sizeof(*walk.next));
	if (!walk.colours || !walk.path || !walk.next) {
		fence_yaml_fault(config->yaml, 1, 1, "out of memory");
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (walk.colours[i] == UNSEEN)
			walk_from(&walk, i);
}

/* --- all of it --------------------------------------------------------------------- */

static size_t stage_rows(const struct gate_config *config, struct id_row *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < config->stage_count; i++) {
		const struct gate_stage *stage = &config->stages[i];

		if (stage->id)
			rows[count++] = (struct id_row){ stage->id, i, stage->line, stage->column };
	}
	return count;
}

static size_t gate_rows(const struct gate_config *config, struct id_row *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < config->gate_count; i++) {
		const struct gate_gate *gate = &config->gates[i];

		if (gate->id)
			rows[count++] = (struct id_row){ gate->id, i, gate->line, gate->column };
	}
	return count;
}

static void refuse_policy(struct gate_config *config, const struct gate_stage *stage)
{
	if (stage->policy && stage->sandbox == GATE_SANDBOX_NONE)
		fence_yaml_fault(config->yaml, stage->policy_line, stage->policy_column,
				 "\"policy\" with sandbox none: nothing is confined");
}

void gate_config_check(struct gate_config *config)
{
	size_t most = config->stage_count + config->gate_count + 1;
	struct id_row *rows = fence_yaml_alloc(config->yaml, most * sizeof(*rows));
	unsigned int *seen_by = fence_yaml_alloc(config->yaml, most * sizeof(*seen_by));
	unsigned int mark = 0;
	size_t count;

	if (!rows || !seen_by) {
		fence_yaml_fault(config->yaml, 1, 1, "out of memory");
		return;
	}
	count = gate_rows(config, rows);
	refuse_twice(config->yaml, "gate", rows, count);
	count = stage_rows(config, rows);
	refuse_twice(config->yaml, "stage", rows, count);
	for (size_t i = 0; i < config->stage_count; i++) {
		resolve(config, &config->stages[i].needs, "needs", rows, count);
		refuse_repeats(config, &config->stages[i].needs, seen_by, ++mark);
		refuse_policy(config, &config->stages[i]);
	}
	for (size_t i = 0; i < config->gate_count; i++) {
		resolve(config, &config->gates[i].stages, "names the", rows, count);
		refuse_repeats(config, &config->gates[i].stages, seen_by, ++mark);
	}
	refuse_cycles(config);
}
