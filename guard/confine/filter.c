#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "guard/confine/steps.h"
#include "guard_filters.h" /* made: filter_default, filter_userns */

int guard_no_new_privs(struct fence_err *err)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return fence_fail(err, -errno, "set no_new_privs");
	return 0;
}

struct sock_fprog guard_filter(bool with_userns)
{
	struct sock_fprog program = {
		.len = sizeof(filter_default) / sizeof(filter_default[0]),
		.filter = (struct sock_filter *)(uintptr_t)filter_default,
	};

	if (with_userns) {
		program.len = sizeof(filter_userns) / sizeof(filter_userns[0]);
		program.filter = (struct sock_filter *)(uintptr_t)filter_userns;
	}
	return program;
}

int guard_load_filter(bool with_userns, struct fence_err *err)
{
	struct sock_fprog program = guard_filter(with_userns);

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return fence_fail(err, -errno, "install the seccomp filter");
	return 0;
}
