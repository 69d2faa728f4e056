/* Capabilities, as bubblewrap has them: uid 0 keeps what it has, everybody else gets
 * none, and --cap-add and --cap-drop change that. */
#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>

#include "guard/bwrap/bwrap.h"
#include "guard/confine/steps.h"

/* See guard/confine/caps.c for why not libcap. */
int capget(cap_user_header_t header, cap_user_data_t data);
int capset(cap_user_header_t header, const cap_user_data_t data);

#define HALVES _LINUX_CAPABILITY_U32S_3

uint64_t bwrap_own_caps(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[HALVES];

	if (capget(&header, data) < 0)
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

/* Everything in `keep` survives exec, whatever the uid. */
static int set_all(uint64_t keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[HALVES];

	if (capget(&header, data) < 0)
		return -errno;
	for (unsigned int i = 0; i < HALVES; i++) {
		data[i].permitted &= (uint32_t)(keep >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = data[i].permitted;
	}
	return capset(&header, data) < 0 ? -errno : 0;
}

/* Ambient is what is both permitted and inheritable; EPERM says that one is not, EINVAL
 * that the list is over. For uid 0 that was given no option only what it had as
 * inheritable goes there. */
static int raise_ambient(uint64_t keep)
{
	for (unsigned int cap = 0; cap < 64; cap++) {
		if ((keep >> cap & 1) == 0)
			continue;
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0 && errno != EPERM)
			return errno == EINVAL ? 0 : -errno;
	}
	return 0;
}

static int drop_bounding(uint64_t keep)
{
	for (unsigned int cap = 0; cap < 64; cap++) {
		if (keep >> cap & 1)
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return errno == EINVAL ? 0 : -errno;
	}
	return 0;
}

int bwrap_set_caps(const struct bwrap *bwrap, bool in_userns, struct fence_err *err)
{
	bool as_is = bwrap->real_root && !bwrap->caps_named;
	int rc = 0;

	if (!as_is || in_userns)
		rc = drop_bounding(bwrap->caps);
	if (rc == 0 && !as_is && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		rc = -errno;
	if (rc == 0 && !as_is)
		rc = set_all(bwrap->caps);
	if (rc == 0)
		rc = raise_ambient(bwrap->caps);
	return rc < 0 ? fence_fail(err, rc, "set capabilities") : 0;
}
