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

#define PROGRAMS_OF(list)                                                                          \
	{                                                                                          \
		{ PROGRAM(filter_##list), PROGRAM(filter_##list##_userns) },                       \
		{                                                                                  \
			PROGRAM(filter_##list##_set_id), PROGRAM(filter_##list##_set_id_userns)    \
		}                                                                                  \
	}
#define PROGRAMS(net)                                                                              \
	{                                                                                          \
		PROGRAMS_OF(net), PROGRAMS_OF(net##_strict)                                        \
	}

struct sock_fprog guard_filter(const struct guard_policy *policy)
{
	/* [network][strict][set-id allowed][user namespaces allowed] */
	const struct sock_fprog programs[3][2][2][2] = { PROGRAMS(default), PROGRAMS(ports),
							 PROGRAMS(bind) };
	/* [network][set-id allowed] */
	const struct sock_fprog nesting[3][2] = {
		{ PROGRAM(filter_default_nesting), PROGRAM(filter_default_set_id_nesting) },
		{ PROGRAM(filter_ports_nesting), PROGRAM(filter_ports_set_id_nesting) },
		{ PROGRAM(filter_bind_nesting), PROGRAM(filter_bind_set_id_nesting) },
	};
	bool strict = policy->seccomp == GUARD_SECCOMP_STRICT;
	size_t net = 0;

	if (policy->own_filter != NULL)
		return (struct sock_fprog){ (unsigned short)policy->own_filter_count,
					    policy->own_filter };
	if (policy->net == GUARD_NET_PORTS)
		net = policy->ports.bind.count == 0 ? 1 : 2;
	if (policy->allow_nesting)
		return nesting[net][policy->allow_set_id];
	return programs[net][strict][policy->allow_set_id][policy->allow_userns];
}

int guard_load_filter(const struct guard_policy *policy, struct fence_err *err)
{
	struct sock_fprog program = guard_filter(policy);

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return fence_fail(err, -errno, "install the seccomp filter");
	return 0;
}
