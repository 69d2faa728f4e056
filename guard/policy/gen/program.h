/* A filter while it is made. Part of the generator alone. */
#ifndef GUARD_POLICY_GEN_PROGRAM_H
#define GUARD_POLICY_GEN_PROGRAM_H

#include <linux/filter.h>
#include <stddef.h>

#define PROGRAM_MAX 4096

struct program {
	struct sock_filter line[PROGRAM_MAX];
	size_t count;
};

/* Says why no filter is made, and ends. */
_Noreturn void die(const char *what);

/* One instruction more; returns its line. */
size_t emit(struct program *p, unsigned int code, unsigned int k, unsigned int jt, unsigned int jf);

void answer(struct program *p, unsigned int action);

/* The same answers as `whole`, a program of libseccomp's that knows the architecture, the
 * number and no arguments, for the numbers that there are, in fewer lines: libseccomp
 * compares with each number that has a rule, while neighbours mostly have the same answer.
 * The kernel takes some 0.15 us for a line at every start. The number must be loaded. */
void emit_shorter(struct program *p, const struct program *whole);

#endif
