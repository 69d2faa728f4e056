/* What is protected and masked without being named. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/glance.h"
#include "guard/confine/plan_build.h"
#include "guard/policy/gitconf.h"

#define CONFIG_MAX_BYTES 1048576 /* 1 MiB */

/* `glance` (of `base`) may be NULL. */
static int protect_list(struct guard_plan *plan, const char *base, const char *const *list,
			const struct guard_glance *glance, struct fence_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && list[i] != NULL; i++)
		if (glance == NULL || !guard_glance_lacks(glance, list[i]))
			rc = guard_plan_protect(plan, base, list[i], false, err);
	return rc;
}

/* --- git -------------------------------------------------------------------------- */

/* The beginning of dir/name, if it is a regular file that we may read: its length,
 * 0 when it is nothing of the kind. Whoever wrote it may be hostile: it may be a
 * pipe that never answers, and what it names is only ever protected. */
static ssize_t read_beginning(const char *dir, const char *name, char *ret, size_t size_bytes)
{
	char path[2 * PATH_MAX];
	owned_fd fd = -1;
	struct stat st;
	size_t length = 0;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == EACCES || errno == ENOTDIR ? 0 : -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	while (length < size_bytes) {
		ssize_t got = fence_read_some(fd, ret + length, size_bytes - length);

		if (got <= 0)
			return got < 0 ? got : (ssize_t)length;
		length += (size_t)got;
	}
	return (ssize_t)length;
}

/* The first line of dir/name, after `prefix`: 1 when there is one that can be a path. */
static int read_pointer(const char *dir, const char *name, const char *prefix, char *ret)
{
	char text[PATH_MAX + 16];
	size_t skip = strlen(prefix);
	ssize_t length = read_beginning(dir, name, text, sizeof(text) - 1);

	if (length < 0)
		return (int)length;
	text[length] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, prefix, skip) != 0 || text[skip] == '\0' ||
	    strlen(text + skip) >= PATH_MAX)
		return 0;
	memcpy(ret, text + skip, strlen(text + skip) + 1);
	return 1;
}

/* Relative to the work tree; `~` is the home folder. */
static int protect_hooks_folder(struct guard_plan *plan, const char *work_tree, const char *path,
				struct fence_err *err)
{
	if (strncmp(path, "~/", 2) != 0)
		return guard_plan_protect(plan, work_tree, path, false, err);
	if (plan->home == NULL || plan->home[0] != '/')
		return 0;
	return guard_plan_protect(plan, plan->home, path + 2, false, err);
}

/* Where core.hooksPath of dir/name sends git for its hooks, in any of its versions. A configuration
 * that is larger than any real one is refused: what it hides at its end would not be seen. */
static int protect_hooks_path(struct guard_plan *plan, const char *work_tree, const char *dir,
			      const char *name, struct fence_err *err)
{
	static const enum guard_git_blanks blanks[] = { GUARD_GIT_BLANKS_KEPT,
							GUARD_GIT_BLANKS_SPACES };
	char path[PATH_MAX];
	int rc = 0;
	owned_mem char *text = malloc(CONFIG_MAX_BYTES + 1);
	ssize_t length =
		text == NULL ? -ENOMEM : read_beginning(dir, name, text, CONFIG_MAX_BYTES + 1);

	if (length > CONFIG_MAX_BYTES)
		length = -EFBIG;
	if (length < 0)
		return fence_fail(err, (int)length, "read %s/%s", dir, name);
	for (size_t i = 0; rc == 0 && i < 2; i++)
		if (guard_git_hooks_path(text, (size_t)length, blanks[i], path, sizeof(path)))
			rc = protect_hooks_folder(plan, work_tree, path, err);
	return rc;
}

/* A folder of git's, as a whole: a new commondir in it, or hooks where there were none,
 * would make git run what the command wrote, and what does not exist cannot be pinned.
 * Where it is writable by name, what there is of it. */
static int protect_git_folder(struct guard_plan *plan, const char *work_tree, const char *folder,
			      struct fence_err *err)
{
	const struct guard_op *op = guard_plan_nearest(plan, folder);
	int rc = 0;

	/* Not the root itself: whoever works in it means to. */
	if (op != NULL && op->kind == GUARD_OP_RW && strcmp(op->path, folder) != 0)
		rc = guard_plan_protect(plan, "/", folder, false, err);
	if (rc == 0)
		rc = protect_list(plan, folder, guard_protected_in_git, NULL, err);
	if (rc == 0)
		rc = protect_hooks_path(plan, work_tree, folder, "config", err);
	return rc < 0 ? rc : protect_hooks_path(plan, work_tree, folder, "config.worktree", err);
}

/* A folder that a pointer names, or nothing (ret->fd -1) when it is not there. */
static int find_folder(const char *base, const char *path, struct guard_object *ret)
{
	int rc = guard_resolve_quick(base, path, NULL, ret);

	if (rc == 0 && S_ISDIR(ret->st.st_mode))
		return 0;
	fence_close_fd(&ret->fd);
	return rc == 0 || guard_is_absent(rc, base, path) ? 0 : rc;
}

/* The folder that dir/name points to, and what git registers in it. `ret_folder`
 * (PATH_MAX) gets its path, or "" when there is none. */
static int protect_pointed(struct guard_plan *plan, const char *work_tree, const char *dir,
			   const char *name, const char *prefix, char *ret_folder,
			   struct fence_err *err)
{
	char pointer[PATH_MAX];
	struct guard_object folder = { .fd = -1 };
	int rc = read_pointer(dir, name, prefix, pointer);

