/* What a marker's bytes say: words, fields, and the approved marker's members. */
#include "fence/marker_fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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

bool fence_marker_is_attempt_id(const char *text)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789._-";
	size_t length = strlen(text);

	return length >= 1 && length < FENCE_MARKER_ATTEMPT_BYTES &&
	       strspn(text, allowed) == length;
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

/* A member of the result that is a whole number; one that is missing is left as it was. */
static int parse_count(const struct fence_json *object, const char *name, int64_t min, int64_t max,
		       int64_t *ret)
{
	struct fence_json value;
	int rc = fence_json_member(object, name, &value);

	return rc == 0 ? fence_json_int(&value, min, max, ret) : rc;
}

static int parse_number_or_none(const struct fence_json *object, const char *name, int64_t min,
				int64_t max, int *ret)
{
	int64_t number = *ret;
	int rc = parse_count(object, name, min, max, &number);

	if (rc == 0)
		*ret = (int)number;
	return rc == -ENOENT ? 0 : rc;
}

/* The number of a member's word, or -EINVAL. */
static int parse_member_word(const struct fence_json *object, const char *name,
			     int (*find)(const char *word))
{
	char word[32];
	struct fence_json value;

	if (fence_json_member(object, name, &value) < 0 ||
	    fence_json_string(&value, word, sizeof(word), NULL) < 0)
		return -EINVAL;
	return find(word);
}

static int parse_result(const struct fence_json *value, struct fence_marker *ret)
{
	int cause = parse_member_word(value, "cause", fence_cause_find);
	int reap = parse_member_word(value, "reap", fence_reap_find);
	int64_t survivors;

	if (cause < 0 || reap < 0 || parse_count(value, "survivors", 0, UINT32_MAX, &survivors) < 0)
		return -EINVAL;
	ret->result = (struct fence_marker_result){ .cause = (enum fence_cause)cause,
						    .code = -1,
						    .reap = (enum fence_reap)reap,
						    .survivors = (unsigned int)survivors };
	ret->has_result = true;
	if (parse_number_or_none(value, "code", 0, 255, &ret->result.code) < 0 ||
	    parse_number_or_none(value, "signal", 1, 64, &ret->result.signal) < 0)
		return -EINVAL;
	return 0;
}

static int parse_by(const struct fence_json *value, struct fence_marker *ret)
{
	int word = parse_word(value, writers, COUNT(writers));

	if (word >= 0)
		ret->by = (enum fence_marker_by)word;
	ret->has_by = word >= 0;
	return word;
}

static const struct field {
	const char *name;
	bool optional; /* and ours: another format may have another one of that name */
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
	{ "result", true, parse_result, "must be an object with cause, reap, survivors" },
	{ "by", true, parse_by, "must be one of executor|supervisor|group-runner|cancel|repair" },
};

static size_t field_of(const struct fence_json *key)
{
	size_t i = 0;

	while (i < COUNT(fields) && !fence_json_string_is(key, fields[i].name))
		i++;
	return i;
}

bool fence_marker_is_field(const struct fence_json *key, const struct fence_json *value)
{
	struct fence_marker unused = { 0 };
	size_t i = field_of(key);

	return i < COUNT(fields) && fields[i].parse(value, &unused) >= 0;
}

/* One walk through the members, whatever their order. What is beyond the fields that
 * another format must have is its own: in another shape than ours it says nothing. */
static int parse_fields(const struct fence_json *root, struct fence_marker *ret,
			struct fence_err *err)
{
	bool seen[COUNT(fields)] = { false };
	struct fence_json key, value;
	struct fence_json_iter iter;

	fence_json_iter_init(&iter, root);
	while (fence_json_next(&iter, &key, &value)) {
		size_t i = field_of(&key);

		if (i == COUNT(fields) || (ret->format != FENCE_MARKER_V1 && fields[i].optional &&
					   !fence_marker_is_field(&key, &value)))
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
	if (found.group.pid != 0) {
		memcpy(found.group.boot_id, found.supervisor.boot_id, sizeof(found.group.boot_id));
		found.group.pid_ns = found.supervisor.pid_ns;
	}
	memcpy(found.text, text, text_bytes);
	*ret = found;
	return 0;
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
