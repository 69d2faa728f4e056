/* `profiles` and the `protect` of the whole file. */
#include <stdio.h>
#include <string.h>

#include "fence/opts.h"
#include "guard/reader/reader_int.h"

/* One profile while it is read. What it says is written only when it is the one that is
 * asked for; it is checked in any case. */
struct profile {
	struct guard_reader *reader;
	struct guard_wire *out; /* NULL: checked alone */
	const struct fence_yaml_node *node;
	const struct guard_profile *base;
	struct guard_named *named;
	size_t named_count, named_room;
	struct guard_place confining; /* the first that only a confining profile can have */
	enum guard_access access;     /* of the list under way */
	enum guard_wire_kind env;     /* of the list under way */
	struct guard_place mode;      /* of network mode ports */
	struct guard_place port;      /* the first that is named */
	struct guard_ports ports;     /* all of them, to be counted */
};

static void write_out(const struct profile *profile, enum guard_wire_kind kind,
		      const struct fence_yaml_node *node, const char *first, const char *second)
{
	if (profile->out)
		guard_wire_add(profile->out, kind, guard_reader_place(node), first, second, NULL);
}

static void note_confining(struct profile *profile, const struct fence_yaml_node *node)
{
	if (profile->confining.line == 0)
		profile->confining = guard_reader_place(node);
}

/* --- files ------------------------------------------------------------------------ */

static void add_path(struct profile *profile, const struct fence_yaml_node *item)
{
	const char *path = guard_reader_path(profile->reader, item);

	if (!path || profile->named_count == profile->named_room)
		return;
	profile->named[profile->named_count++] = (struct guard_named){
		.path = path,
		.access = profile->access,
		.place = guard_reader_place(item),
	};
	write_out(profile, GUARD_WIRE_RULE, item, guard_access_word(profile->access), path);
}

static void take_paths(struct profile *profile, const struct fence_yaml_node *list,
		       enum guard_access access)
{
	profile->access = access;
	for (const struct fence_yaml_node *item = list->first; item; item = item->next)
		add_path(profile, item);
}

static void take_rw(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	take_paths(arg, value, GUARD_RW);
}

static void take_ro(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	take_paths(arg, value, GUARD_RO);
}

static void take_tmpfs(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	take_paths(arg, value, GUARD_TMPFS);
}

static void take_overlay(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	take_paths(arg, value, GUARD_OVERLAY);
}

static void take_deny(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	take_paths(arg, value, GUARD_DENY);
}

static void take_protect(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	take_paths(arg, value, GUARD_PROTECT);
}

static void take_bind_list(struct profile *profile, struct fence_yaml *yaml,
			   const struct fence_yaml_node *list, enum guard_access access)
{
	for (const struct fence_yaml_node *item = list->first; item; item = item->next) {
		const char *text = guard_reader_path(profile->reader, item);

		if (text && !guard_bind_is_good(text))
			fence_yaml_fault(
				yaml, item->line, item->column,
				"\"%.64s\" is not of the form SOURCE:DEST; DEST is absolute", text);
		else if (text)
			write_out(profile, GUARD_WIRE_BIND, item, guard_access_word(access), text);
	}
}

static void take_rw_bind(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	take_bind_list(arg, yaml, value, GUARD_RW);
}

static void take_ro_bind(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	take_bind_list(arg, yaml, value, GUARD_RO);
}

static void take_hardlinks(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	bool allowed = false;

	if (guard_reader_flag(yaml, value, &allowed) && allowed)
		write_out(arg, GUARD_WIRE_ALLOW, value, "hardlinks", NULL);
}

