#include "fence/marker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/marker_compose.h"
#include "fence/own.h"
#include "fence/sys.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Each test has a folder of its own, and "m" in it is the marker. */
struct fixture {
	char dir[32];
	char path[64];
	char other[64];
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (!f)
		return -1;
	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/fence-marker.XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	(void)snprintf(f->path, sizeof(f->path), "%s/m", f->dir);
	(void)snprintf(f->other, sizeof(f->other), "%s/other", f->dir);
	return 0;
}

/* Removes the folder's files, and folders in it that are empty; counts what was
 * there. */
static int empty_dir(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;

	if (!dir)
		return -1;
	for (const struct dirent *entry; (entry = readdir(dir));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		count++;
		if (unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			(void)unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	(void)closedir(dir);
	return count;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	int rc;

	(void)empty_dir(f->dir);
	rc = rmdir(f->dir);
	free(f);
	return rc;
}

static void create(struct fixture *f, enum fence_marker_format format, struct fence_marker *ret)
{
	const struct fence_marker_birth birth = {
		.format = format,
		.attempt_id = "attempt-1",
		.supervisor_pid = getpid(),
		.by = FENCE_MARKER_BY_EXECUTOR,
	};
	struct fence_marker_writer writer;
	struct fence_err err = { 0 };
	bool made = false;

	if (fence_marker_writer_open(f->path, &writer, &err) < 0 ||
	    fence_marker_create(&writer, &birth, ret, &made, &err) < 0)
		fail_msg("%s: %s", err.what, err.why);
	assert_true(made);
	fence_marker_writer_close(&writer);
}

/* A marker by somebody else's hand, bound to its inode as it should be: `rest` are
 * the bytes after the identity fields, the final brace and newline too. */
static void forge(const char *path, const char *front, const char *rest, size_t rest_bytes)
{
	char text[4096];
	owned_fd fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct fence_marker_path split;
	struct stat st, parent;
	int length;

	assert_true(fd >= 0);
	assert_int_equal(fence_marker_path_split(path, &split, NULL), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(stat(split.dir, &parent), 0);
	length = snprintf(text, sizeof(text),
			  "%s\"markerDev\":\"%ju\",\"markerIno\":\"%ju\",\"parentDev\":\"%ju\","
			  "\"parentIno\":\"%ju\"",
			  front, (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
			  (uintmax_t)parent.st_dev, (uintmax_t)parent.st_ino);
	assert_int_equal(fence_write_full(fd, text, (size_t)length), 0);
	assert_int_equal(fence_write_full(fd, rest, rest_bytes), 0);
}

#define FRONT                                                                                      \
	"{\"format\":\"fence-marker/v1\",\"attemptId\":\"a\",\"supervisorPid\":77,"                \
	"\"status\":\"active\","

static void not_authentic(const char *path, enum fence_marker_rule wanted)
{
	struct fence_marker marker;
	enum fence_marker_rule rule = FENCE_MARKER_RULE_NAME;
	struct fence_err err = { 0 };

	assert_int_equal(fence_marker_read(path, FENCE_MARKER_V1, &marker, NULL, NULL), -EBADMSG);
	assert_int_equal(fence_marker_read(path, FENCE_MARKER_V1, &marker, &rule, &err), -EBADMSG);
	if (rule != wanted)
		fail_msg("rule %s (%s: %s), wanted %s", fence_marker_rule_word(rule), err.what,
			 err.why, fence_marker_rule_word(wanted));
}

static struct fence_marker authentic(const char *path)
{
	struct fence_marker marker;
	enum fence_marker_rule rule;
	struct fence_err err = { 0 };

	if (fence_marker_read(path, FENCE_MARKER_V1, &marker, &rule, &err) < 0)
		fail_msg("rule %s: %s: %s", fence_marker_rule_word(rule), err.what, err.why);
	return marker;
}

static struct fence_marker_approved approved_of(const struct fence_marker *marker)
{
	struct fence_marker_approved approved = { .supervisor_pid = marker->supervisor.pid,
						  .place = marker->place,
						  .seq = marker->seq };

	memcpy(approved.nonce, marker->nonce, sizeof(approved.nonce));
	return approved;
}

static int replace(const char *path, const struct fence_marker_change *change,
		   struct fence_marker *ret, enum fence_marker_answer *ret_answer,
		   struct fence_err *err)
{
	struct fence_marker_writer writer;
	int rc = fence_marker_writer_open(path, &writer, err);

	assert_int_equal(rc, 0);
	rc = fence_marker_replace(&writer, change, ret, ret_answer, err);
	fence_marker_writer_close(&writer);
	return rc;
}

/* --- reading ------------------------------------------------------------------------------ */

static void what_was_created_is_read(void **state)
{
	struct fixture *f = *state;
	struct fence_marker made, marker;
	struct fence_ident self;

	create(f, FENCE_MARKER_V1, &made);
	marker = authentic(f->path);
	assert_int_equal(fence_ident_self(&self), 0);
	assert_string_equal(marker.attempt_id, "attempt-1");
	assert_int_equal(marker.status, FENCE_MARKER_ACTIVE);
	assert_true(fence_ident_same(&marker.supervisor, &self));
	assert_true(marker.supervisor.id == self.id);
	assert_int_equal(marker.seq, 1);
	assert_int_equal(strlen(marker.nonce), 32);
	assert_int_equal(marker.group.pid, 0);
	assert_string_equal(marker.text, made.text);
	assert_int_equal(empty_dir(f->dir), 2); /* and the lock: no temporary stays */
}

static void a_marker_is_never_created_over_a_file(void **state)
{
	struct fixture *f = *state;
	const struct fence_marker_birth birth = { .attempt_id = "b", .supervisor_pid = getpid() };
	struct fence_marker before, marker;
	struct fence_marker_writer writer;
	struct fence_err err;
	bool made;

	create(f, FENCE_MARKER_V1, &before);
	assert_int_equal(fence_marker_writer_open(f->path, &writer, &err), 0);
	assert_int_equal(fence_marker_create(&writer, &birth, &marker, &made, &err), -EEXIST);
	assert_false(made);
	fence_marker_writer_close(&writer);
	marker = authentic(f->path);
	assert_string_equal(marker.text, before.text);
}

/* The attempt-1 of create(), ended or cancelled as told. */
static void end_attempt(struct fixture *f, enum fence_marker_status status, int survivors)
{
	const struct fence_marker_result result = { FENCE_CAUSE_CANCELLED, -1, 9, FENCE_REAP_KILL,
						    (unsigned int)survivors };
	struct fence_marker marker = authentic(f->path);
	struct fence_marker_approved approved = { .supervisor_pid = getpid(),
						  .place = marker.place };
	const struct fence_marker_change change = { .attempt_id = "attempt-1",
						    .approved = &approved,
						    .status = status,
						    .result = survivors >= 0 ? &result : NULL };
	struct fence_marker_writer writer;
	enum fence_marker_answer answer;
	struct fence_err err = { 0 };

	assert_int_equal(fence_marker_writer_open(f->path, &writer, &err), 0);
	if (fence_marker_replace(&writer, &change, NULL, &answer, &err) < 0)
		fail_msg("%s: %s", err.what, err.why);
	fence_marker_writer_close(&writer);
}

static int create_over(struct fixture *f, enum fence_marker_format format, struct fence_marker *ret,
		       struct fence_err *err)
{
	const struct fence_marker_birth birth = { .format = format,
						  .attempt_id = "attempt-2",
						  .supervisor_pid = getpid(),
						  .by = FENCE_MARKER_BY_SUPERVISOR,
						  .over_ended = true };
	struct fence_marker_writer writer;
	bool made = false;
	int rc;

	assert_int_equal(fence_marker_writer_open(f->path, &writer, err), 0);
	rc = fence_marker_create(&writer, &birth, ret, &made, err);
	assert_int_equal(made, rc == 0);
	fence_marker_writer_close(&writer);
	return rc;
}

static void a_marker_is_created_over_one_that_has_ended(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker;
	struct fence_err err;

	create(f, FENCE_MARKER_V1, &marker);
	end_attempt(f, FENCE_MARKER_TERMINATING, -1);
	end_attempt(f, FENCE_MARKER_TERMINATED, 0);
	assert_int_equal(create_over(f, FENCE_MARKER_V1, &marker, &err), 0);
	assert_string_equal(authentic(f->path).text, marker.text);
	assert_string_equal(marker.attempt_id, "attempt-2");
	assert_int_equal(marker.status, FENCE_MARKER_ACTIVE);
	assert_int_equal(marker.seq, 4); /* after created, terminating, terminated */
	assert_false(marker.has_result);
	assert_int_equal(empty_dir(f->dir), 2);
}

static void so_it_is_over_one_that_was_cancelled_and_is_done(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker;
	struct fence_err err;

	create(f, FENCE_MARKER_V1, &marker);
	end_attempt(f, FENCE_MARKER_CANCELLED, -1);
	assert_int_equal(create_over(f, FENCE_MARKER_V1, &marker, &err), -EEXIST);
	end_attempt(f, FENCE_MARKER_CANCELLED, 1);
	assert_int_equal(create_over(f, FENCE_MARKER_V1, &marker, &err), -EEXIST);
	end_attempt(f, FENCE_MARKER_CANCELLED, 0);
	assert_int_equal(create_over(f, FENCE_MARKER_V1, &marker, &err), 0);
}

static void a_marker_whose_attempt_may_run_is_not_created_over(void **state)
{
	struct fixture *f = *state;
	struct fence_marker before, marker;
	struct fence_err err;

	create(f, FENCE_MARKER_V1, &before);
	assert_int_equal(create_over(f, FENCE_MARKER_V1, &marker, &err), -EEXIST);
	assert_non_null(strstr(err.what, "attempt attempt-1 is active"));
	assert_string_equal(authentic(f->path).text, before.text);
	end_attempt(f, FENCE_MARKER_TERMINATING, -1);
	assert_int_equal(create_over(f, FENCE_MARKER_V1, &marker, &err), -EEXIST);
	assert_non_null(strstr(err.what, "attempt attempt-1 is terminating"));
}

static void nor_is_what_is_no_marker_of_that_format(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker;
	struct fence_err err;

	create(f, FENCE_MARKER_V1, &marker);
	end_attempt(f, FENCE_MARKER_TERMINATING, -1);
	end_attempt(f, FENCE_MARKER_TERMINATED, 0);
	assert_int_equal(create_over(f, FENCE_MARKER_COCKPIT_V1, &marker, &err), -EEXIST);
	assert_non_null(strstr(err.what, "no authentic cockpit-executor/v1"));
	assert_int_equal(truncate(f->path, 7), 0);
	assert_int_equal(create_over(f, FENCE_MARKER_V1, &marker, &err), -EEXIST);
	assert_non_null(strstr(err.what, "no authentic fence-marker/v1"));
}

static void a_supervisor_that_does_not_run_gets_no_marker(void **state)
{
	struct fixture *f = *state;
	const struct fence_marker_birth birth = { .attempt_id = "b", .supervisor_pid = INT32_MAX };
	struct fence_marker marker;
	struct fence_marker_writer writer;
	struct fence_err err;
	bool made;

	assert_int_equal(fence_marker_writer_open(f->path, &writer, &err), 0);
	assert_int_equal(fence_marker_create(&writer, &birth, &marker, &made, &err), -ESRCH);
	fence_marker_writer_close(&writer);
	assert_int_equal(empty_dir(f->dir), 1);
}

static void copy_file(const char *from, const char *to)
{
	char bytes[FENCE_MARKER_BYTES + 1];
	ssize_t length = fence_read_file(AT_FDCWD, from, bytes, sizeof(bytes));
	owned_fd fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(length > 0 && fd >= 0);
	assert_int_equal(fence_write_full(fd, bytes, (size_t)length), 0);
}

static void a_copy_is_no_marker(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker;

	create(f, FENCE_MARKER_V1, &marker);
	copy_file(f->path, f->other);
	not_authentic(f->other, FENCE_MARKER_RULE_IDENTITY);
	assert_int_equal(rename(f->other, f->path), 0);
	not_authentic(f->path, FENCE_MARKER_RULE_IDENTITY);
}

static void a_marker_in_another_folder_is_none(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker;
	char linked[80], moved[80];

	create(f, FENCE_MARKER_V1, &marker);
	assert_int_equal(mkdir(f->other, 0700), 0);
	(void)snprintf(linked, sizeof(linked), "%s/linked", f->other);
	(void)snprintf(moved, sizeof(moved), "%s/moved", f->other);
	assert_int_equal(link(f->path, linked), 0);
	not_authentic(linked, FENCE_MARKER_RULE_IDENTITY);
	assert_int_equal(rename(f->path, moved), 0);
	not_authentic(moved, FENCE_MARKER_RULE_IDENTITY);
	not_authentic(f->path, FENCE_MARKER_RULE_ENTRY);
	assert_int_equal(empty_dir(f->other), 2);
}

/* The name is no part of a marker's identity: file and folder are. */
static void a_second_name_in_its_folder_is_the_same_file(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker, second;

	create(f, FENCE_MARKER_V1, &marker);
	assert_int_equal(link(f->path, f->other), 0);
	second = authentic(f->other);
	assert_string_equal(second.text, marker.text);
}

static void a_folder_that_was_moved_keeps_its_marker(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker;
	char dir[64], path[96];

	assert_int_equal(mkdir(f->other, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/m", f->other);
	forge(path, FRONT, "}\n", 2);
	(void)snprintf(dir, sizeof(dir), "%s/moved", f->dir);
	assert_int_equal(rename(f->other, dir), 0);
	(void)snprintf(path, sizeof(path), "%s/m", dir);
	marker = authentic(path);
	assert_int_equal(marker.supervisor.pid, 77);
	assert_int_equal(empty_dir(dir), 1);
}

static void only_a_regular_file_is_a_marker(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker;

	create(f, FENCE_MARKER_V1, &marker);
	assert_int_equal(symlink("m", f->other), 0);
	not_authentic(f->other, FENCE_MARKER_RULE_ENTRY);
	assert_int_equal(unlink(f->other), 0);
	assert_int_equal(mkfifo(f->other, 0600), 0);
	not_authentic(f->other, FENCE_MARKER_RULE_ENTRY);
	assert_int_equal(unlink(f->other), 0);
	assert_int_equal(mkdir(f->other, 0700), 0);
	not_authentic(f->other, FENCE_MARKER_RULE_ENTRY);
	not_authentic("/dev/null", FENCE_MARKER_RULE_ENTRY);
	not_authentic("/dev/tty", FENCE_MARKER_RULE_ENTRY);
}

static void a_linked_folder_has_no_marker(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker;
	char path[96];

	create(f, FENCE_MARKER_V1, &marker);
	assert_int_equal(symlink(f->dir, f->other), 0);
	(void)snprintf(path, sizeof(path), "%s/m", f->other);
	not_authentic(path, FENCE_MARKER_RULE_PARENT);
	(void)snprintf(path, sizeof(path), "%s//m", f->other);
	not_authentic(path, FENCE_MARKER_RULE_PARENT);
	(void)snprintf(path, sizeof(path), "%s//m", f->dir);
	marker = authentic(path);
}

static void a_path_must_name_a_file_in_a_folder(void **state)
{
	static const char *const paths[] = { "", "/", "/tmp/", ".", "..", "/tmp/..", "/tmp/." };

	(void)state;
	for (size_t i = 0; i < N(paths); i++)
		not_authentic(paths[i], FENCE_MARKER_RULE_NAME);
	not_authentic("/nonexistent/m", FENCE_MARKER_RULE_PARENT);
}

static void its_size_is_1_to_1024_bytes(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker;
	char pad[FENCE_MARKER_BYTES + 2] = ",\"pad\":\"";
	size_t front, rest;

	forge(f->path, FRONT, "}\n", 2);
	marker = authentic(f->path);
	front = marker.text_bytes - 2;
	rest = FENCE_MARKER_BYTES - front;
	memset(pad + 8, 'x', rest);
	memcpy(pad + rest - 3, "\"}\n", 3);
	forge(f->path, FRONT, pad, rest);
	marker = authentic(f->path);
	assert_int_equal(marker.text_bytes, 1024);

	memcpy(pad + rest - 3, "x\"}\n", 4);
	forge(f->path, FRONT, pad, rest + 1);
	not_authentic(f->path, FENCE_MARKER_RULE_SIZE);
	assert_int_equal(truncate(f->path, 0), 0);
	not_authentic(f->path, FENCE_MARKER_RULE_SIZE);
	assert_int_equal(truncate(f->path, 1), 0);
	not_authentic(f->path, FENCE_MARKER_RULE_JSON);
}

static void its_text_is_strict_json_and_a_newline(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *rest;
		size_t rest_bytes;
		bool fine;
	} cases[] = {
#define CASE(text, fine) { text, sizeof(text) - 1, fine }
		CASE("}\n", true),
		CASE(" }\n", true),
		CASE("}", false),
		CASE("} \n", false),
		CASE("}\n\n", false),
		CASE("}\n ", false),
		CASE("}\n{}", false),
		CASE("}\r\n", false),
		CASE("}\0", false),
		CASE("}\n\0", false),
		CASE("\n", false),
		CASE(",\"x\":\"\0\"}\n", false),
		CASE(",\"x\":\"\\u0000\"}\n", false),
		CASE(",\"x\":\"\xc3\xa9\"}\n", true),
		CASE(",\"x\":\"\xc3\"}\n", false),
		CASE(",\"x\":\"\xed\xa0\x80\"}\n", false),
		CASE(",\"x\":1,\"x\":1}\n", false),
		CASE(",\"status\":\"active\"}\n", false),
		CASE(",\"\\u0073tatus\":\"active\"}\n", false),
		CASE(",\"x\":9007199254740992}\n", true),
		CASE(",\"x\":9007199254740993}\n", false),
		CASE(",\"x\":1e300}\n", false),
		CASE(",\"x\":[[[1]]]}\n", true),
		CASE(",\"x\":[[[[1]]]]}\n", false),
		CASE(",}\n", false),
#undef CASE
	};

	for (size_t i = 0; i < N(cases); i++) {
		forge(f->path, FRONT, cases[i].rest, cases[i].rest_bytes);
		if (cases[i].fine)
			(void)authentic(f->path);
		else
			not_authentic(f->path, FENCE_MARKER_RULE_JSON);
	}
}

static void a_field_of_the_wrong_kind_is_refused(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *front, *rest;
		enum fence_marker_rule rule;
	} cases[] = {
		{ "{", "}\n", FENCE_MARKER_RULE_FORMAT },
		{ "{\"format\":\"fence-marker/v2\",", "}\n", FENCE_MARKER_RULE_FORMAT },
		{ "{\"format\":\"cockpit-executor/v1\",\"attemptId\":\"a\",\"supervisorPid\":7,"
		  "\"status\":\"active\",",
		  "}\n", FENCE_MARKER_RULE_FORMAT },
		{ "{\"format\":\"fence-marker/v1\",\"supervisorPid\":7,\"status\":\"active\",",
		  "}\n", FENCE_MARKER_RULE_FIELD },
		{ "{\"format\":\"fence-marker/v1\",\"attemptId\":\"a b\",\"supervisorPid\":7,"
		  "\"status\":\"active\",",
		  "}\n", FENCE_MARKER_RULE_FIELD },
		{ "{\"format\":\"fence-marker/v1\",\"attemptId\":\"\",\"supervisorPid\":7,"
		  "\"status\":\"active\",",
		  "}\n", FENCE_MARKER_RULE_FIELD },
		{ "{\"format\":\"fence-marker/v1\",\"attemptId\":\"a\",\"supervisorPid\":0,"
		  "\"status\":\"active\",",
		  "}\n", FENCE_MARKER_RULE_FIELD },
		{ "{\"format\":\"fence-marker/v1\",\"attemptId\":\"a\",\"supervisorPid\":7,"
		  "\"status\":\"paused\",",
		  "}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"seq\":\"1\"}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"seq\":0}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"nonce\":\"abc\"}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"nonce\":\"0123456789ABCDEF0123456789ABCDEF\"}\n",
		  FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"handle\":\"0\"}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"supervisorStart\":12}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"supervisorId\":\"01\"}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"bootId\":\"x\"}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"pidNs\":1}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"host\":7}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"group\":[]}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"group\":{\"start\":\"1\"}}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"group\":{\"pid\":1,\"cgroup\":5}}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"result\":\"exited\"}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"by\":null}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"by\":\"somebody\"}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"result\":{}}\n", FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"result\":{\"cause\":\"exited\",\"reap\":\"clear\"}}\n",
		  FENCE_MARKER_RULE_FIELD },
		{ FRONT, ",\"result\":{\"cause\":\"bored\",\"reap\":\"clear\",\"survivors\":0}}\n",
		  FENCE_MARKER_RULE_FIELD },
		{ FRONT,
		  ",\"result\":{\"cause\":\"exited\",\"reap\":\"clear\",\"survivors\":0,"
		  "\"code\":256}}\n",
		  FENCE_MARKER_RULE_FIELD },
	};

	for (size_t i = 0; i < N(cases); i++) {
		forge(f->path, cases[i].front, cases[i].rest, strlen(cases[i].rest));
		not_authentic(f->path, cases[i].rule);
	}
}

static void the_other_format_is_read_only_when_asked_for(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker;

	create(f, FENCE_MARKER_COCKPIT_V1, &marker);
	not_authentic(f->path, FENCE_MARKER_RULE_FORMAT);
	assert_int_equal(fence_marker_read(f->path, FENCE_MARKER_COCKPIT_V1, &marker, NULL, NULL),
			 0);
	assert_int_equal(marker.seq, 0);
	assert_null(strstr(marker.text, "nonce"));
}

static void a_result_and_its_writer_are_read(void **state)
{
	struct fixture *f = *state;
	static const char rest[] =
		",\"supervisorId\":\"5\",\"bootId\":\"119239c3-e3b0-4e5e-99f3-3a8c023d6880\","
		"\"group\":{\"pid\":9,\"start\":\"8\"},\"by\":\"repair\","
		"\"result\":{\"cause\":\"cancelled\",\"signal\":15,\"reap\":\"reaped-kill\","
		"\"survivors\":2}}\n";
	struct fence_marker marker;

	forge(f->path, FRONT, rest, strlen(rest));
	marker = authentic(f->path);
	assert_true(marker.has_by && marker.has_result);
	assert_int_equal(marker.by, FENCE_MARKER_BY_REPAIR);
	assert_int_equal(marker.result.cause, FENCE_CAUSE_CANCELLED);
	assert_int_equal(marker.result.reap, FENCE_REAP_KILL);
	assert_int_equal(marker.result.code, -1);
	assert_int_equal(marker.result.signal, 15);
	assert_int_equal(marker.result.survivors, 2);
	assert_string_equal(marker.group.boot_id, marker.supervisor.boot_id);
	forge(f->path, FRONT, "}\n", 2);
	marker = authentic(f->path);
	assert_false(marker.has_by || marker.has_result);
}

/* A field of ours by its name alone: in another format it is somebody else's. */
static void a_foreign_field_says_nothing_and_stays(void **state)
{
	struct fixture *f = *state;
	static const char front[] =
		"{\"format\":\"cockpit-executor/v1\",\"attemptId\":\"a\",\"supervisorPid\":77,"
		"\"status\":\"active\",";
	static const char rest[] = ",\"seq\":\"4th\",\"nonce\":7,\"result\":\"none\","
				   "\"by\":\"node\",\"group\":[1],\"host\":null}\n";
	struct fence_marker_approved approved;
	const struct fence_marker_change change = { .format = FENCE_MARKER_COCKPIT_V1,
						    .attempt_id = "a",
						    .approved = &approved,
						    .status = FENCE_MARKER_TERMINATING };
	struct fence_marker marker;
	enum fence_marker_answer answer;
	struct fence_err err;

	forge(f->path, front, rest, strlen(rest));
	assert_int_equal(fence_marker_read(f->path, FENCE_MARKER_COCKPIT_V1, &marker, NULL, NULL),
			 0);
	assert_int_equal(marker.seq, 0);
	assert_int_equal(marker.group.pid, 0);
	assert_string_equal(marker.nonce, "");
	assert_false(marker.has_by || marker.has_result);
	approved = (struct fence_marker_approved){ .supervisor_pid = 77, .place = marker.place };
	assert_int_equal(replace(f->path, &change, &marker, &answer, &err), 0);
	assert_non_null(strstr(marker.text, "\"seq\":\"4th\",\"nonce\":7,\"result\":\"none\","
					    "\"by\":\"node\",\"group\":[1],\"host\":null}"));
}

/* --- replacing ------------------------------------------------------------------------------ */

static void a_state_follows_the_approved_one(void **state)
{
	struct fixture *f = *state;
	struct fence_marker old, new, read;
	struct fence_marker_approved approved;
	struct fence_marker_change change = { .attempt_id = "attempt-1",
					      .approved = &approved,
					      .status = FENCE_MARKER_TERMINATING,
					      .by = FENCE_MARKER_BY_SUPERVISOR };
	enum fence_marker_answer answer;
	struct fence_err err;

	create(f, FENCE_MARKER_V1, &old);
	approved = approved_of(&old);
	assert_int_equal(replace(f->path, &change, &new, &answer, &err), 0);
	assert_int_equal(answer, FENCE_MARKER_REPLACED);
	read = authentic(f->path);
	assert_string_equal(read.text, new.text);
	assert_int_equal(read.status, FENCE_MARKER_TERMINATING);
	assert_int_equal(read.seq, 2);
	assert_string_not_equal(read.nonce, old.nonce);
	assert_true(fence_ident_same(&read.supervisor, &old.supervisor));
	assert_non_null(strstr(read.text, "\"by\":\"supervisor\""));

	/* The state that was approved is no more. */
	assert_int_equal(replace(f->path, &change, &new, &answer, &err), -ESTALE);
	assert_int_equal(answer, FENCE_MARKER_NOT_REPLACED);
	approved = approved_of(&read);
	change.status = FENCE_MARKER_TERMINATED;
	assert_int_equal(replace(f->path, &change, &new, &answer, &err), 0);
	approved = approved_of(&new);
	assert_int_equal(replace(f->path, &change, &new, &answer, &err), -EPERM);
	assert_int_equal(answer, FENCE_MARKER_NOT_REPLACED);
	assert_int_equal(empty_dir(f->dir), 2);
}

static void another_than_the_approved_marker_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker, after;
	struct fence_marker_approved approved;
	const struct fence_marker_change change = { .attempt_id = "attempt-1",
						    .approved = &approved,
						    .status = FENCE_MARKER_CANCELLED };
	struct fence_marker_change other_attempt = change;
	enum fence_marker_answer answer;
	struct fence_err err;

	create(f, FENCE_MARKER_V1, &marker);
	for (int wrong = 0; wrong < 7; wrong++) {
		approved = approved_of(&marker);
		approved.supervisor_pid += wrong == 0;
		approved.place.marker_dev += wrong == 1;
		approved.place.marker_ino += wrong == 2;
		approved.place.parent_dev += wrong == 3;
		approved.place.parent_ino += wrong == 4;
		approved.seq += wrong == 5;
		if (wrong == 6)
			approved.nonce[31] = approved.nonce[31] == '0' ? '1' : '0';
		assert_int_equal(replace(f->path, &change, NULL, &answer, &err), -ESTALE);
		assert_int_equal(answer, FENCE_MARKER_NOT_REPLACED);
		assert_int_equal(fence_marker_check_approved(&marker, "attempt-1", &approved, NULL),
				 -ESTALE);
	}
	approved = approved_of(&marker);
	other_attempt.attempt_id = "attempt-2";
	assert_int_equal(replace(f->path, &other_attempt, NULL, &answer, &err), -ESTALE);
	after = authentic(f->path);
	assert_string_equal(after.text, marker.text);
	assert_int_equal(fence_marker_check_approved(&marker, "attempt-1", &approved, NULL), 0);
	marker.status = FENCE_MARKER_CANCELLED;
	assert_int_equal(fence_marker_check_approved(&marker, "attempt-1", &approved, NULL),
			 -ESTALE);
}

static void nothing_is_written_where_no_authentic_marker_is(void **state)
{
	struct fixture *f = *state;
	const struct fence_marker_approved approved = { .supervisor_pid = 1 };
	const struct fence_marker_change change = { .attempt_id = "a", .approved = &approved };
	enum fence_marker_answer answer;
	struct fence_err err;

	assert_int_equal(replace(f->path, &change, NULL, &answer, &err), -EBADMSG);
	assert_int_equal(answer, FENCE_MARKER_NOT_REPLACED);
	assert_int_equal(empty_dir(f->dir), 1);
}

static void unknown_fields_are_kept_byte_for_byte(void **state)
{
	struct fixture *f = *state;
	static const char rest[] = ",\"\\u0078\" : [1.50, {\"y\":\"\\u00e9\\/\"}],\"seq\":41,"
				   "\"zz\":-0,\"group\":{\"pid\":5,\"more\":true}}\n";
	struct fence_marker old, new;
	struct fence_marker_approved approved;
	const struct fence_marker_change change = { .attempt_id = "a",
						    .approved = &approved,
						    .status = FENCE_MARKER_TERMINATING };
	enum fence_marker_answer answer;
	struct fence_err err;

	forge(f->path, FRONT, rest, sizeof(rest) - 1);
	old = authentic(f->path);
	assert_int_equal(old.group.pid, 5);
	approved = approved_of(&old);
	assert_int_equal(replace(f->path, &change, &new, &answer, &err), 0);
	new = authentic(f->path);
	assert_non_null(strstr(new.text, ",\"\\u0078\" : [1.50, {\"y\":\"\\u00e9\\/\"}],\"seq\":42,"
					 "\"zz\":-0,\"group\":{\"pid\":5,\"more\":true},"));
}

static void what_would_not_fit_is_refused_and_not_cut(void **state)
{
	struct fixture *f = *state;
	char pad[FENCE_MARKER_BYTES] = ",\"pad\":\"";
	struct fence_marker old, after;
	struct fence_marker_approved approved;
	const struct fence_marker_change change = { .attempt_id = "a",
						    .approved = &approved,
						    .status = FENCE_MARKER_TERMINATING };
	enum fence_marker_answer answer;
	struct fence_err err;

	memset(pad + 8, 'x', 780);
	memcpy(pad + 788, "\"}\n", 3);
	forge(f->path, FRONT, pad, 791);
	old = authentic(f->path);
	approved = approved_of(&old);
	assert_int_equal(replace(f->path, &change, NULL, &answer, &err), -EFBIG);
	assert_int_equal(answer, FENCE_MARKER_NOT_REPLACED);
	after = authentic(f->path);
	assert_string_equal(after.text, old.text);
	assert_int_equal(empty_dir(f->dir), 2);
}

static void the_longest_allowed_values_fit(void **state)
{
	static const char d20[] = "18446744073709551615";
	const struct fence_ident group = { .pid = INT32_MAX,
					   .start_ticks = UINT64_MAX,
					   .id = UINT64_MAX };
	const struct fence_marker_result result = { .cause = FENCE_CAUSE_TERMINATE_REQUEST,
						    .code = -1,
						    .signal = 64,
						    .reap = FENCE_REAP_REFUSED_OWN_GROUP,
						    .survivors = UINT32_MAX };
	struct fence_marker_news news = {
		.status = FENCE_MARKER_TERMINATING,
		.place = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX },
		.seq = FENCE_JSON_INT_MAX,
		.group = &group,
		.group_cgroup = UINT64_MAX,
		.result = &result,
		.by = FENCE_MARKER_BY_GROUP_RUNNER,
	};
	struct fence_marker marker;
	struct fence_err err = { 0 };
	char base[FENCE_MARKER_BYTES], attempt[129] = "", host[65] = "";
	int length;

	(void)state;
	memset(attempt, 'a', 128);
	memset(host, 'h', 64);
	memset(news.nonce, 'f', sizeof(news.nonce) - 1);
	memset(news.handle, 'f', sizeof(news.handle) - 1);
	length = snprintf(base, sizeof(base),
			  "{\"format\":\"fence-marker/v1\",\"attemptId\":\"%s\","
			  "\"supervisorPid\":2147483647,\"supervisorStart\":\"%s\","
			  "\"supervisorId\":\"%s\",\"bootId\":\"%.36s\",\"pidNs\":\"%s\","
			  "\"host\":\"%s\"}",
			  attempt, d20, d20, host, d20, host);
	if (fence_marker_compose(base, (size_t)length, FENCE_MARKER_V1, &news, &marker, &err) < 0)
		fail_msg("%s: %s", err.what, err.why);
	print_message("the longest marker has %zu bytes\n", marker.text_bytes);
	assert_true(marker.text_bytes <= FENCE_MARKER_BYTES);
	assert_int_equal(marker.group.pid, INT32_MAX);
	assert_true(marker.group_cgroup == UINT64_MAX);
}

static void a_group_and_a_result_are_added(void **state)
{
	struct fixture *f = *state;
	struct fence_ident self;
	const struct fence_marker_result result = {
		.cause = FENCE_CAUSE_EXITED, .code = 3, .reap = FENCE_REAP_TERM, .survivors = 0
	};
	struct fence_marker marker;
	struct fence_marker_approved approved;
	struct fence_marker_change change = { .attempt_id = "attempt-1",
					      .approved = &approved,
					      .status = FENCE_MARKER_ACTIVE,
					      .durable = FENCE_MARKER_DURABLE_NONE };
	enum fence_marker_answer answer;
	struct fence_err err;

	assert_int_equal(fence_ident_self(&self), 0);
	create(f, FENCE_MARKER_V1, &marker);
	approved = approved_of(&marker);
	change.group = &self;
	change.group_cgroup = 99;
	assert_int_equal(replace(f->path, &change, &marker, &answer, &err), 0);
	assert_int_equal(marker.group.pid, getpid());
	assert_true(marker.group.start_ticks == self.start_ticks && marker.group_cgroup == 99);
	approved = approved_of(&marker);
	change.status = FENCE_MARKER_CANCELLED;
	change.group = NULL;
	change.result = &result;
	assert_int_equal(replace(f->path, &change, &marker, &answer, &err), 0);
	assert_int_equal(marker.group.pid, getpid());
	assert_non_null(strstr(marker.text, "\"result\":{\"cause\":\"exited\",\"code\":3,"
					    "\"reap\":\"reaped-term\",\"survivors\":0}"));
}

static void the_other_format_gets_no_fields_that_it_lacks(void **state)
{
	struct fixture *f = *state;
	struct fence_marker marker;
	struct fence_marker_approved approved;
	const struct fence_marker_change change = { .format = FENCE_MARKER_COCKPIT_V1,
						    .attempt_id = "attempt-1",
						    .approved = &approved,
						    .status = FENCE_MARKER_TERMINATING };
	enum fence_marker_answer answer;
	struct fence_err err;

	create(f, FENCE_MARKER_COCKPIT_V1, &marker);
	approved = approved_of(&marker);
	assert_int_equal(replace(f->path, &change, &marker, &answer, &err), 0);
	assert_int_equal(marker.status, FENCE_MARKER_TERMINATING);
	assert_null(strstr(marker.text, "seq"));
	assert_null(strstr(marker.text, "by"));
}

static void stale_temporaries_are_removed_and_nothing_else(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *name;
		bool stale;
	} files[] = {
		{ ".m.executor-123-0123456789abcdef", true },
		{ ".m.group-runner-1-0000000000000000", true },
		{ ".m.cancel-999999-ffffffffffffffff", true },
		{ ".m.somebody-123-0123456789abcdef", false },
		{ ".m.executor-123-0123456789abcde", false },
		{ ".m.executor-123-0123456789abcdeff", false },
		{ ".m.executor--0123456789abcdef", false },
		{ ".m.executor-12x-0123456789abcdef", false },
		{ ".mm.executor-123-0123456789abcdef", false },
		{ ".other.executor-123-0123456789abcdef", false },
		{ "m.executor-123-0123456789abcdef", false },
		{ ".m.", false },
		{ ".m", false },
	};
	owned_fd dir_fd = open(f->dir, O_PATH | O_DIRECTORY | O_CLOEXEC), lock_fd = -1;
	struct fence_marker marker;
	struct fence_marker_approved approved;
	const struct fence_marker_change change = { .attempt_id = "attempt-1",
						    .approved = &approved };
	enum fence_marker_answer answer;
	struct fence_err err;

	create(f, FENCE_MARKER_V1, &marker);
	approved = approved_of(&marker);
	for (size_t i = 0; i < N(files); i++) {
		owned_fd fd = openat(dir_fd, files[i].name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

		assert_true(fd >= 0);
	}
	/* One that is not noted in the lock is looked for where nothing is noted. */
	lock_fd = openat(dir_fd, "m.lock", O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_true(lock_fd >= 0);
	assert_int_equal(replace(f->path, &change, NULL, &answer, &err), 0);
	for (size_t i = 0; i < N(files); i++)
		assert_int_equal(faccessat(dir_fd, files[i].name, F_OK, 0),
				 files[i].stale ? -1 : 0);
}

static void a_busy_lock_is_waited_for_and_then_said(void **state)
{
	struct fixture *f = *state;
	struct flock byte = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };
	char lock[80];
	owned_fd fd = -1;
	struct fence_marker marker;
	struct fence_marker_approved approved;
	const struct fence_marker_change change = { .attempt_id = "attempt-1",
						    .approved = &approved,
						    .lock_wait_ms = 30 };
	enum fence_marker_answer answer;
	struct fence_err err;

	create(f, FENCE_MARKER_V1, &marker);
	approved = approved_of(&marker);
	(void)snprintf(lock, sizeof(lock), "%s.lock", f->path);
	fd = open(lock, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &byte), 0);
	assert_int_equal(replace(f->path, &change, NULL, &answer, &err), -EAGAIN);
	assert_int_equal(answer, FENCE_MARKER_NOT_REPLACED);
	/* Byte 1 is the supervisor's: writers do not care. */
	byte.l_type = F_UNLCK;
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &byte), 0);
	byte.l_type = F_WRLCK;
	byte.l_start = 1;
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &byte), 0);
	assert_int_equal(replace(f->path, &change, NULL, &answer, &err), 0);
}

