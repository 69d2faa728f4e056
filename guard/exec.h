/* The verb `exec`: its options and what it does. */
#ifndef GUARD_EXEC_H
#define GUARD_EXEC_H

#include "fence/err.h"
#include "fence/opts.h"

extern const struct fence_cli guard_exec_cli;

/* argv[0] is the verb. Returns the exit status; text to print is in `text`, what
 * went wrong in `err`. */
int guard_exec_main(int argc, char *const *argv, struct fence_text *text, struct fence_err *err);

#endif
