#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "guard/confine/steps.h"
#include "guard_filters.h" /* made: filter_default and its like */

int guard_no_new_privs(struct fence_err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return fence_fail(err, -errno, "set no_new_privs");
	return 0;
}

#define PROGRAM(filter)                                                                            \
	{                                                                                          \
		sizeof(filter) / sizeof((filter)[0]), (struct sock_filter *)(uintptr_t)(filter)    \
	}

struct sock_fprog guard_filter(const struct guard_policy *policy)
{
	/* [with_userns] */
	const struct sock_fprog usual[] = { PROGRAM(filter_default), PROGRAM(filter_userns) };
	const struct sock_fprog ports[] = { PROGRAM(filter_ports), PROGRAM(filter_ports_userns) };
	const struct sock_fprog bind[] = { PROGRAM(filter_bind), PROGRAM(filter_bind_userns) };

	if (policy->net != GUARD_NET_PORTS)
		return usual[policy->allow_userns];
	return policy->ports.bind.count == 0 ? ports[policy->allow_userns]
					     : bind[policy->allow_userns];
}

int guard_load_filter(const struct guard_policy *policy, struct fence_err *err)
{
	struct sock_fprog program = guard_filter(policy);

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return fence_fail(err, -errno, "install the seccomp filter");
	return 0;
}
