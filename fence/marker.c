/* Markers: what their bytes say, reading them, and comparing with what was meant. */
#include "fence/marker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fence/own.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Looks at a marker that is being replaced. A look takes about as long as a
 * replacement, so even writers that never rest do not win a hundred times. */
#define LOOKS_MAX 100

static const char *const rules[] = {
	[FENCE_MARKER_RULE_NAME] = "name",   [FENCE_MARKER_RULE_PARENT] = "parent",
	[FENCE_MARKER_RULE_ENTRY] = "entry", [FENCE_MARKER_RULE_SIZE] = "size",
	[FENCE_MARKER_RULE_READ] = "read",   [FENCE_MARKER_RULE_STABLE] = "stable",
	[FENCE_MARKER_RULE_JSON] = "json",   [FENCE_MARKER_RULE_FORMAT] = "format",
	[FENCE_MARKER_RULE_FIELD] = "field", [FENCE_MARKER_RULE_IDENTITY] = "identity",
};

const char *fence_marker_rule_word(enum fence_marker_rule rule)
{
	return rules[rule];
}

bool fence_marker_may_become(enum fence_marker_status from, enum fence_marker_status to)
{
	static const bool table[4][4] = {
		[FENCE_MARKER_ACTIVE] = { true, true, false, true },
		[FENCE_MARKER_TERMINATING] = { false, true, true, true },
		[FENCE_MARKER_TERMINATED] = { false, false, false, false },
		[FENCE_MARKER_CANCELLED] = { false, false, false, true },
	};

	return table[from][to];
}

int fence_marker_path_split(const char *path, struct fence_marker_path *ret, struct fence_err *err)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t dir_bytes = slash ? (size_t)(slash - path) : 0;

	if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return fence_fail_why(err, -EINVAL, "names no file", "marker path \"%s\"", path);
	if (dir_bytes >= sizeof(ret->dir) || strlen(name) >= sizeof(ret->name))
		return fence_fail(err, -ENAMETOOLONG, "marker path");
	while (dir_bytes > 1 && path[dir_bytes - 1] == '/')
		dir_bytes--;
	(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	if (dir_bytes == 0) {
		(void)snprintf(ret->dir, sizeof(ret->dir), "%s", slash ? "/" : ".");
		return 0;
	}
	memcpy(ret->dir, path, dir_bytes);
	ret->dir[dir_bytes] = '\0';
	return 0;
}

void fence_marker_place_write(struct fence_jsonw *w, const struct fence_marker_place *place)
{
	fence_jsonw_decimal(w, "markerDev", place->marker_dev);
	fence_jsonw_decimal(w, "markerIno", place->marker_ino);
	fence_jsonw_decimal(w, "parentDev", place->parent_dev);
	fence_jsonw_decimal(w, "parentIno", place->parent_ino);
}

/* --- reading ------------------------------------------------------------------------------- */

/* One look. What must not change between its first step and its last is in here. */
struct look {
	struct fence_marker_path path;
	struct stat parent;
	struct stat entry;
	char bytes[FENCE_MARKER_BYTES + 1];
	enum fence_marker_rule rule;
	struct fence_err *err;
};

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int look_fail(struct look *look, enum fence_marker_rule rule, const char *why)
{
	look->rule = rule;
	return fence_fail_why(look->err, -EBADMSG, why, "the file");
}

static int look_fail_errno(struct look *look, enum fence_marker_rule rule, int code)
{
	look->rule = code == -EINTR ? FENCE_MARKER_RULE_STABLE : rule; /* so: look again */
	(void)fence_fail(look->err, code,
			 rule == FENCE_MARKER_RULE_PARENT ? "the folder" : "the file");
	return -EBADMSG;
}

/* Its type first, so that a FIFO or a device is never opened. */
static int look_at_entry(struct look *look, int dir_fd)
{
	if (fstatat(dir_fd, look->path.name, &look->entry, AT_SYMLINK_NOFOLLOW) < 0)
		return look_fail_errno(look, FENCE_MARKER_RULE_ENTRY, -errno);
	if (!S_ISREG(look->entry.st_mode))
		return look_fail(look, FENCE_MARKER_RULE_ENTRY, "not a regular file");
	return 0;
}

