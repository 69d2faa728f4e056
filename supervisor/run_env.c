/* The command's environment. Made before anything is started; pointers into the
 * caller's strings, never copies. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/run.h"

static const char *const allowed[] = {
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ",
};

/* Does this "NAME=VALUE" have the name that `text` (NAME or NAME=...) begins with? */
static bool has_name(const char *variable, const char *text)
{
	size_t length = strcspn(text, "=");

	return strncmp(variable, text, length) == 0 && variable[length] == '=';
}

static char *find(char *const *env, const char *text)
{
	for (; *env != NULL; env++)
		if (has_name(*env, text))
			return *env;
	return NULL;
}

const char *run_env_get(char *const *env, const char *name)
{
	const char *variable = find(env, name);

	return variable == NULL ? NULL : variable + strlen(name) + 1;
}

static bool is_allowed(const char *variable)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (has_name(variable, allowed[i]))
			return true;
	return false;
}

/* All of that name: a hostile caller may have given one twice. */
static size_t remove_name(char **env, size_t count, const char *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!has_name(env[i], text))
			env[kept++] = env[i];
	return kept;
}

int run_env_build(const struct run_conf *conf, char *const *base, char ***ret,
		  struct fence_err *err)
{
	size_t count = 0;
	char **env;

	while (base[count] != NULL)
		count++;
	env = calloc(count + conf->env_edit_count + 1, sizeof(*env));
	if (env == NULL)
		return fence_fail(err, -ENOMEM, "build the environment");
	count = 0;
	for (size_t i = 0; base[i] != NULL; i++)
		if (!conf->env_allow || is_allowed(base[i]))
			env[count++] = base[i];
	for (size_t i = 0; i < conf->env_edit_count; i++) {
		const struct run_env_edit *edit = &conf->env_edits[i];
		/* The cast: an environment is char *, and nobody writes to it here. */
		char *value = strchr(edit->text, '=') != NULL ? (char *)(uintptr_t)edit->text
							      : find(base, edit->text);

		count = remove_name(env, count, edit->text);
		if (!edit->unset && value != NULL)
			env[count++] = value;
	}
	env[count] = NULL;
	*ret = env;
	return 0;
}
