#include "guard/policy/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *guard_access_word(enum guard_access access)
{
	static const char *const words[] = {
		[GUARD_RW] = "rw",     [GUARD_RO] = "ro",	    [GUARD_TMPFS] = "tmpfs",
		[GUARD_DENY] = "deny", [GUARD_PROTECT] = "protect",
	};

	return words[access];
}

void guard_policy_init(struct guard_policy *policy)
{
	*policy = (struct guard_policy){ .status_fd = -1 };
	(void)guard_policy_set_profile(policy, "gate", NULL);
}

void guard_policy_free(struct guard_policy *policy)
{
	free(policy->rules);
	free(policy->env);
	policy->rules = NULL;
	policy->env = NULL;
}

int guard_policy_add_rule(struct guard_policy *policy, enum guard_access access, const char *path,
			  struct fence_err *err)
{
	struct guard_rule *more;

	if (path[0] == '\0')
		return fence_fail_why(err, -EINVAL, "empty path", "--%s",
				      guard_access_word(access));
	more = reallocarray(policy->rules, policy->rule_count + 1, sizeof(*more));
	if (more == NULL)
		return fence_fail(err, -ENOMEM, "keep the rule for %s", path);
	policy->rules = more;
	more[policy->rule_count++] = (struct guard_rule){ .access = access, .path = path };
	return 0;
}

int guard_policy_add_env(struct guard_policy *policy, const char *text, bool unset,
			 struct fence_err *err)
{
	size_t length = strcspn(text, "=");
	struct guard_env_rule *more;

	if (length == 0 || (unset && text[length] == '='))
		return fence_fail_why(err, -EINVAL, "not the name of a variable", "%s", text);
	more = reallocarray(policy->env, policy->env_count + 1, sizeof(*more));
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

int guard_policy_set_profile(struct guard_policy *policy, const char *name, struct fence_err *err)
{
	const struct guard_profile *profile = guard_profile_find(name);

	if (profile == NULL)
		return fence_fail_why(err, -EINVAL, "no such profile", "%s", name);
	policy->profile = profile;
	policy->net = profile->net;
	policy->allow_userns = profile->allow_userns;
	policy->keep_caps = profile->keep_caps;
	return 0;
}

int guard_policy_check(const struct guard_policy *policy, struct fence_err *err)
{
	const char *option = NULL;

	if (policy->profile->confine)
		return 0;
	/* Its command keeps what it needs to undo a mount: a rule would be a promise
	 * that nobody keeps. */
	if (policy->rule_count > 0)
		option = guard_access_word(policy->rules[0].access);
	else if (policy->allow_userns)
		option = "allow-userns";
	else if (policy->keep_caps != 0)
		option = "keep-cap";
	else if (policy->allow_hardlinks)
		option = "allow-hardlinks";
	if (option == NULL)
		return 0;
	fence_fail_why(err, -EINVAL, "profile none confines neither files nor system calls", "--%s",
		       option);
	(void)fence_hint(err, "use --profile gate");
	return -EINVAL;
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
