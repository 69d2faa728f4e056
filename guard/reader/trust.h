/* Whose word a policy file is. */
#ifndef GUARD_READER_TRUST_H
#define GUARD_READER_TRUST_H

#include <limits.h>

#include "fence/err.h"

/* Opens the file for reading, if nobody but root and the caller could have written it
 * or put another in its place: it is a regular file of one of them that nobody else may
 * write; so are, on every way that leads to it, the folders (where all may write, as in
 * /tmp, the sticky bit must keep them from each other's files) and the links. Who may
 * write is what the mode says, to which an access list adds only what its group bits
 * show. A folder
 * whose owner this user namespace does not know may be root's and is taken. Returns the descriptor
 * and the absolute path, with the links that are in it, or -errno with words: -EPERM for what is
 * not to be trusted. */
int guard_trust_open(const char *path, char ret_path[PATH_MAX], struct fence_err *err);

#endif
