/* fence-guard explain: what a policy means for one path, host, system call or command. */
#ifndef GUARD_EXPLAIN_H
#define GUARD_EXPLAIN_H

#include "fence/err.h"
#include "fence/opts.h"

extern const struct fence_cli guard_explain_cli;

/* The answer goes into `text`. Returns the exit status: 0 answered, 64 or 65. */
int guard_explain_main(int argc, char *const *argv, struct fence_text *text, struct fence_err *err);

#endif
