/* What of the host is to be seen in a root of the command's own, and by what name. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "fence/attempt.h"
#include "fence/own.h"
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
	size_t best = 0; /* the root itself */

	for (size_t i = 1; i < dests->count; i++)
		if (guard_path_within(path, dests->items[i]) &&
		    strlen(dests->items[i]) >= strlen(dests->items[best]))
			best = i;
	return join(plan->inner.sources.items[best],
		    strcmp(path, "/") == 0 ? "" : rest_below(path, dests->items[best]), ret);
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

/* --- secrets and protections ------------------------------------------------------------- */

/* Where the host's `base`/`name` is to be seen inside, as it is named and as what it is. */
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
		rc = guard_root_inner(plan, object.path, ret);
	fence_close_fd(&object.fd);
	return rc < 0 ? rc : guard_root_inner(plan, path, ret);
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
