#include "guard/browser/identity.h"

#include <errno.h>
#include <grp.h>
#include <unistd.h>

/* A call that says yes and does nothing (a filter that fakes success) must not
 * leave us root. */
static int check(const struct identity *identity)
{
	uid_t uid[3];
	gid_t gid[3];

	if (getresuid(&uid[0], &uid[1], &uid[2]) < 0 || getresgid(&gid[0], &gid[1], &gid[2]) < 0)
		return -errno;
	for (int i = 0; i < 3; i++)
		if (uid[i] != identity->uid || gid[i] != identity->gid)
			return -EPERM;
	return getgroups(0, NULL) == 0 ? 0 : -EPERM;
}

int identity_become(const struct identity *identity)
{
	if (!identity->drops)
		return 0;
	/* The gid first: an unmapped one says -EINVAL, where setgroups(2) in the same
	 * user namespace could only say -EPERM. */
	if (setresgid(identity->gid, identity->gid, identity->gid) < 0)
		return -errno;
	if (setgroups(0, NULL) < 0)
		return -errno;
	if (setresuid(identity->uid, identity->uid, identity->uid) < 0)
		return -errno;
	return check(identity);
}
