#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>

#include "guard/confine/steps.h"

/* The C library has the calls without a declaration; libcap, which declares them,
 * would add a constructor that makes calls of its own at each start. */
int capget(cap_user_header_t header, cap_user_data_t data);
int capset(cap_user_header_t header, const cap_user_data_t data);

#define HALVES _LINUX_CAPABILITY_U32S_3

static int read_caps(struct __user_cap_data_struct *data)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return capget(&header, data) < 0 ? -errno : 0;
}

bool guard_is_privileged(void)
{
	const uint64_t wanted = UINT64_C(1) << CAP_SYS_ADMIN | UINT64_C(1) << CAP_NET_ADMIN |
				UINT64_C(1) << CAP_SETPCAP;
	struct __user_cap_data_struct data[HALVES];
	uint64_t effective;

	if (read_caps(data) < 0)
		return false;
	effective = (uint64_t)data[1].effective << 32 | data[0].effective;
	return (effective & wanted) == wanted;
}

/* The bounding set has no call that drops all of it; EINVAL ends the list. */
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

int guard_drop_caps(uint64_t keep, struct fence_err *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[HALVES];
	int rc = drop_bounding(keep);

	if (rc < 0)
		return fence_fail(err, rc, "drop the capability bounding set");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return fence_fail(err, -errno, "clear the ambient capabilities");
	rc = read_caps(data);
	for (unsigned int i = 0; rc == 0 && i < HALVES; i++) {
		uint32_t kept = (uint32_t)(keep >> (32 * i));

		data[i].permitted &= kept;
		data[i].effective &= kept;
		data[i].inheritable = 0;
	}
	if (rc == 0 && capset(&header, data) < 0)
		rc = -errno;
	return rc < 0 ? fence_fail(err, rc, "drop capabilities") : 0;
}
