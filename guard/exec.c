#include "guard/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guard/confine/launch.h"
#include "guard/confine/narrow.h"
#include "guard/confine/own.h"
#include "guard/confine/record.h"
#include "guard/policy/load.h"
#include "guard/policy/policy.h"

struct conf {
	struct guard_policy policy;
	const char *file; /* of --policy */
	const char *profile;
	const char *root;
	int net;			    /* -1: as the profile has it */
	struct guard_ports ports;	    /* of --net ports: */
	uint64_t limits[GUARD_LIMIT_COUNT]; /* GUARD_UNLIMITED: as the file has it */
	bool strict;
	bool allow_userns;
	bool allow_nesting;
	uint64_t keep_caps;
};

/* --- what rows do ----------------------------------------------------------------------- */

static int add_rule(void *conf, enum guard_access access, const char *value, struct fence_err *err)
{
	return guard_policy_add_rule(&((struct conf *)conf)->policy, access, value, err);
}

static int add_bind(void *conf, const char *value, struct fence_err *err)
{
	return guard_policy_add_bind(&((struct conf *)conf)->policy, GUARD_RW, value, err);
}

static int add_ro_bind(void *conf, const char *value, struct fence_err *err)
{
	return guard_policy_add_bind(&((struct conf *)conf)->policy, GUARD_RO, value, err);
}

static int add_rw(void *conf, const char *value, struct fence_err *err)
{
	return add_rule(conf, GUARD_RW, value, err);
}

static int add_ro(void *conf, const char *value, struct fence_err *err)
{
	return add_rule(conf, GUARD_RO, value, err);
}

static int add_tmpfs(void *conf, const char *value, struct fence_err *err)
{
	return add_rule(conf, GUARD_TMPFS, value, err);
}

static int add_overlay(void *conf, const char *value, struct fence_err *err)
{
	return add_rule(conf, GUARD_OVERLAY, value, err);
}

static int add_deny(void *conf, const char *value, struct fence_err *err)
{
	return add_rule(conf, GUARD_DENY, value, err);
}

static int add_protect(void *conf, const char *value, struct fence_err *err)
{
	return add_rule(conf, GUARD_PROTECT, value, err);
}

static int set_net(void *conf, const char *value, struct fence_err *err)
{
	struct conf *to = conf;
	const char *wrong = "it is none, host or ports:PORTS";

	if (strncmp(value, "ports:", 6) == 0) {
		to->net = GUARD_NET_PORTS;
		to->ports = (struct guard_ports){ 0 };
		wrong = guard_ports_parse(value + 6, &to->ports);
	} else if (strcmp(value, "none") == 0 || strcmp(value, "host") == 0) {
		to->net = fence_opt_choice("none|host", value);
		wrong = NULL;
	}
	if (wrong == NULL)
		return 0;
	fence_fail_why(err, -EINVAL, wrong, "--net %s", value);
	return fence_hint(err, "write it like ports:443,8000-8010,bind:8080");
}

static int set_bound(void *conf, enum guard_limit limit, const char *value, struct fence_err *err)
{
	const char *wrong = guard_limit_parse(limit, value, &((struct conf *)conf)->limits[limit]);

	return wrong == NULL ? 0
			     : fence_fail_why(err, -EINVAL, wrong, "--%s %s",
					      guard_limit_word(limit), value);
}

static int set_memory(void *conf, const char *value, struct fence_err *err)
{
	return set_bound(conf, GUARD_LIMIT_MEMORY, value, err);
}

static int set_pids(void *conf, const char *value, struct fence_err *err)
{
	return set_bound(conf, GUARD_LIMIT_PIDS, value, err);
}

static int set_cpu(void *conf, const char *value, struct fence_err *err)
{
	return set_bound(conf, GUARD_LIMIT_CPU, value, err);
}

static int add_limit(void *conf, const char *value, struct fence_err *err)
{
	return guard_policy_add_rlimit(&((struct conf *)conf)->policy, value, err);
}

