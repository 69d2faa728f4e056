/* The names in a folder, one after the other, without memory of our own. */
#ifndef GUARD_CONFINE_ENTRIES_H
#define GUARD_CONFINE_ENTRIES_H

#include <stdbool.h>

/* Calls `each` for every entry but `.` and `..`, until it returns something else than 0,
 * which is returned; 0 at the end, or -errno. `dir_fd` is read from where it stands. */
int guard_entries_each(int dir_fd, int (*each)(void *arg, const char *name), void *arg);

/* Removes the folder `name` with all that is in it; no link is followed. 0 or -errno. */
int guard_entries_remove(int dir_fd, const char *name);

#endif
