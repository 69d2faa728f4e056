/* Names in the new root. Every look-up begins at its descriptor and stays below it:
 * what a symbolic link or ".." says is about the sandbox, also where the link lies in a
 * folder of the host that somebody else may write. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/bwrap/root.h"
#include "guard/bwrap/walk.h"
#include "guard/confine/tree.h"

#define RACES_MAX 1024

/* Any rename or mount of the machine that happens while ".." is followed says EAGAIN. */
static int open_inside(const struct bwrap_root *root, const char *path, int flags, int mode)
{
	const char *name = path[0] == '\0' ? "/" : path;
	int rc = -EAGAIN;

	for (int i = 0; rc == -EAGAIN && i < RACES_MAX; i++)
		rc = fence_openat2(root->fd, name, (uint64_t)(O_CLOEXEC | flags), (uint64_t)mode,
				   RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	return rc == -ENOSYS || rc == -EPERM ? bwrap_walk(root->fd, name, flags, mode) : rc;
}

int bwrap_place_open(const struct bwrap_root *root, const char *path, int flags)
{
	return open_inside(root, path, O_PATH | flags, 0);
}

int bwrap_place_create(const struct bwrap_root *root, const char *path, int flags, int mode)
{
	return open_inside(root, path, O_WRONLY | O_CREAT | flags, mode);
}

/* The next component of `prefix` is there, or made, below `dir_fd`. */
static int step_into(const struct bwrap_root *root, int dir_fd, const char *prefix,
		     const char *name, int mode)
{
	int fd = bwrap_place_open(root, prefix, O_DIRECTORY);

	if (fd != -ENOENT)
		return fd;
	if (mkdirat(dir_fd, name, (mode_t)mode) < 0)
		/* A link that leads nowhere is there and yet is not. */
		return errno == EEXIST ? -ENOENT : -errno;
	return bwrap_place_open(root, prefix, O_DIRECTORY);
}

static int make_dirs(const struct bwrap_root *root, char *path, int parent_mode, int mode)
{
	owned_fd dir = fcntl(root->fd, F_DUPFD_CLOEXEC, 3);
	char *at = path + strspn(path, "/");

	if (dir < 0)
		return -errno;
	while (*at != '\0') {
		size_t length = strcspn(at, "/");
		bool last = at[length + strspn(at + length, "/")] == '\0';
		char kept = at[length];
		int fd;

		at[length] = '\0';
		fd = step_into(root, dir, path, at, last ? mode : parent_mode);
		at[length] = kept;
		if (fd < 0)
			return fd;
		fence_close_fd(&dir);
		dir = fd;
		at += length;
		at += strspn(at, "/");
	}
	return fence_take_fd(&dir);
}

int bwrap_place_dir(const struct bwrap_root *root, const char *path, int parent_mode, int mode,
		    struct fence_err *err)
{
	char copy[PATH_MAX];
	size_t length = strlen(path);
	int fd = bwrap_place_open(root, path, O_DIRECTORY);

	if (fd == -ENOENT && length < sizeof(copy)) {
		memcpy(copy, path, length + 1);
		fd = make_dirs(root, copy, parent_mode, mode);
	}
	return fd < 0 ? fence_fail(err, fd, "make folder %s", path) : fd;
}

int bwrap_place_parent(const struct bwrap_root *root, const char *path, int parent_mode,
		       const char **ret_name, struct fence_err *err)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	size_t length = slash == NULL ? 0 : (size_t)(slash - path);

	*ret_name = slash == NULL ? path : slash + 1;
	if (length >= sizeof(parent))
		return fence_fail(err, -ENAMETOOLONG, "make file %s", path);
	if ((*ret_name)[0] == '\0')
		return fence_fail_why(err, -EISDIR, "it names a folder", "make file %s", path);
	memcpy(parent, path, length);
	parent[length] = '\0';
	return bwrap_place_dir(root, parent, parent_mode, parent_mode, err);
}

/* A link that leads to a name in the root that is not there yet is such a name. */
static int make_file(const struct bwrap_root *root, const char *path, int parent_mode,
		     struct fence_err *err)
{
	const char *name;
	owned_fd parent = bwrap_place_parent(root, path, parent_mode, &name, err);
	int fd;

	if (parent < 0)
		return parent;
	fd = bwrap_place_create(root, path, O_NONBLOCK, 0444);
	if (fd < 0)
		return fence_fail(err, fd, "make file %s", path);
	(void)close(fd);
	return bwrap_place_open(root, path, 0);
}

static bool is_folder(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

int bwrap_place_mount(const struct bwrap_root *root, const char *path, bool is_dir, int parent_mode,
		      struct fence_err *err)
{
	int fd;

	if (is_dir)
		return bwrap_place_dir(root, path, parent_mode, 0755, err);
	fd = bwrap_place_open(root, path, 0);
	if (fd == -ENOENT)
		return make_file(root, path, parent_mode, err);
	if (fd >= 0 && is_folder(fd)) {
		(void)close(fd);
		fd = -EISDIR;
	}
	return fd < 0 ? fence_fail(err, fd, "mount a file on %s", path) : fd;
}

static long mount_id(const struct bwrap_root *root, int fd)
{
	char path[40];
	char text[512];
	const char *line;

	(void)snprintf(path, sizeof(path), "self/fdinfo/%d", fd);
	if (fence_read_file(root->proc_fd, path, text, sizeof(text)) < 0)
		return -1;
	line = strstr(text, "mnt_id:");
	return line == NULL ? -1 : strtol(line + strlen("mnt_id:"), NULL, 10);
}

/* By whatever name. The same folder may lie elsewhere in another mount, too: only then
 * /proc is asked. */
static bool is_root(const struct bwrap_root *root, int place_fd, const char *path)
{
	struct stat place, top;

	if (strspn(path, "/") == strlen(path))
		return true;
	if (fstat(place_fd, &place) < 0 || fstat(root->fd, &top) < 0)
		return false;
	return place.st_dev == top.st_dev && place.st_ino == top.st_ino &&
	       mount_id(root, place_fd) == mount_id(root, root->fd);
}

int bwrap_attach(struct bwrap_root *root, int tree_fd, int place_fd, const char *path,
		 struct fence_err *err)
{
	bool on_root = is_root(root, place_fd, path);
	int rc = guard_tree_attach(tree_fd, place_fd, "");

	if (rc < 0)
		return fence_fail(err, rc, "mount on %s", path);
	if (!on_root)
		return 0;
	/* A look-up begins at the descriptor and does not see what lies on it. */
	tree_fd = fcntl(tree_fd, F_DUPFD_CLOEXEC, 3);
	if (tree_fd < 0)
		return fence_fail(err, -errno, "keep the root");
	if (root->fd != root->base_fd)
		(void)close(root->fd);
	root->fd = tree_fd;
	root->stacked++;
	return 0;
}
