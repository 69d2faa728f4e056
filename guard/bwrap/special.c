/* New file systems, /dev and /proc of the sandbox. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/bwrap/root.h"
#include "guard/confine/cause.h"
#include "guard/confine/tree.h"

#define SAFE (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

int bwrap_new_tmpfs(const struct bwrap_root *root, int mode, uint64_t size_bytes)
{
	char mode_text[16];
	char size_text[32];
	struct guard_fs_option options[4] = { { "mode", mode_text } };
	size_t count = 1;

	(void)snprintf(mode_text, sizeof(mode_text), "0%o", (unsigned int)mode);
	(void)snprintf(size_text, sizeof(size_text), "%" PRIu64, size_bytes);
	if (size_bytes > 0)
		options[count++] = (struct guard_fs_option){ "size", size_text };
	if (root->file_label != NULL)
		options[count++] = (struct guard_fs_option){ "context", root->file_label };
	return guard_tree_new("tmpfs", options, SAFE);
}

/* --- /dev ------------------------------------------------------------------------- */

static const char *const nodes[] = { "null", "zero", "full", "random", "urandom", "tty" };

static const struct {
	const char *name;
	const char *target;
} links[] = {
	{ "stdin", "/proc/self/fd/0" },	 { "stdout", "/proc/self/fd/1" },
	{ "stderr", "/proc/self/fd/2" }, { "fd", "/proc/self/fd" },
	{ "core", "/proc/kcore" },	 { "ptmx", "pts/ptmx" },
};

/* The host's own node, under `name` in the new /dev. */
static int bind_node(int dev_fd, const char *path, const char *name, struct fence_err *err)
{
	owned_fd tree = guard_tree_clone(AT_FDCWD, path);
	int rc = tree < 0 ? tree : guard_tree_restrict(tree, MOUNT_ATTR_NOSUID, false);

	if (rc == 0 && mknodat(dev_fd, name, S_IFREG | 0666, 0) < 0)
		rc = -errno;
	if (rc == 0)
		rc = guard_tree_attach(tree, dev_fd, name);
	return rc < 0 ? fence_fail(err, rc, "put %s into the new /dev", path) : 0;
}

/* A terminal on standard output is the sandbox's console. */
static int bind_console(const struct bwrap_root *root, int dev_fd, struct fence_err *err)
{
	char path[256];
	ssize_t length;

	if (!isatty(STDOUT_FILENO))
		return 0;
	length = readlinkat(root->proc_fd, "self/fd/1", path, sizeof(path) - 1);
	if (length <= 0 || path[0] != '/')
		return 0; /* of another mount namespace: no name leads to it */
	path[length] = '\0';
	return access(path, F_OK) < 0 ? 0 : bind_node(dev_fd, path, "console", err);
}

static int mount_pts(int dev_fd)
{
	static const struct guard_fs_option options[] = { { "ptmxmode", "0666" },
							  { "mode", "620" },
							  { NULL, NULL } };
	owned_fd pts = guard_tree_new("devpts", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);

	return pts < 0 ? pts : guard_tree_attach(pts, dev_fd, "pts");
}

static int fill_dev(const struct bwrap_root *root, int dev_fd, struct fence_err *err)
{
	char path[32];
	int rc = 0;

	if (mkdirat(dev_fd, "pts", 0755) < 0 || mkdirat(dev_fd, "shm", 0755) < 0)
		return fence_fail(err, -errno, "fill the new /dev");
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlinkat(links[i].target, dev_fd, links[i].name) < 0)
			return fence_fail(err, -errno, "make /dev/%s", links[i].name);
	for (size_t i = 0; rc == 0 && i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		(void)snprintf(path, sizeof(path), "/dev/%s", nodes[i]);
		rc = bind_node(dev_fd, path, nodes[i], err);
	}
	if (rc < 0)
		return rc;
	rc = mount_pts(dev_fd);
	return rc < 0 ? fence_fail(err, rc, "mount /dev/pts") : bind_console(root, dev_fd, err);
}

int bwrap_make_dev(struct bwrap_root *root, const char *dest, struct fence_err *err)
{
	owned_fd place = bwrap_place_mount(root, dest, true, 0755, err);
	owned_fd dev = -1;
	int rc;

	if (place < 0)
		return place;
	dev = bwrap_new_tmpfs(root, 0755, 0);
	if (dev < 0)
		return fence_fail(err, dev, "make a tmpfs for %s", dest);
	rc = bwrap_attach(root, dev, place, dest, err);
	return rc < 0 ? rc : fill_dev(root, dev, err);
}

/* --- /proc ------------------------------------------------------------------------ */

static int cover_part(int proc_fd, const char *part, struct fence_err *err)
{
	owned_fd tree = -1;
	int rc;

	if (faccessat(proc_fd, part, W_OK, AT_EACCESS) < 0)
		return 0;
	tree = guard_tree_clone(proc_fd, part);
	rc = tree < 0 ? tree : guard_tree_restrict(tree, MOUNT_ATTR_RDONLY, true);
	if (rc == 0)
		rc = guard_tree_attach(tree, proc_fd, part);
	return rc < 0 ? fence_fail(err, rc, "make /proc/%s read-only", part) : 0;
}

/* What of /proc is the machine's and could be written (by uid 0) is made read-only. */
static int cover_proc(int proc_fd, struct fence_err *err)
{
	static const char *const parts[] = { "sys", "sysrq-trigger", "irq", "bus" };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		rc = cover_part(proc_fd, parts[i], err);
	return rc;
}

/* Without a pid namespace of our own the host's /proc is as good, and the only one that
 * the kernel lets an unprivileged user have. */
static int proc_tree(const struct bwrap_root *root)
{
	owned_fd tree = -1;
	int rc;

	if (root->fresh_proc)
		return guard_tree_new("proc", NULL, SAFE | MOUNT_ATTR_NOEXEC);
	tree = guard_tree_clone(AT_FDCWD, "/proc");
	rc = tree < 0 ? tree : guard_tree_restrict(tree, SAFE, true);
	return rc < 0 ? rc : fence_take_fd(&tree);
}

int bwrap_make_proc(struct bwrap_root *root, const char *dest, struct fence_err *err)
{
	owned_fd place = bwrap_place_mount(root, dest, true, 0755, err);
	owned_fd proc = -1;
	int rc;

	if (place < 0)
		return place;
	proc = proc_tree(root);
	if (proc < 0) {
		fence_fail(err, proc, "mount proc on %s", dest);
		guard_cause_hint(GUARD_STEP_PROC, err);
		return proc;
	}
	rc = bwrap_attach(root, proc, place, dest, err);
	return rc < 0 ? rc : cover_proc(proc, err);
}
