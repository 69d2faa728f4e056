/* Something to mount on where a protected path does not exist yet.
 *
 * A mount needs an object under it, on the host, for as long as it lasts: since Linux
 * 3.18 the kernel takes a mount away from every namespace when what it lies on is removed.
 * So an empty read-only folder is made there (a folder, since git(1) and go(1) do not see
 * empty ones), and removed after the command. That it never stays:
 *
 *  - before it is made, a file in a registry outside of everything that a command may
 *    write names it, and whoever needs it holds a shared lock on that file until its end,
 *    however it ends;
 *  - whoever finds such a file unlocked removes the folder, then the file: we do at every
 *    start and at our own end. It lies on a disk, so a power cut changes nothing;
 *  - it is known by its mode, a sticky bit and no right to write, which mkdir(2) gives it
 *    in one go: no folder of anybody else is taken for one.
 *
 * Somebody outside who moves the folder that it lies in takes it along: it is not found
 * again then. */
#ifndef GUARD_CONFINE_PLACEHOLDER_H
#define GUARD_CONFINE_PLACEHOLDER_H

#include <stdbool.h>
#include <sys/stat.h>

#include "fence/err.h"

/* /var/lib/fenceline for root, else /var/tmp/fenceline-UID. */
void guard_placeholder_registry(char *ret, size_t size_bytes);

/* It may be one: ask guard_placeholder_join. */
bool guard_placeholder_looks_like(const struct stat *st);

/* Makes or joins the placeholder `name` in a folder, whose link-free path is `parent` below
 * `host_fd` (AT_FDCWD: our own root), as the registry is. 1:
 * it is there, until *ret_lock_fd, which must stay open, is closed; 0: something else is
 * there meanwhile. */
int guard_placeholder_make(int host_fd, int parent_fd, const char *parent, const char *name,
			   int *ret_lock_fd, struct fence_err *err);

/* The same for one that is there: 1, or 0 when it is none of ours, or -ESTALE when it just
 * goes. */
int guard_placeholder_join(int host_fd, int parent_fd, const char *name, int *ret_lock_fd);

/* Removes those that nobody needs. Silent: what cannot be removed now is tried again. True
 * when the registry has a folder `kept` (keep.h), which is not for commands to read. */
bool guard_placeholder_sweep(void);

/* That it has, without sweeping. */
bool guard_placeholder_keeps(void);

/* The registry, made when there is none: an owned descriptor, -EPERM when it is somebody
 * else's or others may write it, or another -errno. */
int guard_placeholder_open_registry(void);

#endif
