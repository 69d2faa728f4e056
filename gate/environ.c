#include "gate/environ.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fence/own.h"

static const char *const base_names[] = { "PATH", "HOME",   "USER",	"LOGNAME", "TMPDIR",
					  "LANG", "LC_ALL", "LC_CTYPE", "TZ" };
#define BASE_COUNT (sizeof(base_names) / sizeof(base_names[0]))

size_t gate_environ_name_length(const char *setting)
{
	return strcspn(setting, "=");
}

bool gate_environ_is_base(const char *name, size_t length)
{
	for (size_t i = 0; i < BASE_COUNT; i++)
		if (strlen(base_names[i]) == length && memcmp(base_names[i], name, length) == 0)
			return true;
	return false;
}

static char **find(char **environment, const char *name, size_t length)
{
	for (char **at = environment; *at; at++)
		if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
			return at;
	return NULL;
}

const char *gate_environ_get(char *const *environment, const char *name)
{
	size_t length = strlen(name);

	for (char *const *at = environment; *at; at++)
		if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
			return *at + length + 1;
	return NULL;
}

/* execve wants char *, and writes nothing. */
static char *as_entry(const char *setting)
{
	return (char *)(uintptr_t)setting;
}

static void put(char **environment, size_t *count, const char *setting)
{
	char **there = find(environment, setting, gate_environ_name_length(setting));

	if (there)
		*there = as_entry(setting);
	else
		environment[(*count)++] = as_entry(setting);
}

static void put_ours(char **environment, size_t *count, char *const *ours, const char *name)
{
	const char *value = gate_environ_get(ours, name);

	if (value)
		put(environment, count, value - strlen(name) - 1);
}

int gate_environ_make(const struct gate_stage *stage, char *const *ours, char ***ret,
		      struct fence_err *err)
{
	size_t most = BASE_COUNT + stage->env_keep.count + stage->env_set.count + 1;
	owned_mem char **environment = calloc(most, sizeof(*environment));
	const char *path;
	size_t count = 0;

	if (!environment)
		return fence_fail(err, -ENOMEM, "environment of stage %s", stage->id);
	for (size_t i = 0; i < BASE_COUNT; i++)
		put_ours(environment, &count, ours, base_names[i]);
	for (size_t i = 0; i < stage->env_keep.count; i++)
		put_ours(environment, &count, ours, stage->env_keep.at[i].text);
	for (size_t i = 0; i < stage->env_set.count; i++)
		put(environment, &count, stage->env_set.at[i].text);
	path = gate_environ_get(environment, "PATH");
	if (!path || !path[0]) {
		(void)fence_fail_why(err, -EINVAL, "PATH is not set", "environment of stage %s",
				     stage->id);
		return fence_hint(err, "export PATH, or set it in the stage's env");
	}
	*ret = fence_take_mem(&environment);
	return 0;
}
