#include "guard/policy/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "fence/limit.h"
#include "fence/opts.h"

const char *guard_access_word(enum guard_access access)
{
	static const char *const words[] = {
		[GUARD_RW] = "rw",	     [GUARD_RO] = "ro",	    [GUARD_TMPFS] = "tmpfs",
		[GUARD_OVERLAY] = "overlay", [GUARD_DENY] = "deny", [GUARD_PROTECT] = "protect",
	};

	return words[access];
}

void guard_policy_init(struct guard_policy *policy)
{
	*policy = (struct guard_policy){ .status_fd = -1, .explain_fd = -1 };
	for (size_t i = 0; i < GUARD_LIMIT_COUNT; i++)
		policy->limits[i] = GUARD_UNLIMITED;
	for (size_t i = 0; i < GUARD_SESSION_COUNT; i++)
		policy->opaque[i] = GUARD_VERDICT_OPAQUE;
	(void)guard_policy_set_profile(policy, "gate", NULL);
}

void guard_policy_free(struct guard_policy *policy)
{
	free(policy->rules);
	for (size_t i = 0; i < policy->bind_count; i++)
		free(policy->binds[i].source);
	free(policy->binds);
	free(policy->env);
	for (size_t i = 0; i < policy->command_count; i++)
		free(policy->commands[i].words);
	free(policy->commands);
	free(policy->net_lines);
	free(policy->calls);
	free(policy->own_filter);
	free(policy->bytes);
	*policy = (struct guard_policy){ .status_fd = -1, .explain_fd = -1 };
}

/* Room for one more, twice as much each time that it is used up: a file may bring
 * thousands. */
static void *make_room(void *items, size_t count, size_t size_bytes)
{
	if (count > 0 && (count & (count - 1)) != 0)
		return items;
	return reallocarray(items, count == 0 ? 1 : 2 * count, size_bytes);
}

int guard_policy_add_rule(struct guard_policy *policy, enum guard_access access, const char *path,
			  struct fence_err *err)
{
	struct guard_rule *more;

	if (path[0] == '\0')
		return fence_fail_why(err, -EINVAL, "empty path", "--%s",
				      guard_access_word(access));
	more = make_room(policy->rules, policy->rule_count, sizeof(*more));
	if (more == NULL)
		return fence_fail(err, -ENOMEM, "keep the rule for %s", path);
	policy->rules = more;
	more[policy->rule_count++] = (struct guard_rule){ .access = access, .path = path };
	return 0;
}

/* The last ":/" is the colon between them: a name may have one in it. */
static const char *find_dest(const char *text)
{
	const char *dest = NULL;

	for (const char *at = text; (at = strstr(at, ":/")) != NULL; at++)
		dest = at;
	return dest == text ? NULL : dest;
}

bool guard_bind_is_good(const char *text)
{
	return find_dest(text) != NULL;
}

int guard_policy_add_bind(struct guard_policy *policy, enum guard_access access, const char *text,
			  struct fence_err *err)
{
	const char *colon = find_dest(text);
	const char *option = access == GUARD_RO ? "ro-bind" : "bind";
	struct guard_bind *more;

	if (colon == NULL) {
		fence_fail_why(err, -EINVAL, "not of the form SOURCE:DEST", "--%s %s", option,
			       text);
		(void)fence_hint(err, "DEST is absolute: --%s .:/work", option);
		return -EINVAL;
	}
	more = make_room(policy->binds, policy->bind_count, sizeof(*more));
	if (more == NULL)
		return fence_fail(err, -ENOMEM, "keep --%s %s", option, text);
	policy->binds = more;
	more[policy->bind_count] = (struct guard_bind){
		.source = strndup(text, (size_t)(colon - text)),
		.dest = colon + 1,
		.access = access,
	};
	if (more[policy->bind_count].source == NULL)
		return fence_fail(err, -ENOMEM, "keep --%s %s", option, text);
	policy->bind_count++;
	return guard_policy_add_rule(policy, access, colon + 1, err);
}

