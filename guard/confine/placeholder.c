#include "guard/confine/placeholder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"

#define MODE	   01555
#define ENTRY_SIZE 64
#define TRIES	   64 /* as often as somebody else may remove what we just opened */

static uid_t own_uid(void)
{
	return (uid_t)getauxval(AT_EUID);
}

void guard_placeholder_registry(char *ret, size_t size_bytes)
{
	if (own_uid() == 0)
		(void)snprintf(ret, size_bytes, "/var/lib/fenceline");
	else
		(void)snprintf(ret, size_bytes, "/var/tmp/fenceline-%u", own_uid());
}

/* The file system may add a set-group-id bit, and a default ACL take rights away. */
bool guard_placeholder_looks_like(const struct stat *st)
{
	return S_ISDIR(st->st_mode) && (st->st_mode & (S_ISVTX | 0222)) == S_ISVTX &&
	       st->st_uid == own_uid();
}

/* Of the folder's identity and the name: two mount namespaces may know it by two paths. */
static int entry_name(int parent_fd, const char *name, char ret[ENTRY_SIZE])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a, 64 bits */
	struct stat st;

	if (fstat(parent_fd, &st) < 0)
		return -errno;
	for (; *name != '\0'; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	(void)snprintf(ret, ENTRY_SIZE, "%llx-%llx-%016llx", (unsigned long long)st.st_dev,
		       (unsigned long long)st.st_ino, (unsigned long long)hash);
	return 0;
}

/* Ours alone, or -EPERM: in /var/tmp somebody else may have been there first. Nothing is put
 * elsewhere then: by whatever rule a second place was chosen, a start that found the first one
 * free again would not see what is registered there, and share a folder that goes too early;
 * and where /var/tmp may be written the command could make that second place itself. */
