/* Writing markers. The order of an update, all of it under byte 0 of MARKER.lock:
 *
 *   1. temporaries that a killed writer left are removed; where it could only link the
 *      new name, one may be the marker's second name, which would keep all writers away
 *   2. the marker is read and compared with what was approved
 *   3. a sibling's name is noted in the lock, and the sibling made; the new state, which
 *      names the sibling's own inode, is composed, checked as a reader would, written,
 *      synced and closed
 *   4. the marker is read and compared again
 *   5. the sibling is renamed over it (to create: without replacing)
 *   6. the folder is synced
 *
 * Before 5 the name holds the old state and after it the new one, whenever the
 * writer is killed; what is left of 3 goes with the next writer's 1.
 *
 * A call that failed may have been done all the same: a network file system answers
 * EIO or EINTR when only the reply was lost. So a sibling is removed also when its
 * making failed, and after a failed rename the name is looked at: it tells whether
 * the new state is out. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fence/attempt.h"
#include "fence/clock.h"
#include "fence/marker.h"
#include "fence/marker_compose.h"
#include "fence/marker_lock.h"
#include "fence/own.h"
#include "fence/sys.h"

/* --- a draft ------------------------------------------------------------------------------ */

/* A new state on its way: a file that is removed again unless it was renamed. */
struct draft {
	const struct fence_marker_writer *writer;
	char name[NAME_MAX + 1]; /* empty: there is none */
	int fd;
	struct fence_marker marker;
};

static void write_hex(const uint8_t *bytes, size_t count, char *ret)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < count; i++) {
		*ret++ = digits[bytes[i] >> 4];
		*ret++ = digits[bytes[i] & 15];
	}
	*ret = '\0';
}

static int random_hex(size_t bytes, char *ret)
{
	uint8_t random[16];
	ssize_t got;

	do {
		got = getrandom(random, bytes, 0);
	} while (got < 0 && errno == EINTR);
	if (got != (ssize_t)bytes)
		return got < 0 ? -errno : -EIO;
	write_hex(random, bytes, ret);
	return 0;
}

