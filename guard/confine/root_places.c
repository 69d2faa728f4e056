/* Folders in memory, for what a root lacks. Nothing in them is copied: what was in the folder
 * is bound, so it may be written through to the host where a rule says so, and has what is
 * mounted in it. An overlay would have neither. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/root_int.h"
#include "guard/confine/tree.h"

#define ENTRIES_MAX 512 /* so many are bound, each a mount */

static int bind_entry(int from_fd, int to_fd, const char *name)
{
	char target[PATH_MAX];
	struct stat st;
	owned_fd tree_fd = -1;
	ssize_t length;

	if (fstatat(from_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISLNK(st.st_mode)) {
		length = readlinkat(from_fd, name, target, sizeof(target) - 1);
		if (length < 0)
			return -errno;
		target[length] = '\0';
		return symlinkat(target, to_fd, name) < 0 ? -errno : 0;
	}
	if (S_ISDIR(st.st_mode) ? mkdirat(to_fd, name, 0755) < 0
				: mknodat(to_fd, name, S_IFREG | 0444, 0) < 0)
		return -errno;
	tree_fd = guard_tree_clone(from_fd, name);
	return tree_fd < 0 ? tree_fd : guard_tree_attach(tree_fd, to_fd, name);
}

static int bind_entries(int from_fd, int to_fd)
{
	int list_fd = fcntl(from_fd, F_DUPFD_CLOEXEC, 3);
	DIR *dir = list_fd < 0 ? NULL : fdopendir(list_fd);
	struct dirent *entry;
	size_t count = 0;
	int rc = 0;

	if (dir == NULL)
		return -errno;
	while (rc == 0 && (errno = 0, entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		rc = ++count > ENTRIES_MAX ? -E2BIG : bind_entry(from_fd, to_fd, entry->d_name);
	}
	if (rc == 0 && errno != 0)
		rc = -errno;
	(void)closedir(dir);
	return rc;
}

/* A tmpfs with the folder's mode. */
static int new_folder(const struct stat *like)
{
	char mode[16];
	const struct guard_fs_option options[] = { { "mode", mode }, { NULL, NULL } };

	(void)snprintf(mode, sizeof(mode), "0%o", like->st_mode & 07777);
	return guard_tree_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

int guard_root_shadow(struct guard_plan *plan, int folder_fd, int dir_fd, const char *path,
		      int *ret_tree_fd)
{
	owned_fd from_fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	owned_fd tree_fd = -1;
	struct stat like;
	struct stat st = { .st_dev = 0 };
	int rc;

	if (from_fd < 0 || fstat(from_fd, &like) < 0)
		return -errno;
	tree_fd = new_folder(&like);
	rc = tree_fd < 0 ? tree_fd : guard_tree_attach(tree_fd, dir_fd, path);
	if (rc == 0 && fstat(tree_fd, &st) < 0)
		rc = -errno;
	if (rc == 0)
		rc = bind_entries(from_fd, tree_fd);
	/* In a user namespace it stays ours: nobody else's can be made. */
	if (rc == 0 && plan->real_root &&
	    fchownat(tree_fd, "", like.st_uid, like.st_gid, AT_EMPTY_PATH) < 0)
		rc = -errno;
	if (rc < 0)
		return rc;
	plan->inner.made_up[plan->inner.made_up_count++] = st.st_dev;
	*ret_tree_fd = fence_take_fd(&tree_fd);
	return 0;
}

static bool is_made_up(const struct guard_plan *plan, dev_t device)
{
	for (size_t i = 0; i < plan->inner.made_up_count; i++)
		if (plan->inner.made_up[i] == device)
			return true;
	return false;
}

/* What would have to be there: by the folder, since `path` itself is the name of what is
 * to be brought in. */
static void hint_place(const struct guard_plan *plan, const char *path, struct fence_err *err)
{
	char parent[PATH_MAX];
	char outer[PATH_MAX];
	const char *slash = strrchr(path, '/');

	(void)snprintf(parent, sizeof(parent), "%.*s", slash == path ? 1 : (int)(slash - path),
		       path);
	if (guard_root_outer(plan, parent, outer) == 0)
		(void)fence_hint(err, "create %s%s", outer, slash);
}

static int fail_place(const struct guard_plan *plan, int rc, const char *path,
		      struct fence_err *err)
{
	if (rc == -E2BIG)
		fence_fail_why(err, rc, "the folder that it would be in has too many entries",
			       "make a place for %s", path);
	else if (rc == -ENOSPC)
		fence_fail_why(err, rc, "too many folders lack one", "make a place for %s", path);
	else
		fence_fail(err, rc, "make a place for %s", path);
	hint_place(plan, path, err);
	return rc;
}

/* The name that lacks in `nearest`, which becomes one in memory if it is not yet. */
static int make_missing(struct guard_plan *plan, struct guard_object *nearest)
{
	owned_fd folder_fd = fence_take_fd(&nearest->fd);
	int tree_fd = -1;
	int rc = 0;

	if (nearest->missing[0] == '\0')
		return -ENOENT;
	if (!is_made_up(plan, nearest->st.st_dev)) {
		if (plan->inner.made_up_count == GUARD_MADE_UP_MAX)
			return -ENOSPC;
		rc = guard_names_add(&plan->inner.made_up_paths, nearest->path);
		if (rc == 0)
			rc = guard_root_shadow(plan, folder_fd, folder_fd, "", &tree_fd);
		if (rc < 0)
			return rc;
		fence_close_fd(&folder_fd);
		folder_fd = tree_fd;
	}
	return mkdirat(folder_fd, nearest->missing, 0755) < 0 ? -errno : 0;
}

/* A folder that was made for it becomes a file. */
static int make_file(const char *path, struct guard_object *place)
{
	owned_fd parent_fd = guard_open_above(place->path, place->fd);
	const char *name = strrchr(place->path, '/') + 1;

	fence_close_fd(&place->fd);
	if (parent_fd < 0)
		return parent_fd;
	if (unlinkat(parent_fd, name, AT_REMOVEDIR) < 0 ||
	    mknodat(parent_fd, name, S_IFREG | 0444, 0) < 0)
		return -errno;
	return guard_resolve_quick("/", path, NULL, place);
}

/* Where a mount goes: found in the root, by its own links, or made in memory. */
int guard_root_place(struct guard_plan *plan, const char *path, bool is_dir,
		     struct guard_object *ret, struct fence_err *err)
{
	bool made = false;
	int rc;

	while ((rc = guard_resolve("/", path, NULL, ret)) == -ENOENT && ret->fd >= 0) {
		made = true;
		rc = make_missing(plan, ret);
		if (rc < 0)
			return fail_place(plan, rc, path, err);
	}
	if (rc == 0 && made && !is_dir)
		rc = make_file(path, ret);
	if (rc == 0 && S_ISDIR(ret->st.st_mode) != is_dir)
		rc = is_dir ? -ENOTDIR : -EISDIR;
	if (rc < 0) {
		fence_close_fd(&ret->fd);
		return fence_fail(err, rc, "mount on %s", path);
	}
	return 0;
}

/* A folder in memory that somebody means to write to would lose it; so would one of the
 * host's of which a part is in memory. */
static bool would_be_lost(const struct guard_plan *plan, const struct guard_op *op)
{
	const struct guard_names *made_up = &plan->inner.made_up_paths;

	if (is_made_up(plan, op->st.st_dev))
		return true;
	for (size_t i = 0; i < made_up->count; i++)
		if (guard_path_within(made_up->items[i], op->path))
			return true;
	return false;
}

/* What no --rw can open in the machine's own root either. Through it uid 0 could change the
 * machine without any capability: core_pattern in /proc/sys names a program that the kernel
 * starts as root. */
static const char *is_the_machine(const struct guard_plan *plan, const struct guard_op *op)
{
	struct stat root;
	struct statfs fs;

	if (fstat(plan->inner.host_fd, &root) < 0 || fstatfs(op->object_fd, &fs) < 0)
		return "it cannot be looked at";
	if (fs.f_type == PROC_SUPER_MAGIC)
		return "it is of the machine's /proc";
	if (op->st.st_dev == root.st_dev && op->st.st_ino == root.st_ino)
		return "it is the machine's root";
	return NULL;
}

int guard_root_check(struct guard_plan *plan, struct fence_err *err)
{
	const char *why;

	for (size_t i = 0; i < plan->count; i++) {
		const struct guard_op *op = &plan->ops[i];

		if (op->kind != GUARD_OP_RW && op->kind != GUARD_OP_OVERLAY)
			continue;
		plan->current = op->origin;
		if (would_be_lost(plan, op)) {
			fence_fail_why(err, -EROFS,
				       "it is not there, or something in it is not that a "
				       "mount goes to",
				       "let %s be written", op->path);
			(void)fence_hint(err, "create it on the host");
			return -EROFS;
		}
		why = op->kind == GUARD_OP_RW ? is_the_machine(plan, op) : NULL;
		if (why == NULL)
			continue;
		fence_fail_why(err, -EINVAL, why, "let %s be written", op->path);
		(void)fence_hint(err, "use --ro-bind");
		return -EINVAL;
	}
	return 0;
}
