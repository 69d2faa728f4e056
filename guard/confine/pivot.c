#include "guard/confine/pivot.h"

#include <errno.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/sys.h"

/* With both names "." the old root comes to lie on the new one, and "." for umount2(2)
 * is whatever lies on top (pivot_root(2) tells of it): no folder is needed for it. */
int guard_pivot_enter(int root_fd, struct fence_err *err)
{
	int rc;

	if (fchdir(root_fd) < 0)
		return fence_fail(err, -errno, "enter the new root");
	rc = fence_pivot_root(".", ".");
	return rc < 0 ? fence_fail(err, rc, "change the root") : 0;
}

/* Each goes by itself. One too few would show the host, so we look: what is on top in the
 * end must be the new root. */
int guard_pivot_leave(int root_fd, size_t count, struct fence_err *err)
{
	struct stat top, wanted;

	if (fchdir(root_fd) < 0)
		return fence_fail(err, -errno, "enter the new root");
	for (size_t i = 0; i < count; i++)
		if (umount2(".", MNT_DETACH) < 0)
			return fence_fail(err, -errno, "leave the old root");
	if (chdir("/") < 0 || stat("/..", &top) < 0 || fstat(root_fd, &wanted) < 0)
		return fence_fail(err, -errno, "look at the new root");
	if (top.st_dev != wanted.st_dev || top.st_ino != wanted.st_ino)
		return fence_fail_why(err, -ESTALE, "something still lies on it",
				      "change the root");
	return 0;
}
