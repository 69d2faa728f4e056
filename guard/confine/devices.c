/* The small /dev. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "fence/kernel.h"
#include "guard/confine/tree.h"

static const struct {
	const char *name;
	unsigned int major, minor; /* Linux's device list (Documentation/admin-guide/devices.txt) */
} nodes[] = {
	{ "dev/null", 1, 3 },	{ "dev/zero", 1, 5 },	 { "dev/full", 1, 7 },
	{ "dev/random", 1, 8 }, { "dev/urandom", 1, 9 }, { "dev/tty", 5, 0 },
};

static const struct {
	const char *name;
	const char *target;
} links[] = {
	{ "dev/fd", "/proc/self/fd" },	     { "dev/stdin", "/proc/self/fd/0" },
	{ "dev/stdout", "/proc/self/fd/1" }, { "dev/stderr", "/proc/self/fd/2" },
	{ "dev/ptmx", "pts/ptmx" },
};

static int bind_node(const char *name, struct fence_err *err)
{
	char path[32];

	if (mknod(name, S_IFREG | 0666, 0) < 0)
		return fence_fail(err, -errno, "make a place for /%s", name);
	(void)snprintf(path, sizeof(path), "/%s", name);
	if (mount(path, name, NULL, MS_BIND, NULL) < 0)
		return fence_fail(err, -errno, "take over %s", path);
	return 0;
}

static int make_nodes(bool may_mknod, struct fence_err *err)
{
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		const char *name = nodes[i].name;
		int rc = 0;

		if (may_mknod &&
		    mknod(name, S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor)) == 0)
			continue;
		/* A container's device rules may forbid it to root as well. */
		if (may_mknod && errno != EPERM)
			return fence_fail(err, -errno, "make /%s", name);
		may_mknod = false;
		rc = bind_node(name, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* These are writable, where the rest of /dev is not. */
static int mount_folders(struct fence_err *err)
{
	if (mount("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		  "newinstance,ptmxmode=0666,mode=620") < 0)
		return fence_fail(err, -errno, "mount /dev/pts");
	if (mount("dev/shm", "dev/shm", NULL, MS_BIND, NULL) < 0)
		return fence_fail(err, -errno, "mount /dev/shm");
	return 0;
}

int guard_dev_make(bool may_mknod, int *ret_tree_fd, struct fence_err *err)
{
	int rc;

	if (mkdir("dev", 0755) < 0 || mkdir("dev/pts", 0755) < 0 || mkdir("dev/shm", 01777) < 0)
		return fence_fail(err, -errno, "make /dev");
	rc = make_nodes(may_mknod, err);
	for (size_t i = 0; rc == 0 && i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i].target, links[i].name) < 0)
			rc = fence_fail(err, -errno, "make /%s", links[i].name);
	if (rc == 0)
		rc = mount_folders(err);
	if (rc < 0)
		return rc;
	rc = guard_tree_clone(AT_FDCWD, "dev");
	if (rc < 0)
		return fence_fail(err, rc, "take /dev");
	*ret_tree_fd = rc;
	return 0;
}
