#include "gate/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "gate/config.h"

/* The folder, made if need be; `path` is what it is called in words. */
static int enter(int dir_fd, const char *name, const char *path, int *ret_fd, struct fence_err *err)
{
	int fd;

	if (mkdirat(dir_fd, name, 0700) < 0 && errno != EEXIST)
		return fence_fail(err, -errno, "make folder %s", path);
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOTDIR) { /* a link, too */
		(void)fence_fail(err, -ENOTDIR, "open folder %s", path);
		return fence_hint(err, "records go into a folder and through no link; remove it");
	}
	if (fd < 0)
		return fence_fail(err, -errno, "open folder %s", path);
	*ret_fd = fd;
	return 0;
}

static int ignore_in_git(int fence_fd, struct fence_err *err)
{
	owned_fd fd = openat(fence_fd, ".gitignore",
			     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return errno == EEXIST ? 0 : fence_fail(err, -errno, "make .fence/.gitignore");
	rc = fence_write_full(fd, "*\n", 2);
	return rc < 0 ? fence_fail(err, rc, "write .fence/.gitignore") : 0;
}

/* "20260304T050607.890Z-1a2b3c" */
static int make_id(char *buf, size_t size_bytes)
{
	char stamp[25];
	unsigned char random[3];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -errno;
	fence_wall_stamp(stamp);
	(void)snprintf(buf, size_bytes, "%.4s%.2s%.2sT%.2s%.2s%.6sZ-%02x%02x%02x", stamp, stamp + 5,
		       stamp + 8, stamp + 11, stamp + 14, stamp + 17, random[0], random[1],
		       random[2]);
	return 0;
}

static int make_run(int runs_fd, struct gate_store *store, struct fence_err *err)
{
	/* Two runs of the same millisecond and the same 24 random bits: try again. */
	for (int tries = 0; tries < 8; tries++) {
		int rc = make_id(store->id, sizeof(store->id));

		if (rc < 0)
			return fence_fail(err, rc, "random number");
		(void)snprintf(store->path, sizeof(store->path), ".fence/runs/%s", store->id);
		if (mkdirat(runs_fd, store->id, 0700) == 0)
			return enter(runs_fd, store->id, store->path, &store->run_fd, err);
		if (errno != EEXIST)
			return fence_fail(err, -errno, "make folder %s", store->path);
	}
	return fence_fail(err, -EEXIST, "make folder %s", store->path);
}

int gate_store_open(int root_fd, struct gate_store *ret, struct fence_err *err)
{
	struct gate_store store = { .run_fd = -1 };
	owned_fd fence_fd = -1;
	owned_fd runs_fd = -1;
	int rc;

	rc = enter(root_fd, ".fence", ".fence", &fence_fd, err);
	if (rc == 0)
		rc = ignore_in_git(fence_fd, err);
	if (rc == 0)
		rc = enter(fence_fd, "runs", ".fence/runs", &runs_fd, err);
	if (rc == 0)
		rc = make_run(runs_fd, &store, err);
	if (rc < 0)
		return rc;
	*ret = store;
	return 0;
}

void gate_store_close(struct gate_store *store)
{
	fence_close_fd(&store->run_fd);
}

static void file_name(const char *stage, const char *suffix, char *buf, size_t size_bytes)
{
	(void)snprintf(buf, size_bytes, "%s%s", stage, suffix);
}

int gate_store_create(const struct gate_store *store, const char *stage, const char *suffix,
		      struct fence_err *err)
{
	char name[GATE_ID_BYTES + 16];
	int fd;

	file_name(stage, suffix, name, sizeof(name));
	fd = openat(store->run_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fence_fail(err, -errno, "make %s/%s", store->path, name);
	return fd;
}

int gate_store_rename(const struct gate_store *store, const char *from_stage, const char *to_stage,
		      const char *suffix)
{
	char from[GATE_ID_BYTES + 16], to[GATE_ID_BYTES + 16];

	file_name(from_stage, suffix, from, sizeof(from));
	file_name(to_stage, suffix, to, sizeof(to));
	return renameat(store->run_fd, from, store->run_fd, to) < 0 ? -errno : 0;
}

int gate_store_remove(const struct gate_store *store, const char *stage, const char *suffix)
{
	char name[GATE_ID_BYTES + 16];

	file_name(stage, suffix, name, sizeof(name));
	return unlinkat(store->run_fd, name, 0) < 0 ? -errno : 0;
}

int gate_store_read(const struct gate_store *store, const char *stage, const char *suffix)
{
	char name[GATE_ID_BYTES + 16];
	int fd;

	file_name(stage, suffix, name, sizeof(name));
	fd = openat(store->run_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int gate_store_publish(const struct gate_store *store, int fd, const char *temporary,
		       const char *name, struct fence_err *err)
{
	if (fsync(fd) < 0)
		return fence_fail(err, -errno, "sync %s/%s", store->path, temporary);
	if (renameat(store->run_fd, temporary, store->run_fd, name) < 0)
		return fence_fail(err, -errno, "rename %s/%s", store->path, temporary);
	if (fsync(store->run_fd) < 0)
		return fence_fail(err, -errno, "sync folder %s", store->path);
	return 0;
}
