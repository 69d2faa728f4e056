/* The folders of one launch: the private root, and the profile that the client
 * named. */
#ifndef GUARD_BROWSER_FOLDER_H
#define GUARD_BROWSER_FOLDER_H

#include <stddef.h>
#include <sys/types.h>

#include "guard/browser/identity.h"

/* Long enough for any root that leaves room for a socket's path below it. */
#define FOLDER_ROOT_MAX 64

/* Makes the private root, 0700 and the caller's own, with the folders in it that
 * environ.h names, in `tmp` if that is a short absolute path where we may write,
 * else in /tmp. For a process that already is the browser's user. -errno. */
int folder_make_root(const char *tmp, char ret_root[FOLDER_ROOT_MAX]);

/* Removes a folder and all in it, never through a link. It must be the caller's
 * uid's own. -ENOTEMPTY: something still writes into it; other -errno. */
int folder_remove(const char *path);

/* Makes the named profile the browser's own. A folder that is missing is made where the
 * caller may make it for itself alone. One of the caller's that is fresh (nothing in it
 * but a few plain files and folders, all the caller's, as clients prepare it) changes
 * its owner, entry by entry, through descriptors that follow no link and enter no other
 * mount. On the way to it only links of root's and the caller's are followed. One that is the
 * browser's user's already stays as it is. Anything else is somebody's: -EPERM, or
 * -EXDEV for a mount in it. -ENOTDIR: no folder; other -errno. Without a drop nothing is done. */
int folder_hand_over(const char *profile, const struct identity *identity);

#endif
