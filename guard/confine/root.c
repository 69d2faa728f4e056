/* The order:
 *  1. nothing that we mount crosses over to the host
 *  2. the root, and what is to be brought into it, are looked up while the view is the
 *     host's, and with them what of theirs is protected and masked
 *  3. copies of them as mounts
 *  4. the root on "/", and in its place
 *  5. the host's /dev and /proc in theirs: the command's own are made from them, and cover
 *     them
 *  6. what is brought in
 * Where the folder has no place for one of these, a folder in memory takes the place of the
 * one that lacks it, with everything that is in that one bound into it: on the host nothing
 * is made. */
#include "guard/confine/root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/attempt.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/cause.h"
#include "guard/confine/pivot.h"
#include "guard/confine/placeholder.h"
#include "guard/confine/resolve.h"
#include "guard/confine/tree.h"

#define ENTRIES_MAX 512 /* so many are bound, each a mount */

struct bound {
	int tree_fd;
	bool is_dir;
};

struct entering {
	struct guard_plan *plan;
	struct fence_err *err;
	struct guard_names links, link_rules; /* on the way, on the host */
	const char *rule;		      /* under way */
	struct guard_object root;
	int dev_fd, proc_fd;
	struct bound *bound; /* as many as policy->binds */
};

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

/* --- 2. on the host ------------------------------------------------------------------- */

static int note_link(void *arg, const struct guard_object *link)
{
	struct entering *entering = arg;
	int rc = guard_names_add(&entering->links, link->path);

	return rc < 0 ? rc : guard_names_add(&entering->link_rules, entering->rule);
}

static int look_up(struct entering *entering, const char *option, const char *path,
		   struct guard_object *ret)
{
	struct guard_link_watch watch = { .seen = note_link, .arg = entering };
	char cwd[PATH_MAX] = "/";
	int rc = 0;

	entering->rule = path;
	entering->plan->current = path;
	if (path[0] != '/' && getcwd(cwd, sizeof(cwd)) == NULL)
		rc = -errno;
	if (rc == 0)
		rc = path[0] == '\0' ? -ENOENT : guard_resolve_quick(cwd, path, &watch, ret);
	return rc < 0 ? fence_fail(entering->err, rc, "--%s %s", option, path) : 0;
}

static int look_up_root(struct entering *entering)
{
	const char *path = entering->plan->policy->root;
	struct stat st;
	int rc = look_up(entering, "root", path, &entering->root);

	if (rc < 0)
		return rc;
	if (!S_ISDIR(entering->root.st.st_mode))
		return fence_fail(entering->err, -ENOTDIR, "--root %s", path);
	if (stat("/", &st) == 0 && st.st_dev == entering->root.st.st_dev &&
	    st.st_ino == entering->root.st.st_ino) {
		fence_fail_why(entering->err, -EINVAL, "it is the root already", "--root %s", path);
		(void)fence_hint(entering->err, "leave the option out");
		return -EINVAL;
	}
	rc = guard_names_add(&entering->plan->inner.sources, entering->root.path);
	return rc < 0 ? rc : guard_names_add(&entering->plan->inner.dests, "/");
}

static int clone_of(struct entering *entering, const char *option, const char *path, int fd)
{
	int tree_fd = guard_tree_clone(fd, "");

	if (tree_fd == -EINVAL)
		return fence_fail_why(entering->err, tree_fd,
				      "it cannot be bound: unbindable, or below a mount that is",
				      "--%s %s", option, path);
	return tree_fd < 0 ? fence_fail(entering->err, tree_fd, "--%s %s", option, path) : tree_fd;
}

static int take_bind(struct entering *entering, size_t number)
{
	struct guard_plan *plan = entering->plan;
	const struct guard_bind *bind = &plan->policy->binds[number];
	struct bound *bound = &entering->bound[number];
	struct guard_object object = { .fd = -1 };
	owned_fd fd = -1;
	int rc = look_up(entering, "bind", bind->source, &object);

	fd = object.fd;
	if (rc < 0)
		return rc;
	rc = guard_names_add(&plan->inner.sources, object.path);
	if (rc == 0)
		rc = guard_names_add(&plan->inner.dests, bind->dest);
	if (rc < 0)
		return rc;
	bound->is_dir = S_ISDIR(object.st.st_mode);
	bound->tree_fd = clone_of(entering, "bind", bind->source, fd);
	return bound->tree_fd < 0 ? bound->tree_fd : 0;
}

static int take_binds(struct entering *entering)
{
	size_t count = entering->plan->policy->bind_count;
	int rc = 0;

	entering->bound = calloc(count + 1, sizeof(*entering->bound));
	if (entering->bound == NULL)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = take_bind(entering, i);
	return rc;
}

