#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/steps.h"

/* A write to these files is whole or an error. Left open for writing, one would keep its
 * mount from becoming read-only (EBUSY). */
static int write_proc(const char *path, const char *text)
{
	owned_fd fd =
		openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC); /* musl's open(2) is two calls */

	if (fd < 0)
		return -errno;
	return fence_write_full(fd, text, strlen(text));
}

int guard_map_self(uid_t uid, gid_t gid, struct fence_err *err)
{
	char map[64];
	int rc = write_proc("/proc/self/setgroups", "deny");

	if (rc == 0) {
		(void)snprintf(map, sizeof(map), "%u %u 1\n", uid, uid);
		rc = write_proc("/proc/self/uid_map", map);
	}
	if (rc == 0) {
		(void)snprintf(map, sizeof(map), "%u %u 1\n", gid, gid);
		rc = write_proc("/proc/self/gid_map", map);
	}
	if (rc == 0)
		return 0;
	fence_fail(err, rc, "map uid %u into a user namespace", uid);
	guard_hint_namespaces(err);
	return rc;
}

/* A number in a file of /proc; -1 when it is not there. */
static long read_setting(const char *path)
{
	char text[64];

	if (fence_read_file(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return -1;
	return strtol(text, NULL, 10);
}

static bool is_filtered(void)
{
	char text[8192];
	const char *line;

	if (fence_read_file(AT_FDCWD, "/proc/self/status", text, sizeof(text)) <= 0)
		return false;
	line = strstr(text, "\nSeccomp:");
	return line != NULL && strtol(line + strlen("\nSeccomp:"), NULL, 10) != 0;
}

void guard_hint_namespaces(struct fence_err *err)
{
	if (read_setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
		(void)fence_hint(err, "AppArmor restricts user namespaces: add a profile with "
				      "`userns,` for fence-guard, or set sysctl "
				      "kernel.apparmor_restrict_unprivileged_userns=0");
	else if (read_setting("/proc/sys/kernel/unprivileged_userns_clone") == 0)
		(void)fence_hint(err, "set sysctl kernel.unprivileged_userns_clone=1");
	else if (read_setting("/proc/sys/user/max_user_namespaces") == 0)
		(void)fence_hint(err, "set sysctl user.max_user_namespaces to more than 0");
	else if (err->code == -ENOSPC || err->code == -EUSERS)
		(void)fence_hint(err, "a limit in /proc/sys/user/max_*_namespaces is reached, or "
				      "namespaces are nested too deep (32)");
	else if (is_filtered())
		(void)fence_hint(err, "a seccomp filter refuses it: in Docker, run the container "
				      "with --security-opt seccomp=PROFILE that allows clone, "
				      "unshare and mount, or --cap-add SYS_ADMIN");
	else if (geteuid() == 0)
		(void)fence_hint(err, "uid 0 without CAP_SYS_ADMIN and CAP_SETFCAP cannot confine: "
				      "give the container --cap-add SYS_ADMIN");
	else
		(void)fence_hint(err, "user namespaces are refused here: a chroot or a security "
				      "module (see /sys/kernel/security/lsm) forbids them");
}
