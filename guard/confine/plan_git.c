/* What makes git on the host run a program: hooks, settings, and the settings of whatever
 * repository it finds a way to.
 *
 * All of .git is read-only unless it is named, because no part of it can be left open that a
 * commit needs. git writes its index, and an index may say that any folder of the work tree
 * is another repository: then a plain `git status` of the outer one runs git in it, with the
 * settings that are found there (core.fsmonitor names a program). It makes files beside the
 * index, and one that it would make by the name of commondir sends it elsewhere for its
 * settings; a placeholder there is no way out, since git stops at one that is empty. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/glance.h"
#include "guard/confine/plan_build.h"
#include "guard/policy/gitconf.h"
#include "guard/policy/gitindex.h"

#define CONFIG_MAX_BYTES 1048576 /* 1 MiB */

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
	fd = guard_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return fd == -ENOENT || fd == -EACCES || fd == -ENOTDIR ? 0 : fd;
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

static int protect_hooks_paths(struct guard_plan *plan, const char *work_tree, const char *folder,
			       struct fence_err *err)
{
	int rc = protect_hooks_path(plan, work_tree, folder, "config", err);

	return rc < 0 ? rc : protect_hooks_path(plan, work_tree, folder, "config.worktree", err);
}

/* --- private copies ---------------------------------------------------------------------- */

/* What is written there the host never sees. */
static bool is_copy(const struct guard_plan *plan, const char *folder)
{
	const struct guard_op *op = guard_plan_nearest(plan, folder);

	return op != NULL && op->kind == GUARD_OP_OVERLAY;
}

/* Smaller ones are copied as fast as they are mounted. */
#define PACK_MIN_BYTES (1024 * 1024)
#define PACKS_MAX      64