static int keep_cap(void *conf, const char *value, struct fence_err *err)
{
	int number = guard_cap_number(value);

	if (number < 0) {
		fence_fail_why(err, -EINVAL, "no such capability", "%s", value);
		(void)fence_hint(err, "names are those of capabilities(7)");
		return -EINVAL;
	}
	((struct conf *)conf)->keep_caps |= UINT64_C(1) << number;
	return 0;
}

static int add_env(void *conf, const char *value, struct fence_err *err)
{
	return guard_policy_add_env(&((struct conf *)conf)->policy, value, false, err);
}

static int add_unset(void *conf, const char *value, struct fence_err *err)
{
	return guard_policy_add_env(&((struct conf *)conf)->policy, value, true, err);
}

static int open_fd(const char *value, int *ret, struct fence_err *err)
{
	long long number;
	int rc = fence_opt_number(value, 0, INT_MAX, &number, err);

	if (rc < 0)
		return rc;
	if (fcntl((int)number, F_GETFD) < 0)
		return fence_fail(err, -errno, "descriptor %s", value);
	*ret = (int)number;
	return 0;
}

static int keep_fd(void *conf, const char *value, struct fence_err *err)
{
	int fd = -1;
	int rc = open_fd(value, &fd, err);

	/* 0 to 2 are kept in any case. */
	if (rc < 0 || fd <= 2)
		return rc;
	return guard_policy_keep_fd(&((struct conf *)conf)->policy, fd, err);
}

static int set_status_fd(void *conf, const char *value, struct fence_err *err)
{
	return open_fd(value, &((struct conf *)conf)->policy.status_fd, err);
}

static int set_explain(void *conf, const char *value, struct fence_err *err)
{
	struct guard_policy *policy = &((struct conf *)conf)->policy;

	(void)value;
	(void)err;
	if (policy->explain_fd < 0)
		policy->explain_fd = STDERR_FILENO;
	return 0;
}

static int set_explain_fd(void *conf, const char *value, struct fence_err *err)
{
	return open_fd(value, &((struct conf *)conf)->policy.explain_fd, err);
}

