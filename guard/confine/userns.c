#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
	return fence_fail(err, rc, "map uid %u into a user namespace", uid);
}
