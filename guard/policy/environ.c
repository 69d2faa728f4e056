/* The environment that a command gets: nothing but what is named. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guard/policy/policy.h"

static const char *const passed[] = {
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM",
};

static bool is_named(const char *entry, const char *name, size_t length)
{
	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static bool is_passed(const char *entry)
{
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		if (is_named(entry, passed[i], strlen(passed[i])))
			return true;
	return false;
}

/* The last rule that names the entry's variable, or NULL. */
static const struct guard_env_rule *rule_for(const struct guard_policy *policy, const char *entry)
{
	for (size_t i = policy->env_count; i > 0; i--)
		if (is_named(entry, policy->env[i - 1].name, policy->env[i - 1].name_length))
			return &policy->env[i - 1];
	return NULL;
}

static bool wants(const struct guard_policy *policy, const char *entry)
{
	const struct guard_env_rule *rule = rule_for(policy, entry);

	if (rule != NULL)
		return !rule->unset && rule->value == NULL;
	return policy->env_all || (!policy->env_keep_only && is_passed(entry));
}

/* A rule that sets a value, and is the last word about its variable. */
static bool sets(const struct guard_policy *policy, size_t at)
{
	const struct guard_env_rule *rule = &policy->env[at];

	return rule->value != NULL && rule_for(policy, rule->name) == rule;
}

int guard_policy_environ(const struct guard_policy *policy, char *const *from,
			 struct guard_environ *ret)
{
	size_t count = policy->env_count + 1;
	size_t at = 0;
	char **list = &ret->few[0];

	for (size_t i = 0; from[i] != NULL; i++)
		count += wants(policy, from[i]) ? 1 : 0;
	if (count > sizeof(ret->few) / sizeof(ret->few[0]))
		list = calloc(count, sizeof(*list));
	if (list == NULL)
		return -ENOMEM;
	for (size_t i = 0; from[i] != NULL; i++)
		if (wants(policy, from[i]))
			list[at++] = from[i];
	/* The rule's own text is NAME=VALUE already. */
	for (size_t i = 0; i < policy->env_count; i++)
		if (sets(policy, i))
			list[at++] = (char *)(uintptr_t)policy->env[i].name;
	list[at] = NULL;
	ret->list = list;
	return 0;
}

void guard_environ_free(struct guard_environ *environment)
{
	if (environment->list != environment->few)
		free(environment->list);
	environment->list = NULL;
}