/* By the rule of every named path: no link in a folder that the command may write. */
static int pass_links_on(struct entering *entering)
{
	struct guard_plan *plan = entering->plan;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < entering->links.count; i++) {
		rc = guard_root_inner(plan, entering->links.items[i], &plan->links);
		while (rc == 0 && plan->link_rules.count < plan->links.count)
			rc = guard_names_add(&plan->link_rules, entering->link_rules.items[i]);
	}
	return rc;
}

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
static int note_masks(struct guard_plan *plan)
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
static int note_protections(struct guard_plan *plan, struct fence_err *err)
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

static int look_around(struct entering *entering)
{
	struct guard_plan *plan = entering->plan;
	char registry[64];
	int rc = look_up_root(entering);

	if (rc == 0)
		rc = take_binds(entering);
	if (rc == 0)
		rc = pass_links_on(entering);
	if (rc == 0)
		rc = note_masks(plan);
	if (rc == 0)
		rc = note_protections(plan, entering->err);
	guard_placeholder_registry(registry, sizeof(registry));
	return rc < 0 ? rc : guard_root_inner(plan, registry, &plan->inner.registries);
}

/* --- folders in memory ------------------------------------------------------------------- */

static int bind_entry(int from_fd, int to_fd, const char *name)
{
	char target[PATH_MAX];
	struct stat st;
	owned_fd tree_fd = -1;
	ssize_t length;

	if (fstatat(from_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISLNK(st.st_mode)) {
		length = readlinkat(from_fd, name, target, sizeof(target) - 1);
		if (length < 0)
			return -errno;
		target[length] = '\0';
		return symlinkat(target, to_fd, name) < 0 ? -errno : 0;
	}
	if (S_ISDIR(st.st_mode) ? mkdirat(to_fd, name, 0755) < 0
				: mknodat(to_fd, name, S_IFREG | 0444, 0) < 0)
		return -errno;
	tree_fd = guard_tree_clone(from_fd, name);
	return tree_fd < 0 ? tree_fd : guard_tree_attach(tree_fd, to_fd, name);
}

static int bind_entries(int from_fd, int to_fd)
{
	int list_fd = fcntl(from_fd, F_DUPFD_CLOEXEC, 3);
	DIR *dir = list_fd < 0 ? NULL : fdopendir(list_fd);
	struct dirent *entry;
	size_t count = 0;
	int rc = 0;

	if (dir == NULL)
		return -errno;
	while (rc == 0 && (errno = 0, entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		rc = ++count > ENTRIES_MAX ? -E2BIG : bind_entry(from_fd, to_fd, entry->d_name);
	}
	if (rc == 0 && errno != 0)
		rc = -errno;
	(void)closedir(dir);
	return rc;
}

/* A folder in memory with all that is in `folder_fd`, as a mount on dir_fd/path. */
static int shadow(struct guard_plan *plan, int folder_fd, int dir_fd, const char *path,
		  int *ret_tree_fd)
{
	owned_fd from_fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	owned_fd tree_fd =
		from_fd < 0 ? -errno
			    : guard_tree_new("tmpfs", NULL, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	struct stat like, st;
	int rc = tree_fd < 0 ? tree_fd : guard_tree_attach(tree_fd, dir_fd, path);

	if (rc == 0 && (fstat(from_fd, &like) < 0 || fstat(tree_fd, &st) < 0))
		rc = -errno;
	if (rc == 0)
		rc = bind_entries(from_fd, tree_fd);
	/* In a user namespace it stays ours: nobody else's can be made. */
	if (rc == 0 && plan->real_root && fchown(tree_fd, like.st_uid, like.st_gid) < 0)
		rc = -errno;
	if (rc == 0 && fchmod(tree_fd, like.st_mode & 07777) < 0)
		rc = -errno;
	if (rc < 0)
		return rc;
	plan->inner.made_up[plan->inner.made_up_count++] = st.st_dev;
	*ret_tree_fd = fence_take_fd(&tree_fd);
	return 0;
}

static bool is_made_up(const struct guard_plan *plan, dev_t device)
{
	for (size_t i = 0; i < plan->inner.made_up_count; i++)
		if (plan->inner.made_up[i] == device)
			return true;
	return false;
}

static int fail_place(const struct guard_plan *plan, int rc, const char *path,
		      struct fence_err *err)
{
	char outer[PATH_MAX];

	if (rc == -E2BIG)
		fence_fail_why(err, rc, "the folder that it would be in has too many entries",
			       "make a place for %s", path);
	else
		fence_fail(err, rc, "make a place for %s", path);
	(void)fence_hint(err, "create %s", guard_root_outer(plan, path, outer) == 0 ? outer : path);
	return rc;
}

/* The name that lacks in `nearest`, which becomes one in memory if it is not yet. */
static int make_missing(struct guard_plan *plan, struct guard_object *nearest)
{
	owned_fd folder_fd = fence_take_fd(&nearest->fd);
	int tree_fd = -1;
	int rc = 0;

	if (nearest->missing[0] == '\0')
		return -ENOENT;
	if (!is_made_up(plan, nearest->st.st_dev)) {
		if (plan->inner.made_up_count == GUARD_MADE_UP_MAX)
			return -E2BIG;
		rc = guard_names_add(&plan->inner.made_up_paths, nearest->path);
		if (rc == 0)
			rc = shadow(plan, folder_fd, folder_fd, "", &tree_fd);
		if (rc < 0)
			return rc;
		fence_close_fd(&folder_fd);
		folder_fd = tree_fd;
	}
	return mkdirat(folder_fd, nearest->missing, 0755) < 0 ? -errno : 0;
}

/* A folder that was made for it becomes a file. */
static int make_file(const char *path, struct guard_object *place)
{
	owned_fd parent_fd = openat(place->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *name = strrchr(place->path, '/') + 1;

	fence_close_fd(&place->fd);
	if (parent_fd < 0 || unlinkat(parent_fd, name, AT_REMOVEDIR) < 0 ||
	    mknodat(parent_fd, name, S_IFREG | 0444, 0) < 0)
		return -errno;
	return guard_resolve_quick("/", path, NULL, place);
}

/* Where a mount goes: found in the root, by its own links, or made in memory. */
static int find_place(struct guard_plan *plan, const char *path, bool is_dir,
		      struct guard_object *ret, struct fence_err *err)
{
	bool made = false;
	int rc;

	while ((rc = guard_resolve("/", path, NULL, ret)) == -ENOENT && ret->fd >= 0) {
		made = true;
		rc = make_missing(plan, ret);
		if (rc < 0)
			return fail_place(plan, rc, path, err);
	}
	if (rc == 0 && made && !is_dir)
		rc = make_file(path, ret);
	if (rc == 0 && S_ISDIR(ret->st.st_mode) != is_dir)
		rc = is_dir ? -ENOTDIR : -EISDIR;
	if (rc < 0) {
		fence_close_fd(&ret->fd);
		return fence_fail(err, rc, "mount on %s", path);
	}
	return 0;
}

/* --- 3. to 6. ----------------------------------------------------------------------------- */

static bool lacks(const struct entering *entering, const char *path)
{
	char name[NAME_MAX + 1];
	size_t length = strcspn(path + strspn(path, "/"), "/");
	struct stat st;

	if (length == 0 || length > NAME_MAX)
		return false;
	memcpy(name, path + strspn(path, "/"), length);
	name[length] = '\0';
	return fstatat(entering->root.fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

static bool lacks_a_place(const struct entering *entering)
{
	const struct guard_policy *policy = entering->plan->policy;
	bool lacking = lacks(entering, "dev") || lacks(entering, "proc") || lacks(entering, "tmp");

	for (size_t i = 0; !lacking && i < policy->bind_count; i++)
		lacking = lacks(entering, policy->binds[i].dest);
	return lacking;
}

static int lay_root(struct entering *entering)
{
	struct guard_plan *plan = entering->plan;
	const char *path = plan->policy->root;
	int rc;

	if (lacks_a_place(entering)) {
		rc = guard_names_add(&plan->inner.made_up_paths, "/");
		if (rc == 0)
			rc = shadow(plan, entering->root.fd, AT_FDCWD, "/", &plan->inner.fd);
		if (rc < 0) {
			fence_fail(entering->err, rc, "make places in a copy of %s", path);
			(void)fence_hint(entering->err, "create dev, proc and tmp in it");
		}
		return rc;
	}
	plan->inner.fd = clone_of(entering, "root", path, entering->root.fd);
	if (plan->inner.fd < 0)
		return plan->inner.fd;
	rc = guard_tree_attach(plan->inner.fd, AT_FDCWD, "/");
	return rc < 0 ? fence_fail(entering->err, rc, "mount the root %s", path) : 0;
}

static int change_root(struct entering *entering)
{
	struct guard_inner *inner = &entering->plan->inner;
	int rc = 0;

	inner->host_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (inner->host_fd < 0)
		rc = -errno;
	if (rc == 0)
		rc = entering->dev_fd = guard_tree_clone(AT_FDCWD, "/dev");
	if (rc >= 0)
		rc = entering->proc_fd = guard_tree_clone(AT_FDCWD, "/proc");
	if (rc < 0)
		return fence_fail(entering->err, rc, "take over the host's /dev and /proc");
	rc = lay_root(entering);
	if (rc == 0)
		rc = guard_pivot_enter(inner->fd, entering->err);
	inner->is_set = rc == 0;
	if (rc == 0 && chdir("/") < 0)
		rc = fence_fail(entering->err, -errno, "enter the new root");
	return rc;
}

static int attach(struct entering *entering, const char *path, int tree_fd, bool is_dir)
{
	struct guard_object place = { .fd = -1 };
	int rc = find_place(entering->plan, path, is_dir, &place, entering->err);

	if (rc < 0)
		return rc;
	rc = guard_tree_attach(tree_fd, place.fd, "");
	fence_close_fd(&place.fd);
	return rc < 0 ? fence_fail(entering->err, rc, "mount on %s", path) : 0;
}

static int attach_own(struct entering *entering, const char *path, int tree_fd)
{
	struct stat st;

	if (lstat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return fence_fail_why(entering->err, -ENOTDIR, "it must be a folder",
				      "mount on %s of the root", path);
	return attach(entering, path, tree_fd, true);
}

static int fill(struct entering *entering)
{
	const struct guard_policy *policy = entering->plan->policy;
	struct guard_object tmp = { .fd = -1 };
	int rc = attach_own(entering, "/dev", entering->dev_fd);

	if (rc == 0)
		rc = attach_own(entering, "/proc", entering->proc_fd);
	if (rc == 0)
		rc = find_place(entering->plan, "/tmp", true, &tmp, entering->err);
	fence_close_fd(&tmp.fd);
	for (size_t i = 0; rc == 0 && i < policy->bind_count; i++) {
		const struct bound *bound = &entering->bound[i];

		entering->plan->current = policy->binds[i].source;
		rc = attach(entering, policy->binds[i].dest, bound->tree_fd, bound->is_dir);
	}
	return rc;
}

static void drop(struct entering *entering)
{
	for (size_t i = 0; entering->bound != NULL && i < entering->plan->policy->bind_count; i++)
		fence_drop_fd(&entering->bound[i].tree_fd);
	free(entering->bound);
	fence_close_fd(&entering->root.fd);
	fence_close_fd(&entering->dev_fd);
	fence_close_fd(&entering->proc_fd);
	guard_names_free(&entering->links);
	guard_names_free(&entering->link_rules);
}

int guard_root_enter(struct guard_plan *plan, struct fence_err *err)
{
	struct entering entering = {
		.plan = plan,
		.err = err,
		.root = { .fd = -1 },
		.dev_fd = -1,
		.proc_fd = -1,
	};
	mode_t mask = umask(0);
	int rc = 0;

	plan->current = plan->policy->root;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		rc = fence_fail(err, -errno, "make the mounts private");
	if (rc == 0)
		rc = look_around(&entering);
	if (rc == 0)
		rc = change_root(&entering);
	if (rc == 0)
		rc = fill(&entering);
	(void)umask(mask);
	drop(&entering);
	if (rc == 0)
		plan->current = NULL;
	return rc < 0 && err->code == 0 ? fence_fail(err, rc, "--root %s", plan->policy->root) : rc;
}

int guard_root_leave(struct guard_plan *plan, struct fence_err *err)
{
	return guard_pivot_leave(plan->inner.fd, 1, err);
}

/* A folder in memory that somebody means to write to would lose it; so would one of the
 * host's of which a part is in memory. */
int guard_root_check(const struct guard_plan *plan, struct fence_err *err)
{
	const struct guard_names *made_up = &plan->inner.made_up_paths;

	for (size_t i = 0; i < plan->count; i++) {
		const struct guard_op *op = &plan->ops[i];
		bool in_memory = is_made_up(plan, op->st.st_dev);

		if (op->kind != GUARD_OP_RW && op->kind != GUARD_OP_OVERLAY)
			continue;
		for (size_t j = 0; !in_memory && j < made_up->count; j++)
			in_memory = guard_path_within(made_up->items[j], op->path);
		if (!in_memory)
			continue;
		fence_fail_why(err, -EROFS,
			       "it is not there, or something in it is not that a "
			       "mount goes to",
			       "let %s be written", op->path);
		(void)fence_hint(err, "create it on the host");
		return -EROFS;
	}
	return 0;
}
