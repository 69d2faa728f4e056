/* What is protected and masked without being named. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "fence/attempt.h"
#include "fence/own.h"
#include "guard/confine/glance.h"
#include "guard/confine/plan_build.h"

int guard_plan_protect_list(struct guard_plan *plan, const char *base, const char *const *list,
			    const struct guard_glance *glance, struct fence_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && list[i] != NULL; i++)
		if (glance == NULL || !guard_glance_lacks(glance, list[i]))
			rc = guard_plan_protect(plan, base, list[i], false, err);
	return rc;
}

int guard_plan_find_folder(const char *base, const char *path, struct guard_object *ret)
{
	int rc = guard_resolve_quick(base, path, NULL, ret);

	if (rc == 0 && S_ISDIR(ret->st.st_mode))
		return 0;
	fence_close_fd(&ret->fd);
	return rc == 0 || guard_is_absent(rc, base, path) ? 0 : rc;
}

/* The markers of the attempts that we run in. A supervisor replaces its own when the attempt
 * ends, which takes the mount away: until then it says what the supervisor wrote. */
static int protect_markers(struct guard_plan *plan, struct fence_err *err)
{
	const char *at = getenv(FENCE_ATTEMPT_MARKERS_VARIABLE);
	char path[PATH_MAX];
	char lock[PATH_MAX + sizeof(".lock")];
	int rc;

	if (at == NULL)
		return 0;
	while ((rc = fence_attempt_markers_next(&at, path, sizeof(path))) == 1) {
		(void)snprintf(lock, sizeof(lock), "%s.lock", path);
		rc = guard_plan_protect(plan, "/", path, false, err);
		if (rc == 0)
			rc = guard_plan_protect(plan, "/", lock, false, err);
		if (rc < 0)
			return rc;
	}
	if (rc == 0)
		return 0;
	fence_fail_why(err, rc, "not a list of markers as fence-supervisor makes it",
		       "keep " FENCE_ATTEMPT_MARKERS_VARIABLE " from the command");
	return fence_hint(err, "unset it");
}

/* --- writable roots and the home folder ----------------------------------------------- */

/* The last folder that was looked at. The home folder is often the writable root as well,
 * and need not be listed again. */
struct looked {
	const char *folder;	     /* NULL: none yet */
	struct guard_glance *glance; /* what was seen there */
};

static const struct guard_glance *look(struct looked *looked, const char *folder)
{
	if (looked->folder == NULL || strcmp(looked->folder, folder) != 0)
		guard_glance(folder, looked->glance);
	looked->folder = folder;
	return looked->glance;
}

static int protect_roots(struct guard_plan *plan, struct looked *looked, struct fence_err *err)
{
	size_t count = plan->count;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		/* The string stays where it is when the list moves. */
		const char *root = plan->ops[i].path;

		if (plan->ops[i].kind != GUARD_OP_RW || !S_ISDIR(plan->ops[i].st.st_mode))
			continue;
		rc = guard_plan_protect_git(plan, root, look(looked, root), err);
		if (rc == 0)
			rc = guard_plan_protect_enclosing(plan, root, looked->glance, err);
		if (rc == 0)
			rc = guard_plan_protect_list(plan, root, guard_protected_in_root,
						     looked->glance, err);
	}
	return rc;
}

static int protect_home(struct guard_plan *plan, const char *home,
			const struct guard_glance *glance, struct fence_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && guard_protected_in_home[i] != NULL; i++) {
		char path[PATH_MAX + 64];
		const struct guard_op *op;

		if (guard_glance_lacks(glance, guard_protected_in_home[i]))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", home, guard_protected_in_home[i]);
		op = guard_plan_nearest(plan, path);
		if (op != NULL && op->kind == GUARD_OP_RW)
			rc = guard_plan_protect(plan, home, guard_protected_in_home[i], false, err);
	}
	return rc;
}

/* `glance` (of `base`) may be NULL. */
static int mask_list(struct guard_plan *plan, const char *base, const char *const *list,
		     const struct guard_glance *glance, struct fence_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && list[i] != NULL; i++)
		if (glance == NULL || !guard_glance_lacks(glance, list[i]))
			rc = guard_plan_mask(plan, base, list[i], false, err);
	return rc;
}

static int home_defaults(struct guard_plan *plan, const char *home, struct looked *looked,
			 struct fence_err *err)
{
	struct guard_object folder = { .fd = -1 };
	const struct guard_glance *glance;
	int rc = 0;

	if (home == NULL || home[0] != '/')
		return 0;
	glance = look(looked, home);
	if (glance->is_absent)
		return 0;
	/* Seen through no link, its name is the folder's own. */
	if (!glance->is_whole || !guard_path_is_plain(home)) {
		rc = guard_plan_find_folder("/", home, &folder);
		if (rc == 0 && folder.fd < 0)
			return 0;
		fence_close_fd(&folder.fd);
		home = folder.path;
	}
	if (rc < 0) {
		fence_fail(err, rc, "look at the home folder %s", home);
		guard_hint_closed(rc, err);
		return rc;
	}
	rc = protect_home(plan, home, glance, err);
	return rc < 0 ? rc : mask_list(plan, home, guard_masked_in_home, glance, err);
}

