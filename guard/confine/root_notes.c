/* What of the host is to be seen in a root of the command's own, and by what name. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "fence/attempt.h"
#include "fence/own.h"
#include "guard/confine/placeholder.h"
#include "guard/confine/root_int.h"

/* --- two names of one thing ----------------------------------------------------------- */

static int join(const char *dir, const char *rest, char ret[PATH_MAX])
{
	int length = snprintf(ret, PATH_MAX, "%s%s", strcmp(dir, "/") == 0 ? "" : dir, rest);

	if (length == 0)
		memcpy(ret, "/", 2);
	return length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static const char *rest_below(const char *path, const char *dir)
{
	return strcmp(dir, "/") == 0 ? path : path + strlen(dir);
}

int guard_root_outer(const struct guard_plan *plan, const char *path, char ret[PATH_MAX])
{
	const struct guard_names *dests = &plan->inner.dests;
	size_t at = dests->count - 1;

	/* The last one that covers it; in the end the root itself. */
	while (at > 0 && !guard_path_within(path, dests->items[at]))
		at--;
	return join(plan->inner.sources.items[at],
		    strcmp(path, "/") == 0 ? "" : rest_below(path, dests->items[at]), ret);
}

int guard_root_inner(const struct guard_plan *plan, const char *path, struct guard_names *ret)
{
	const struct guard_inner *inner = &plan->inner;
	char name[PATH_MAX];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < inner->sources.count; i++) {
		const char *source = inner->sources.items[i];

		if (!guard_path_within(path, source))
			continue;
		rc = join(inner->dests.items[i], rest_below(path, source), name);
		if (rc == 0)
			rc = guard_names_add(ret, name);
	}
	return rc;
}

bool guard_root_is_machine(const struct guard_plan *plan, const char *path)
{
	char outer[PATH_MAX];

	return guard_root_outer(plan, path, outer) < 0 || strcmp(outer, "/") == 0 ||
	       guard_path_within(outer, "/sys") || guard_path_within(outer, "/proc");
}

static int translate(const struct guard_plan *plan, struct guard_names *names)
{
	struct guard_names inner = { 0 };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < names->count; i++)
		rc = guard_root_inner(plan, names->items[i], &inner);
	guard_names_free(names);
	*names = inner;
	return rc;
}

int guard_root_translate(struct guard_plan *plan)
{
	int rc = translate(plan, &plan->inner.masks);

	if (rc == 0)
		rc = translate(plan, &plan->inner.protects);
	return rc < 0 ? rc : translate(plan, &plan->inner.registries);
}

/* --- secrets and protections ------------------------------------------------------------- */

static int note_seen(const struct guard_plan *plan, const char *path, struct guard_names *ret)
{
	const struct guard_names *sources = &plan->inner.sources;

	for (size_t i = 0; i < sources->count; i++)
		if (guard_path_within(path, sources->items[i]))
			return guard_names_add(ret, path);
	return 0;
}

/* The host's `base`/`name`, as it is named and as what it is, if it is to be seen inside. */
static int note(const struct guard_plan *plan, const char *base, const char *name,
		struct guard_names *ret)
{
	struct guard_object object = { .fd = -1 };
	char path[2 * PATH_MAX];
	int rc = snprintf(path, sizeof(path), "%s/%s", strcmp(base, "/") == 0 ? "" : base,
			  name + strspn(name, "/"));

	if ((size_t)rc >= PATH_MAX)
		return -ENAMETOOLONG;
	if (guard_resolve_quick("/", path, NULL, &object) == 0 && strcmp(object.path, path) != 0)
		rc = note_seen(plan, object.path, ret);
	fence_close_fd(&object.fd);
	return rc < 0 ? rc : note_seen(plan, path, ret);
}

static int note_list(const struct guard_plan *plan, const char *base, const char *const *list,
		     struct guard_names *ret)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && list[i] != NULL; i++)
		rc = note(plan, base, list[i], ret);
	return rc;
}

static int note_runtimes(struct guard_plan *plan)
{
	char base[64 + NAME_MAX];
	DIR *dir;
	struct dirent *entry;
	int rc = 0;

	if (getauxval(AT_UID) != 0) {
		(void)snprintf(base, sizeof(base), "/run/user/%lu", getauxval(AT_UID));
		return note_list(plan, base, guard_masked_in_runtime, &plan->inner.masks);
	}
	dir = opendir("/run/user");
	while (dir != NULL && rc >= 0 && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(base, sizeof(base), "/run/user/%s", entry->d_name);
		rc = note_list(plan, base, guard_masked_in_runtime, &plan->inner.masks);
	}
	if (dir != NULL)
		(void)closedir(dir);
	return rc;
}

/* The host's secrets are secrets also where they come in by another name. */
int guard_root_note_masks(struct guard_plan *plan)
{
	const char *homes[] = { getenv("HOME"), getauxval(AT_UID) == 0 ? "/root" : NULL };
	const char *agent = getenv("SSH_AUTH_SOCK");
	struct guard_names *masks = &plan->inner.masks;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < sizeof(homes) / sizeof(homes[0]); i++)
		if (homes[i] != NULL && homes[i][0] == '/')
			rc = note_list(plan, homes[i], guard_masked_in_home, masks);
	if (rc >= 0)
		rc = note_list(plan, "/", guard_masked_secrets, masks);
	if (rc >= 0)
		rc = note_list(plan, "/", guard_masked, masks);
	if (rc >= 0)
		rc = note_list(plan, "/run", guard_masked_in_run, masks);
	if (rc >= 0)
		rc = note_runtimes(plan);
	if (rc >= 0 && agent != NULL && agent[0] == '/')
		rc = note(plan, "/", agent, masks);
	return rc < 0 ? rc : 0;
}

/* It may not be there yet, so it is the folder that is looked up. */
int guard_root_note_registry(struct guard_plan *plan)
{
	struct guard_object folder = { .fd = -1 };
	char registry[64];
	char *slash;
	int rc;

	guard_placeholder_registry(registry, sizeof(registry));
	slash = strrchr(registry, '/');
	*slash = '\0';
	rc = guard_resolve_quick("/", registry, NULL, &folder);
	fence_close_fd(&folder.fd);
	if (rc == 0)
		rc = guard_path_push(folder.path, slash + 1);
	return rc < 0 ? rc : note_seen(plan, folder.path, &plan->inner.registries);
}

/* What confined this command, and what says how it goes. */
int guard_root_note_protections(struct guard_plan *plan, struct fence_err *err)
{
	const char *at = getenv(FENCE_ATTEMPT_MARKERS_VARIABLE);
	struct guard_names *protects = &plan->inner.protects;
	char path[PATH_MAX];
	char lock[PATH_MAX + sizeof(".lock")];
	int rc = 0;

	if (plan->policy->file_path != NULL)
		rc = note(plan, "/", plan->policy->file_path, protects);
	while (rc >= 0 && at != NULL &&
	       (rc = fence_attempt_markers_next(&at, path, sizeof(path))) == 1) {
		(void)snprintf(lock, sizeof(lock), "%s.lock", path);
		rc = note(plan, "/", path, protects);
		if (rc >= 0)
			rc = note(plan, "/", lock, protects);
	}
	return rc < 0 ? fence_fail(err, rc, "keep the policy file and markers from the command")
		      : 0;
}
