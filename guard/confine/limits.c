/* A limit of processes has a second way where there is no controller. The kernel counts
 * RLIMIT_NPROC by user and, since Linux 5.14, by user namespace: in one of our own, which
 * holds the command and nothing else, it bounds the command alone. It does not bind the
 * user that is root outside. For memory there is no second way: RLIMIT_AS is of each
 * process, and none of them says how many there may be. */
#include "guard/confine/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fence/limit.h"
#include "fence/reap.h"
#include "fence/sys.h"

/* Init counts, and is none of the command's. */
static uint64_t with_init(uint64_t pids)
{
	return pids == GUARD_UNLIMITED ? GUARD_UNLIMITED : pids + 1;
}

static int make_group(struct guard_limits *limits, bool with_pids, struct fence_err *err)
{
	const uint64_t *most = limits->policy->limits;
	struct fence_cgroup_bounds bounds = {
		.most = {
			[FENCE_CGROUP_MEMORY] = most[GUARD_LIMIT_MEMORY],
			[FENCE_CGROUP_PIDS] = with_pids ? with_init(most[GUARD_LIMIT_PIDS])
							: GUARD_UNLIMITED,
			[FENCE_CGROUP_CPU] = most[GUARD_LIMIT_CPU],
		},
	};
	int rc;

	limits->group = malloc(sizeof(*limits->group));
	if (limits->group == NULL)
		return fence_fail(err, -ENOMEM, "make a cgroup");
	rc = fence_cgroup_bound_make(&bounds, limits->group, err);
	if (rc == 0)
		return 0;
	free(limits->group);
	limits->group = NULL;
	return rc;
}

static bool needs_group(const struct guard_policy *policy)
{
	return policy->limits[GUARD_LIMIT_MEMORY] != GUARD_UNLIMITED ||
	       policy->limits[GUARD_LIMIT_CPU] != GUARD_UNLIMITED;
}

/* "--memory: ": the option first, for the cause is about a group. */
static int name_limit(const struct guard_policy *policy, bool real_root, struct fence_err *err)
{
	static const enum guard_limit together[] = { GUARD_LIMIT_MEMORY, GUARD_LIMIT_CPU,
						     GUARD_LIMIT_PIDS };
	struct fence_err plain = *err;
	size_t i = 0;

	while (policy->limits[together[i]] == GUARD_UNLIMITED)
		i++;
	fence_fail_why(err, plain.code,
		       plain.why[0] != '\0' ? plain.why : fence_errno_words(plain.code),
		       "limit \"%s\": %s", guard_limit_word(together[i]), plain.what);
	(void)fence_hint(err, "%s%s", plain.hint,
			 together[i] == GUARD_LIMIT_PIDS && real_root
				 ? "; or start it as a plain user, whom RLIMIT_NPROC binds"
				 : "");
	return err->code;
}

int guard_limits_prepare(struct guard_limits *limits, const struct guard_policy *policy,
			 bool real_root, struct fence_err *err)
{
	bool pids = policy->limits[GUARD_LIMIT_PIDS] != GUARD_UNLIMITED;
	int rc;

	limits->policy = policy;
	if (!pids && !needs_group(policy))
		return 0;
	rc = make_group(limits, true, err);
	if (rc < 0 && pids && !real_root) {
		limits->pids_by_rlimit = true;
		rc = needs_group(policy) ? make_group(limits, false, err) : 0;
		if (rc == 0)
			*err = (struct fence_err){ 0 };
	}
	return rc < 0 ? name_limit(policy, real_root, err) : 0;
}

void guard_limits_end(struct guard_limits *limits)
{
	if (limits->group == NULL)
		return;
	fence_cgroup_bound_end(limits->group);
	free(limits->group);
	limits->group = NULL;
}

/* --- in init ------------------------------------------------------------------------ */

