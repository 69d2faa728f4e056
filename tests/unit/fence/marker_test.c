/* Markers are made, and read: authentic or nothing. */
#include "tests/unit/fence/marker_fixture.h"

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