int guard_policy_add_env(struct guard_policy *policy, const char *text, bool unset,
			 struct fence_err *err)
{
	size_t length = strcspn(text, "=");
	struct guard_env_rule *more;

	if (length == 0 || (unset && text[length] == '='))
		return fence_fail_why(err, -EINVAL, "not the name of a variable", "%s", text);
	more = make_room(policy->env, policy->env_count, sizeof(*more));
	if (more == NULL)
		return fence_fail(err, -ENOMEM, "keep the variable %s", text);
	policy->env = more;
	more[policy->env_count++] = (struct guard_env_rule){
		.name = text,
		.name_length = length,
		.value = text[length] == '=' ? text + length + 1 : NULL,
		.unset = unset,
	};
	return 0;
}

const struct guard_call_rule *guard_policy_call(const struct guard_policy *policy, int number)
{
	for (size_t i = 0; i < policy->call_count; i++)
		if (policy->calls[i].number == number)
			return &policy->calls[i];
	return NULL;
}

int guard_policy_add_call(struct guard_policy *policy, const char *name, int error,
			  struct guard_place place)
{
	int number = guard_call_number(name);
	struct guard_call_rule *more;

	if (number < 0 || guard_policy_call(policy, number) != NULL ||
	    (error == 0 ? guard_call_kept(name) != NULL : guard_call_is_ours(name)))
		return -EINVAL;
	more = make_room(policy->calls, policy->call_count, sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	policy->calls = more;
	more[policy->call_count++] =
		(struct guard_call_rule){ .number = number, .error = error, .place = place };
	return 0;
}

int guard_policy_keep_fd(struct guard_policy *policy, int fd, struct fence_err *err)
{
	size_t at = 0;

	while (at < policy->keep_count && policy->keep_fds[at] < fd)
		at++;
	if (at < policy->keep_count && policy->keep_fds[at] == fd)
		return 0;
	if (policy->keep_count == GUARD_KEEP_FDS)
		return fence_fail_why(err, -E2BIG, "too many", "keep descriptor %d", fd);
	memmove(&policy->keep_fds[at + 1], &policy->keep_fds[at],
		(policy->keep_count - at) * sizeof(policy->keep_fds[0]));
	policy->keep_fds[at] = fd;
	policy->keep_count++;
	return 0;
}

int guard_policy_add_rlimit(struct guard_policy *policy, const char *text, struct fence_err *err)
{
	struct fence_spawn_limit limit;
	int rc = fence_limit_parse(text, &limit, err);
	size_t at = 0;

	if (rc < 0)
		return rc;
	while (at < policy->rlimit_count && policy->rlimits[at].resource != limit.resource)
		at++;
	if (at == GUARD_RLIMITS_MAX)
		return fence_fail_why(err, -E2BIG, "too many", "limit %s", text);
	/* The last one holds. */
	policy->rlimits[at] = limit;
	policy->rlimit_count += at == policy->rlimit_count;
	return 0;
}

/* A file's limits of each process, where no option has another. */
static void add_file_limits(struct guard_policy *policy)
{
	static const struct {
		enum guard_limit limit;
		int resource;
	} of_each[] = {
		{ GUARD_LIMIT_NOFILE, RLIMIT_NOFILE },
		{ GUARD_LIMIT_FSIZE, RLIMIT_FSIZE },
		{ GUARD_LIMIT_CORE, RLIMIT_CORE },
		{ GUARD_LIMIT_CPUTIME, RLIMIT_CPU },
	};

	for (size_t i = 0; i < sizeof(of_each) / sizeof(of_each[0]); i++) {
		uint64_t most = policy->limits[of_each[i].limit];
		size_t at = 0;

		while (at < policy->rlimit_count &&
		       policy->rlimits[at].resource != of_each[i].resource)
			at++;
		if (most != GUARD_UNLIMITED && at == policy->rlimit_count && at < GUARD_RLIMITS_MAX)
			policy->rlimits[policy->rlimit_count++] =
				(struct fence_spawn_limit){ of_each[i].resource, most, most };
	}
}

static int refuse_profile(const char *name, struct fence_err *err)
{
	const char *names[GUARD_PROFILES_MAX];
	const char *nearest = fence_nearest(name, names, guard_profile_names(names));

	fence_fail_why(err, -EINVAL, "no such profile", "%s", name);
	if (nearest != NULL)
		(void)fence_hint(err, "did you mean \"%s\"", nearest);
	else
		(void)fence_hint(err, "a profile of your own is in a file: --policy FILE");
	return -EINVAL;
}

int guard_policy_set_profile(struct guard_policy *policy, const char *name, struct fence_err *err)
{
	const struct guard_profile *profile = guard_profile_find(name);

	if (profile == NULL)
		return refuse_profile(name, err);
	policy->profile = profile;
	policy->net = profile->net;
	policy->allow_userns = profile->allow_userns;
	policy->keep_caps = profile->keep_caps;
	return 0;
}

int guard_policy_settle(struct guard_policy *policy, struct fence_err *err)
{
	add_file_limits(policy);
	if (!policy->profile->read_only_cwd)
		return 0;
	for (size_t i = 0; i < policy->env_count; i++)
		if (policy->env[i].name_length == 6 &&
		    memcmp(policy->env[i].name, "TMPDIR", 6) == 0)
			return 0;
	return guard_policy_add_env(policy, "TMPDIR=/tmp", false, err);
}

static int check_unconfined(const struct guard_policy *policy, struct fence_err *err)
{
	const char *option = NULL;

	/* Its command keeps what it needs to undo a mount: a rule would be a promise
	 * that nobody keeps. */
	if (policy->root != NULL)
		option = "root";
	else if (policy->rule_count > 0)
		option = guard_access_word(policy->rules[0].access);
	else if (policy->seccomp == GUARD_SECCOMP_STRICT)
		option = "strict";
	else if (policy->allow_nesting)
		option = "allow-nesting";
	else if (policy->allow_userns)
		option = "allow-userns";
	else if (policy->keep_caps != 0)
		option = "keep-cap";
	else if (policy->allow_hardlinks)
		option = "allow-hardlinks";
	else if (policy->allow_set_id)
		option = "allow-set-id";
	else if (policy->explain_fd >= 0)
		option = "explain";
	if (option == NULL)
		return 0;
	fence_fail_why(err, -EINVAL, "profile none confines neither files nor system calls", "--%s",
		       option);
	(void)fence_hint(err, "use --profile gate");
	if (policy->rule_count > 0)
		guard_policy_place(policy, policy->rules[0].path, err);
	return -EINVAL;
}

/* What the file asks for and nobody here does. Silence would be a promise. */
static int refuse_unbuilt(const struct guard_policy *policy, struct guard_place place,
			  const char *what, const char *hint, struct fence_err *err)
{
	if (place.line > 0)
		fence_fail_why(err, -EOPNOTSUPP, "this version of exec does not enforce it",
			       "%s:%u:%u: %s", policy->file, place.line, place.column, what);
	else
		fence_fail_why(err, -EOPNOTSUPP, "this version of exec does not enforce it", "%s",
			       what);
	(void)fence_hint(err, "%s", hint);
	return -EOPNOTSUPP;
}

/* A port's rule binds whom no_new_privs binds. */
static int check_ports(const struct guard_policy *policy, struct fence_err *err)
{
	if (policy->net != GUARD_NET_PORTS || policy->profile->confine)
		return 0;
	fence_fail_why(err, -EINVAL, "profile none does not confine", "--net ports");
	(void)fence_hint(err, "use --profile gate");
	return -EINVAL;
}

static const char *limit_asked_for(const struct guard_policy *policy)
{
	for (int i = 0; i < GUARD_LIMIT_COUNT; i++)
		if (policy->limits[i] != GUARD_UNLIMITED)
			return guard_limit_word((enum guard_limit)i);
	return policy->rlimit_count > 0 ? "limit" : NULL;
}

/* A Landlock rule gives, and takes nothing away again below that. */
static int check_narrow(const struct guard_policy *policy, struct fence_err *err)
{
	const struct guard_rule *rule = NULL;
	const char *option = limit_asked_for(policy);

	for (size_t i = 0; rule == NULL && i < policy->rule_count; i++)
		if (policy->rules[i].access != GUARD_RW)
			rule = &policy->rules[i];
	if (policy->root != NULL)
		option = "root";
	else if (rule != NULL)
		option = guard_access_word(rule->access);
	else if (policy->net == GUARD_NET_PORTS)
		option = "net ports";
	else if (policy->allow_nesting)
		option = "allow-nesting";
	else if (policy->allow_userns)
		option = "allow-userns";
	else if (policy->wait_all)
		option = "wait-all";
	else if (policy->new_session)
		option = "new-session";
	else if (policy->explain_fd >= 0)
		option = "explain";
	if (option == NULL)
		return 0;
	fence_fail_why(err, -EINVAL, "profile landlock does without what that takes", "--%s",
		       option);
	(void)fence_hint(err, "use --profile gate");
	if (rule != NULL)
		guard_policy_place(policy, rule->path, err);
	return -EINVAL;
}

/* Who may mount and has a capability over the host besides undoes the confinement. */
static int check_nesting(const struct guard_policy *policy, struct fence_err *err)
{
	if (policy->allow_nesting && policy->seccomp == GUARD_SECCOMP_STRICT) {
		fence_fail_why(err, -EINVAL, "the strict list has no mounts",
			       "--allow-nesting with --strict");
		(void)fence_hint(err, "leave one of them out");
		return -EINVAL;
	}
	if (!policy->allow_nesting || policy->keep_caps == 0)
		return 0;
	fence_fail_why(err, -EINVAL, "a command that nests keeps no capability",
		       "--allow-nesting with --keep-cap, or with profile chromium");
	(void)fence_hint(err, "leave one of them out");
	return -EINVAL;
}

/* With network mode none a socket of vsock's would lead out, with ports UDP's would, and
 * profile landlock has no other network to hide in; and modes are in what no filter sees. */
static int check_unseen(const struct guard_policy *policy, struct fence_err *err)
{
	if (policy->net == GUARD_NET_HOST && policy->allow_set_id)
		return 0;
	for (size_t i = 0; i < policy->call_count; i++) {
		const struct guard_call_rule *rule = &policy->calls[i];
		const char *name = guard_call_name(rule->number);

		if (rule->error != 0 || !guard_call_is_unseen(name))
			continue;
		fence_fail_why(err, -EINVAL, "it makes sockets and files that no filter sees",
			       "%s:%u:%u: allow %s", policy->file, rule->place.line,
			       rule->place.column, name);
		(void)fence_hint(err, "take network mode host and allowSetId with it");
		return -EINVAL;
	}
	return 0;
}

/* The command is below the filter already when its session is made. */
static int check_session(const struct guard_policy *policy, struct fence_err *err)
{
	const struct guard_call_rule *rule = guard_policy_call(policy, SYS_setsid);

	if (!policy->new_session || rule == NULL || rule->error == 0)
		return 0;
	fence_fail_why(err, -EINVAL, "no session is made without it", "%s:%u:%u: deny setsid",
		       policy->file, rule->place.line, rule->place.column);
	(void)fence_hint(err, "leave it out, or newSession");
	return -EINVAL;
}

static int check_root(const struct guard_policy *policy, struct fence_err *err)
{
	if (policy->root == NULL && policy->bind_count > 0) {
		fence_fail_why(err, -EINVAL, "it takes a root of the command's own", "--bind %s:%s",
			       policy->binds[0].source, policy->binds[0].dest);
		(void)fence_hint(err, "use --root, or --rw or --ro for a path as it is");
		return -EINVAL;
	}
	if (policy->root == NULL || !policy->allow_nesting)
		return 0;
	fence_fail_why(err, -EOPNOTSUPP, "the two do not go together",
		       "--root with --allow-nesting");
	(void)fence_hint(err, "leave one of them out");
	return -EOPNOTSUPP;
}

int guard_policy_check(const struct guard_policy *policy, struct fence_err *err)
{
	int rc = policy->profile->confine ? 0 : check_unconfined(policy, err);

	if (rc == 0)
		rc = check_root(policy, err);
	if (rc == 0 && policy->profile->narrow)
		rc = check_narrow(policy, err);
	if (rc == 0)
		rc = check_nesting(policy, err);
	if (rc == 0)
		rc = check_unseen(policy, err);
	if (rc == 0)
		rc = check_session(policy, err);
	if (rc < 0)
		return rc;
	if (policy->net == GUARD_NET_RULES)
		return refuse_unbuilt(policy, policy->net_place, "network mode \"rules\"",
				      "use mode none, or --net none", err);
	/* In mode none nothing is reached, whatever a list says. */
	if (policy->net == GUARD_NET_HOST && policy->net_line_count > 0)
		return refuse_unbuilt(policy, policy->net_lines[0].place,
				      "a list of connections on the host's network",
				      "use mode none, or leave the lists out", err);
	return check_ports(policy, err);
}

const char *guard_policy_word(const struct guard_policy *policy, const char *path)
{
	if (policy->root != NULL && strcmp(policy->root, path) == 0)
		return policy->root;
	for (size_t i = 0; i < policy->bind_count; i++)
		if (strcmp(policy->binds[i].source, path) == 0)
			return policy->binds[i].source;
	for (size_t i = 0; i < policy->rule_count; i++)
		if (strcmp(policy->rules[i].path, path) == 0)
			return policy->rules[i].path;
	return NULL;
}

/* Whose word `path` is: the same string, not one that is equal. */
static struct guard_place find_place(const struct guard_policy *policy, const char *path)
{
	if (path == policy->root)
		return policy->root_place;
	for (size_t i = 0; i < policy->bind_count; i++)
		if (policy->binds[i].source == path)
			return policy->binds[i].place;
	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy->rules[i].path == path)
			return policy->rules[i].place;
	return (struct guard_place){ .line = 0 };
}