static const struct fence_opt options[] = {
	{ 0, "policy", "FILE", "read the profile, and more, from a policy file",
	  FENCE_OPT_KEEP(struct conf, file) },
	{ 0, "profile", "NAME", "gate (unless said), chromium, evaluator, none, or the file's",
	  FENCE_OPT_KEEP(struct conf, profile) },
	{ 0, "root", "DIR", "have DIR as /, and nothing else of the machine",
	  FENCE_OPT_KEEP(struct conf, root) },
	{ 0, "bind", "SOURCE:DEST", "bring SOURCE in as DEST, to be written (with --root)",
	  .set = add_bind },
	{ 0, "ro-bind", "SOURCE:DEST", "the same, to be read alone", .set = add_ro_bind },
	{ 0, "rw", "PATH", "may be read and written", .set = add_rw },
	{ 0, "ro", "PATH", "may be read; shows what would be hidden", .set = add_ro },
	{ 0, "tmpfs", "PATH", "an empty folder in memory", .set = add_tmpfs },
	{ 0, "overlay", "PATH", "may be written; the changes go with the command",
	  .set = add_overlay },
	{ 0, "deny", "PATH", "may be neither read nor written", .set = add_deny },
	{ 0, "protect", "PATH", "stays as it is inside a writable folder", .set = add_protect },
	{ 0, "allow-hardlinks", NULL, "go on although a closed file has a second name",
	  FENCE_OPT_TRUE(struct conf, policy.allow_hardlinks) },
	{ 0, "net", "MODE", "none (lo alone), host, or ports:PORTS of the host's", .set = set_net },
	{ 0, "memory", "SIZE", "so much memory, of all processes together", .set = set_memory },
	{ 0, "pids", "N", "so many processes and threads", .set = set_pids },
	{ 0, "cpu", "N[%]", "so many processors, as 2, 0.5 or 50%", .set = set_cpu },
	{ 0, "limit", "NAME=SOFT[:HARD]", "a resource limit of each process: nofile=1024",
	  .set = add_limit },
	{ 0, "strict", NULL, "allow the system calls of a list, and no others",
	  FENCE_OPT_TRUE(struct conf, strict) },
	{ 0, "allow-userns", NULL, "let the command make user namespaces (browsers)",
	  FENCE_OPT_TRUE(struct conf, allow_userns) },
	{ 0, "allow-set-id", NULL, "let the command make set-user-ID and set-group-ID files",
	  FENCE_OPT_TRUE(struct conf, policy.allow_set_id) },
	{ 0, "allow-nesting", NULL, "let the command confine others, as with fence-guard or bwrap",
	  FENCE_OPT_TRUE(struct conf, allow_nesting) },
	{ 0, "keep-cap", "NAME", "a capability to keep when started as root", .set = keep_cap },
	{ 0, "wait-all", NULL, "wait for what the command leaves running",
	  FENCE_OPT_TRUE(struct conf, policy.wait_all) },
	{ 0, "new-session", NULL, "a session of its own, without the terminal",
	  FENCE_OPT_TRUE(struct conf, policy.new_session) },
	{ 0, "env-all", NULL, "pass the whole environment",
	  FENCE_OPT_TRUE(struct conf, policy.env_all) },
	{ 0, "env", "NAME[=VALUE]", "pass or set a variable", .set = add_env },
	{ 0, "unset", "NAME", "do not pass a variable", .set = add_unset },
	{ 0, "keep-fd", "N", "leave a descriptor open", .set = keep_fd },
	{ 0, "cwd", "DIR", "work there; it may be written",
	  FENCE_OPT_KEEP(struct conf, policy.cwd) },
	{ 0, "status-fd", "N", "write JSON lines about start and end there", .set = set_status_fd },
	{ 0, "explain", NULL, "tell what is refused, and by which rule", .set = set_explain },
	{ 0, "explain-fd", "N", "tell it there, not on standard error", .set = set_explain_fd },
};

const struct fence_cli guard_exec_cli = {
	.program = "fence-guard",
	.verb = "exec",
	.summary = "run a command that can do only what is allowed",
	.operands = "-- COMMAND [ARG...]",
	.opts = options,
	.count = sizeof(options) / sizeof(options[0]),
	.notes = "Without options: everything is read-only but the working directory, /tmp\n"
		 "is private, there is no network, secrets of the home folder are hidden.\n"
		 "\n"
		 "Exit status: the command's, 128+n if it died of signal n; 125 it could not\n"
		 "be confined, 126 not be executed, 127 not be found.\n"
		 "\n"
		 "Example:\n"
		 "  fence-guard exec --ro ~/.npmrc --protect Makefile -- make test\n",
};

/* --- the verb ------------------------------------------------------------------------- */

