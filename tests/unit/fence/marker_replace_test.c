/* A marker is replaced by its next state, under a lock. */
#include "tests/unit/fence/marker_fixture.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
