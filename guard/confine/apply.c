/* The stages, in the one right order:
 *  1. user namespace   maps, while /proc is the host's; needed for all that follows
 *  2. limits           what all processes together may use up, before anything is used
 *  3. network          lo up, while we may
 *  4. root             another one, if asked for: from here on paths are the command's
 *  5. paths            every name is looked up once, in the view that is still whole
 *  6. mounts           the view is closed
 *  7. working directory  entered again, in the new view
 *  8. no_new_privs     Landlock and seccomp ask for it
 *  9. landlock         a net under the mounts, over the places as they are now; ports
 * 10. capabilities     the mounts could not be made without, nothing below needs any
 * 11. seccomp          last: it refuses what the stages above were made of
 * The namespaces themselves come from the clone that made this process; what it
 * starts inherits all of it. */
#include "guard/confine/apply.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/confine/explainer.h"
#include "guard/confine/mounts.h"
#include "guard/confine/resolve.h"
#include "guard/confine/root.h"
#include "guard/confine/steps.h"

uint64_t guard_confine_namespaces(const struct guard_confine *confine)
{
	uint64_t flags = CLONE_NEWPID | CLONE_NEWNS;

	if (confine->policy->profile->narrow)
		return 0;
	if (!confine->real_root)
		flags |= CLONE_NEWUSER;
	if (confine->policy->net == GUARD_NET_NONE)
		flags |= CLONE_NEWNET;
	if (confine->policy->profile->confine)
		flags |= CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
	if (confine->shares_cgroup_names)
		flags &= ~(uint64_t)CLONE_NEWCGROUP;
	return flags;
}

static int map_user(struct guard_confine *confine, struct fence_err *err)
{
	return confine->real_root ? 0 : guard_map_self(confine->uid, confine->gid, err);
}

static int enter_limits(struct guard_confine *confine, struct fence_err *err)
{
	return guard_limits_enter(&confine->limits, err);
}

static int bring_lo_up(struct guard_confine *confine, struct fence_err *err)
{
	return confine->policy->net == GUARD_NET_NONE ? guard_lo_up(err) : 0;
}

static int change_root(struct guard_confine *confine, struct fence_err *err)
{
	int rc;

	if (confine->policy->root == NULL)
		return 0;
	confine->plan.policy = confine->policy;
	confine->plan.real_root = confine->real_root;
	rc = guard_root_enter(&confine->plan, err);
	if (rc < 0)
		guard_policy_place(confine->policy, confine->plan.current, err);
	return rc;
}

static int look_up(struct guard_confine *confine, struct fence_err *err)
{
	int rc;

	confine->plan.real_root = confine->real_root;
	rc = guard_plan_build(&confine->plan, confine->policy, err);

	if (rc == 0 && confine->policy->allow_nesting)
		return guard_nesting_check(&confine->nesting, &confine->plan, err);
	if (rc < 0)
		guard_policy_place(confine->policy, confine->plan.current, err);
	return rc;
}

static int close_view(struct guard_confine *confine, struct fence_err *err)
{
	struct guard_mounts mounts = {
		.real_root = confine->real_root,
		.keep_proc_rw = confine->policy->allow_userns,
		.nesting = confine->policy->allow_nesting,
	};

	return confine->policy->profile->confine ? guard_mounts_apply(&mounts, &confine->plan, err)
						 : guard_mounts_proc_only(err);
}

/* An empty folder in its place was asked for, or an overlay of it, all of whose folders
 * are its own. */
static bool is_made_up(const struct guard_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct guard_op *op = &plan->ops[i];

		if (op->kind == GUARD_OP_TMPFS && strcmp(op->path, path) == 0)
			return true;
		if (op->kind == GUARD_OP_OVERLAY && guard_path_within(path, op->path))
			return true;
	}
	return false;
}

/* A writable folder was attached by its descriptor, which leads to it and to no other. */
static int descriptor_of(const struct guard_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct guard_op *op = &plan->ops[i];

		if (op->kind == GUARD_OP_RW && !op->skip && op->tree_fd >= 0 &&
		    strcmp(op->path, path) == 0)
			return op->tree_fd;
	}
	return -1;
}

static int enter_cwd(struct guard_confine *confine, struct fence_err *err)
{
	const struct guard_plan *plan = &confine->plan;
	int fd = descriptor_of(plan, plan->cwd);
	struct stat st;

	if (fd >= 0)
		return fchdir(fd) == 0 ? 0
				       : fence_fail(err, -errno, "enter the working directory %s",
						    plan->cwd);
	if (chdir(plan->cwd) < 0 || stat(".", &st) < 0) {
		fence_fail(err, -errno, "enter the working directory %s", plan->cwd);
		(void)fence_hint(err, "it is hidden inside: name it with --ro or --rw");
		return err->code;
	}
	if (st.st_dev == plan->cwd_st.st_dev && st.st_ino == plan->cwd_st.st_ino)
		return 0;
	if (is_made_up(plan, plan->cwd))
		return 0;
	fence_fail_why(err, -ESTALE, "another folder is there inside",
		       "enter the working directory %s", plan->cwd);
	(void)fence_hint(err, "name it with --ro or --rw, or choose one with --cwd");
	return -ESTALE;
}

static int stop_gains(struct guard_confine *confine, struct fence_err *err)
{
	return confine->policy->profile->confine ? guard_no_new_privs(err) : 0;
}

static int spread_net(struct guard_confine *confine, struct fence_err *err)
{
	return confine->policy->profile->confine
		       ? guard_landlock(confine->policy, &confine->plan, err)
		       : 0;
}

static int drop_caps(struct guard_confine *confine, struct fence_err *err)
{
	if (!confine->policy->profile->confine)
		return 0;
	if (confine->policy->allow_nesting)
		return guard_keep_ambient(guard_nesting_caps(&confine->nesting), err);
	return guard_drop_caps(confine->real_root ? confine->policy->keep_caps : 0, err);
}

static int load_filter(struct guard_confine *confine, struct fence_err *err)
{
	int rc = 0;

	if (!confine->policy->profile->confine)
		return 0;
	if (confine->policy->allow_nesting) {
		confine->nesting.has_pins = guard_plan_has_pins(&confine->plan);
		rc = guard_nesting_load(&confine->nesting, err);
	}
	if (rc < 0)
		return rc;
	if (confine->explainer_sock >= 0 && confine->plan.inner.is_set)
		rc = guard_explainer_tell(&confine->plan, confine->explainer_sock, err);
	if (rc < 0)
		return rc;
	if (confine->explainer_sock >= 0)
		return guard_explainer_load(confine->policy, confine->explainer_sock, err);
	return guard_load_filter(confine->policy, err);
}

static const struct {
	const char *name;
	int (*run)(struct guard_confine *confine, struct fence_err *err);
} stages[] = {
	{ "user namespace", map_user },
	{ "limits", enter_limits },
	{ "network", bring_lo_up },
	{ "root", change_root },
	{ "paths", look_up },
	{ "mounts", close_view },
	{ "working directory", enter_cwd },
	{ "no_new_privs", stop_gains },
	{ "landlock", spread_net },
	{ "capabilities", drop_caps },
	{ "seccomp", load_filter },
};

int guard_confine_apply(struct guard_confine *confine, const char **ret_stage,
			struct fence_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(stages) / sizeof(stages[0]); i++) {
		*ret_stage = stages[i].name;
		rc = stages[i].run(confine, err);
	}
	return rc;
}
