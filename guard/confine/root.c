/* The order:
 *  1. nothing that we mount crosses over to the host
 *  2. the root, and what is to be brought into it, are looked up while the view is the
 *     host's, and with them what of theirs is protected and masked
 *  3. copies of them as mounts
 *  4. the root on "/", and in its place
 *  5. the host's /dev and /proc in theirs: the command's own are made from them, and cover
 *     them
 *  6. what is brought in; from here on what was found in 2. has its name in the root
 * Where the folder has no place for one of these, a folder in memory takes the place of the
 * one that lacks it, with everything that is in that one bound into it: on the host nothing
 * is made. */
#include "guard/confine/root_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "guard/confine/pivot.h"
#include "guard/confine/tree.h"

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

static const char *option_of(const struct guard_bind *bind)
{
	return bind->access == GUARD_RO ? "ro-bind" : "bind";
}

static int take_bind(struct entering *entering, size_t number)
{
	struct guard_plan *plan = entering->plan;
	const struct guard_bind *bind = &plan->policy->binds[number];
	struct bound *bound = &entering->bound[number];
	const char *option = option_of(bind);
	struct guard_object object = { .fd = -1 };
	owned_fd fd = -1;
	int rc = look_up(entering, option, bind->source, &object);

	fd = object.fd;
	if (rc == 0)
		rc = guard_names_add(&plan->inner.sources, object.path);
	if (rc < 0)
		return rc;
	bound->is_dir = S_ISDIR(object.st.st_mode);
	bound->tree_fd = clone_of(entering, option, bind->source, fd);
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

static int look_around(struct entering *entering)
{
	struct guard_plan *plan = entering->plan;
	int rc = look_up_root(entering);

	if (rc == 0)
		rc = take_binds(entering);
	if (rc == 0)
		rc = guard_root_note_masks(plan);
	if (rc == 0)
		rc = guard_root_note_registry(plan);
	return rc < 0 ? rc : guard_root_note_protections(plan, entering->err);
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
			rc = guard_root_shadow(plan, entering->root.fd, AT_FDCWD, "/",
					       &plan->inner.fd);
		if (rc < 0) {
			if (rc == -E2BIG)
				fence_fail_why(entering->err, rc, "it has too many entries",
					       "make places in a copy of %s", path);
			else
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

/* ret: what it is called without links. */
static int attach(struct entering *entering, const char *path, int tree_fd, bool is_dir,
		  char ret[PATH_MAX])
{
	struct guard_object place = { .fd = -1 };
	int rc = guard_root_place(entering->plan, path, is_dir, &place, entering->err);

	if (rc < 0)
		return rc;
	memcpy(ret, place.path, sizeof(place.path));
	/* The kernel would put it on the host's, which still lies there. */
	if (strcmp(place.path, "/") == 0)
		rc = fence_fail_why(entering->err, -EINVAL, "it is the root itself", "mount on %s",
				    path);
	else
		rc = guard_tree_attach(tree_fd, place.fd, "");
	fence_close_fd(&place.fd);
	return rc < 0 && entering->err->code == 0
		       ? fence_fail(entering->err, rc, "mount on %s", path)
		       : rc;
}

static int attach_own(struct entering *entering, const char *path, int tree_fd)
{
	char place[PATH_MAX];
	struct stat st;

	if (lstat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return fence_fail_why(entering->err, -ENOTDIR, "it must be a folder",
				      "mount on %s of the root", path);
	return attach(entering, path, tree_fd, true, place);
}

/* Links in the root can lead to another place than the one that is named. */
static int bring_in(struct entering *entering, size_t number)
{
	struct guard_plan *plan = entering->plan;
	const struct guard_bind *bind = &plan->policy->binds[number];
	const struct bound *bound = &entering->bound[number];
	char place[PATH_MAX];
	int rc;

	plan->current = bind->source;
	rc = attach(entering, bind->dest, bound->tree_fd, bound->is_dir, place);
	return rc < 0 ? rc : guard_names_add(&plan->inner.dests, place);
}

static int fill(struct entering *entering)
{
	struct guard_object tmp = { .fd = -1 };
	int rc = attach_own(entering, "/dev", entering->dev_fd);

	if (rc == 0)
		rc = attach_own(entering, "/proc", entering->proc_fd);
	if (rc == 0)
		rc = guard_root_place(entering->plan, "/tmp", true, &tmp, entering->err);
	fence_close_fd(&tmp.fd);
	for (size_t i = 0; rc == 0 && i < entering->plan->policy->bind_count; i++)
		rc = bring_in(entering, i);
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
	if (rc == 0)
		rc = pass_links_on(&entering);
	if (rc == 0)
		rc = guard_root_translate(plan);
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
