/* The private copies in which something was done, from when init hands them over until all
 * inside is dead and what they have can be kept. */
#ifndef GUARD_CONFINE_ASIDE_H
#define GUARD_CONFINE_ASIDE_H

#include "guard/confine/record.h"
#include "guard/confine/report.h"

struct guard_aside; /* the newest of a list; NULL: none */

/* Takes a report of a discarded copy over, and the descriptor in *fd. 0 or -ENOMEM. */
int guard_aside_add(struct guard_aside **list, const struct guard_report *report, int *fd);

/* Keeps what there is, says so, and notes it for the record; the list is empty then. To be
 * called when nobody inside writes any more. 0, or -ENOMEM when the record is not whole. */
int guard_aside_keep(struct guard_aside **list, struct guard_exec_record *record);

#endif