static int open_registry(int host_fd, bool make)
{
	char path[64];
	const char *at;
	struct stat st;
	owned_fd fd = -1;

	guard_placeholder_registry(path, sizeof(path));
	at = host_fd == AT_FDCWD ? path : path + 1;
	if (make && mkdirat(host_fd, at, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(host_fd, at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != own_uid() || (st.st_mode & 022) != 0)
		return -EPERM;
	return fence_take_fd(&fd);
}

int guard_placeholder_open_registry(void)
{
	return open_registry(AT_FDCWD, true);
}

/* An entry, locked as wanted, that is still in the registry: -ESTALE when it was removed
 * between the two. Not open for writing: that would keep the mount that it lies on from
 * becoming read-only. */
static int open_entry(int registry_fd, const char *entry, int flags, int lock)
{
	struct stat st;
	owned_fd fd = openat(registry_fd, entry, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags, 0600);

	if (fd < 0 || flock(fd, lock) < 0 || fstat(fd, &st) < 0)
		return -errno;
	return st.st_nlink == 0 ? -ESTALE : fence_take_fd(&fd);
}

static int make_folder(int parent_fd, const char *name)
{
	mode_t mask = umask(0);
	struct stat st;
	int rc = mkdirat(parent_fd, name, MODE) < 0 ? -errno : 1;

	(void)umask(mask);
	if (rc != -EEXIST)
		return rc;
	if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return guard_placeholder_looks_like(&st) ? 1 : 0;
}

/* Whoever shares it writes the same. */
static int write_entry(int registry_fd, const char *entry, const char *path)
{
	owned_fd fd = openat(registry_fd, entry, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fence_write_full(fd, path, strlen(path));
}

static int fail_register(int rc, struct fence_err *err)
{
	char registry[64];

	guard_placeholder_registry(registry, sizeof(registry));
	if (rc != -EPERM)
		return fence_fail(err, rc, "register a placeholder in %s", registry);
	fence_fail_why(err, rc, "it is somebody else's, or others may write it",
		       "register a placeholder in %s", registry);
	(void)fence_hint(err, "have it removed, or create what is protected first");
	return rc;
}

static int make_once(int host_fd, int parent_fd, const char *path, const char *name,
		     int *ret_lock_fd, struct fence_err *err)
{
	char entry[ENTRY_SIZE];
	owned_fd registry_fd = open_registry(host_fd, true);
	owned_fd fd = -1;
	int rc = registry_fd < 0 ? registry_fd : entry_name(parent_fd, name, entry);

	if (rc == 0)
		fd = open_entry(registry_fd, entry, O_CREAT, LOCK_SH);
	/* Whoever sweeps removes an empty registry, too. */
	if (rc == -ENOENT || (rc == 0 && (fd == -ESTALE || fd == -ENOENT)))
		return -ESTALE;
	if (rc == 0)
		rc = fd < 0 ? fd : 0;
	if (rc == 0)
		rc = write_entry(registry_fd, entry, path);
	if (rc < 0)
		return fail_register(rc, err);
	rc = make_folder(parent_fd, name);
	if (rc < 0)
		return fence_fail(err, rc, "make the placeholder %s", path);
	if (rc == 1)
		*ret_lock_fd = fence_take_fd(&fd);
	return rc;
}

int guard_placeholder_make(int host_fd, int parent_fd, const char *parent, const char *name,
			   int *ret_lock_fd, struct fence_err *err)
{
	char path[PATH_MAX + NAME_MAX + 2];
	int rc = -ESTALE;

	(void)snprintf(path, sizeof(path), "%s/%s", strcmp(parent, "/") == 0 ? "" : parent, name);
	if (strlen(path) >= PATH_MAX)
		return fence_fail(err, -ENAMETOOLONG, "make the placeholder %s", path);
	for (int i = 0; rc == -ESTALE && i < TRIES; i++)
		rc = make_once(host_fd, parent_fd, path, name, ret_lock_fd, err);
	return rc == -ESTALE ? fence_fail(err, rc, "register the placeholder %s", path) : rc;
}

int guard_placeholder_join(int host_fd, int parent_fd, const char *name, int *ret_lock_fd)
{
	char entry[ENTRY_SIZE];
	struct stat st;
	owned_fd registry_fd = open_registry(host_fd, false);
	owned_fd fd = -1;
	int rc = registry_fd < 0 ? registry_fd : entry_name(parent_fd, name, entry);

	if (rc == 0)
		fd = open_entry(registry_fd, entry, 0, LOCK_SH);
	/* Only now: swept between the two looks it would be taken for somebody's own. */
	if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -ESTALE;
	if (rc < 0 || fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	*ret_lock_fd = fence_take_fd(&fd);
	return 1;
}

/* --- sweeping ----------------------------------------------------------------------- */

/* True: there is nothing left that this entry is about. */
static bool remove_folder(const char *entry, char *path)
{
	char wanted[ENTRY_SIZE];
	struct stat st;
	char *name = strrchr(path, '/');
	owned_fd parent_fd = -1;

	if (path[0] != '/')
		return true;
	*name++ = '\0';
	parent_fd = fence_openat2(AT_FDCWD, path[0] == '\0' ? "/" : path,
				  O_PATH | O_DIRECTORY | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS);
	/* Inside of another sandbox there may be no openat2: the comparison decides alone. */
	if (parent_fd == -ENOSYS || parent_fd == -EPERM)
		parent_fd = openat(AT_FDCWD, path[0] == '\0' ? "/" : path,
				   O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (parent_fd == -1)
		parent_fd = -errno;
	if (parent_fd < 0)
		return parent_fd == -ENOENT || parent_fd == -ENOTDIR || parent_fd == -ELOOP;
	if (entry_name(parent_fd, name, wanted) < 0 || strcmp(entry, wanted) != 0)
		return true;
	if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	if (!guard_placeholder_looks_like(&st))
		return true;
	return unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOTEMPTY;
}

static void sweep_entry(int registry_fd, const char *entry)
{
	char path[PATH_MAX];
	owned_fd fd = open_entry(registry_fd, entry, O_NONBLOCK, LOCK_EX | LOCK_NB);
	ssize_t length = fd < 0 ? -1 : pread(fd, path, sizeof(path) - 1, 0);

	if (length < 0)
		return;
	path[length] = '\0';
	if (remove_folder(entry, path))
		(void)unlinkat(registry_fd, entry, 0);
}

/* struct linux_dirent64 of getdents64(2). */
#define AT_LENGTH 16
#define AT_NAME	  19

/* True: what is kept is in it. */
static bool sweep_entries(int registry_fd, const char *entries, size_t length)
{
	bool keeps = false;
	uint16_t step;

	for (size_t at = 0; at < length; at += step) {
		const char *name = entries + at + AT_NAME;

		memcpy(&step, entries + at + AT_LENGTH, sizeof(step));
		if (strcmp(name, "kept") == 0)
			keeps = unlinkat(registry_fd, name, AT_REMOVEDIR) < 0;
		else if (name[0] != '.')
			sweep_entry(registry_fd, name);
	}
	return keeps;
}

bool guard_placeholder_sweep(void)
{
	bool keeps = false;
	char entries[8192];
	char path[64];
	owned_fd registry_fd = open_registry(AT_FDCWD, false);
	ssize_t length;

	if (registry_fd < 0)
		return false;
	while ((length = fence_getdents(registry_fd, entries, sizeof(entries))) > 0)
		keeps |= sweep_entries(registry_fd, entries, (size_t)length);
	guard_placeholder_registry(path, sizeof(path));
	if (!keeps)
		(void)rmdir(path); /* not empty: others need theirs */
	return keeps;
}

bool guard_placeholder_keeps(void)
{
	owned_fd registry_fd = open_registry(AT_FDCWD, false);
	struct stat st;

	return registry_fd >= 0 && fstatat(registry_fd, "kept", &st, AT_SYMLINK_NOFOLLOW) == 0;
}
