#include "guard/reader/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fence/opts.h"
#include "fence/text.h"
#include "guard/reader/reader_int.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void take_version(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)arg;
	if (strcmp(value->text, "1") != 0)
		fence_yaml_fault(yaml, value->line, value->column,
				 "version \"%.64s\"; this program reads version 1", value->text);
}

/* --- protect: what no profile may change ------------------------------------------- */

struct protection {
	struct guard_reader *reader;
	const char *path, *reason;
	struct guard_place place;
};

static void take_path(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct protection *protection = arg;

	(void)yaml;
	protection->path = guard_reader_path(protection->reader, value);
	protection->place = guard_reader_place(value);
}

static void take_reason(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	((struct protection *)arg)->reason = guard_reader_text(yaml, value, "a reason");
}

static const struct fence_yaml_key protect_keys[] = {
	{ "path", FENCE_YAML_SCALAR, true, take_path },
	{ "reason", FENCE_YAML_SCALAR, false, take_reason },
};

static void take_protect(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct guard_reader *reader = arg;
	struct guard_named *named = fence_yaml_alloc(yaml, (value->count + 1) * sizeof(*named));
	size_t count = 0;

	if (!named) {
		fence_yaml_fault(yaml, value->line, value->column, "out of memory");
		return;
	}
	for (const struct fence_yaml_node *at = value->first; at; at = at->next) {
		struct protection protection = { .reader = reader };

		fence_yaml_take(yaml, at, "an entry of \"protect\"", protect_keys,
				COUNT(protect_keys), &protection);
		if (!protection.path)
			continue;
		named[count++] = (struct guard_named){ .path = protection.path,
						       .access = GUARD_PROTECT,
						       .place = protection.place };
		guard_wire_add(&reader->body, GUARD_WIRE_RULE, protection.place, "protect",
			       protection.path, protection.reason);
	}
	guard_reader_twice(yaml, named, count);
}

/* --- the whole ---------------------------------------------------------------------- */

static const struct fence_yaml_key keys[] = {
	{ "version", FENCE_YAML_SCALAR, true, take_version },
	{ "profiles", FENCE_YAML_MAPPING, false, guard_reader_profiles },
	{ "commands", FENCE_YAML_LIST, false, guard_reader_commands },
	{ "protect", FENCE_YAML_LIST, false, take_protect },
	{ "opaque", FENCE_YAML_MAPPING, false, guard_reader_opaque },
	{ "network", FENCE_YAML_MAPPING, false, guard_reader_network },
};

static const struct fence_yaml_node *find(const struct fence_yaml_node *mapping, const char *key)
{
	for (const struct fence_yaml_node *at = mapping->first; at; at = at->next)
		if (strcmp(at->key, key) == 0)
			return at;
	return NULL;
}

/* A profile that the file does not have is the built-in one of that name. */
static void find_profile(struct guard_reader *reader)
{
	const char *names[GUARD_PROFILES_MAX + GUARD_READER_PROFILES];
	const struct fence_yaml_node *root = reader->yaml->root;
	const struct fence_yaml_node *profiles = find(root, "profiles");
	const struct guard_profile *base = guard_profile_find(reader->profile);
	const char *nearest;
	size_t count = guard_profile_names(names);

	if (reader->head.count > 0)
		return;
	if (base) {
		guard_wire_add(&reader->head, GUARD_WIRE_PROFILE, (struct guard_place){ 0 },
			       base->name, base->name, NULL);
		return;
	}
	if (!profiles || profiles->kind != FENCE_YAML_MAPPING)
		profiles = root;
	for (const struct fence_yaml_node *at = profiles == root ? NULL : profiles->first;
	     at && count < COUNT(names); at = at->next)
		names[count++] = at->key;
	nearest = fence_nearest(reader->profile, names, count);
	fence_yaml_fault(reader->yaml, profiles->line, profiles->column,
			 "there is no profile \"%.64s\"%s%s%s", reader->profile,
			 nearest ? "; did you mean \"" : "", nearest ? nearest : "",
			 nearest ? "\"" : "");
}

int guard_reader_check(struct guard_reader *reader)
{
	const struct fence_yaml_node *root = reader->yaml->root;

	if (!root)
		return 0;
	fence_yaml_take(reader->yaml, root, "the file", keys, COUNT(keys), reader);
	if (root->kind == FENCE_YAML_MAPPING)
		find_profile(reader);
	return reader->head.rc < 0 ? reader->head.rc : reader->body.rc;
}

static void compile_fault(const struct fence_yaml *yaml, const char *file, struct guard_wire *wire)
{
	const struct fence_yaml_fault *fault = &yaml->faults[0]; /* no check here warns */
	char place[512], words[1024], total[24];
	struct fence_text text;

	(void)snprintf(place, sizeof(place), "%.400s:%u:%u", file, fault->line, fault->column);
	(void)snprintf(total, sizeof(total), "%zu", yaml->error_total);
	fence_text_init(&text, words, sizeof(words));
	fence_text_add_safe(&text, fault->text, strlen(fault->text));
	guard_wire_add(wire, GUARD_WIRE_FAULT,
		       (struct guard_place){ .line = fault->line, .column = fault->column }, place,
		       words, total);
}

int guard_reader_compile(const struct guard_reader *reader, const char *file, const char *path,
			 struct guard_wire *ret)
{
	const struct guard_place nowhere = { 0 };

	guard_wire_begin(ret);
	if (reader->yaml->error_total > 0) {
		compile_fault(reader->yaml, file, ret);
	} else {
		guard_wire_add(ret, GUARD_WIRE_FILE, nowhere, path, NULL, NULL);
		guard_wire_append(ret, &reader->head);
		guard_wire_append(ret, &reader->body);
	}
	guard_wire_add(ret, GUARD_WIRE_END, nowhere, NULL, NULL, NULL);
	return ret->rc;
}

void guard_reader_free(struct guard_reader *reader)
{
	fence_yaml_free(reader->yaml);
	guard_wire_free(&reader->head);
	guard_wire_free(&reader->body);
	reader->yaml = NULL;
}