static int settle_policy(struct conf *conf, struct fence_err *err)
{
	int rc = conf->file != NULL
			 ? guard_policy_load(&conf->policy, conf->file, conf->profile, err)
			 : guard_policy_set_profile(&conf->policy, conf->profile, err);

	if (rc == 0)
		rc = guard_policy_settle(&conf->policy, err);
	if (rc < 0)
		return rc;
	if (conf->net >= 0)
		conf->policy.net = (enum guard_net)conf->net;
	if (conf->net == GUARD_NET_PORTS)
		conf->policy.ports = conf->ports;
	for (size_t i = 0; i < GUARD_LIMIT_COUNT; i++)
		if (conf->limits[i] != GUARD_UNLIMITED)
			conf->policy.limits[i] = conf->limits[i];
	if (conf->root != NULL) {
		conf->policy.root = conf->root;
		conf->policy.root_place = (struct guard_place){ .line = 0 };
	}
	if (conf->strict)
		conf->policy.seccomp = GUARD_SECCOMP_STRICT;
	conf->policy.allow_nesting |= conf->allow_nesting;
	conf->policy.allow_userns |= conf->allow_userns || conf->policy.allow_nesting;
	conf->policy.keep_caps |= conf->keep_caps;
	rc = guard_policy_check(&conf->policy, err);
	return rc < 0 ? rc : guard_own_filter(&conf->policy, err);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Through a folder's descriptor openat(2) reaches the host's tree as it was, with
 * ".." and all: no mount of ours is on that way. */
static int check_stdio(struct guard_policy *policy, struct fence_err *err)
{
	struct stat before = { 0 };
	struct stat st;

	for (int fd = 0; fd <= 2; fd++) {
		if (fstat(fd, &st) < 0)
			return fence_fail(err, -errno, "look at descriptor %d", fd);
		policy->may_be_terminal[fd] = S_ISCHR(st.st_mode) && major(st.st_rdev) != 1;
		/* Pipes and sockets are nothing that Landlock minds, and an input that is
		 * /dev/null is nothing to write to. */
		policy->has_name[fd] = (S_ISCHR(st.st_mode) || S_ISREG(st.st_mode)) &&
				       !(fd == 2 && is_same(&st, &before)) &&
				       !(fd == 0 && S_ISCHR(st.st_mode) && major(st.st_rdev) == 1);
		before = st;
		if (!policy->profile->confine || !S_ISDIR(st.st_mode))
			continue;
		fence_fail_why(err, -EISDIR, "it would lead out of the confinement",
			       "descriptor %d is a folder", fd);
		(void)fence_hint(err, "redirect it");
		return -EISDIR;
	}
	return 0;
}

/* Whoever reads the record must not take silence for a start. */
static int refuse(const struct conf *conf, const struct fence_err *err)
{
	struct guard_report report = {
		.kind = GUARD_REPORT_FAILED,
		.stage = "options",
		.status = 125,
		.err = *err,
	};

	if (conf->policy.status_fd >= 0)
		(void)guard_record_failure(conf->policy.status_fd, &report);
	return 125;
}

static int run(struct conf *conf, char *const *argv, struct fence_err *err)
{
	struct guard_environ environment = { .list = NULL };
	int rc = settle_policy(conf, err);

	if (rc == 0)
		rc = check_stdio(&conf->policy, err);
	if (rc < 0)
		return refuse(conf, err);
	if (argv[0] == NULL) {
		fence_fail_why(err, -EINVAL, "no command", "nothing to run");
		(void)fence_hint(err, "see fence-guard exec --help");
		return refuse(conf, err);
	}
	rc = guard_policy_environ(&conf->policy, environ, &environment);
	if (rc < 0) {
		fence_fail(err, rc, "make the environment");
		return refuse(conf, err);
	}
	rc = conf->policy.profile->narrow
		     ? guard_narrow_exec(&conf->policy, argv, environment.list, err)
		     : guard_launch(&conf->policy, argv, environment.list, err);
	guard_environ_free(&environment);
	return rc;
}

int guard_exec_main(int argc, char *const *argv, struct fence_text *text, struct fence_err *err)
{
	struct conf conf = { .profile = "gate", .net = -1 };
	int rest = 0;
	int answer;
	int status = 0;

	for (size_t i = 0; i < GUARD_LIMIT_COUNT; i++)
		conf.limits[i] = GUARD_UNLIMITED;
	guard_policy_init(&conf.policy);
	answer = fence_opts_parse(&guard_exec_cli, argc, argv, &conf, &rest, text, err);
	if (answer < 0)
		status = refuse(&conf, err);
	else if (answer == FENCE_OPTS_PARSED)
		status = run(&conf, argv + rest, err);
	guard_policy_free(&conf.policy);
	return status;
}