	ret_folder[0] = '\0';
	if (rc > 0)
		rc = find_folder(dir, pointer, &folder);
	if (rc < 0) {
		fence_fail(err, rc, "look at what %s/%s names", dir, name);
		guard_hint_closed(rc, err);
		return rc;
	}
	if (folder.fd < 0)
		return 0;
	fence_close_fd(&folder.fd);
	memcpy(ret_folder, folder.path, PATH_MAX);
	return protect_git_folder(plan, work_tree, ret_folder, err);
}

/* A work tree: `.git` is a file that names a folder, whose `commondir` names the
 * repository that has the hooks. */
static int protect_work_tree(struct guard_plan *plan, const char *root, struct fence_err *err)
{
	char folder[PATH_MAX] = "";
	char common[PATH_MAX];
	int rc = guard_plan_protect(plan, root, ".git", false, err);

	if (rc == 0)
		rc = protect_pointed(plan, root, root, ".git", "gitdir: ", folder, err);
	if (rc < 0 || folder[0] == '\0')
		return rc;
	rc = guard_plan_protect(plan, folder, "commondir", false, err);
	return rc < 0 ? rc : protect_pointed(plan, root, folder, "commondir", "", common, err);
}

static bool has_entry(const char *folder, const char *name)
{
	struct guard_object entry = { .fd = -1 };
	bool there = guard_resolve_quick(folder, name, NULL, &entry) == 0;

	fence_close_fd(&entry.fd);
	return there;
}

/* By what git itself knows one. */
static bool is_bare(const char *folder)
{
	return has_entry(folder, "HEAD") && has_entry(folder, "objects") &&
	       has_entry(folder, "refs");
}

static int protect_git(struct guard_plan *plan, const char *root, const struct guard_glance *glance,
		       struct fence_err *err)
{
	char parent[PATH_MAX];
	char *last;
	struct guard_object git = { .fd = -1 };
	int rc;

	memcpy(parent, root, strlen(root) + 1);
	last = strrchr(parent, '/');
	if (strcmp(last, "/.git") == 0) {
		*last = '\0';
		return protect_git_folder(plan, parent, root, err);
	}
	rc = guard_glance_lacks(glance, ".git") ? -ENOENT
						: guard_resolve_quick(root, ".git", NULL, &git);
	if (rc == -ENOENT && guard_glance_lacks(glance, "HEAD"))
		return 0;
	if (guard_is_absent(rc, root, ".git"))
		return is_bare(root) ? protect_git_folder(plan, root, root, err) : 0;
	if (rc < 0) {
		fence_fail(err, rc, "look at %s/.git", root);
		guard_hint_closed(rc, err);
		return rc;
	}
	fence_close_fd(&git.fd);
	if (!S_ISDIR(git.st.st_mode))
		return protect_work_tree(plan, root, err);
	/* By the name that git uses as well: a link on the way is pinned then. */
	rc = guard_plan_protect(plan, root, ".git/config", false, err);
	return rc < 0 ? rc : protect_git_folder(plan, root, git.path, err);
}

/* --- writable roots and the home folder ----------------------------------------------- */

static int protect_roots(struct guard_plan *plan, struct fence_err *err)
{
	struct guard_glance glance;
	size_t count = plan->count;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		/* The string stays where it is when the list moves. */
		const char *root = plan->ops[i].path;

		if (plan->ops[i].kind != GUARD_OP_RW || !S_ISDIR(plan->ops[i].st.st_mode))
			continue;
		guard_glance(root, &glance);
		rc = protect_git(plan, root, &glance, err);
		if (rc == 0)
			rc = protect_list(plan, root, guard_protected_in_root, &glance, err);
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

static int home_defaults(struct guard_plan *plan, const char *home, struct fence_err *err)
{
	struct guard_object folder = { .fd = -1 };
	struct guard_glance glance;
	int rc = 0;

	if (home == NULL || home[0] != '/')
		return 0;
	guard_glance(home, &glance);
	/* Seen through no link, its name is the folder's own. */
	if (!glance.is_whole || !guard_path_is_plain(home)) {
		rc = find_folder("/", home, &folder);
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
	rc = protect_home(plan, home, &glance, err);
	return rc < 0 ? rc : mask_list(plan, home, guard_masked_in_home, &glance, err);
}

/* The command's home folder, that of whoever calls, and root's, whose secrets are
 * where they are, whatever HOME says. */
static int all_homes(struct guard_plan *plan, struct fence_err *err)
{
	const char *homes[] = { plan->home, getenv("HOME"),
				getauxval(AT_UID) == 0 ? "/root" : NULL };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(homes) / sizeof(homes[0]); i++) {
		bool is_done = false;

		for (size_t j = 0; homes[i] != NULL && j < i; j++)
			is_done |= homes[j] != NULL && strcmp(homes[i], homes[j]) == 0;
		if (!is_done)
			rc = home_defaults(plan, homes[i], err);
	}
	return rc;
}

static int mask_runtime(struct guard_plan *plan, const char *name, struct fence_err *err)
{
	struct guard_object folder = { .fd = -1 };
	int rc = find_folder("/run/user", name, &folder);

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

int guard_plan_add_defaults(struct guard_plan *plan, struct fence_err *err)
{
	struct guard_glance run;
	int rc = protect_roots(plan, err);

	/* The next command is to be confined by what this one was. */
	if (rc == 0 && plan->policy->file_path != NULL)
		rc = guard_plan_protect(plan, "/", plan->policy->file_path, false, err);
	if (rc == 0)
		rc = all_homes(plan, err);
	if (rc == 0)
		rc = mask_list(plan, "/", guard_masked, NULL, err);
	guard_glance_system("/run", &run);
	if (rc == 0)
		rc = mask_list(plan, "/run", guard_masked_in_run, &run, err);
	return rc < 0 ? rc : runtime_defaults(plan, !guard_glance_lacks(&run, "user"), err);
}