void guard_policy_place(const struct guard_policy *policy, const char *path, struct fence_err *err)
{
	char what[sizeof(err->what)];
	struct guard_place place;
	struct fence_err placed;

	if (err == NULL || path == NULL)
		return;
	place = find_place(policy, path);
	if (place.line == 0)
		return;
	placed = *err;
	/* A file has keys, not options. */
	memcpy(what, err->what, sizeof(what));
	fence_fail(&placed, err->code, "%s:%u:%u: %s", policy->file, place.line, place.column,
		   strncmp(what, "--", 2) == 0 ? what + 2 : what);
	memcpy(err->what, placed.what, sizeof(err->what));
}

/* linux/capability.h's names by number; a test compares them with the kernel's count. */
static const char *const cap_names[] = {
	"chown",
	"dac_override",
	"dac_read_search",
	"fowner",
	"fsetid",
	"kill",
	"setgid",
	"setuid",
	"setpcap",
	"linux_immutable",
	"net_bind_service",
	"net_broadcast",
	"net_admin",
	"net_raw",
	"ipc_lock",
	"ipc_owner",
	"sys_module",
	"sys_rawio",
	"sys_chroot",
	"sys_ptrace",
	"sys_pacct",
	"sys_admin",
	"sys_boot",
	"sys_nice",
	"sys_resource",
	"sys_time",
	"sys_tty_config",
	"mknod",
	"lease",
	"audit_write",
	"audit_control",
	"setfcap",
	"mac_override",
	"mac_admin",
	"syslog",
	"wake_alarm",
	"block_suspend",
	"audit_read",
	"perfmon",
	"bpf",
	"checkpoint_restore",
};

int guard_cap_number(const char *name)
{
	if (strncasecmp(name, "cap_", 4) == 0)
		name += 4;
	for (size_t i = 0; i < sizeof(cap_names) / sizeof(cap_names[0]); i++)
		if (strcasecmp(cap_names[i], name) == 0)
			return (int)i;
	return -1;
}