static int open_draft(struct draft *draft, enum fence_marker_by by, struct fence_err *err)
{
	const struct fence_marker_writer *writer = draft->writer;
	char random[FENCE_SIBLING_RANDOM_DIGITS + 1];
	int rc = random_hex(FENCE_SIBLING_RANDOM_BYTES, random), length;

	if (rc < 0)
		return fence_fail(err, rc, "get random bytes");
	length = snprintf(draft->name, sizeof(draft->name), ".%s.%s-%d-%s", writer->path.name,
			  fence_marker_by_word(by), getpid(), random);
	if (length < 0 || (size_t)length >= sizeof(draft->name)) {
		draft->name[0] = '\0';
		return fence_fail(err, -ENAMETOOLONG, "marker name %s", writer->path.name);
	}
	rc = fence_marker_note_sibling(writer, draft->name, err);
	if (rc < 0) {
		draft->name[0] = '\0';
		return rc;
	}
	draft->fd = openat(writer->dir_fd, draft->name,
			   O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (draft->fd >= 0)
		return 0;
	rc = fence_fail(err, -errno, "create %s/%s", writer->path.dir, draft->name);
	if (rc == -EEXIST)
		draft->name[0] = '\0'; /* somebody else's */
	return rc;
}

/* What cannot be removed now is removed by the next writer: no reason to call what was
 * done undone, but it is said beside another error. */
static void drop_draft(struct draft *draft, struct fence_err *err)
{
	int rc;

	fence_close_fd(&draft->fd);
	if (draft->name[0] == '\0')
		return;
	do {
		rc = unlinkat(draft->writer->dir_fd, draft->name, 0) < 0 ? -errno : 0;
	} while (rc == -EINTR);
	if (rc < 0 && rc != -ENOENT && err && err->code < 0)
		(void)fence_hint(err, "%s could not be removed (%s): the next writer does that",
				 draft->name, fence_errno_words(rc));
	draft->name[0] = '\0';
}

/* Whether the name is this draft: after a rename or link that failed. */
static bool is_published(const struct draft *draft)
{
	const struct fence_marker_writer *writer = draft->writer;
	struct stat st;

	return fstatat(writer->dir_fd, writer->path.name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_dev == draft->marker.place.marker_dev &&
	       st.st_ino == draft->marker.place.marker_ino;
}

/* --- composing ------------------------------------------------------------------------------- */

/* Type and bytes of the file's handle in hexadecimal; empty where there is none, or
 * none that fits. */
static void read_handle(int fd, char ret[FENCE_MARKER_HANDLE_BYTES])
{
	union {
		struct file_handle handle;
		uint8_t room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = { .handle = { .handle_bytes = MAX_HANDLE_SZ } };
	uint8_t type;
	int mount_id;

	ret[0] = '\0';
	if (name_to_handle_at(fd, "", &u.handle, &mount_id, AT_EMPTY_PATH) < 0)
		return;
	if (u.handle.handle_type < 0 || u.handle.handle_type > UINT8_MAX ||
	    2 + 2 * u.handle.handle_bytes >= FENCE_MARKER_HANDLE_BYTES)
		return;
	type = (uint8_t)u.handle.handle_type;
	write_hex(&type, 1, ret);
	write_hex(u.room + sizeof(struct file_handle), u.handle.handle_bytes, ret + 2);
}

/* The new state stays its owner's: root's cancel must not hide a user's marker from the
 * user's supervisor. */
static int keep_owner(const struct draft *draft, const struct stat *old, struct fence_err *err)
{
	int rc = 0;

	if (old->st_uid != geteuid() && fchown(draft->fd, old->st_uid, old->st_gid) < 0)
		rc = fence_fail(err, -errno, "leave %s/%s to its owner", draft->writer->path.dir,
				draft->writer->path.name);
	return rc;
}

static int place_of(const struct draft *draft, struct fence_marker_place *ret,
		    struct fence_err *err)
{
	struct stat marker, parent;
	int rc;

	if (fstat(draft->fd, &marker) < 0 || fstat(draft->writer->dir_fd, &parent) < 0)
		return fence_fail(err, -errno, "look at %s", draft->name);
	rc = fence_marker_settle_mode(draft->fd, &marker);
	if (rc < 0)
		return fence_fail(err, rc, "set the mode of %s", draft->name);
	*ret = (struct fence_marker_place){ marker.st_dev, marker.st_ino, parent.st_dev,
					    parent.st_ino };
	return 0;
}

static int compose_draft(struct draft *draft, const char *old, size_t old_bytes,
			 enum fence_marker_format format, struct fence_marker_news *news,
			 struct fence_err *err)
{
	int rc = place_of(draft, &news->place, err);

	if (rc < 0)
		return rc;
	read_handle(draft->fd, news->handle);
	return fence_marker_compose(old, old_bytes, format, news, &draft->marker, err);
}

static int write_draft(struct draft *draft, enum fence_marker_durable durable,
		       struct fence_err *err)
{
	const char *dir = draft->writer->path.dir;
	int rc = fence_write_full(draft->fd, draft->marker.text, draft->marker.text_bytes);

	if (rc < 0)
		return fence_fail(err, rc, "write %s/%s", dir, draft->name);
	/* Never tried again, not even after EINTR: after a failed sync the kernel may
	 * drop what was written and report success the next time. */
	if (durable != FENCE_MARKER_DURABLE_NONE && fsync(draft->fd) < 0)
		return fence_fail(err, -errno, "sync %s/%s", dir, draft->name);
	/* Where nothing is synced a network file system first tells here that the bytes
	 * did not arrive. Nor is this tried again: the descriptor is gone in any case. */
	if (close(fence_take_fd(&draft->fd)) < 0)
		return fence_fail(err, -errno, "close %s/%s", dir, draft->name);
	return 0;
}

static int sync_dir(const struct fence_marker_writer *writer, enum fence_marker_durable durable,
		    struct fence_err *err)
{
	if (durable == FENCE_MARKER_DURABLE_FULL && fsync(writer->dir_fd) < 0)
		return fence_fail(err, -errno, "sync folder %s", writer->path.dir);
	return 0;
}

/* --- replacing ----------------------------------------------------------------------------------
 */

static int path_of(const struct fence_marker_writer *writer, char ret[PATH_MAX],
		   struct fence_err *err)
{
	int length = snprintf(ret, PATH_MAX, "%s/%s", writer->path.dir, writer->path.name);

	if (length < 0 || length >= PATH_MAX)
		return fence_fail(err, -ENAMETOOLONG, "marker path");
	return 0;
}

/* The marker was read by its path, and is written in the folder that we hold: somebody may
 * have put another folder there meanwhile. */
static int check_entry(const struct fence_marker_writer *writer, const struct fence_marker *marker,
		       struct stat *ret, struct fence_err *err)
{
	int rc = fstatat(writer->dir_fd, writer->path.name, ret, AT_SYMLINK_NOFOLLOW) < 0 ? -errno
											  : 0;

	if (rc < 0 && rc != -ENOENT)
		return fence_fail(err, rc, "look at %s/%s", writer->path.dir, writer->path.name);
	if (rc < 0 || ret->st_dev != marker->place.marker_dev ||
	    ret->st_ino != marker->place.marker_ino)
		return fence_fail_why(err, -ESTALE, "another file or folder was put there", "%s/%s",
				      writer->path.dir, writer->path.name);
	return 0;
}

/* A second name would keep the old state, as authentic as before once it is the only
 * one of that file. */
static int check_names(const struct fence_marker_writer *writer, const struct stat *marker,
		       struct fence_err *err)
{
	if (marker->st_nlink <= 1)
		return 0;
	(void)fence_fail_why(err, -EMLINK, "it has a second name, which would keep the old state",
			     "%s/%s", writer->path.dir, writer->path.name);
	(void)fence_hint(err, "remove the name that is not the attempt's");
	return -EMLINK;
}

static bool is_two_steps(const struct fence_marker *old, const struct fence_marker_change *change)
{
	return change->through_terminating && old->status == FENCE_MARKER_ACTIVE &&
	       change->status == FENCE_MARKER_TERMINATED;
}

/* The marker as it is now, if it is the one to be replaced. */
static int read_approved(const struct fence_marker_writer *writer,
			 const struct fence_marker_change *change, struct fence_marker *ret,
			 struct stat *ret_stat, struct fence_err *err)
{
	char path[PATH_MAX];
	int rc = path_of(writer, path, err);

	if (rc == 0)
		rc = fence_marker_read(path, change->format, ret, NULL, err);
	if (rc == 0)
		rc = fence_marker_compare(ret, change->attempt_id, change->approved, err);
	if (rc == 0 && !is_two_steps(ret, change) &&
	    !fence_marker_may_become(ret->status, change->status))
		rc = fence_fail_why(err, -EPERM, "that cannot follow", "%s: from %s to %s",
				    writer->path.name, fence_marker_status_word(ret->status),
				    fence_marker_status_word(change->status));
	if (rc == 0)
		rc = check_entry(writer, ret, ret_stat, err);
	return rc == 0 ? check_names(writer, ret_stat, err) : rc;
}

static int draft_change(struct draft *draft, const struct fence_marker_change *change,
			const struct fence_marker *old, const struct stat *old_stat,
			struct fence_err *err)
{
	struct fence_marker_news news = { .status = change->status,
					  .seq = old->seq + (is_two_steps(old, change) ? 2 : 1),
					  .group = change->group,
					  .group_cgroup = change->group_cgroup,
					  .result = change->result,
					  .by = change->by };
	int rc;

	if (old->seq >= FENCE_JSON_INT_MAX - 1)
		return fence_fail_why(err, -EOVERFLOW, "its seq cannot grow", "%s",
				      draft->writer->path.name);
	rc = random_hex((sizeof(news.nonce) - 1) / 2, news.nonce);
	if (rc < 0)
		return fence_fail(err, rc, "get random bytes");
	rc = open_draft(draft, change->by, err);
	if (rc == 0)
		rc = keep_owner(draft, old_stat, err);
	if (rc == 0)
		rc = compose_draft(draft, old->text, old->text_bytes, change->format, &news, err);
	if (rc == 0)
		rc = write_draft(draft, change->durable, err);
	return rc;
}

/* Nothing of the state may have changed since the first look, whoever wrote it. */
static int compare_states(const struct fence_marker_writer *writer, const struct fence_marker *old,
			  const struct fence_marker *now, struct fence_err *err)
{
	if (now->place.marker_ino != old->place.marker_ino || now->text_bytes != old->text_bytes ||
	    memcmp(now->text, old->text, old->text_bytes) != 0)
		return fence_fail_why(err, -ESTALE, "a writer without the lock changed it", "%s",
				      writer->path.name);
	return 0;
}

static int read_again(const struct fence_marker_writer *writer,
		      const struct fence_marker_change *change, const struct fence_marker *old,
		      struct fence_err *err)
{
	struct fence_marker now;
	struct stat unused;
	int rc = read_approved(writer, change, &now, &unused, err);

	return rc == 0 ? compare_states(writer, old, &now, err) : rc;
}

/* -errno; when `*ret_is_out` says so it was done nevertheless. */
static int rename_over(struct draft *draft, bool *ret_is_out, struct fence_err *err)
{
	const struct fence_marker_writer *writer = draft->writer;
	int rc = renameat(writer->dir_fd, draft->name, writer->dir_fd, writer->path.name) < 0
			 ? -errno
			 : 0;

	*ret_is_out = rc == 0 || is_published(draft);
	if (*ret_is_out)
		draft->name[0] = '\0';
	return rc == 0 ? 0
		       : fence_fail(err, rc, "rename over %s/%s", writer->path.dir,
				    writer->path.name);
}

static int publish_change(struct draft *draft, const struct fence_marker_change *change,
			  enum fence_marker_answer *ret_answer, struct fence_err *err)
{
	const struct fence_marker_writer *writer = draft->writer;
	struct fence_marker old;
	struct stat old_stat;
	bool is_out = false;
	int rc = fence_marker_remove_stale(writer, err);

	if (rc == 0)
		rc = read_approved(writer, change, &old, &old_stat, err);
	if (rc == 0)
		rc = draft_change(draft, change, &old, &old_stat, err);
	if (rc == 0)
		rc = read_again(writer, change, &old, err);
	if (rc == 0)
		rc = rename_over(draft, &is_out, err);
	if (rc == 0)
		rc = sync_dir(writer, change->durable, err);
	if (is_out)
		*ret_answer = rc < 0 ? FENCE_MARKER_NOT_DURABLE : FENCE_MARKER_REPLACED;
	return rc;
}

int fence_marker_replace(struct fence_marker_writer *writer,
			 const struct fence_marker_change *change, struct fence_marker *ret,
			 enum fence_marker_answer *ret_answer, struct fence_err *err)
{
	struct draft draft = { .writer = writer, .fd = -1 };
	int rc;

	*ret_answer = FENCE_MARKER_NOT_REPLACED;
	rc = fence_marker_lock(writer, change->lock_wait_ms, err);
	if (rc < 0)
		return rc;
	rc = publish_change(&draft, change, ret_answer, err);
	drop_draft(&draft, err);
	fence_marker_unlock(writer);
	if (*ret_answer != FENCE_MARKER_NOT_REPLACED && ret)
		*ret = draft.marker;
	return rc;
}

/* --- creating --------------------------------------------------------------------------------- */

/* A name that is not plain would grow when it is escaped and is told to nobody. */
static bool is_plain(const char *text)
{
	for (; *text != '\0'; text++)
		if (*text <= ' ' || *text > '~' || *text == '"' || *text == '\\')
			return false;
	return true;
}

/* The fields that stay as they are for the marker's whole life, as the first state's
 * predecessor. */
static int compose_base(const struct fence_marker_birth *birth, struct fence_jsonw *w,
			struct fence_err *err)
{
	struct fence_ident supervisor;
	char host[FENCE_MARKER_HOST_BYTES] = "";
	int rc = 0;

	if (birth->supervisor != NULL)
		supervisor = *birth->supervisor;
	else
		rc = fence_ident_of_pid(birth->supervisor_pid, &supervisor, NULL);
	if (rc < 0)
		return fence_fail(err, rc, "supervisor pid %d", birth->supervisor_pid);
	if (!fence_marker_is_attempt_id(birth->attempt_id))
		return fence_fail_why(err, -EINVAL, "must be 1 to 128 of A-Za-z0-9._-",
				      "attempt id");
	fence_jsonw_open(w, NULL, '{');
	fence_jsonw_string(w, "format", fence_marker_format_word(birth->format));
	fence_jsonw_string(w, "attemptId", birth->attempt_id);
	fence_jsonw_int(w, "supervisorPid", supervisor.pid);
	if (birth->format == FENCE_MARKER_V1) {
		fence_jsonw_decimal(w, "supervisorStart", supervisor.start_ticks);
		if (supervisor.id != 0)
			fence_jsonw_decimal(w, "supervisorId", supervisor.id);
		fence_jsonw_string(w, "bootId", supervisor.boot_id);
		fence_jsonw_decimal(w, "pidNs", supervisor.pid_ns);
		if (gethostname(host, sizeof(host)) == 0 && host[0] != '\0' && is_plain(host))
			fence_jsonw_string(w, "host", host);
	}
	fence_jsonw_close(w, '}');
	return 0;
}

/* rename(2) that replaces nothing; where the file system cannot do that, a second
 * name and the loss of the first. */
static int rename_new(struct draft *draft)
{
	const struct fence_marker_writer *writer = draft->writer;
	int rc = fence_renameat2(writer->dir_fd, draft->name, writer->dir_fd, writer->path.name,
				 RENAME_NOREPLACE);

	if (rc != -EINVAL && rc != -ENOSYS)
		return rc;
	if (linkat(writer->dir_fd, draft->name, writer->dir_fd, writer->path.name, 0) < 0)
		return -errno;
	return unlinkat(writer->dir_fd, draft->name, 0) < 0 ? -errno : 0;
}

/* As rename_over. A draft that has two names, because it was linked and then could not
 * be unlinked, keeps the first, which is removed with it. */
static int publish_new(struct draft *draft, bool *ret_is_out, struct fence_err *err)
{
	const struct fence_marker_writer *writer = draft->writer;
	int rc = rename_new(draft);

	*ret_is_out = rc == 0 || is_published(draft);
	if (rc == 0)
		draft->name[0] = '\0';
	return rc == 0 ? 0
		       : fence_fail(err, rc, "create %s/%s", writer->path.dir, writer->path.name);
}

static int draft_birth(struct draft *draft, const struct fence_marker_birth *birth, int64_t seq,
		       struct fence_err *err)
{
	struct fence_marker_news news = { .status = FENCE_MARKER_ACTIVE,
					  .seq = seq,
					  .by = birth->by };
	char base[FENCE_MARKER_BYTES];
	struct fence_jsonw w;
	int rc;

	fence_jsonw_init(&w, base, sizeof(base));
	rc = compose_base(birth, &w, err);
	if (rc < 0)
		return rc;
	rc = random_hex((sizeof(news.nonce) - 1) / 2, news.nonce);
	if (rc < 0)
		return fence_fail(err, rc, "get random bytes");
	rc = open_draft(draft, birth->by, err);
	if (rc == 0)
		rc = compose_draft(draft, base, w.length_bytes, birth->format, &news, err);
	if (rc == 0)
		rc = write_draft(draft, birth->durable, err);
	return rc;
}

static bool has_entry(const struct fence_marker_writer *writer, int *ret_rc)
{
	struct stat st;
	int rc = fstatat(writer->dir_fd, writer->path.name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno
											  : 0;

	*ret_rc = rc == -ENOENT ? 0 : rc;
	return rc == 0;
}

/* The marker that is in the way, when its attempt is over and that is enough. */
static int read_ended(const struct fence_marker_writer *writer,
		      const struct fence_marker_birth *birth, struct fence_marker *ret,
		      struct fence_err *err)
{
	char path[PATH_MAX];
	struct fence_err why = { 0 };
	struct stat entry;
	int rc = path_of(writer, path, err);

	if (rc < 0)
		return rc;
	if (!birth->over_ended)
		return fence_fail(err, -EEXIST, "create %s", path), -EEXIST;
	if (fence_marker_read(path, birth->format, ret, NULL, &why) < 0)
		return fence_fail_why(err, -EEXIST,
				      why.why[0] ? why.why : fence_errno_words(why.code),
				      "create %s: what is there is no authentic %s: %s", path,
				      fence_marker_format_word(birth->format), why.what);
	if (!fence_attempt_is_over(ret))
		return fence_fail_why(err, -EEXIST, "its attempt may still run",
				      "create %s: attempt %s is %s", path, ret->attempt_id,
				      fence_marker_status_word(ret->status));
	if (ret->seq == FENCE_JSON_INT_MAX)
		return fence_fail_why(err, -EOVERFLOW, "its seq cannot grow", "%s",
				      writer->path.name);
	return check_entry(writer, ret, &entry, err);
}

static int publish_over(struct draft *draft, const struct fence_marker_birth *birth,
			const struct fence_marker *old, bool *ret_is_out, struct fence_err *err)
{
	struct fence_marker now;
	int rc = read_ended(draft->writer, birth, &now, err);

	if (rc == 0)
		rc = compare_states(draft->writer, old, &now, err);
	return rc == 0 ? rename_over(draft, ret_is_out, err) : rc;
}

static int publish_birth(struct draft *draft, const struct fence_marker_birth *birth,
			 bool *ret_made, struct fence_err *err)
{
	const struct fence_marker_writer *writer = draft->writer;
	struct fence_marker old = { .seq = 0 };
	int rc;
	bool is_there = has_entry(writer, &rc);

	if (rc < 0)
		return fence_fail(err, rc, "look at %s/%s", writer->path.dir, writer->path.name);
	if (is_there)
		rc = read_ended(writer, birth, &old, err);
	if (rc == 0)
		rc = fence_marker_remove_stale(writer, err);
	if (rc == 0)
		rc = draft_birth(draft, birth, old.seq + 1, err);
	if (rc == 0)
		rc = is_there ? publish_over(draft, birth, &old, ret_made, err)
			      : publish_new(draft, ret_made, err);
	return rc == 0 ? sync_dir(writer, birth->durable, err) : rc;
}

int fence_marker_create(struct fence_marker_writer *writer, const struct fence_marker_birth *birth,
			struct fence_marker *ret, bool *ret_made, struct fence_err *err)
{
	struct draft draft = { .writer = writer, .fd = -1 };
	int rc;

	*ret_made = false;
	rc = fence_marker_lock(writer, birth->lock_wait_ms, err);
	if (rc < 0)
		return rc;
	rc = publish_birth(&draft, birth, ret_made, err);
	drop_draft(&draft, err);
	fence_marker_unlock(writer);
	if (*ret_made)
		*ret = draft.marker;
	return rc;
}
