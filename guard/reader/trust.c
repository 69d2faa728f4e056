#include "guard/reader/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/resolve.h"

static int distrust(struct fence_err *err, const char *path, const char *why, const char *hint)
{
	fence_fail_why(err, -EPERM, why, "%s", path);
	(void)fence_hint(err, "%s", hint);
	return -EPERM;
}

static bool is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Does this user namespace know the uid? The map has lines "first-inside first-outside
 * count"; that of the first namespace has all of them. */
static bool is_known(uid_t uid)
{
	char map[4096];
	ssize_t length = fence_read_file(AT_FDCWD, "/proc/self/uid_map", map, sizeof(map));
	const char *at = map;

	for (int taken = 0; length > 0; at += taken) {
		unsigned long long inside, outside, count;

		if (sscanf(at, " %llu %llu %llu%n", &inside, &outside, &count, &taken) != 3)
			return false;
		if (uid >= inside && uid - inside < count)
			return true;
	}
	/* Without a map nobody is taken for unknown. */
	return true;
}

/* What a user namespace calls everybody whom it does not know (kernel.overflowuid). */
static bool is_nobody(uid_t uid)
{
	char text[16];
	int64_t nobody;

	if (fence_read_file(AT_FDCWD, "/proc/sys/kernel/overflowuid", text, sizeof(text)) <= 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return fence_parse_number(text, 0, UINT32_MAX, &nobody) == 0 && uid == (uid_t)nobody;
}

/* In a user namespace / belongs to somebody unknown, as root is there. Of such a folder it
 * is enough that others may not write it: its owner could put there only what is ours,
 * for the file itself must be. */
static bool is_trusted_folder(const struct stat *st)
{
	return is_ours(st) || (is_nobody(st->st_uid) && !is_known(st->st_uid));
}

static int judge_folder(const char *path, struct fence_err *err)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return fence_fail(err, -errno, "look at %s", path);
	if (!is_trusted_folder(&st))
		return distrust(
			err, path,
			"the folder belongs to another user, who could put another policy there",
			"keep the policy in a folder of yours or of root's");
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (st.st_mode & S_ISVTX) == 0)
		return distrust(err, path,
				"others may write the folder, and put another policy there",
				"chmod go-w it, or keep the policy elsewhere");
	return 0;
}

/* Every folder above `path`, which is link-free, from the root on: what is found good
 * cannot be exchanged by others while the next is looked at. */
static int judge_above(const char *path, struct fence_err *err)
{
	char folder[PATH_MAX];
	size_t length = strlen(path);
	int rc = judge_folder("/", err);

	for (size_t i = 1; rc == 0 && i < length; i++) {
		if (path[i] != '/')
			continue;
		memcpy(folder, path, i);
		folder[i] = '\0';
		rc = judge_folder(folder, err);
	}
	return rc;
}

static int judge_link(void *arg, const struct guard_object *link)
{
	struct fence_err *err = arg;

	if (!is_ours(&link->st))
		return distrust(err, link->path, "the link belongs to another user",
				"name the file that it leads to");
	return judge_above(link->path, err);
}

/* The number alone does not tell: whoever is nobody sees, in a user namespace, all whom
 * that does not know as himself. The kernel lets only the owner leave no access time. */
static bool is_our_file(int fd, const struct stat *st)
{
	return is_ours(st) && (st->st_uid == 0 || fcntl(fd, F_SETFL, O_NONBLOCK | O_NOATIME) == 0);
}

static int judge_file(int fd, const struct guard_object *object, struct fence_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fence_fail(err, -errno, "look at %s", object->path);
	if (st.st_dev != object->st.st_dev || st.st_ino != object->st.st_ino)
		return fence_fail_why(err, -ESTALE, "exchanged while it was opened", "%s",
				      object->path);
	if (!S_ISREG(st.st_mode))
		return fence_fail_why(err, -EINVAL, "not a regular file", "%s", object->path);
	if (!is_our_file(fd, &st))
		return distrust(err, object->path, "the policy belongs to another user",
				"copy it to a file of yours or of root's");
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return distrust(err, object->path, "others may write the policy", "chmod go-w it");
	return 0;
}

int guard_trust_open(const char *path, char ret_path[PATH_MAX], struct fence_err *err)
{
	struct fence_err why = { 0 };
	struct guard_link_watch watch = { .seen = judge_link, .arg = &why };
	struct guard_object object = { .fd = -1 };
	char base[PATH_MAX];
	owned_fd fd = -1;
	int length;
	int rc;

	if (getcwd(base, sizeof(base)) == NULL)
		return fence_fail(err, -errno, "find the working directory");
	rc = guard_resolve_quick(base, path, &watch, &object);
	fence_close_fd(&object.fd);
	if (rc < 0 && why.code < 0) {
		if (err != NULL)
			*err = why;
		return rc;
	}
	if (rc < 0)
		return fence_fail(err, rc, "open %s", path);
	rc = judge_above(object.path, err);
	if (rc < 0)
		return rc;
	/* Non-blocking: a FIFO in its place must not hang us. */
	fd = open(object.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return fence_fail(err, -errno, "open %s", path);
	rc = judge_file(fd, &object, err);
	if (rc < 0)
		return rc;
	length = path[0] == '/' ? snprintf(ret_path, PATH_MAX, "%s", path)
				: snprintf(ret_path, PATH_MAX, "%s/%s", base, path);
	if (length < 0 || length >= PATH_MAX)
		return fence_fail(err, -ENAMETOOLONG, "open %s", path);
	return fence_take_fd(&fd);
}
