#include "guard/confine/own.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "guard/confine/steps.h"

static unsigned int answer_of(const struct guard_call_rule *rule)
{
	return rule->error == 0
		       ? SECCOMP_RET_ALLOW
		       : SECCOMP_RET_ERRNO | ((unsigned int)rule->error & SECCOMP_RET_DATA);
}

int guard_own_filter(struct guard_policy *policy, struct fence_err *err)
{
	struct sock_fprog base = guard_filter(policy);
	size_t count = base.len + 2 * policy->call_count;
	struct sock_filter *lines;
	size_t at = GUARD_FILTER_PROLOGUE;

	if (policy->call_count == 0)
		return 0;
	if (count > BPF_MAXINSNS)
		return fence_fail_why(err, -E2BIG, "too many calls are named", "make the filter");
	lines = reallocarray(NULL, count, sizeof(*lines));
	if (lines == NULL)
		return fence_fail(err, -ENOMEM, "make the filter");
	memcpy(lines, base.filter, at * sizeof(*lines));
	for (size_t i = 0; i < policy->call_count; i++) {
		lines[at++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						     (unsigned int)policy->calls[i].number, 0, 1);
		lines[at++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer_of(&policy->calls[i]));
	}
	memcpy(lines + at, base.filter + GUARD_FILTER_PROLOGUE,
	       (base.len - GUARD_FILTER_PROLOGUE) * sizeof(*lines));
	policy->own_filter = lines;
	policy->own_filter_count = count;
	return 0;
}
