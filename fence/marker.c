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

static const char *const formats[] = {
	[FENCE_MARKER_V1] = "fence-marker/v1",
	[FENCE_MARKER_COCKPIT_V1] = "cockpit-executor/v1",
};

static const char *const statuses[] = {
	[FENCE_MARKER_ACTIVE] = "active",
	[FENCE_MARKER_TERMINATING] = "terminating",
	[FENCE_MARKER_TERMINATED] = "terminated",
	[FENCE_MARKER_CANCELLED] = "cancelled",
};

static const char *const writers[] = {
	[FENCE_MARKER_BY_EXECUTOR] = "executor",
	[FENCE_MARKER_BY_SUPERVISOR] = "supervisor",
	[FENCE_MARKER_BY_GROUP_RUNNER] = "group-runner",
	[FENCE_MARKER_BY_CANCEL] = "cancel",
	[FENCE_MARKER_BY_REPAIR] = "repair",
};

static const char *const rules[] = {
	[FENCE_MARKER_RULE_NAME] = "name",   [FENCE_MARKER_RULE_PARENT] = "parent",
	[FENCE_MARKER_RULE_ENTRY] = "entry", [FENCE_MARKER_RULE_SIZE] = "size",
	[FENCE_MARKER_RULE_READ] = "read",   [FENCE_MARKER_RULE_STABLE] = "stable",
	[FENCE_MARKER_RULE_JSON] = "json",   [FENCE_MARKER_RULE_FORMAT] = "format",
	[FENCE_MARKER_RULE_FIELD] = "field", [FENCE_MARKER_RULE_IDENTITY] = "identity",
};

const char *fence_marker_format_word(enum fence_marker_format format)
{
	return formats[format];
}

const char *fence_marker_status_word(enum fence_marker_status status)
{
	return statuses[status];
}

const char *fence_marker_by_word(enum fence_marker_by by)
{
	return writers[by];
}

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

bool fence_marker_is_attempt_id(const char *text)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._-";
	size_t length = strlen(text);

	return length >= 1 && length < FENCE_MARKER_ATTEMPT_BYTES &&
	       strspn(text, allowed) == length;
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

/* --- fields ------------------------------------------------------------------------------- */

static int parse_word(const struct fence_json *value, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fence_json_string_is(value, words[i]))
			return (int)i;
	return -EINVAL;
}

static int parse_format(const struct fence_json *value, struct fence_marker *ret)
{
	int word = parse_word(value, formats, COUNT(formats));

	if (word >= 0)
		ret->format = (enum fence_marker_format)word;
	return word;
}

static int parse_status(const struct fence_json *value, struct fence_marker *ret)
{
	int word = parse_word(value, statuses, COUNT(statuses));

	if (word >= 0)
		ret->status = (enum fence_marker_status)word;
	return word;
}

static int parse_attempt_id(const struct fence_json *value, struct fence_marker *ret)
{
	int rc = fence_json_string(value, ret->attempt_id, sizeof(ret->attempt_id), NULL);

	return rc == 0 && !fence_marker_is_attempt_id(ret->attempt_id) ? -EINVAL : rc;
}

static int parse_supervisor_pid(const struct fence_json *value, struct fence_marker *ret)
{
	int64_t pid;
	int rc = fence_json_int(value, 1, INT32_MAX, &pid);

	if (rc == 0)
		ret->supervisor.pid = (pid_t)pid;
	return rc;
}

static int parse_marker_dev(const struct fence_json *value, struct fence_marker *ret)
{
	return fence_json_decimal(value, &ret->place.marker_dev);
}

static int parse_marker_ino(const struct fence_json *value, struct fence_marker *ret)
{
	return fence_json_decimal(value, &ret->place.marker_ino);
}

static int parse_parent_dev(const struct fence_json *value, struct fence_marker *ret)
{
	return fence_json_decimal(value, &ret->place.parent_dev);
}

static int parse_parent_ino(const struct fence_json *value, struct fence_marker *ret)
{
	return fence_json_decimal(value, &ret->place.parent_ino);
}

static int parse_seq(const struct fence_json *value, struct fence_marker *ret)
{
	return fence_json_int(value, 1, FENCE_JSON_INT_MAX, &ret->seq);
}

/* Lower-case hexadecimal digits, an even number of them. */
static int parse_hex(const struct fence_json *value, char *buf, size_t size_bytes)
{
	size_t length;
	int rc = fence_json_string(value, buf, size_bytes, &length);

	if (rc == 0 && (length == 0 || length % 2 || strspn(buf, "0123456789abcdef") != length))
		rc = -EINVAL;
	return rc;
}

