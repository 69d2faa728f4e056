/* The small /dev. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "fence/kernel.h"
#include "fence/own.h"
#include "guard/confine/tree.h"

static const struct {
	const char *name;
	unsigned int major, minor; /* Linux's device list (Documentation/admin-guide/devices.txt) */
} nodes[GUARD_DEV_NODES] = {
	{ "null", 1, 3 },   { "zero", 1, 5 },	 { "full", 1, 7 },
	{ "random", 1, 8 }, { "urandom", 1, 9 }, { "tty", 5, 0 },
};

static const struct {
	const char *name;
	const char *target;
} links[] = {
	{ "dev/fd", "/proc/self/fd" },	     { "dev/stdin", "/proc/self/fd/0" },
	{ "dev/stdout", "/proc/self/fd/1" }, { "dev/stderr", "/proc/self/fd/2" },
	{ "dev/ptmx", "pts/ptmx" },
};

static int make_node(struct guard_dev *dev, int scratch_fd, size_t i, struct fence_err *err)
{
	char path[32];
	int rc;

	(void)snprintf(path, sizeof(path), "dev/%s", nodes[i].name);
	if (!dev->bind) {
		rc = mknodat(scratch_fd, path, S_IFCHR | 0666,
			     makedev(nodes[i].major, nodes[i].minor));
		if (rc == 0)
			return 0;
		/* A container's device rules may forbid it to root as well. */
		if (errno != EPERM)
			return fence_fail(err, -errno, "make /dev/%s", nodes[i].name);
		dev->bind = true;
	}
	if (mknodat(scratch_fd, path, S_IFREG | 0666, 0) < 0)
		return fence_fail(err, -errno, "make a place for /dev/%s", nodes[i].name);
	(void)snprintf(path, sizeof(path), "/dev/%s", nodes[i].name);
	dev->bind_fds[i] = guard_tree_clone(AT_FDCWD, path);
	if (dev->bind_fds[i] < 0)
		return fence_fail(err, dev->bind_fds[i], "take over %s", path);
	return 0;
}

int guard_dev_make(struct guard_dev *dev, int scratch_fd, bool may_mknod, struct fence_err *err)
{
	int rc = 0;

	dev->bind = !may_mknod;
	for (size_t i = 0; i < GUARD_DEV_NODES; i++)
		dev->bind_fds[i] = -1;
	if (mkdirat(scratch_fd, "dev", 0755) < 0 || mkdirat(scratch_fd, "dev/pts", 0755) < 0 ||
	    mkdirat(scratch_fd, "dev/shm", 01777) < 0)
		return fence_fail(err, -errno, "make /dev");
	for (size_t i = 0; rc == 0 && i < GUARD_DEV_NODES; i++)
		rc = make_node(dev, scratch_fd, i, err);
	for (size_t i = 0; rc == 0 && i < sizeof(links) / sizeof(links[0]); i++)
		if (symlinkat(links[i].target, scratch_fd, links[i].name) < 0)
			rc = fence_fail(err, -errno, "make /%s", links[i].name);
	return rc;
}

/* Old mount(2) wants a name: the current directory is one that nobody can move. */
static int mount_pts(int dev_fd)
{
	if (fchdir(dev_fd) < 0)
		return -errno;
	if (mount("devpts", "pts", "devpts", MS_NOSUID | MS_NOEXEC,
		  "newinstance,ptmxmode=0666,mode=620") < 0)
		return -errno;
	return 0;
}

static int attach_shm(int dev_fd, int scratch_fd)
{
	owned_fd shm = guard_tree_clone(scratch_fd, "dev/shm");
	int rc = shm < 0 ? shm : guard_tree_restrict(shm, MOUNT_ATTR_NODEV, false);

	return rc < 0 ? rc : guard_tree_attach(shm, dev_fd, "shm");
}

int guard_dev_finish(struct guard_dev *dev, int dev_fd, int scratch_fd, struct fence_err *err)
{
	int rc = mount_pts(dev_fd);

	if (rc < 0)
		return fence_fail(err, rc, "mount /dev/pts");
	rc = attach_shm(dev_fd, scratch_fd);
	if (rc < 0)
		return fence_fail(err, rc, "mount /dev/shm");
	for (size_t i = 0; i < GUARD_DEV_NODES; i++) {
		if (dev->bind_fds[i] < 0)
			continue;
		rc = guard_tree_attach(dev->bind_fds[i], dev_fd, nodes[i].name);
		if (rc < 0)
			return fence_fail(err, rc, "mount /dev/%s", nodes[i].name);
		fence_close_fd(&dev->bind_fds[i]);
	}
	return 0;
}
