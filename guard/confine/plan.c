#include "guard/confine/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "fence/own.h"
#include "guard/confine/cause.h"
#include "guard/confine/placeholder.h"
#include "guard/confine/plan_build.h"
#include "guard/confine/root.h"

void guard_hint_closed(int rc, struct fence_err *err)
{
	if (rc == -EACCES)
		(void)fence_hint(err, "a folder on its way lets not even its owner through: "
				      "chmod u+x it");
}

static int make_room(struct guard_plan *plan)
{
	static const size_t few = sizeof(plan->few) / sizeof(plan->few[0]);
	size_t room = plan->room == 0 ? few : 4 * plan->room;
	struct guard_op *more = plan->few;

	if (plan->count < plan->room)
		return 0;
	if (plan->room > 0)
		more = reallocarray(plan->room == few ? NULL : plan->ops, room, sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	if (plan->room == few)
		memcpy(more, plan->few, sizeof(plan->few));
	plan->ops = more;
	plan->room = room;
	return 0;
}

static char *keep_path(struct guard_plan *plan, const char *path, size_t length)
{
	char *kept = plan->paths + plan->paths_length;

	if (sizeof(plan->paths) - plan->paths_length <= length)
		return strdup(path);
	memcpy(kept, path, length + 1);
	plan->paths_length += length + 1;
	return kept;
}

void guard_plan_drop(const struct guard_plan *plan, struct guard_op *op)
{
	fence_drop_fd(&op->object_fd);
	fence_drop_fd(&op->tree_fd);
	if (op->path < plan->paths || op->path >= plan->paths + sizeof(plan->paths))
		free(op->path);
}

int guard_plan_add(struct guard_plan *plan, enum guard_op_kind kind, bool named,
		   struct guard_object *object, struct fence_err *err)
{
	owned_fd fd = fence_take_fd(&object->fd);
	struct guard_op *op;

	if (make_room(plan) < 0)
		return fence_fail(err, -ENOMEM, "plan for %s", object->path);
	op = &plan->ops[plan->count];
	*op = (struct guard_op){
		.kind = kind,
		.named = named,
		.shut = kind == GUARD_OP_MASK,
		.origin = plan->current,
		.length = strlen(object->path),
		.object_fd = -1,
		.st = object->st,
		.tree_fd = -1,
		.parent = -1,
	};
	op->path = keep_path(plan, object->path, op->length);
	if (op->path == NULL)
		return fence_fail(err, -ENOMEM, "plan for %s", object->path);
	op->object_fd = fence_take_fd(&fd);
	plan->count++;
	return 0;
}

const struct guard_op *guard_plan_nearest(const struct guard_plan *plan, const char *path)
{
	const struct guard_op *best = NULL;
	size_t path_length = strlen(path);

	/* Called for each of thousands of rules: the lengths rule out most. */
	for (size_t i = 0; i < plan->count; i++) {
		const struct guard_op *op = &plan->ops[i];

		if (op->kind == GUARD_OP_PIN || op->length > path_length ||
		    (best != NULL && op->length < best->length) ||
		    !guard_path_within(path, op->path))
			continue;
		if (best == NULL || op->length > best->length || (op->named && !best->named))
			best = op;
	}
	return best;
}

/* --- protection ------------------------------------------------------------------- */

static bool is_writable(const struct guard_plan *plan, const char *path)
{
	const struct guard_op *op = guard_plan_nearest(plan, path);

	return op != NULL && op->kind == GUARD_OP_RW;
}

static bool has_op(const struct guard_plan *plan, const char *path)
{
	size_t length = strlen(path);

	for (size_t i = plan->count; i > 0; i--)
		if (plan->ops[i - 1].length == length &&
		    memcmp(plan->ops[i - 1].path, path, length) == 0)
			return true;
	return false;
}

/* Every folder above `path` that could be renamed becomes a mount point: those
 * whose own parent may be written. */
static int pin_above(struct guard_plan *plan, const char *path, struct fence_err *err)
{
	struct guard_object above = { .fd = -1 };
	char name[PATH_MAX];
	char *slash;
	int rc = 0;

	memcpy(name, path, strlen(path) + 1);
	while (rc == 0 && (slash = strrchr(name, '/')) != NULL && slash != name) {
		*slash = '\0';
		if (!is_writable(plan, name))
			return 0;
		if (has_op(plan, name))
			continue;
		rc = guard_resolve_quick("/", name, NULL, &above);
		if (rc < 0)
			return fence_fail(err, rc, "pin %s", name);
		rc = guard_plan_add(plan, GUARD_OP_PIN, false, &above, err);
	}
	return rc;
}

struct link_pinning {
	struct guard_plan *plan;
	struct fence_err *err;
};

static int pin_link(void *arg, const struct guard_object *link)
{
	struct link_pinning *pinning = arg;
	struct guard_object own = *link;
	int rc;

	if (!is_writable(pinning->plan, link->path) || has_op(pinning->plan, link->path))
		return 0;
	own.fd = fcntl(link->fd, F_DUPFD_CLOEXEC, 3);
	if (own.fd < 0)
		return -errno;
	rc = guard_plan_add(pinning->plan, GUARD_OP_PIN, false, &own, pinning->err);
	return rc < 0 ? rc : pin_above(pinning->plan, link->path, pinning->err);
}

static int protect_object(struct guard_plan *plan, struct guard_object *object, bool named,
			  struct fence_err *err)
{
	int rc;

	if (!is_writable(plan, object->path)) {
		fence_close_fd(&object->fd);
		return 0;
	}
	rc = guard_plan_add(plan, GUARD_OP_RO, named, object, err);
	if (rc < 0)
		return rc;
	plan->ops[plan->count - 1].shut = true;
	return pin_above(plan, object->path, err);
}

static int keep_lock(struct guard_plan *plan, int fd, const char *path, struct fence_err *err)
{
	if (plan->lock_count == GUARD_PLACEHOLDERS_MAX) {
		(void)close(fd);
		return fence_fail_why(err, -E2BIG, "too many paths that do not exist", "protect %s",
				      path);
	}
	plan->locks[plan->lock_count++] = fd;
	return 0;
}

/* Where the registry of placeholders is looked up. */
static int host_of(const struct guard_plan *plan)
{
	return plan->inner.is_set ? plan->inner.host_fd : AT_FDCWD;
}

/* It is registered by its name on the host, where it is swept. */
static int make_placeholder(const struct guard_plan *plan, int folder_fd,
			    const struct guard_object *folder, int *ret_lock_fd,
			    struct fence_err *err)
{
	char outer[PATH_MAX];
	const char *path = folder->path;
	int rc = 0;

	if (plan->inner.is_set) {
		rc = guard_root_outer(plan, path, outer);
		path = outer;
	}
	return rc < 0 ? fence_fail(err, rc, "protect %s", folder->path)
		      : guard_placeholder_make(host_of(plan), folder_fd, path, folder->missing,
					       ret_lock_fd, err);
}

/* What is there may be another command's placeholder: it must stay for us, too. 1: it
 * went just now, look again. */
static int share_placeholder(struct guard_plan *plan, const struct guard_object *object,
			     struct fence_err *err)
{
	owned_fd folder_fd = guard_open_above(object->path, object->fd);
	int lock_fd = -1;
	int rc = folder_fd < 0 ? folder_fd
			       : guard_placeholder_join(host_of(plan), folder_fd,
							strrchr(object->path, '/') + 1, &lock_fd);

	if (rc == 1) {
		rc = guard_names_add(&plan->placeholders, object->path);
		return rc < 0 ? fence_fail(err, rc, "protect %s", object->path)
			      : keep_lock(plan, lock_fd, object->path, err);
	}
	if (rc == -ESTALE)
		return 1;
	return rc < 0 ? fence_fail(err, rc, "look at %s", object->path) : 0;
}

/* Protects what was found; takes its descriptor over. 1: look again. */
static int protect_found(struct guard_plan *plan, struct guard_object *object, bool named,
			 struct fence_err *err)
{
	int rc = !plan->look_only && guard_placeholder_looks_like(&object->st)
			 ? share_placeholder(plan, object, err)
			 : 0;

	if (rc == 0)
		return protect_object(plan, object, named, err);
	fence_close_fd(&object->fd);
	return rc;
}

/* A path that does not exist cannot be mounted on: a placeholder can, in place of the
 * first part of it that is missing. 1: look again. */
static int protect_missing(struct guard_plan *plan, const char *path, struct guard_object *nearest,
			   struct fence_err *err)
{
	owned_fd folder_fd = -1;
	int lock_fd = -1;
	int rc;

	if (guard_placeholder_looks_like(&nearest->st))
		return protect_found(plan, nearest, true, err);
	folder_fd = fence_take_fd(&nearest->fd);
	if (plan->look_only || !is_writable(plan, nearest->path))
		return 0;
	if (nearest->missing[0] == '\0')
		return fence_fail_why(err, -ENOENT,
				      "where it leads is not known before it is there",
				      "protect %s", path);
	rc = make_placeholder(plan, folder_fd, nearest, &lock_fd, err);
	if (rc < 0 && err != NULL && err->hint[0] == '\0')
		(void)fence_hint(err, "create it first, or protect a folder above it");
	if (rc <= 0)
		return rc < 0 ? rc : 1;
	rc = keep_lock(plan, lock_fd, path, err);
	if (rc == 0 && guard_path_push(nearest->path, nearest->missing) == 0)
		nearest->fd = openat(folder_fd, nearest->missing,
				     O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (rc == 0 && (nearest->fd < 0 || fstat(nearest->fd, &nearest->st) < 0))
		rc = fence_fail(err, -errno, "open the placeholder for %s", path);
	if (rc == 0 && guard_names_add(&plan->placeholders, nearest->path) < 0)
		rc = fence_fail(err, -ENOMEM, "protect %s", path);
	return rc < 0 ? rc : protect_object(plan, nearest, true, err);
}

/* 1: once more. */
static int protect_once(struct guard_plan *plan, const char *base, const char *path, bool named,
			struct fence_err *err)
{
	struct link_pinning pinning = { .plan = plan, .err = err };
	struct guard_link_watch watch = { .seen = pin_link, .arg = &pinning };
	struct guard_object object = { .fd = -1 };
	int rc = named ? guard_resolve(base, path, &watch, &object)
		       : guard_resolve_quick(base, path, &watch, &object);

	if (rc == 0)
		return protect_found(plan, &object, named, err);
	if (rc == -ENOENT && named && object.fd >= 0)
		return protect_missing(plan, path, &object, err);
	fence_close_fd(&object.fd);
	if (!named && guard_is_absent(rc, base, path))
		return 0;
	fence_fail(err, rc, "protect %s%s%s", path[0] == '/' ? "" : base, path[0] == '/' ? "" : "/",
		   path);
	guard_hint_closed(rc, err);
	return rc;
}

#define TRIES 64 /* as often as others may come between */

int guard_plan_protect(struct guard_plan *plan, const char *base, const char *path, bool named,
		       struct fence_err *err)
{
	int rc = 1;

	for (int i = 0; rc == 1 && i < TRIES; i++)
		rc = protect_once(plan, base, path, named, err);
	return rc == 1 ? fence_fail(err, -EAGAIN, "protect %s", path) : rc;
}

/* --- private copies ---------------------------------------------------------------- */

static bool has_name(int folder_fd, const char *name)
{
	return faccessat(folder_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whoever wrote the pointer that led to it may be hostile: nothing but a repository gets a
 * copy, nothing that a rule speaks of, and nothing below a mask or in a private /tmp. In a
 * user namespace the copy's own folder is ours, and git would not mind whose it was. */
static bool may_be_private(const struct guard_plan *plan, const struct guard_object *object)
{
	const struct guard_op *op;

	if (!plan->policy->profile->private_git || plan->planned_privates == GUARD_PRIVATES_MAX ||
	    !S_ISDIR(object->st.st_mode) || strcmp(object->path, "/") == 0)
		return false;
	if (!plan->real_root && object->st.st_uid != (uid_t)getauxval(AT_EUID))
		return false;
	op = guard_plan_nearest(plan, object->path);
	if (op != NULL && (op->kind != GUARD_OP_RW || strcmp(op->path, object->path) == 0))
		return false;
	return has_name(object->fd, "HEAD") && has_name(object->fd, "objects") &&
	       has_name(object->fd, "refs");
}

int guard_plan_private(struct guard_plan *plan, const char *base, const char *path,
		       struct fence_err *err)
{
	struct link_pinning pinning = { .plan = plan, .err = err };
	struct guard_link_watch watch = { .seen = pin_link, .arg = &pinning };
	struct guard_object object = { .fd = -1 };
	int rc = guard_resolve_quick(base, path, &watch, &object);

	if (rc < 0)
		return guard_is_absent(rc, base, path)
			       ? 0
			       : fence_fail(err, rc, "look at %s/%s", base, path);
	if (!may_be_private(plan, &object)) {
		fence_close_fd(&object.fd);
		return 0;
	}
	rc = guard_plan_add(plan, GUARD_OP_OVERLAY, false, &object, err);
	if (rc < 0)
		return rc;
	plan->ops[plan->count - 1].is_private = true;
	/* An overlay has nothing of what is mounted in its folder; in a user namespace the
	 * kernel refuses it then, since that uncovers what lies below. */
	if (plan->real_root && guard_mounts_below(plan->ops[plan->count - 1].path))
		plan->ops[plan->count - 1].no_copy = -EXDEV;
	plan->planned_privates++;
	rc = pin_above(plan, plan->ops[plan->count - 1].path, err);
	return rc < 0 ? rc : 1;
}

/* --- masks ------------------------------------------------------------------------ */

/* A thousand masks in one folder look at what is above it once. */
static int pin_above_mask(struct guard_plan *plan, const char *path, struct fence_err *err)
{
	size_t length = (size_t)(strrchr(path, '/') - path);

	if (strlen(plan->pinned_dir) == length && memcmp(plan->pinned_dir, path, length) == 0)
		return 0;
	memcpy(plan->pinned_dir, path, length);
	plan->pinned_dir[length] = '\0';
	return pin_above(plan, path, err);
}

int guard_plan_mask(struct guard_plan *plan, const char *base, const char *path, bool named,
		    struct fence_err *err)
{
	struct link_pinning pinning = { .plan = plan, .err = err };
	struct guard_link_watch watch = { .seen = pin_link, .arg = &pinning };
	struct guard_object object = { .fd = -1 };
	int rc = guard_resolve_quick(base, path, &watch, &object);

	if (guard_is_absent(rc, base, path)) {
		rc = named ? guard_names_add(&plan->absent_denied, path) : 0;
		return rc < 0 ? fence_fail(err, rc, "deny %s", path) : 0;
	}
	if (rc < 0) {
		fence_fail(err, rc, "deny %s%s%s", path[0] == '/' ? "" : base,
			   path[0] == '/' ? "" : "/", path);
		guard_hint_closed(rc, err);
		return rc;
	}
	if (strcmp(object.path, "/") == 0) {
		fence_close_fd(&object.fd);
		return fence_fail_why(err, -EINVAL, "the root itself cannot be changed", "deny /");
	}
	rc = guard_plan_add(plan, GUARD_OP_MASK, named, &object, err);
	return rc < 0 ? rc : pin_above_mask(plan, plan->ops[plan->count - 1].path, err);
}

/* --- rules ------------------------------------------------------------------------ */

static const enum guard_op_kind kind_of[] = {
	[GUARD_RW] = GUARD_OP_RW,
	[GUARD_RO] = GUARD_OP_RO,
	[GUARD_TMPFS] = GUARD_OP_TMPFS,
	[GUARD_OVERLAY] = GUARD_OP_OVERLAY,
};

struct link_note {
	struct guard_plan *plan;
	const char *rule;
};

static int note_link(void *arg, const struct guard_object *link)
{
	const struct link_note *note = arg;
	int rc = guard_names_add(&note->plan->links, link->path);

	return rc < 0 ? rc : guard_names_add(&note->plan->link_rules, note->rule);
}

/* Looked up with the caller's rights, a link that an earlier command could put there
 * would open whatever that one wished for to the next. */
static int judge_noted_links(struct guard_plan *plan, struct fence_err *err)
{
	for (size_t i = 0; i < plan->links.count; i++) {
		if (!is_writable(plan, plan->links.items[i]))
			continue;
		plan->current = guard_policy_word(plan->policy, plan->link_rules.items[i]);
		fence_fail_why(err, -ELOOP, "a confined command could have put it there",
			       "%s leads through the link %s", plan->link_rules.items[i],
			       plan->links.items[i]);
		(void)fence_hint(err, "name what it leads to");
		return -ELOOP;
	}
	return 0;
}

static int add_rule(struct guard_plan *plan, const struct guard_rule *rule, struct fence_err *err)
{
	const char *word = guard_access_word(rule->access);
	struct link_note note = { .plan = plan, .rule = rule->path };
	struct guard_link_watch watch = { .seen = note_link, .arg = &note };
	struct guard_object object = { .fd = -1 };
	int rc = guard_resolve_quick(plan->cwd, rule->path, &watch, &object);

	if (rc < 0) {
		fence_fail(err, rc, "--%s %s", word, rule->path);
		guard_hint_closed(rc, err);
		if (rc == -ENOENT || rc == -ENOTDIR)
			(void)fence_hint(err, "create it first");
		return rc;
	}
	if (strcmp(object.path, "/") == 0 && rule->access != GUARD_RO)
		rc = fence_fail_why(err, -EINVAL, "the root itself cannot be changed", "--%s /",
				    word);
	else if ((rule->access == GUARD_TMPFS || rule->access == GUARD_OVERLAY) &&
		 !S_ISDIR(object.st.st_mode))
		rc = fence_fail(err, -ENOTDIR, "--%s %s", word, rule->path);
	if (rc < 0) {
		fence_close_fd(&object.fd);
		return rc;
	}
	return guard_plan_add(plan, kind_of[rule->access], true, &object, err);
}

static int add_show(struct guard_plan *plan, const struct guard_rule *rule, struct fence_err *err)
{
	if (rule->access == GUARD_DENY || rule->access == GUARD_PROTECT)
		return 0;
	return add_rule(plan, rule, err);
}

static int add_deny(struct guard_plan *plan, const struct guard_rule *rule, struct fence_err *err)
{
	if (rule->access != GUARD_DENY)
		return 0;
	return guard_plan_mask(plan, plan->cwd, rule->path, true, err);
}

static int add_protection(struct guard_plan *plan, const struct guard_rule *rule,
			  struct fence_err *err)
{
	if (rule->access != GUARD_PROTECT)
		return 0;
	return guard_plan_protect(plan, plan->cwd, rule->path, true, err);
}

/* The command has our uid: it could make the record of its placeholders another one, and
 * read what is kept of repositories that it cannot see. */
static int mask_registry(struct guard_plan *plan, struct fence_err *err)
{
	const struct guard_names *inner = &plan->inner.registries;
	size_t count = plan->count;
	char path[64];
	int rc = 0;

	guard_placeholder_registry(path, sizeof(path));
	if (!plan->inner.is_set)
		rc = guard_plan_mask(plan, "/", path, false, err);
	for (size_t i = 0; plan->inner.is_set && rc == 0 && i < inner->count; i++)
		rc = guard_plan_mask(plan, "/", inner->items[i], false, err);
	/* With a placeholder of ours in it, it stays. Without, somebody may remove what is kept
	 * and the next start the registry, and it is as if nothing had been kept yet. */
	for (size_t i = count; i < plan->count; i++)
		plan->ops[i].may_vanish = plan->lock_count == 0;
	return rc;
}

/* Landlock takes nothing away below what it gives. */
static int refuse_registry(const char *registry, struct fence_err *err)
{
	fence_fail_why(err, -EPERM, "it lies in a writable folder", "keep %s from the command",
		       registry);
	return fence_hint(err, "name a folder beside it, or use --profile gate");
}

/* Of others' placeholders likewise, and where there is none yet it could make one; only
 * one that is not empty stays (guard_placeholder_sweep), so we put a placeholder in. */
static int hold(struct guard_plan *plan, const char *registry, struct fence_err *err)
{
	char path[PATH_MAX + 8];
	char parent[PATH_MAX];

	if (!is_writable(plan, registry))
		return 0;
	memcpy(parent, registry, strlen(registry) + 1);
	*strrchr(parent, '/') = '\0';
	/* Where we could not, nor could the command. */
	if (access(parent, W_OK) < 0 && access(registry, W_OK) < 0)
		return 0;
	if (plan->policy->profile->narrow)
		return refuse_registry(registry, err);
	(void)snprintf(path, sizeof(path), "%s/held", registry);
	return guard_plan_protect(plan, "/", path, true, err);
}

static int hold_registry(struct guard_plan *plan, struct fence_err *err)
{
	const struct guard_names *inner = &plan->inner.registries;
	char registry[64];
	int rc = 0;

	guard_placeholder_registry(registry, sizeof(registry));
	if (!plan->inner.is_set)
		return hold(plan, registry, err);
	for (size_t i = 0; rc == 0 && i < inner->count; i++)
		rc = hold(plan, inner->items[i], err);
	return rc;
}

/* First what can be written: what is above a mask or a protection is pinned there. */
static int add_rules(struct guard_plan *plan, struct fence_err *err)
{
	static int (*const passes[])(struct guard_plan *, const struct guard_rule *,
				     struct fence_err *) = { add_show, add_deny, add_protection };
	const struct guard_policy *policy = plan->policy;
	int rc = 0;

	for (size_t pass = 0; pass < sizeof(passes) / sizeof(passes[0]); pass++) {
		for (size_t i = 0; rc == 0 && i < policy->rule_count; i++) {
			plan->current = policy->rules[i].path;
			rc = passes[pass](plan, &policy->rules[i], err);
		}
		if (rc == 0 && passes[pass] == add_show)
			rc = judge_noted_links(plan, err);
		if (rc == 0 && passes[pass] == add_show && plan->inner.is_set)
			rc = guard_root_check(plan, err);
	}
	if (rc == 0 && plan->lock_count == 0)
		rc = hold_registry(plan, err);
	if (rc == 0 && (plan->lock_count > 0 || (plan->keeps && !plan->policy->profile->narrow)))
		rc = mask_registry(plan, err);
	return rc;
}

/* What every confined command gets: the small /dev, its own /proc, a private /tmp,
 * and its working directory to write in. */
static int add_structure(struct guard_plan *plan, struct guard_object *cwd, struct fence_err *err)
{
	static const struct {
		const char *path;
		enum guard_op_kind kind;
	} places[] = {
		{ "/dev", GUARD_OP_DEV },
		{ "/proc", GUARD_OP_PROC },
		{ "/tmp", GUARD_OP_TMP },
	};
	struct guard_object object = { .fd = -1 };
	int rc;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		/* Over what /proc is the new one is mounted by its name. */
		if (places[i].kind == GUARD_OP_PROC)
			object = (struct guard_object){ .path = "/proc", .fd = -1 };
		rc = places[i].kind == GUARD_OP_PROC ? 0
						     : guard_resolve_place(places[i].path, &object);
		if (rc < 0)
			return fence_fail(err, rc, "find %s", places[i].path);
		rc = guard_plan_add(plan, places[i].kind, false, &object, err);
		if (rc < 0)
			return rc;
	}
	/* Never all of it by accident, nor the machine itself. */
	if (strcmp(plan->cwd, "/") == 0 || guard_path_within(plan->cwd, "/sys") ||
	    (plan->inner.is_set && guard_root_is_machine(plan, plan->cwd)))
		return 0;
	return guard_plan_add(plan,
			      plan->policy->profile->read_only_cwd ? GUARD_OP_RO : GUARD_OP_RW,
			      false, cwd, err);
}

static int find_cwd(struct guard_plan *plan, struct guard_object *ret, struct fence_err *err)
{
	struct link_note note = { .plan = plan, .rule = plan->policy->cwd };
	struct guard_link_watch watch = { .seen = note_link, .arg = &note };
	const char *wanted = plan->policy->cwd;
	int rc = wanted == NULL ? guard_resolve_here(ret) : 0;

	if (wanted != NULL && wanted[0] != '/' && getcwd(plan->cwd, sizeof(plan->cwd)) == NULL)
		rc = -errno;
	if (rc < 0)
		return fence_fail(err, rc, "find the working directory");
	if (wanted != NULL)
		rc = guard_resolve_quick(plan->cwd, wanted, &watch, ret);
	if (rc == 0 && !S_ISDIR(ret->st.st_mode))
		rc = -ENOTDIR;
	if (rc < 0)
		return fence_fail(err, rc, "--cwd %s", wanted);
	memcpy(plan->cwd, ret->path, sizeof(plan->cwd));
	plan->cwd_st = ret->st;
	return 0;
}

int guard_plan_build(struct guard_plan *plan, const struct guard_policy *policy,
		     struct fence_err *err)
{
	struct guard_object cwd = { .fd = -1 };
	int rc;

	plan->policy = policy;
	rc = find_cwd(plan, &cwd, err);
	if (rc == 0 && policy->profile->confine)
		rc = add_structure(plan, &cwd, err);
	fence_close_fd(&cwd.fd);
	if (rc < 0 || !policy->profile->confine)
		return rc;
	rc = add_rules(plan, err);
	plan->current = rc < 0 ? plan->current : NULL;
	/* They take away, which Landlock cannot. */
	if (rc == 0 && !policy->profile->narrow)
		rc = guard_plan_add_defaults(plan, err);
	return rc < 0 ? rc : guard_plan_settle(plan, err);
}

void guard_plan_free(struct guard_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		guard_plan_drop(plan, &plan->ops[i]);
	if (plan->ops != plan->few)
		free(plan->ops);
	guard_names_free(&plan->inner.sources);
	guard_names_free(&plan->inner.dests);
	guard_names_free(&plan->inner.protects);
	guard_names_free(&plan->inner.masks);
	guard_names_free(&plan->inner.registries);
	guard_names_free(&plan->inner.made_up_paths);
	guard_names_free(&plan->links);
	guard_names_free(&plan->link_rules);
	guard_names_free(&plan->absent_denied);
	guard_names_free(&plan->placeholders);
	*plan = (struct guard_plan){ 0 };
}