/* The command's home folder, that of whoever calls, and root's, whose secrets are
 * where they are, whatever HOME says. */
static int all_homes(struct guard_plan *plan, struct looked *looked, struct fence_err *err)
{
	const char *homes[] = { plan->home, getenv("HOME"),
				getauxval(AT_UID) == 0 ? "/root" : NULL };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(homes) / sizeof(homes[0]); i++) {
		bool is_done = false;

		for (size_t j = 0; homes[i] != NULL && j < i; j++)
			is_done |= homes[j] != NULL && strcmp(homes[i], homes[j]) == 0;
		if (!is_done)
			rc = home_defaults(plan, homes[i], looked, err);
	}
	return rc;
}

static int mask_runtime(struct guard_plan *plan, const char *name, struct fence_err *err)
{
	struct guard_object folder = { .fd = -1 };
	int rc = guard_plan_find_folder("/run/user", name, &folder);

	if (rc < 0)
		return fence_fail(err, rc, "look at /run/user/%s", name);
	if (folder.fd >= 0)
		rc = mask_list(plan, folder.path, guard_masked_in_runtime, NULL, err);
	fence_close_fd(&folder.fd);
	return rc;
}

/* Root may enter everybody's, by CAP_DAC_OVERRIDE or by becoming them; behind the
 * sockets there somebody starts what he is told, outside. */
static int mask_all_runtimes(struct guard_plan *plan, struct fence_err *err)
{
	DIR *dir = opendir("/run/user");
	struct dirent *entry;
	int rc = 0;

	if (dir == NULL)
		return errno == ENOENT ? 0 : fence_fail(err, -errno, "list /run/user");
	while (rc == 0 && (errno = 0, entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			rc = mask_runtime(plan, entry->d_name, err);
	if (rc == 0 && errno != 0)
		rc = fence_fail(err, -errno, "list /run/user");
	(void)closedir(dir);
	return rc;
}

static int runtime_defaults(struct guard_plan *plan, bool has_runtimes, struct fence_err *err)
{
	const char *agent = getenv("SSH_AUTH_SOCK");
	char name[32];
	int rc = 0;

	(void)snprintf(name, sizeof(name), "%lu", getauxval(AT_UID));
	if (has_runtimes)
		rc = getauxval(AT_UID) == 0 ? mask_all_runtimes(plan, err)
					    : mask_runtime(plan, name, err);
	if (rc == 0 && agent != NULL && agent[0] == '/')
		rc = guard_plan_mask(plan, "/", agent, false, err);
	return rc;
}

/* What we may not read with the capabilities that we have now, the command may not read
 * without. Asking for that is one system call, a mask three. */
static bool is_closed_to_us(const char *path)
{
	owned_fd fd = guard_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd == -EACCES;
}

/* Root reads all of them; there, and for who only wants to know the rule, they are not
 * asked about. */
static int mask_secrets(struct guard_plan *plan, struct fence_err *err)
{
	bool ask = !plan->look_only && getauxval(AT_UID) != 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && guard_masked_secrets[i] != NULL; i++)
		if (!ask || !is_closed_to_us(guard_masked_secrets[i]))
			rc = guard_plan_mask(plan, "/", guard_masked_secrets[i], false, err);
	return rc;
}

static int protect_own(struct guard_plan *plan, struct fence_err *err)
{
	const char *file = plan->policy->file_path;
	int rc = file == NULL ? 0 : guard_plan_protect(plan, "/", file, false, err);

	return rc < 0 ? rc : protect_markers(plan, err);
}

/* In a root of the command's own all of that has other names, or none. */
static int add_inner(struct guard_plan *plan, struct fence_err *err)
{
	const struct guard_inner *inner = &plan->inner;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < inner->protects.count; i++)
		rc = guard_plan_protect(plan, "/", inner->protects.items[i], false, err);
	for (size_t i = 0; rc == 0 && i < inner->masks.count; i++)
		rc = guard_plan_mask(plan, "/", inner->masks.items[i], false, err);
	return rc;
}

int guard_plan_add_defaults(struct guard_plan *plan, struct fence_err *err)
{
	struct guard_glance folder;
	struct looked looked = { .glance = &folder };
	struct guard_glance run;
	int rc;

	rc = protect_roots(plan, &looked, err);

	/* The next command is to be confined by what this one was, so the links that lead
	 * to it stay as well. */
	if (rc == 0)
		rc = plan->inner.is_set ? add_inner(plan, err) : protect_own(plan, err);
	if (rc == 0)
		rc = all_homes(plan, &looked, err);
	if (rc == 0)
		rc = mask_secrets(plan, err);
	if (rc == 0)
		rc = mask_list(plan, "/", guard_masked, NULL, err);
	guard_glance_system("/run", &run);
	if (rc == 0)
		rc = mask_list(plan, "/run", guard_masked_in_run, &run, err);
	return rc < 0 ? rc : runtime_defaults(plan, !guard_glance_lacks(&run, "user"), err);
}
