#include "fence/attempt.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/ident.h"

struct place {
	char dir[32];
	char path[64];
	struct fence_marker_writer writer;
	struct fence_attempt_step step;
};

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));
	const struct fence_marker_birth birth = {
		.attempt_id = "a",
		.supervisor_pid = getpid(),
		.durable = FENCE_MARKER_DURABLE_NONE,
	};
	struct fence_marker marker;
	bool made;

	assert_non_null(place);
	(void)snprintf(place->dir, sizeof(place->dir), "/tmp/attempt-test.XXXXXX");
	assert_non_null(mkdtemp(place->dir));
	(void)snprintf(place->path, sizeof(place->path), "%s/m", place->dir);
	assert_int_equal(fence_marker_writer_open(place->path, &place->writer, NULL), 0);
	assert_int_equal(fence_marker_create(&place->writer, &birth, &marker, &made, NULL), 0);
	place->step = (struct fence_attempt_step){
		.attempt_id = "a",
		.status = FENCE_MARKER_TERMINATED,
		.by = FENCE_MARKER_BY_SUPERVISOR,
		.durable = FENCE_MARKER_DURABLE_NONE,
	};
	assert_int_equal(fence_ident_self(&place->step.supervisor), 0);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;

	fence_marker_writer_close(&place->writer);
	(void)unlink(place->path);
	(void)snprintf(place->path, sizeof(place->path), "%s/m.lock", place->dir);
	(void)unlink(place->path);
	assert_int_equal(rmdir(place->dir), 0);
	free(place);
	return 0;
}

static const struct fence_marker_result clear = { FENCE_CAUSE_EXITED, 0, 0, FENCE_REAP_CLEAR, 0 };

static struct fence_marker advance(struct place *place, int wanted)
{
	enum fence_marker_answer answer;
	struct fence_marker marker = { 0 };

	assert_int_equal(fence_attempt_advance(&place->writer, &place->step, &marker, &answer,
					       NULL),
			 wanted);
	assert_int_equal(answer, wanted == 0 ? FENCE_MARKER_REPLACED : FENCE_MARKER_NOT_REPLACED);
	return marker;
}

static void an_active_attempt_does_not_end_without_saying_so(void **state)
{
	(void)advance(*state, -EPERM);
}

static void both_steps_at_once_count_as_two(void **state)
{
	struct place *place = *state;
	struct fence_marker marker;

	place->step.through_terminating = true;
	place->step.result = &clear;
	marker = advance(place, 0);
	assert_int_equal(marker.status, FENCE_MARKER_TERMINATED);
	assert_int_equal(marker.seq, 3);
	assert_true(fence_attempt_is_over(&marker));
	place->step.result = NULL;
	marker = advance(place, 0);
	assert_int_equal(marker.seq, 3); /* nothing was to be written */
	place->step.status = FENCE_MARKER_TERMINATING;
	(void)advance(place, -EPERM);
}

static void one_step_is_one(void **state)
{
	struct place *place = *state;

	place->step.through_terminating = true;
	place->step.status = FENCE_MARKER_TERMINATING;
	assert_int_equal(advance(place, 0).seq, 2);
	assert_int_equal(advance(place, 0).seq, 2);
	place->step.status = FENCE_MARKER_TERMINATED;
	assert_int_equal(advance(place, 0).seq, 3);
}

static void what_was_cancelled_stays_so_and_gets_its_result(void **state)
{
	struct place *place = *state;
	struct fence_marker marker;

	place->step.status = FENCE_MARKER_CANCELLED;
	assert_int_equal(advance(place, 0).seq, 2);
	place->step.status = FENCE_MARKER_TERMINATING;
	assert_int_equal(advance(place, 0).seq, 2);
	place->step.status = FENCE_MARKER_TERMINATED;
	place->step.through_terminating = true;
	place->step.result = &clear;
	marker = advance(place, 0);
	assert_int_equal(marker.status, FENCE_MARKER_CANCELLED);
	assert_int_equal(marker.seq, 3);
	assert_true(marker.has_result);
	assert_true(fence_attempt_is_over(&marker));
}

static void another_attempt_or_supervisor_is_left_alone(void **state)
{
	struct place *place = *state;

	place->step.through_terminating = true;
	place->step.attempt_id = "b";
	(void)advance(place, -ESTALE);
	place->step.attempt_id = "a";
	place->step.supervisor.start_ticks++;
	place->step.supervisor.id = 0; /* as where it is not known */
	(void)advance(place, -ESTALE);
	(void)unlink(place->path);
	(void)advance(place, -EBADMSG);
}

static void a_stamp_fits_and_tells_supervisors_apart(void **state)
{
	struct fence_ident self;
	char ours[FENCE_ATTEMPT_STAMP_BYTES], other[FENCE_ATTEMPT_STAMP_BYTES];

	(void)state;
	assert_int_equal(fence_ident_self(&self), 0);
	fence_attempt_stamp(&self, ours);
	self.id = UINT64_MAX;
	self.start_ticks = UINT64_MAX;
	self.pid_ns = UINT64_MAX;
	fence_attempt_stamp(&self, other);
	assert_string_not_equal(ours, other);
	assert_true(strlen(other) < sizeof(other) - 1);
	assert_null(strchr(ours, ' '));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_active_attempt_does_not_end_without_saying_so,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(both_steps_at_once_count_as_two, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_step_is_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_cancelled_stays_so_and_gets_its_result,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_attempt_or_supervisor_is_left_alone, set_up,
						tear_down),
		cmocka_unit_test(a_stamp_fits_and_tells_supervisors_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
