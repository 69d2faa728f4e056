#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
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

/* With no capability permitted and no_new_privs set, execve(2) permits none again: it
 * takes the intersection with what was permitted before (cap_bprm_creds_from_file), also
 * for uid 0. A second lock makes uid 0 a user as any other for it, where the other way, an
 * empty bounding set, is 41 system calls, a fifth of a launch; what that set still shows
 * in /proc is a ceiling of what nobody can get. In a user namespace of its own a process
 * has a full bounding set and no lock in any case. */
#define LOCKS                                                                                      \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |                           \
	 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |                             \
	 SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

static int lock_uid_0(void)
{
	int bits;

	if (prctl(PR_SET_SECUREBITS, LOCKS, 0, 0, 0) == 0)
		return 0;
	/* Others may be locked already. */
	bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
	return bits < 0 || prctl(PR_SET_SECUREBITS, bits | LOCKS, 0, 0, 0) < 0 ? -errno : 0;
}

static int drop_all(struct fence_err *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[HALVES] = { { 0 } };
	int rc = lock_uid_0();

	if (rc < 0)
		return fence_fail(err, rc, "lock the capabilities of uid 0");
	/* What is neither permitted nor inheritable leaves the ambient set as well. */
	if (capset(&header, none) < 0)
		return fence_fail(err, -errno, "drop capabilities");
	return 0;
}

static int drop_others(uint64_t keep, struct fence_err *err)
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

static int raise_ambient(uint64_t keep)
{
	for (unsigned int cap = 0; cap < 64; cap++)
		if (keep >> cap & 1 && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return -errno;
	return 0;
}

/* What is ambient must be inheritable before, and cannot be raised any more after the lock,
 * which takes a capability itself. */
int guard_keep_ambient(uint64_t keep, struct fence_err *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[HALVES];
	int rc;

	if (keep == 0)
		return drop_all(err);
	rc = read_caps(data);
	for (unsigned int i = 0; i < HALVES; i++)
		data[i].inheritable = (uint32_t)(keep >> (32 * i));
	if (rc == 0 && capset(&header, data) < 0)
		rc = -errno;
	if (rc == 0)
		rc = raise_ambient(keep);
	if (rc == 0)
		rc = lock_uid_0();
	for (unsigned int i = 0; i < HALVES; i++)
		data[i].permitted = data[i].effective = data[i].inheritable;
	if (rc == 0 && capset(&header, data) < 0)
		rc = -errno;
	return rc < 0 ? fence_fail(err, rc, "keep capabilities") : 0;
}

int guard_drop_caps(uint64_t keep, struct fence_err *err)
{
	return keep == 0 ? drop_all(err) : drop_others(keep, err);
}