/* 1: a child can be born while that many are allowed; 0: none; -errno. */
static int bears(uint64_t most)
{
	uint64_t soft, hard;
	pid_t pid = -1;
	int rc = fence_get_limit(RLIMIT_NPROC, &soft, &hard);
	int restored;

	if (rc == 0)
		rc = fence_set_limit(RLIMIT_NPROC, most, hard);
	if (rc < 0)
		return rc;
	rc = fence_spawn_fork(0, &pid, NULL);
	if (rc == 0)
		_exit(0);
	if (rc == 1) {
		struct fence_exit how;

		rc = fence_reap_wait(pid, &how, NULL);
		rc = rc < 0 ? rc : 1;
	}
	restored = fence_set_limit(RLIMIT_NPROC, soft, hard);
	if (restored < 0)
		return restored;
	return rc == -EAGAIN ? 0 : rc;
}

/* Tried, not guessed from a version: we are one in here, and with the launcher at least
 * two of this user. When two are allowed and a second one is born, those outside are not
 * counted; when one is allowed and none is born, the limit binds. */
static int prove_rlimit(struct fence_err *err)
{
	int one = bears(1);
	int two = bears(2);

	if (one == 0 && two == 1)
		return 0;
	if (one < 0 || two < 0)
		return fence_fail(err, one < 0 ? one : two, "limit \"pids\": try RLIMIT_NPROC");
	fence_fail_why(err, -EOPNOTSUPP,
		       one == 1 ? "RLIMIT_NPROC does not bind this user"
				: "RLIMIT_NPROC counts this user's processes elsewhere, too",
		       "limit \"pids\"");
	(void)fence_hint(err, "have a cgroup of version 2 delegated, with the pids controller: "
			      "systemd-run --user --scope -p Delegate=yes COMMAND");
	return -EOPNOTSUPP;
}

int guard_limits_enter(const struct guard_limits *limits, struct fence_err *err)
{
	int rc = 0;

	if (limits->pids_by_rlimit)
		rc = prove_rlimit(err);
	if (rc < 0 || limits->group == NULL)
		return rc;
	rc = fence_write_full(limits->group->procs_fd, "0", 1);
	return rc < 0 ? fence_fail(err, rc, "enter cgroup %s", limits->group->path) : 0;
}

/* --- of each process ------------------------------------------------------------------ */

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A hard limit of our own that is less, or one of --limit, holds as well. */
static size_t add_pids(uint64_t pids, struct fence_spawn_limit *list, size_t count)
{
	uint64_t soft = UINT64_MAX, hard = UINT64_MAX;
	size_t at = 0;

	while (at < count && list[at].resource != RLIMIT_NPROC)
		at++;
	if (at == count) {
		(void)fence_get_limit(RLIMIT_NPROC, &soft, &hard); /* else the birth fails */
		list[count++] = (struct fence_spawn_limit){ RLIMIT_NPROC, hard, hard };
	}
	list[at].soft = lesser(list[at].soft, pids);
	list[at].hard = lesser(list[at].hard, pids);
	return count;
}

size_t guard_limits_of_each(const struct guard_limits *limits,
			    struct fence_spawn_limit ret[GUARD_LIMITS_OF_EACH])
{
	const struct guard_policy *policy = limits->policy;
	size_t count = policy->rlimit_count;

	memcpy(ret, policy->rlimits, count * sizeof(*ret));
	if (!limits->pids_by_rlimit)
		return count;
	return add_pids(with_init(policy->limits[GUARD_LIMIT_PIDS]), ret, count);
}

int guard_limits_explain(const struct guard_policy *policy, int rc, struct fence_err *err)
{
	for (size_t i = 0; i < policy->rlimit_count; i++) {
		const struct fence_spawn_limit *limit = &policy->rlimits[i];
		uint64_t soft, hard;

		if (fence_get_limit(limit->resource, &soft, &hard) < 0 || limit->hard <= hard)
			continue;
		fence_fail(err, rc, "raise limit %s above our own hard limit of %llu",
			   fence_limit_name(limit->resource), (unsigned long long)hard);
		return fence_hint(err, "raise that first, as root: ulimit -H");
	}
	return fence_fail(err, rc, "limit resources");
}
