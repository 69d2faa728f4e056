/* Whom the browser runs as. */
#ifndef GUARD_BROWSER_IDENTITY_H
#define GUARD_BROWSER_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

/* The uid (and gid) that root's browsers get when nobody names one: below 65536,
 * so that containers map it, and in none of the ranges that systemd, Debian or
 * container managers hand out. */
#define IDENTITY_DEFAULT_ID 60600

struct identity {
	uid_t uid;
	gid_t gid;
	bool drops; /* we are root and have to become it */
};

/* Becomes it for good: real, effective and saved gid, no groups, real, effective and saved uid,
 * all checked. Without `drops` nothing is done. -errno; -EINVAL: an id that is not
 * mapped in this user namespace; -EPERM: root without CAP_SETUID or CAP_SETGID. Only for a process
 * of one thread. */
int identity_become(const struct identity *identity);

#endif