static const struct fence_yaml_key file_keys[] = {
	{ "rw", FENCE_YAML_LIST, false, take_rw },
	{ "ro", FENCE_YAML_LIST, false, take_ro },
	{ "tmpfs", FENCE_YAML_LIST, false, take_tmpfs },
	{ "overlay", FENCE_YAML_LIST, false, take_overlay },
	{ "deny", FENCE_YAML_LIST, false, take_deny },
	{ "protect", FENCE_YAML_LIST, false, take_protect },
	{ "bind", FENCE_YAML_LIST, false, take_rw_bind },
	{ "roBind", FENCE_YAML_LIST, false, take_ro_bind },
	{ "allowHardlinks", FENCE_YAML_SCALAR, false, take_hardlinks },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static void take_files(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct profile *profile = arg;

	note_confining(profile, value);
	for (const struct fence_yaml_node *list = value->first; list; list = list->next)
		profile->named_room += list->count;
	profile->named =
		fence_yaml_alloc(yaml, (profile->named_room + 1) * sizeof(*profile->named));
	if (!profile->named) {
		fence_yaml_fault(yaml, value->line, value->column, "out of memory");
		return;
	}
	fence_yaml_take(yaml, value, "files", file_keys, COUNT(file_keys), profile);
	guard_reader_twice(yaml, profile->named, profile->named_count);
}

/* --- network ---------------------------------------------------------------------- */

static void take_mode(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	static const char *const modes[] = { "none", "host", "rules", "ports" };
	struct profile *profile = arg;
	int mode = fence_yaml_choice(yaml, value, modes, COUNT(modes));

	if (mode >= 0)
		write_out(arg, GUARD_WIRE_NET, value, value->text, NULL);
	if (mode == 3) {
		note_confining(profile, value);
		profile->mode = guard_reader_place(value);
	}
}

/* `prefix` makes of an item what the option's list has. */
static void take_ports(struct profile *profile, const struct fence_yaml_node *list,
		       const char *prefix)
{
	struct fence_yaml *yaml = profile->reader->yaml;

	for (const struct fence_yaml_node *item = list->first; item; item = item->next) {
		const char *text = guard_reader_text(yaml, item, "a port");
		const char *wrong;
		char word[32];

		if (!text)
			continue;
		if (profile->port.line == 0)
			profile->port = guard_reader_place(item);
		wrong = (size_t)snprintf(word, sizeof(word), "%s%s", prefix, text) >=
						sizeof(word) ||
					strpbrk(text, ",:")
				? "a port is a number from 1 to 65535"
				: guard_ports_parse(word, &profile->ports);
		if (wrong)
			fence_yaml_fault(yaml, item->line, item->column, "\"%.64s\" is no port: %s",
					 text, wrong);
		else
			write_out(profile, GUARD_WIRE_PORTS, item, word, NULL);
	}
}

static void take_connect(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	take_ports(arg, value, "");
}

static void take_bind(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	take_ports(arg, value, "bind:");
}

static const struct fence_yaml_key network_keys[] = {
	{ "mode", FENCE_YAML_SCALAR, true, take_mode },
	{ "connect", FENCE_YAML_LIST, false, take_connect },
	{ "bind", FENCE_YAML_LIST, false, take_bind },
};

static void take_network(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct profile *profile = arg;

	fence_yaml_take(yaml, value, "network", network_keys, COUNT(network_keys), arg);
	if (profile->mode.line == 0 && profile->port.line > 0)
		fence_yaml_fault(yaml, profile->port.line, profile->port.column,
				 "ports are of mode \"ports\"");
	else if (profile->mode.line > 0 && profile->port.line == 0)
		fence_yaml_fault(yaml, profile->mode.line, profile->mode.column,
				 "mode \"ports\" names none; add connect: or bind:");
}

/* --- environment ------------------------------------------------------------------ */

static bool is_variable(struct fence_yaml *yaml, const char *text, unsigned int line,
			unsigned int column)
{
	static const char letters[] = "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789";
	size_t length = strlen(text);

	if (length > 0 && strspn(text, letters) == length && !(text[0] >= '0' && text[0] <= '9'))
		return true;
	fence_yaml_fault(yaml, line, column, "\"%.64s\" is no name of an environment variable",
			 text);
	return false;
}

static void take_variables(struct profile *profile, const struct fence_yaml_node *list,
			   enum guard_wire_kind kind)
{
	struct fence_yaml *yaml = profile->reader->yaml;

	if (list->count > GUARD_READER_ENV) {
		fence_yaml_fault(yaml, list->line, list->column, "\"%s\" has more than %d entries",
				 list->key, GUARD_READER_ENV);
		return;
	}
	/* An empty list is one: nothing passes. */
	if (kind == GUARD_WIRE_KEEP && list->count == 0)
		write_out(profile, kind, list, "", NULL);
	for (const struct fence_yaml_node *item = list->first; item; item = item->next) {
		const char *text = guard_reader_text(yaml, item, "a variable");

		if (text && is_variable(yaml, text, item->line, item->column))
			write_out(profile, kind, item, text, NULL);
	}
}

static void take_keep(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	take_variables(arg, value, GUARD_WIRE_KEEP);
}

static void take_unset(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	take_variables(arg, value, GUARD_WIRE_UNSET);
}

static void set_variable(struct profile *profile, const struct fence_yaml_node *value)
{
	struct fence_yaml *yaml = profile->reader->yaml;
	size_t name_length = strlen(value->key);
	size_t value_length;
	char *text;

	if (!is_variable(yaml, value->key, value->key_line, value->key_column))
		return;
	if (value->kind != FENCE_YAML_SCALAR) {
		fence_yaml_fault(yaml, value->line, value->column,
				 "\"%.64s\" must be a scalar, not %s", value->key,
				 fence_yaml_kind_name(value->kind));
		return;
	}
	if (fence_yaml_is_ambiguous(value)) {
		fence_yaml_fault(yaml, value->line, value->column,
				 "\"%.64s\" would be no string to other readers; write \"%.64s\" "
				 "in quotes",
				 value->text, value->text);
		return;
	}
	value_length = strlen(value->text);
	text = fence_yaml_alloc(yaml, name_length + value_length + 2);
	if (!text) {
		fence_yaml_fault(yaml, value->line, value->column, "out of memory");
		return;
	}
	memcpy(text, value->key, name_length);
	text[name_length] = '=';
	memcpy(text + name_length + 1, value->text, value_length + 1);
	write_out(profile, GUARD_WIRE_SET, value, text, NULL);
}

static void take_set(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	(void)yaml;
	for (const struct fence_yaml_node *item = value->first; item; item = item->next)
		set_variable(arg, item);
}

static const struct fence_yaml_key env_keys[] = {
	{ "keep", FENCE_YAML_LIST, false, take_keep },
	{ "set", FENCE_YAML_MAPPING, false, take_set },
	{ "unset", FENCE_YAML_LIST, false, take_unset },
};

static void take_env(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	fence_yaml_take(yaml, value, "env", env_keys, COUNT(env_keys), arg);
}

/* --- limits ----------------------------------------------------------------------- */

static void take_limit(struct profile *profile, struct fence_yaml *yaml,
		       const struct fence_yaml_node *value, enum guard_limit limit)
{
	const char *text = guard_reader_text(yaml, value, "a limit");
	const char *wrong;
	uint64_t number;

	if (!text)
		return;
	wrong = guard_limit_parse(limit, text, &number);
	if (wrong)
		fence_yaml_fault(yaml, value->line, value->column, "\"%s\" cannot be \"%.64s\"; %s",
				 value->key, text, wrong);
	else
		write_out(profile, GUARD_WIRE_LIMIT, value, guard_limit_word(limit), text);
}

static void take_limits(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	const char *words[GUARD_LIMIT_COUNT];

	for (size_t i = 0; i < GUARD_LIMIT_COUNT; i++)
		words[i] = guard_limit_word((enum guard_limit)i);
	for (const struct fence_yaml_node *at = value->first; at; at = at->next) {
		const char *nearest;
		size_t i = 0;

		while (i < GUARD_LIMIT_COUNT && strcmp(words[i], at->key) != 0)
			i++;
		if (i < GUARD_LIMIT_COUNT) {
			take_limit(arg, yaml, at, (enum guard_limit)i);
			continue;
		}
		nearest = fence_nearest(at->key, words, GUARD_LIMIT_COUNT);
		fence_yaml_fault(yaml, at->key_line, at->key_column, "unknown key \"%.64s\"%s%s%s",
				 at->key, nearest ? "; did you mean \"" : "",
				 nearest ? nearest : "", nearest ? "\"" : "");
	}
}

/* --- the rest of a profile -------------------------------------------------------- */

static void take_seccomp(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct profile *profile = arg;

	(void)yaml;
	note_confining(profile, value);
	guard_reader_seccomp(profile->reader, profile->out, value);
}

static void take_userns(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	bool allowed = false;

	note_confining(arg, value);
	if (guard_reader_flag(yaml, value, &allowed) && allowed)
		write_out(arg, GUARD_WIRE_ALLOW, value, "userns", NULL);
}

static void take_set_id(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	bool allowed = false;

	note_confining(arg, value);
	if (guard_reader_flag(yaml, value, &allowed) && allowed)
		write_out(arg, GUARD_WIRE_ALLOW, value, "set-id", NULL);
}

static void take_nesting(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	bool allowed = false;

	note_confining(arg, value);
	if (guard_reader_flag(yaml, value, &allowed) && allowed)
		write_out(arg, GUARD_WIRE_ALLOW, value, "nesting", NULL);
}

static void take_root(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct profile *profile = arg;
	const char *path = guard_reader_path(profile->reader, value);

	(void)yaml;
	note_confining(profile, value);
	if (path)
		write_out(profile, GUARD_WIRE_ROOT, value, path, NULL);
}

/* What a profile switches on, also one that confines nothing. */
static void take_switch(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value,
			const char *word)
{
	bool on = false;

	if (guard_reader_flag(yaml, value, &on) && on)
		write_out(arg, GUARD_WIRE_ALLOW, value, word, NULL);
}

static void take_wait_all(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	take_switch(arg, yaml, value, "wait-all");
}

static void take_session(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	take_switch(arg, yaml, value, "new-session");
}

static void take_caps(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	note_confining(arg, value);
	for (const struct fence_yaml_node *item = value->first; item; item = item->next) {
		const char *text = guard_reader_text(yaml, item, "a capability");

		if (text && guard_cap_number(text) < 0)
			fence_yaml_fault(yaml, item->line, item->column,
					 "no such capability \"%.64s\"; names are those of "
					 "capabilities(7)",
					 text);
		else if (text)
			write_out(arg, GUARD_WIRE_CAP, item, text, NULL);
	}
}

static void take_extends(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	struct profile *profile = arg;
	const char *names[GUARD_PROFILES_MAX];
	size_t count = guard_profile_names(names);

	if (fence_yaml_choice(yaml, value, names, count) >= 0)
		profile->base = guard_profile_find(value->text);
}

static const struct fence_yaml_key profile_keys[] = {
	{ "extends", FENCE_YAML_SCALAR, false, take_extends },
	{ "root", FENCE_YAML_SCALAR, false, take_root },
	{ "files", FENCE_YAML_MAPPING, false, take_files },
	{ "network", FENCE_YAML_MAPPING, false, take_network },
	{ "env", FENCE_YAML_MAPPING, false, take_env },
	{ "limits", FENCE_YAML_MAPPING, false, take_limits },
	{ "seccomp", FENCE_YAML_ANY, false, take_seccomp },
	{ "allowUserns", FENCE_YAML_SCALAR, false, take_userns },
	{ "allowSetId", FENCE_YAML_SCALAR, false, take_set_id },
	{ "allowNesting", FENCE_YAML_SCALAR, false, take_nesting },
	{ "keepCaps", FENCE_YAML_LIST, false, take_caps },
	{ "waitAll", FENCE_YAML_SCALAR, false, take_wait_all },
	{ "newSession", FENCE_YAML_SCALAR, false, take_session },
};

static bool is_profile_name(const char *text)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t length = strlen(text);

	return length > 0 && length <= GUARD_NAME_MAX && text[0] != '-' && text[0] != '.' &&
	       strspn(text, letters) == length;
}