static void a_lock_that_is_no_file_is_refused(void **state)
{
	struct fixture *f = *state;
	struct fence_marker_writer writer;
	struct fence_err err;
	char lock[80];

	(void)snprintf(lock, sizeof(lock), "%s.lock", f->path);
	assert_int_equal(symlink("other", lock), 0);
	assert_int_equal(fence_marker_writer_open(f->path, &writer, &err), -ELOOP);
	assert_int_equal(unlink(lock), 0);
	assert_int_equal(mkfifo(lock, 0600), 0);
	assert_int_equal(fence_marker_writer_open(f->path, &writer, &err), -EINVAL);
	assert_int_equal(writer.lock_fd, -1);
}

/* --- words ------------------------------------------------------------------------------------ */

static void only_these_states_follow_each_other(void **state)
{
	static const char *const allowed[] = { "aa", "at", "ac", "tt", "td", "tc", "cc" };
	static const char letters[] = "atdc"; /* active, terminating, terminated, cancelled */
	int count = 0;

	(void)state;
	for (int from = 0; from < 4; from++) {
		for (int to = 0; to < 4; to++) {
			const char pair[] = { letters[from], letters[to], '\0' };
			bool wanted = false;

			for (size_t i = 0; i < N(allowed); i++)
				wanted |= strcmp(pair, allowed[i]) == 0;
			assert_int_equal(fence_marker_may_become((enum fence_marker_status)from,
								 (enum fence_marker_status)to),
					 wanted);
			count += wanted;
		}
	}
	assert_int_equal(count, N(allowed));
}