static bool ends_in(const char *name, const char *end)
{
	size_t length = strlen(name);

	return length >= strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

/* What a link leads to would be shown where it is hidden. */
static int hold_pack(struct guard_plan *plan, const char *folder, const char *name,
		     struct fence_err *err)
{
	struct guard_object pack = { .fd = -1 };
	size_t length = strlen(folder);
	int rc;

	if (!ends_in(name, ".pack"))
		return 0;
	rc = guard_resolve_quick(folder, name, NULL, &pack);
	if (rc < 0 || !S_ISREG(pack.st.st_mode) || pack.st.st_size < PACK_MIN_BYTES ||
	    strncmp(pack.path, folder, length) != 0 || pack.path[length] != '/' ||
	    strcmp(pack.path + length + 1, name) != 0) {
		fence_close_fd(&pack.fd);
		return 0; /* a copy that costs more is as good */
	}
	rc = guard_plan_add(plan, GUARD_OP_RO, false, &pack, err);
	return rc < 0 ? rc : 1;
}

/* git sets the time of a pack that has what it was about to write, which would bring all of it
 * into memory: in a file that is read-only it cannot, and writes the object. */
static int hold_packs(struct guard_plan *plan, const char *folder, struct fence_err *err)
{
	char path[2 * PATH_MAX];
	int held = 0;
	int rc = 0;
	struct dirent *entry;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s/objects/pack", folder);
	dir = strlen(path) < PATH_MAX ? opendir(path) : NULL;
	if (dir == NULL)
		return 0;
	while (rc >= 0 && held < PACKS_MAX && (entry = readdir(dir)) != NULL) {
		rc = hold_pack(plan, path, entry->d_name, err);
		held += rc > 0;
	}
	(void)closedir(dir);
	return rc < 0 ? rc : 0;
}

/* 1: the command has a copy of it, of its own or as a part of another. */
static int copy_git_folder(struct guard_plan *plan, const char *work_tree, const char *folder,
			   struct fence_err *err)
{
	int rc = is_copy(plan, folder) ? 1 : guard_plan_private(plan, "/", folder, err);

	if (rc <= 0)
		return rc;
	rc = hold_packs(plan, folder, err);
	if (rc == 0)
		rc = protect_hooks_paths(plan, work_tree, folder, err);
	return rc < 0 ? rc : 1;
}

/* A folder of git's, as a whole: a new commondir in it, or hooks where there were none,
 * would make git run what the command wrote, and what does not exist cannot be pinned.
 * Where it, or `common`, the repository that it belongs to, is writable by name, what
 * there is of it. */
static int protect_git_folder(struct guard_plan *plan, const char *work_tree, const char *folder,
			      const char *common, struct fence_err *err)
{
	const struct guard_op *op;
	int rc = copy_git_folder(plan, work_tree, folder, err);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	op = guard_plan_nearest(plan, folder);
	/* Not the root itself, nor one in it: whoever works there means to. */
	if (op != NULL && op->kind == GUARD_OP_RW && strcmp(op->path, folder) != 0 &&
	    strcmp(op->path, common) != 0)
		rc = guard_plan_protect(plan, "/", folder, false, err);
	if (rc == 0)
		rc = guard_plan_protect_list(plan, folder, guard_protected_in_git, NULL, err);
	return rc < 0 ? rc : protect_hooks_paths(plan, work_tree, folder, err);
}

static bool has_entry(const char *folder, const char *name)
{
	struct guard_object entry = { .fd = -1 };
	bool there = guard_resolve_quick(folder, name, NULL, &entry) == 0;

	fence_close_fd(&entry.fd);
	return there;
}

/* --- submodules ------------------------------------------------------------------------ */

struct modules {
	struct guard_plan *plan;
	const char *work_tree;
	struct fence_err *err;
};

/* Whatever is there, or comes there, git of the outer repository runs in it. A repository
 * keeps its .git and what that names; anything else stays as it is, or away. */
static int protect_module(void *arg, const char *path)
{
	static const struct guard_glance nothing_known = { .is_whole = false };
	const struct modules *modules = arg;
	struct guard_object folder = { .fd = -1 };
	char place[2 * PATH_MAX];
	int rc;

	(void)snprintf(place, sizeof(place), "%s/%s", modules->work_tree, path);
	if (strlen(place) >= PATH_MAX)
		return -ENAMETOOLONG;
	rc = guard_resolve_quick("/", place, NULL, &folder);
	fence_close_fd(&folder.fd);
	if (rc == 0 && has_entry(folder.path, ".git"))
		return guard_plan_protect_git(modules->plan, folder.path, &nothing_known,
					      modules->err);
	return guard_plan_protect(modules->plan, "/", place, true, modules->err);
}

/* The same of a work tree that the writable roots lie in: what is not in one of them stays
 * as it is, and a root that is itself the place of a module keeps its .git, or gets none. */
static int protect_inner_module(void *arg, const char *path)
{
	const struct modules *modules = arg;
	const struct guard_op *op;
	char place[2 * PATH_MAX];

	(void)snprintf(place, sizeof(place), "%s/%s", modules->work_tree, path);
	if (strlen(place) >= PATH_MAX)
		return -ENAMETOOLONG;
	op = guard_plan_nearest(modules->plan, place);
	if (op == NULL || op->kind != GUARD_OP_RW)
		return 0;
	if (strcmp(op->path, place) != 0)
		return protect_module(arg, path);
	return has_entry(place, ".git")
		       ? 0
		       : guard_plan_protect(modules->plan, place, ".git", true, modules->err);
}

/* `folder`'s index is that of the work tree. */
static int protect_modules(struct guard_plan *plan, const char *work_tree, const char *folder,
			   int (*protect)(void *arg, const char *path), struct fence_err *err)
{
	struct modules modules = { .plan = plan, .work_tree = work_tree, .err = err };
	char path[2 * PATH_MAX];
	struct stat st;
	uint8_t *bytes;
	owned_fd fd = -1;
	int rc;

	(void)snprintf(path, sizeof(path), "%s/index", folder);
	fd = guard_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return fd >= 0 || fd == -ENOENT || fd == -EACCES || fd == -ENOTDIR
			       ? 0
			       : fence_fail(err, fd, "read %s", path);
	/* git replaces it and never shortens it; if somebody does, we end here. */
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return fence_fail(err, -errno, "read %s", path);
	rc = guard_git_index_links(bytes, (size_t)st.st_size, protect, &modules);
	(void)munmap(bytes, (size_t)st.st_size);
	if (rc == -EBADMSG && err->code == 0)
		fence_fail_why(err, rc, "no index that git could have written",
			       "look for submodules in %s", path);
	else if (rc == -EOPNOTSUPP && err->code == 0) {
		fence_fail_why(err, rc, "it is split, and what it has is in another file",
			       "look for submodules in %s", path);
		(void)fence_hint(err, "git update-index --no-split-index");
	} else if (rc < 0 && err->code == 0)
		fence_fail(err, rc, "look for submodules in %s", path);
	return rc;
}

/* The folder that dir/name points to: `ret_folder` (PATH_MAX) gets its path, or "" when
 * there is none. */
static int find_pointed(const char *dir, const char *name, const char *prefix, char *ret_folder,
			struct fence_err *err)
{
	char pointer[PATH_MAX];
	struct guard_object folder = { .fd = -1 };
	int rc = read_pointer(dir, name, prefix, pointer);

	ret_folder[0] = '\0';
	if (rc > 0)
		rc = guard_plan_find_folder(dir, pointer, &folder);
	if (rc < 0) {
		fence_fail(err, rc, "look at what %s/%s names", dir, name);
		guard_hint_closed(rc, err);
		return rc;
	}
	if (folder.fd >= 0)
		memcpy(ret_folder, folder.path, PATH_MAX);
	fence_close_fd(&folder.fd);
	return 0;
}

/* The repository that has `folder`'s hooks, whose `commondir` names it, and which has
 * `folder` in it as a rule; then `folder`, with what git registers in both. */
static int protect_shared(struct guard_plan *plan, const char *work_tree, const char *folder,
			  struct fence_err *err)
{
	char common[PATH_MAX];
	int rc = find_pointed(folder, "commondir", "", common, err);

	if (rc == 0 && common[0] != '\0')
		rc = protect_git_folder(plan, work_tree, common, common, err);
	return rc < 0 ? rc : protect_git_folder(plan, work_tree, folder, common, err);
}

/* A work tree: `.git` is a file that names a folder. */
static int protect_work_tree(struct guard_plan *plan, const char *root, struct fence_err *err)
{
	char folder[PATH_MAX] = "";
	int rc = guard_plan_protect(plan, root, ".git", false, err);

	if (rc == 0)
		rc = find_pointed(root, ".git", "gitdir: ", folder, err);
	if (rc < 0 || folder[0] == '\0')
		return rc;
	rc = protect_shared(plan, root, folder, err);
	/* The index of what `commondir` names is another work tree's. */
	return rc < 0 ? rc : protect_modules(plan, root, folder, protect_module, err);
}

/* By what git itself knows one. */
static bool is_bare(const char *folder)
{
	return has_entry(folder, "HEAD") && has_entry(folder, "objects") &&
	       has_entry(folder, "refs");
}

int guard_plan_protect_git(struct guard_plan *plan, const char *root,
			   const struct guard_glance *glance, struct fence_err *err)
{
	char parent[PATH_MAX];
	char *last;
	struct guard_object git = { .fd = -1 };
	int rc;

	memcpy(parent, root, strlen(root) + 1);
	last = strrchr(parent, '/');
	if (strcmp(last, "/.git") == 0) {
		*last = '\0';
		return protect_git_folder(plan, parent, root, root, err);
	}
	rc = guard_glance_lacks(glance, ".git") ? -ENOENT
						: guard_resolve_quick(root, ".git", NULL, &git);
	if (rc == -ENOENT && guard_glance_lacks(glance, "HEAD"))
		return 0;
	if (guard_is_absent(rc, root, ".git"))
		return is_bare(root) ? protect_git_folder(plan, root, root, root, err) : 0;
	if (rc < 0) {
		fence_fail(err, rc, "look at %s/.git", root);
		guard_hint_closed(rc, err);
		return rc;
	}
	fence_close_fd(&git.fd);
	if (!S_ISDIR(git.st.st_mode))
		return protect_work_tree(plan, root, err);
	/* By the name that git uses: a link on the way is pinned then. */
	rc = guard_plan_private(plan, root, ".git", err);
	if (rc == 0)
		rc = guard_plan_protect(plan, root, ".git/config", false, err);
	if (rc >= 0)
		rc = protect_git_folder(plan, root, git.path, git.path, err);
	return rc < 0 ? rc : protect_modules(plan, root, git.path, protect_module, err);
}

/* --- around the writable roots ------------------------------------------------------------ */

/* The repository of a work tree, wherever its .git leads: 0 with "" when there is none. */
static int find_repository(const char *work_tree, char ret[PATH_MAX], struct fence_err *err)
{
	struct guard_object git = { .fd = -1 };
	char pointer[PATH_MAX];
	int rc = guard_resolve_quick(work_tree, ".git", NULL, &git);

	ret[0] = '\0';
	if (rc < 0)
		return guard_is_absent(rc, work_tree, ".git") || rc == -EACCES
			       ? 0
			       : fence_fail(err, rc, "look at %s/.git", work_tree);
	if (!S_ISDIR(git.st.st_mode)) {
		fence_close_fd(&git.fd);
		rc = read_pointer(work_tree, ".git", "gitdir: ", pointer);
		if (rc > 0)
			rc = guard_plan_find_folder(work_tree, pointer, &git);
		if (rc < 0)
			return fence_fail(err, rc, "look at what %s/.git names", work_tree);
	}
	if (git.fd >= 0)
		memcpy(ret, git.path, PATH_MAX);
	fence_close_fd(&git.fd);
	return 0;
}

/* The one that git finds from the root is a copy, wherever it lies. */
static int copy_enclosing(struct guard_plan *plan, const char *root, const char *work_tree,
			  const char *folder, struct fence_err *err)
{
	char common[PATH_MAX];
	int rc;

	if (guard_path_within(root, folder))
		return 0;
	rc = find_pointed(folder, "commondir", "", common, err);
	if (rc == 0 && common[0] != '\0')
		rc = copy_git_folder(plan, work_tree, common, err);
	return rc < 0 ? rc : copy_git_folder(plan, work_tree, folder, err);
}

int guard_plan_protect_enclosing(struct guard_plan *plan, const char *root,
				 const struct guard_glance *glance, struct fence_err *err)
{
	char outer[PATH_MAX];
	char folder[PATH_MAX];
	bool is_nearest = true;
	int rc = 0;

	(void)snprintf(outer, sizeof(outer), "%s", root);
	while (rc >= 0 && strcmp(outer, "/") != 0) {
		char *last = strrchr(outer, '/');

		last[last == outer ? 1 : 0] = '\0';
		rc = find_repository(outer, folder, err);
		if (rc < 0 || folder[0] == '\0')
			continue;
		if (is_nearest && (guard_glance_lacks(glance, ".git") || !has_entry(root, ".git")))
			rc = copy_enclosing(plan, root, outer, folder, err);
		is_nearest = false;
		if (rc >= 0)
			rc = protect_modules(plan, strcmp(outer, "/") == 0 ? "" : outer, folder,
					     protect_inner_module, err);
	}
	return rc < 0 ? rc : 0;
}