static int parse_nonce(const struct fence_json *value, struct fence_marker *ret)
{
	int rc = parse_hex(value, ret->nonce, sizeof(ret->nonce));

	return rc == 0 && strlen(ret->nonce) != sizeof(ret->nonce) - 1 ? -EINVAL : rc;
}

static int parse_handle(const struct fence_json *value, struct fence_marker *ret)
{
	return parse_hex(value, ret->handle, sizeof(ret->handle));
}

static int parse_supervisor_start(const struct fence_json *value, struct fence_marker *ret)
{
	return fence_json_decimal(value, &ret->supervisor.start_ticks);
}

static int parse_supervisor_id(const struct fence_json *value, struct fence_marker *ret)
{
	return fence_json_decimal(value, &ret->supervisor.id);
}

static int parse_boot_id(const struct fence_json *value, struct fence_marker *ret)
{
	size_t length;
	int rc = fence_json_string(value, ret->supervisor.boot_id, FENCE_BOOT_ID_BYTES, &length);

	return rc == 0 && length != FENCE_BOOT_ID_BYTES - 1 ? -EINVAL : rc;
}

static int parse_pid_ns(const struct fence_json *value, struct fence_marker *ret)
{
	return fence_json_decimal(value, &ret->supervisor.pid_ns);
}

static int parse_host(const struct fence_json *value, struct fence_marker *ret)
{
	return fence_json_string(value, ret->host, sizeof(ret->host), NULL);
}

static int parse_group(const struct fence_json *value, struct fence_marker *ret)
{
	struct fence_json cgroup;
	const char *member;
	int rc = fence_ident_parse(value, &ret->group, &member);

	if (rc == 0 && fence_json_member(value, "cgroup", &cgroup) == 0)
		rc = fence_json_decimal(&cgroup, &ret->group_cgroup);
	return rc;
}

static int parse_result(const struct fence_json *value, struct fence_marker *ret)
{
	(void)ret; /* whoever needs it reads it from the text */
	return value->kind == FENCE_JSON_OBJECT ? 0 : -EINVAL;
}

static int parse_by(const struct fence_json *value, struct fence_marker *ret)
{
	(void)ret;
	return value->kind == FENCE_JSON_STRING ? 0 : -EINVAL;
}

static const struct field {
	const char *name;
	bool optional;
	int (*parse)(const struct fence_json *value, struct fence_marker *ret);
	const char *wanted;
} fields[] = {
	{ "attemptId", false, parse_attempt_id, "must be 1 to 128 of A-Za-z0-9._-" },
	{ "supervisorPid", false, parse_supervisor_pid, "must be a pid" },
	{ "status", false, parse_status, "must be one of " FENCE_MARKER_STATUSES },
	{ "markerDev", false, parse_marker_dev, "must be a decimal string" },
	{ "markerIno", false, parse_marker_ino, "must be a decimal string" },
	{ "parentDev", false, parse_parent_dev, "must be a decimal string" },
	{ "parentIno", false, parse_parent_ino, "must be a decimal string" },
	{ "seq", true, parse_seq, "must be a whole number from 1" },
	{ "nonce", true, parse_nonce, "must be 32 hexadecimal digits" },
	{ "handle", true, parse_handle, "must be at most 64 hexadecimal digits" },
	{ "supervisorStart", true, parse_supervisor_start, "must be a decimal string" },
	{ "supervisorId", true, parse_supervisor_id, "must be a decimal string" },
	{ "bootId", true, parse_boot_id, "must be a boot id" },
	{ "pidNs", true, parse_pid_ns, "must be a decimal string" },
	{ "host", true, parse_host, "must be a string of at most 64 bytes" },
	{ "group", true, parse_group, "must be an object with pid, start, id, cgroup" },
	{ "result", true, parse_result, "must be an object" },
	{ "by", true, parse_by, "must be a string" },
};

static size_t field_of(const struct fence_json *key)
{
	size_t i = 0;

	while (i < COUNT(fields) && !fence_json_string_is(key, fields[i].name))
		i++;
	return i;
}

/* One walk through the members, whatever their order. */
static int parse_fields(const struct fence_json *root, struct fence_marker *ret,
			struct fence_err *err)
{
	bool seen[COUNT(fields)] = { false };
	struct fence_json key, value;
	struct fence_json_iter iter;

	fence_json_iter_init(&iter, root);
	while (fence_json_next(&iter, &key, &value)) {
		size_t i = field_of(&key);

		if (i == COUNT(fields))
			continue;
		seen[i] = true;
		if (fields[i].parse(&value, ret) < 0)
			return fence_fail_why(err, -EBADMSG, fields[i].wanted, "%s",
					      fields[i].name);
	}
	for (size_t i = 0; i < COUNT(fields); i++)
		if (!seen[i] && !fields[i].optional)
			return fence_fail_why(err, -EBADMSG, "missing", "%s", fields[i].name);
	return 0;
}

