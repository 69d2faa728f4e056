#include "guard/confine/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/err.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/entries.h"
#include "guard/confine/names.h"
#include "guard/confine/placeholder.h"

#define TRIES	    64 /* as often as somebody else may have the name, or remove an empty folder */
#define STAMP_BYTES 20 /* 20261130T194512Z */
#define NAME_BYTES  64

int guard_keep_open_folder(int registry_fd)
{
	owned_fd fd = -1;
	struct stat st;

	if (mkdirat(registry_fd, "kept", 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(registry_fd, "kept", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != (uid_t)getauxval(AT_EUID) || (st.st_mode & 022) != 0)
		return -EPERM;
	return fence_take_fd(&fd);
}

static void write_stamp(time_t when, char ret[STAMP_BYTES])
{
	struct tm tm;

	ret[0] = '\0';
	if (gmtime_r(&when, &tm) != NULL)
		(void)strftime(ret, STAMP_BYTES, "%Y%m%dT%H%M%SZ", &tm);
}

/* --- tidying ----------------------------------------------------------------------------- */

/* TIME-PID-SIZEK, in KiB. */
static bool read_name(const char *name, uint64_t *ret_bytes)
{
	static const char like[] = "00000000T000000Z-";
	const char *size = strrchr(name, '-');
	char *end;

	for (size_t i = 0; like[i] != '\0'; i++)
		if (like[i] == '0' ? name[i] < '0' || name[i] > '9' : name[i] != like[i])
			return false;
	if (size[1] < '0' || size[1] > '9')
		return false;
	*ret_bytes = strtoull(size + 1, &end, 10) * 1024;
	return end - size <= 10 && strcmp(end, "K") == 0;
}

static int by_name(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

/* Out of the way first, so that what is cut off in between does not look like a whole one. */
static void remove_kept(int kept_fd, const char *name)
{
	char hidden[NAME_BYTES + 1];

	(void)snprintf(hidden, sizeof(hidden), ".%s", name);
	if (fence_renameat2(kept_fd, name, kept_fd, hidden, 0) == 0)
		(void)guard_entries_remove(kept_fd, hidden);
}

/* Its writer, if there is one, holds it. */
static void remove_torn(int kept_fd, const char *name)
{
	owned_fd fd = openat(kept_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)guard_entries_remove(kept_fd, name);
}

struct listing {
	struct guard_names whole, torn;
};

static int on_folder(void *arg, const char *name)
{
	struct listing *list = arg;
	uint64_t bytes;

	if (strlen(name) >= NAME_BYTES || !read_name(name + (name[0] == '.'), &bytes))
		return 0;
	return guard_names_add(name[0] == '.' ? &list->torn : &list->whole, name);
}

void guard_keep_tidy(int kept_fd, const char *own, time_t now)
{
	char oldest[STAMP_BYTES];
	struct listing list = { 0 };
	uint64_t total_bytes = 0;
	uint64_t bytes;
	size_t count;
	int rc = lseek(kept_fd, 0, SEEK_SET) < 0 ? -errno : 0;

	if (rc == 0)
		rc = guard_entries_each(kept_fd, on_folder, &list);
	write_stamp(now - GUARD_KEEP_DAYS_MAX * 24 * 60 * 60, oldest);
	count = list.whole.count;
	if (count > 0)
		qsort(list.whole.items, count, sizeof(char *), by_name);
	for (size_t i = 0; i < list.whole.count; i++)
		total_bytes += read_name(list.whole.items[i], &bytes) ? bytes : 0;
	for (size_t i = 0; rc == 0 && i < list.whole.count; i++) {
		const char *name = list.whole.items[i];

		if (count <= GUARD_KEEP_FOLDERS_MAX && total_bytes <= GUARD_KEEP_BYTES_MAX &&
		    strncmp(name, oldest, strlen(oldest)) >= 0)
			break;
		if (strcmp(name, own) == 0 || !read_name(name, &bytes))
			continue;
		remove_kept(kept_fd, name);
		count--;
		total_bytes -= bytes;
	}
	for (size_t i = 0; rc == 0 && i < list.torn.count; i++)
		remove_torn(kept_fd, list.torn.items[i]);
	guard_names_free(&list.whole);
	guard_names_free(&list.torn);
}

/* --- one folder ---------------------------------------------------------------------------- */

struct keeping {
	int kept_fd;
	int fd; /* of the new folder, locked */
	time_t now;
	char name[NAME_BYTES]; /* while it is written */
};

/* Whoever tidies may have taken it away before we held it. */
static int make_folder(struct keeping *keeping, unsigned int number)
{
	char stamp[STAMP_BYTES];
	struct stat st;
	owned_fd fd = -1;

	write_stamp(keeping->now, stamp);
	(void)snprintf(keeping->name, sizeof(keeping->name), ".%s-%d.%u-0K", stamp, (int)getpid(),
		       number);
	if (mkdirat(keeping->kept_fd, keeping->name, 0700) < 0)
		return errno == EEXIST || errno == ENOENT ? -ESTALE : -errno;
	fd = openat(keeping->kept_fd, keeping->name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESTALE : -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -ESTALE : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_nlink == 0)
		return -ESTALE;
	return keeping->fd = fence_take_fd(&fd);
}

/* The registry, and `kept` in it, go when they are found empty. */
static int open_new(void *arg)
{
	struct keeping *keeping = arg;
	int rc = -ESTALE;

	for (unsigned int i = 0; (rc == -ESTALE || rc == -ENOENT) && i < TRIES; i++) {
		owned_fd registry_fd = guard_placeholder_open_registry();

		rc = registry_fd;
		fence_close_fd(&keeping->kept_fd);
		if (rc >= 0)
			rc = keeping->kept_fd = guard_keep_open_folder(registry_fd);
		if (rc >= 0)
			rc = make_folder(keeping, i);
	}
	return rc;
}

static int give_name(const struct keeping *keeping, uint64_t bytes, char ret_name[NAME_BYTES])
{
	int base_bytes = (int)strlen(keeping->name) - (int)strlen(".-0K");
	const char *base = keeping->name + 1;
	int rc;

	/* The number that made it single is for whoever has to have one. */
	if (base_bytes > 2 && strncmp(base + base_bytes - 2, ".0", 2) == 0)
		base_bytes -= 2;
	(void)snprintf(ret_name, NAME_BYTES, "%.*s-%lluK", base_bytes, base,
		       (unsigned long long)(bytes / 1024));
	/* None that is there is empty, so that none is replaced. */
	rc = fence_renameat2(keeping->kept_fd, keeping->name, keeping->kept_fd, ret_name, 0);
	for (unsigned int i = 2; (rc == -EEXIST || rc == -ENOTEMPTY) && i < TRIES; i++) {
		(void)snprintf(ret_name, NAME_BYTES, "%.*s.%u-%lluK", base_bytes, base, i,
			       (unsigned long long)(bytes / 1024));
		rc = fence_renameat2(keeping->kept_fd, keeping->name, keeping->kept_fd, ret_name,
				     0);
	}
	return rc;
}

static const char *words_of(int rc)
{
	return rc == -EPERM ? "it is somebody else's, or others may write it"
			    : fence_errno_words(rc);
}

int guard_keep(int upper_fd, const char *path, struct guard_keep_bounds *left,
	       struct guard_kept *ret)
{
	struct keeping keeping = { .kept_fd = -1, .fd = -1, .now = time(NULL) };
	struct guard_keep_copy copy = {
		.left = *left,
		.title = path,
		.open_to = open_new,
		.arg = &keeping,
	};
	char registry[64];
	char name[NAME_BYTES];
	int rc = guard_keep_copy(upper_fd, &copy);

	*ret = (struct guard_kept){ .why = copy.why };
	*left = copy.left;
	if (rc == 1)
		rc = give_name(&keeping, copy.bytes, name);
	if (rc == 0 && keeping.fd >= 0) {
		guard_placeholder_registry(registry, sizeof(registry));
		(void)snprintf(ret->folder, sizeof(ret->folder), "%s/kept/%s", registry, name);
		guard_keep_tidy(keeping.kept_fd, name, keeping.now);
		rc = 1;
	} else if (rc < 0) {
		ret->why = words_of(rc);
		if (keeping.fd >= 0)
			(void)guard_entries_remove(keeping.kept_fd, keeping.name);
	}
	fence_drop_fd(&keeping.fd);
	fence_drop_fd(&keeping.kept_fd);
	return rc;
}