static void take_profile(struct guard_reader *reader, const struct fence_yaml_node *node)
{
	struct fence_yaml *yaml = reader->yaml;
	struct profile profile = { .reader = reader, .node = node };
	struct guard_place place = { .line = node->key_line, .column = node->key_column };

	if (!is_profile_name(node->key))
		fence_yaml_fault(yaml, node->key_line, node->key_column,
				 "\"%.64s\" is no name of a profile; use 1 to %d of A-Z a-z 0-9 "
				 ". _ -, a letter, digit or _ first",
				 node->key, GUARD_NAME_MAX);
	/* One of a built-in name is that one and what the file adds. */
	profile.base = guard_profile_find(node->key);
	if (!profile.base)
		profile.base = guard_profile_find("gate");
	if (strcmp(node->key, reader->profile) == 0)
		profile.out = &reader->body;
	fence_yaml_take(yaml, node, "a profile", profile_keys, COUNT(profile_keys), &profile);
	if (!profile.base->confine && profile.confining.line > 0)
		fence_yaml_fault(yaml, profile.confining.line, profile.confining.column,
				 "profile \"%.64s\" confines neither files nor system calls; it "
				 "must extend another than none",
				 node->key);
	if (profile.out)
		guard_wire_add(&reader->head, GUARD_WIRE_PROFILE, place, node->key,
			       profile.base->name, NULL);
}

void guard_reader_profiles(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value)
{
	if (value->count > GUARD_READER_PROFILES) {
		fence_yaml_fault(yaml, value->line, value->column, "more than %d profiles",
				 GUARD_READER_PROFILES);
		return;
	}
	for (const struct fence_yaml_node *at = value->first; at; at = at->next)
		take_profile(arg, at);
}