static void attempt_ids_are_plain_and_short(void **state)
{
	char longest[130];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[128] = '\0';
	assert_true(fence_marker_is_attempt_id("aZ09._-"));
	assert_true(fence_marker_is_attempt_id(longest));
	longest[128] = 'x';
	longest[129] = '\0';
	assert_false(fence_marker_is_attempt_id(longest));
	assert_false(fence_marker_is_attempt_id(""));
	assert_false(fence_marker_is_attempt_id("a/b"));
	assert_false(fence_marker_is_attempt_id("\xc3\xa9"));
}

static void an_approved_marker_is_named_whole_or_not_at_all(void **state)
{
#define FOUR "\"markerDev\":\"1\",\"markerIno\":\"2\",\"parentDev\":\"3\",\"parentIno\":\"4\""
	static const char *const bad[] = {
		"",
		"[]",
		"{}",
		"7",
		"{" FOUR "}",
		"{\"supervisorPid\":5}",
		"{\"supervisorPid\":\"5\"," FOUR "}",
		"{\"supervisorPid\":5," FOUR ",\"x\":1}",
		"{\"supervisorPid\":5," FOUR ",\"status\":\"active\"}",
		"{\"supervisorPid\":5," FOUR ",\"seq\":0}",
		"{\"supervisorPid\":5," FOUR "} x",
		"{\"supervisorPid\":5," FOUR ",\"markerDev\":\"1\"}",
		"{\"supervisorPid\":5," FOUR ",\"nonce\":\"\"}",
		"{\"supervisorPid\":5,\"markerDev\":1,\"markerIno\":\"2\",\"parentDev\":\"3\"}",
	};
	struct fence_marker_approved approved;
	struct fence_err err;

	(void)state;
	for (size_t i = 0; i < N(bad); i++)
		if (fence_marker_approved_parse(bad[i], &approved, &err) != -EINVAL)
			fail_msg("not refused: %s", bad[i]);
	assert_int_equal(fence_marker_approved_parse("{\"supervisorPid\":5," FOUR "}", &approved,
						     &err),
			 0);
	assert_int_equal(approved.supervisor_pid, 5);
	assert_int_equal(approved.place.parent_ino, 4);
	assert_int_equal(approved.seq, 0);
	assert_string_equal(approved.nonce, "");
	assert_int_equal(fence_marker_approved_parse("{\"supervisorPid\":5," FOUR ",\"seq\":6}",
						     &approved, &err),
			 0);
	assert_int_equal(approved.seq, 6);
}