static int look_at_bytes(struct look *look, int fd)
{
	size_t size_bytes;
	ssize_t got;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return look_fail_errno(look, FENCE_MARKER_RULE_READ, -errno);
	if (!S_ISREG(st.st_mode) || !is_same_file(&st, &look->entry))
		return look_fail(look, FENCE_MARKER_RULE_STABLE, "another file was put there");
	look->entry = st;
	if (st.st_size < 1 || st.st_size > FENCE_MARKER_BYTES)
		return look_fail(look, FENCE_MARKER_RULE_SIZE, "not 1 to 1024 bytes");
	size_bytes = (size_t)st.st_size;
	do {
		got = pread(fd, look->bytes, size_bytes + 1, 0);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return look_fail_errno(look, FENCE_MARKER_RULE_READ, -errno);
	if ((size_t)got != size_bytes)
		return look_fail(look, FENCE_MARKER_RULE_STABLE, "its size changed");
	return 0;
}

/* Descriptor, name and folder once more. */
static int look_again(struct look *look, int dir_fd, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !is_same_file(&st, &look->entry) ||
	    st.st_size != look->entry.st_size)
		return look_fail(look, FENCE_MARKER_RULE_STABLE, "it changed while it was read");
	if (fstatat(dir_fd, look->path.name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode) || !is_same_file(&st, &look->entry))
		return look_fail(look, FENCE_MARKER_RULE_STABLE, "another file was put there");
	if (lstat(look->path.dir, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    !is_same_file(&st, &look->parent))
		return look_fail(look, FENCE_MARKER_RULE_STABLE, "another folder was put there");
	return 0;
}

static int look_once(struct look *look)
{
	owned_fd dir_fd = open(look->path.dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	owned_fd fd = -1;
	int rc;

	if (dir_fd < 0)
		return look_fail_errno(look, FENCE_MARKER_RULE_PARENT, -errno);
	if (fstat(dir_fd, &look->parent) < 0)
		return look_fail_errno(look, FENCE_MARKER_RULE_PARENT, -errno);
	rc = look_at_entry(look, dir_fd);
	if (rc < 0)
		return rc;
	fd = openat(dir_fd, look->path.name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ELOOP))
		return look_fail(look, FENCE_MARKER_RULE_STABLE, "another file was put there");
	if (fd < 0)
		return look_fail_errno(look, FENCE_MARKER_RULE_READ, -errno);
	rc = look_at_bytes(look, fd);
	return rc < 0 ? rc : look_again(look, dir_fd, fd);
}

static int check_place(struct look *look, const struct fence_marker_place *said)
{
	if (said->marker_dev != look->entry.st_dev || said->marker_ino != look->entry.st_ino)
		return look_fail(look, FENCE_MARKER_RULE_IDENTITY,
				 "says that it is another file: a copy");
	if (said->parent_dev != look->parent.st_dev || said->parent_ino != look->parent.st_ino)
		return look_fail(look, FENCE_MARKER_RULE_IDENTITY,
				 "says that it is in another folder: moved or linked here");
	return 0;
}

static int read_marker(const char *path, enum fence_marker_format format, struct look *look,
		       struct fence_marker *ret)
{
	struct fence_marker found = { 0 };
	unsigned int looks = 0;
	int rc = -EBADMSG;

	look->rule = FENCE_MARKER_RULE_NAME;
	if (fence_marker_path_split(path, &look->path, look->err) < 0)
		return -EBADMSG;
	do {
		rc = look_once(look);
	} while (rc < 0 && look->rule == FENCE_MARKER_RULE_STABLE && ++looks < LOOKS_MAX);
	if (rc == 0)
		rc = fence_marker_parse(look->bytes, (size_t)look->entry.st_size, format, &found,
					&look->rule, look->err);
	if (rc == 0)
		rc = check_place(look, &found.place);
	if (rc < 0)
		return rc;
	*ret = found;
	if (looks > 0 && look->err)
		look->err->code = 0; /* what a look before said is no news any more */
	return 0;
}

int fence_marker_read(const char *path, enum fence_marker_format format, struct fence_marker *ret,
		      enum fence_marker_rule *ret_rule, struct fence_err *err)
{
	struct look look = { .err = err };
	int rc = read_marker(path, format, &look, ret);

	if (rc < 0 && ret_rule)
		*ret_rule = look.rule;
	return rc;
}

/* --- the approved marker ---------------------------------------------------------------------- */

void fence_marker_approved_write(struct fence_jsonw *w, const struct fence_marker *marker)
{
	fence_jsonw_int(w, "supervisorPid", marker->supervisor.pid);
	fence_marker_place_write(w, &marker->place);
	if (marker->seq != 0)
		fence_jsonw_int(w, "seq", marker->seq);
	if (marker->nonce[0] != '\0')
		fence_jsonw_string(w, "nonce", marker->nonce);
}

static bool is_same_place(const struct fence_marker_place *a, const struct fence_marker_place *b)
{
	return a->marker_dev == b->marker_dev && a->marker_ino == b->marker_ino &&
	       a->parent_dev == b->parent_dev && a->parent_ino == b->parent_ino;
}

int fence_marker_compare(const struct fence_marker *marker, const char *attempt_id,
			 const struct fence_marker_approved *approved, struct fence_err *err)
{
	const char *why = NULL;

	if (strcmp(marker->attempt_id, attempt_id) != 0)
		why = "it is of another attempt";
	else if (marker->supervisor.pid != approved->supervisor_pid)
		why = "it names another supervisor";
	else if (!is_same_place(&marker->place, &approved->place))
		why = "it is another file than the approved one";
	else if (approved->seq != 0 && approved->seq != marker->seq)
		why = "its seq is another than the approved one's";
	else if (approved->nonce[0] != '\0' && strcmp(approved->nonce, marker->nonce) != 0)
		why = "its nonce is another than the approved one's";
	if (!why)
		return 0;
	(void)fence_fail_why(err, -ESTALE, why, "the marker is not the approved one");
	(void)fence_hint(err, "read it again");
	return -ESTALE;
}

int fence_marker_check_approved(const struct fence_marker *marker, const char *attempt_id,
				const struct fence_marker_approved *approved, struct fence_err *err)
{
	int rc = fence_marker_compare(marker, attempt_id, approved, err);

	if (rc == 0 && marker->status != FENCE_MARKER_ACTIVE)
		rc = fence_fail_why(err, -ESTALE, "its status is not active",
				    "the marker is not the approved one");
	return rc;
}
