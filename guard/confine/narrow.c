/* The stages:
 *  1. paths         what may be written is looked up, as for every profile
 *  2. descriptors   all but those that are kept end with execve(2)
 *  3. no_new_privs  Landlock and seccomp ask for it
 *  4. landlock      writing, abstract sockets, signals, tracing
 *  5. capabilities
 *  6. seccomp       last: the filter of every profile, and one for the network
 * Landlock is what holds here, not a net: without all of it nothing starts. */
#include "guard/confine/narrow.h"

#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fence/spawn.h"
#include "fence/sys.h"
#include "guard/confine/apply.h"
#include "guard/confine/cause.h"
#include "guard/confine/record.h"
#include "guard/confine/steps.h"

struct narrow {
	struct guard_confine confine;
	char *const *argv;
	char *const *envp;
	char file[PATH_MAX];
	int status; /* to exit with when the stage under way fails */
};

static int look_up(struct narrow *narrow, struct fence_err *err)
{
	struct guard_plan *plan = &narrow->confine.plan;
	int rc = guard_plan_build(plan, narrow->confine.policy, err);

	if (rc < 0) {
		guard_policy_place(narrow->confine.policy, plan->current, err);
		return rc;
	}
	return chdir(plan->cwd) < 0 ? fence_fail(err, -errno, "enter %s", plan->cwd) : 0;
}

static int close_others(struct narrow *narrow, struct fence_err *err)
{
	const struct guard_policy *policy = narrow->confine.policy;
	unsigned int first = 3;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i <= policy->keep_count; i++) {
		unsigned int kept =
			i < policy->keep_count ? (unsigned int)policy->keep_fds[i] : ~0U;

		if (kept > first)
			rc = fence_close_range(first, kept == ~0U ? kept : kept - 1,
					       CLOSE_RANGE_CLOEXEC);
		first = kept + 1;
	}
	return rc < 0 ? fence_fail(err, rc, "close descriptors") : 0;
}

static int stop_gains(struct narrow *narrow, struct fence_err *err)
{
	(void)narrow;
	return guard_no_new_privs(err);
}

static int restrict_files(struct narrow *narrow, struct fence_err *err)
{
	return guard_landlock_alone(&narrow->confine.plan, err);
}

/* Without CAP_SETPCAP, as a plain user and as uid 0 of a container, the second lock (caps.c)
 * cannot be had; no_new_privs is the first, and holds alone. */
static int drop_caps(struct narrow *narrow, struct fence_err *err)
{
	struct fence_err unlocked = { 0 };
	int rc = guard_drop_caps(narrow->confine.policy->keep_caps, &unlocked);

	if (rc == -EPERM && narrow->confine.policy->keep_caps == 0)
		rc = fence_capset_none();
	return rc < 0 ? fence_fail(err, rc, "drop capabilities") : 0;
}

/* Without a network of its own a command of mode none gets no sockets but UNIX ones. The
 * other filter has judged the architecture and x32's numbers. */
static int refuse_network(struct fence_err *err)
{
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(lines) / sizeof(lines[0]), .filter = lines };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return fence_fail(err, -errno, "install the seccomp filter of the network");
	return 0;
}

static int load_filters(struct narrow *narrow, struct fence_err *err)
{
	const struct guard_policy *policy = narrow->confine.policy;
	int rc = policy->net == GUARD_NET_NONE ? refuse_network(err) : 0;

	return rc < 0 ? rc : guard_load_filter(policy, err);
}

static const char *path_of(char *const *envp)
{
	for (; *envp != NULL; envp++)
		if (strncmp(*envp, "PATH=", 5) == 0)
			return *envp + 5;
	return NULL;
}

static int fail_exec(struct narrow *narrow, int rc, const char *what, struct fence_err *err)
{
	narrow->status = rc == -ENOENT ? 127 : 126;
	return fence_fail(err, rc, "%s %s", what, narrow->argv[0]);
}

/* The record says "executed" a moment before; where that fails after all, another line
 * says so. */
static int become(struct narrow *narrow, struct fence_err *err)
{
	const struct guard_policy *policy = narrow->confine.policy;
	struct guard_exec_record record = {
		.pid = getpid(),
		.init_pid = getpid(),
		.landlock = narrow->confine.plan.landlock,
	};
	int rc = fence_spawn_find(narrow->argv[0], path_of(narrow->envp), NULL, narrow->file,
				  sizeof(narrow->file));

	if (rc < 0)
		return fail_exec(narrow, rc, "find", err);
	rc = policy->status_fd < 0
		     ? 0
		     : guard_record_exec(policy->status_fd, &narrow->confine, &record);
	if (rc < 0)
		return fence_fail(err, rc, "write the status record to descriptor %d",
				  policy->status_fd);
	(void)execve(narrow->file, narrow->argv, narrow->envp);
	fail_exec(narrow, -errno, "execute", err);
	if (err->code == -ENOEXEC)
		(void)fence_hint(err, "a script needs a first line such as #!/bin/sh");
	return err->code;
}

static const struct {
	const char *name;
	int (*run)(struct narrow *narrow, struct fence_err *err);
} stages[] = {
	{ "paths", look_up },
	{ "init", close_others },
	{ "no_new_privs", stop_gains },
	{ "landlock", restrict_files },
	{ "capabilities", drop_caps },
	{ "seccomp", load_filters },
	{ "exec", become },
};

static void record_failure(const struct narrow *narrow, const char *stage,
			   const struct fence_err *err)
{
	struct guard_report report = {
		.kind = GUARD_REPORT_FAILED,
		.status = narrow->status,
		.err = *err,
	};

	memcpy(report.stage, stage, strlen(stage));
	if (narrow->confine.policy->status_fd >= 0)
		(void)guard_record_failure(narrow->confine.policy->status_fd, &report);
}

int guard_narrow_exec(const struct guard_policy *policy, char *const *argv, char *const *envp,
		      struct fence_err *err)
{
	struct narrow narrow = {
		.confine = { .policy = policy, .explainer_sock = -1 },
		.argv = argv,
		.envp = envp,
		.status = 125,
	};
	int rc = 0;

	narrow.confine.plan.look_only = true;
	for (size_t i = 0; rc == 0 && i < sizeof(stages) / sizeof(stages[0]); i++) {
		rc = stages[i].run(&narrow, err);
		if (rc == 0)
			continue;
		guard_cause_hint_stage(stages[i].name, err);
		record_failure(&narrow, stages[i].name, err);
	}
	return narrow.status;
}