static int parse_object(const char *text, size_t text_bytes, struct fence_json *ret,
			struct fence_err *err)
{
	const struct fence_json_limits limits = {
		.size_bytes = FENCE_MARKER_BYTES,
		.depth = 4,
		.safe_numbers = true,
	};
	struct fence_json_fault fault;

	if (fence_json_parse(text, text_bytes, &limits, ret, &fault) < 0)
		return fence_json_fail(err, "the text", &fault);
	if (ret->kind != FENCE_JSON_OBJECT || ret->at != text)
		return fence_fail_why(err, -EBADMSG, "must be an object", "the text: byte 0");
	if (ret->size_bytes + 1 != text_bytes || text[text_bytes - 1] != '\n')
		return fence_fail_why(err, -EBADMSG, "must be one newline and the end",
				      "the text: byte %zu", ret->size_bytes);
	return 0;
}

int fence_marker_parse(const char *text, size_t text_bytes, enum fence_marker_format format,
		       struct fence_marker *ret, enum fence_marker_rule *ret_rule,
		       struct fence_err *err)
{
	struct fence_marker found = { .text_bytes = text_bytes };
	struct fence_json root, value;
	enum fence_marker_rule unused = FENCE_MARKER_RULE_JSON;

	ret_rule = ret_rule ? ret_rule : &unused;
	*ret_rule = FENCE_MARKER_RULE_JSON;
	if (parse_object(text, text_bytes, &root, err) < 0)
		return -EBADMSG;
	*ret_rule = FENCE_MARKER_RULE_FORMAT;
	if (fence_json_member(&root, "format", &value) < 0)
		return fence_fail_why(err, -EBADMSG, "missing", "format");
	if (parse_format(&value, &found) < 0 || found.format != format)
		return fence_fail_why(err, -EBADMSG, "not the format asked for", "format");
	*ret_rule = FENCE_MARKER_RULE_FIELD;
	if (parse_fields(&root, &found, err) < 0)
		return -EBADMSG;
	memcpy(found.text, text, text_bytes);
	*ret = found;
	return 0;
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
	look->rule = rule;
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
	if (rc == 0)
		*ret = found;
	return rc;
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

static bool is_approved_member(const struct fence_json *key)
{
	static const char *const names[] = { "supervisorPid", "markerDev", "markerIno", "parentDev",
					     "parentIno",     "seq",	   "nonce" };

	return parse_word(key, names, COUNT(names)) >= 0;
}

/* The same fields as a marker has, so the same rows read them. */
static int parse_approved_member(const struct fence_json *key, const struct fence_json *value,
				 struct fence_marker *ret, struct fence_err *err)
{
	size_t i;

	if (!is_approved_member(key))
		return fence_fail_why(err, -EINVAL, "unknown member", "approved marker: %.*s",
				      (int)key->size_bytes, key->at);
	i = field_of(key);
	if (fields[i].parse(value, ret) < 0)
		return fence_fail_why(err, -EINVAL, fields[i].wanted, "approved marker: %s",
				      fields[i].name);
	return 0;
}

int fence_marker_approved_parse(const char *text, struct fence_marker_approved *ret,
				struct fence_err *err)
{
	const struct fence_json_limits limits = { FENCE_MARKER_BYTES, 1, true };
	struct fence_marker found = { 0 };
	struct fence_json root, key, value;
	struct fence_json_iter iter;
	struct fence_json_fault fault;
	size_t required = 0;

	if (fence_json_parse(text, strlen(text), &limits, &root, &fault) < 0) {
		(void)fence_json_fail(err, "approved marker", &fault);
		return -EINVAL;
	}
	if (root.kind != FENCE_JSON_OBJECT)
		return fence_fail_why(err, -EINVAL, "must be an object", "approved marker");
	fence_json_iter_init(&iter, &root);
	while (fence_json_next(&iter, &key, &value)) {
		if (parse_approved_member(&key, &value, &found, err) < 0)
			return -EINVAL;
		required +=
			!fence_json_string_is(&key, "seq") && !fence_json_string_is(&key, "nonce");
	}
	if (required != 5)
		return fence_fail_why(
			err, -EINVAL,
			"needs supervisorPid, markerDev, markerIno, parentDev, parentIno",
			"approved marker");
	*ret = (struct fence_marker_approved){ .supervisor_pid = found.supervisor.pid,
					       .place = found.place,
					       .seq = found.seq };
	memcpy(ret->nonce, found.nonce, sizeof(ret->nonce));
	return 0;
}

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