static void every_writer_has_its_word(void **state)
{
	(void)state;
	assert_string_equal(fence_marker_by_word(FENCE_MARKER_BY_EXECUTOR), "executor");
	assert_string_equal(fence_marker_by_word(FENCE_MARKER_BY_REPAIR), "repair");
	assert_string_equal(fence_marker_format_word(FENCE_MARKER_COCKPIT_V1),
			    "cockpit-executor/v1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_created_is_read),
		TEST(a_marker_is_never_created_over_a_file),
		TEST(a_marker_is_created_over_one_that_has_ended),
		TEST(so_it_is_over_one_that_was_cancelled_and_is_done),
		TEST(a_marker_whose_attempt_may_run_is_not_created_over),
		TEST(nor_is_what_is_no_marker_of_that_format),
		TEST(a_supervisor_that_does_not_run_gets_no_marker),
		TEST(a_copy_is_no_marker),
		TEST(a_marker_in_another_folder_is_none),
		TEST(a_second_name_in_its_folder_is_the_same_file),
		TEST(a_folder_that_was_moved_keeps_its_marker),
		TEST(only_a_regular_file_is_a_marker),
		TEST(a_linked_folder_has_no_marker),
		TEST(a_path_must_name_a_file_in_a_folder),
		TEST(its_size_is_1_to_1024_bytes),
		TEST(its_text_is_strict_json_and_a_newline),
		TEST(a_field_of_the_wrong_kind_is_refused),
		TEST(the_other_format_is_read_only_when_asked_for),
		TEST(a_result_and_its_writer_are_read),
		TEST(a_foreign_field_says_nothing_and_stays),
		TEST(a_state_follows_the_approved_one),
		TEST(another_than_the_approved_marker_is_left_alone),
		TEST(nothing_is_written_where_no_authentic_marker_is),
		TEST(unknown_fields_are_kept_byte_for_byte),
		TEST(what_would_not_fit_is_refused_and_not_cut),
		TEST(the_longest_allowed_values_fit),
		TEST(a_group_and_a_result_are_added),
		TEST(the_other_format_gets_no_fields_that_it_lacks),
		TEST(stale_temporaries_are_removed_and_nothing_else),
		TEST(a_busy_lock_is_waited_for_and_then_said),
		TEST(a_lock_that_is_no_file_is_refused),
		cmocka_unit_test(only_these_states_follow_each_other),
		cmocka_unit_test(attempt_ids_are_plain_and_short),
		cmocka_unit_test(an_approved_marker_is_named_whole_or_not_at_all),
		cmocka_unit_test(every_writer_has_its_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
