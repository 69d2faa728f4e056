/* The verb `doctor`: what this host can enforce. */
#ifndef GUARD_DOCTOR_H
#define GUARD_DOCTOR_H

#include "fence/err.h"
#include "fence/opts.h"

extern const struct fence_cli guard_doctor_cli;

/* argv[0] is the verb. Returns the exit status; the report is in `text`. */
int guard_doctor_main(int argc, char *const *argv, struct fence_text *text, struct fence_err *err);

#endif
