/* A filter that asks instead of answering: what the enforcing filter refuses, and a few
 * calls besides, goes to a listener (seccomp_unotify(2)). The listener takes its answer
 * from the enforcing filter itself, by the same numbers the kernel would look at. */
#ifndef GUARD_CONFINE_ASKING_H
#define GUARD_CONFINE_ASKING_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#define GUARD_ASKING_MAX 2048

/* `enforcing` with every refusal turned into a question, and every call of `watched`
 * asked about, too: into `ret`, of GUARD_ASKING_MAX. How many instructions, or -EINVAL
 * when the filter is none of ours. */
int guard_asking_build(const struct sock_fprog *enforcing, const int *watched, size_t count,
		       struct sock_filter *ret);

/* What the filter says about a call: SECCOMP_RET_*. Anything in it that no filter of ours
 * has is SECCOMP_RET_KILL_PROCESS. */
unsigned int guard_asking_answer(const struct sock_fprog *filter, const struct seccomp_data *data);

/* The same about a call of which only the number is known, as an errno; 0: it passes. */
int guard_asking_errno(const struct sock_fprog *filter, int number);

#endif
