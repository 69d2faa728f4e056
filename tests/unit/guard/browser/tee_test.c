#include "guard/browser/tee.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/own.h"
#include "fence/sys.h"

struct ends {
	struct tee *tee;
	int from; /* write here */
	int to;	  /* read here */
};

/* A pipe into the tee, and from it the write end `to`, which stays the client's. */
static struct ends open_tee(int read_end, int write_end)
{
	struct ends ends = { .tee = malloc(sizeof(*ends.tee)), .to = read_end };
	struct tee_sink sink;
	int fds[2];

	assert_non_null(ends.tee);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(tee_sink_open(write_end, &sink), 0);
	(void)close(write_end);
	tee_init(ends.tee, fds[0], &sink);
	ends.from = fds[1];
	return ends;
}

static void close_tee(struct ends *ends)
{
	(void)close(ends->tee->from);
	(void)close(ends->tee->to.fd);
	fence_close_fd(&ends->from);
	fence_close_fd(&ends->to);
	free(ends->tee);
}

static struct ends open_pipes(void)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	return open_tee(fds[0], fds[1]);
}

static void bytes_come_out_as_they_went_in(void **state)
{
	const char bytes[] = "a\0b\n\377c";
	char got[sizeof(bytes)];
	struct ends ends = open_pipes();

	(void)state;
	assert_int_equal(tee_step(ends.tee), -EAGAIN);
	assert_int_equal(fence_write_full(ends.from, bytes, sizeof(bytes)), 0);
	assert_int_equal(tee_step(ends.tee), sizeof(bytes));
	assert_int_equal(fence_read_full(ends.to, got, sizeof(got)), 0);
	assert_memory_equal(got, bytes, sizeof(bytes));
	fence_close_fd(&ends.from);
	assert_int_equal(tee_step(ends.tee), 0);
	assert_int_equal(ends.tee->dropped_bytes, 0);
	close_tee(&ends);
}

/* Numbered lines, so that a gap or a swap would be seen. */
static void feed(struct ends *ends, unsigned int *line, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		char text[17];

		(void)snprintf(text, sizeof(text), "%015u\n", (*line)++);
		assert_int_equal(fence_write_full(ends->from, text, 16), 0);
		if (i % 64 == 63)
			while (tee_step(ends->tee) > 0)
				;
	}
	while (tee_step(ends->tee) > 0)
		;
}

static void a_client_that_reads_late_loses_nothing_within_the_backlog(void **state)
{
	struct ends ends = open_pipes();
	unsigned int line = 0;
	char text[17];

	(void)state;
	/* The pipe takes 64 KiB, the backlog the rest of 256 KiB; twice, so that the
	 * backlog's end is passed. */
	for (unsigned int from = 0; from < 2 * 16384; from += 16384) {
		feed(&ends, &line, 16384);
		assert_true(ends.tee->length > 0);
		for (unsigned int i = 0; i < 16384; i++) {
			tee_flush(ends.tee);
			assert_int_equal(fence_read_full(ends.to, text, 16), 0);
			assert_int_equal(strtoul(text, NULL, 10), from + i);
		}
	}
	assert_int_equal(ends.tee->dropped_bytes, 0);
	close_tee(&ends);
}

static void beyond_the_backlog_bytes_are_dropped_and_counted(void **state)
{
	struct ends ends = open_pipes();
	unsigned int line = 0;

	(void)state;
	feed(&ends, &line, 65536);
	assert_int_equal(ends.tee->read_bytes, 65536 * 16);
	assert_int_equal(ends.tee->length, TEE_BACKLOG);
	assert_true(ends.tee->dropped_bytes >= 65536 * 16 - TEE_BACKLOG - 65536);
	close_tee(&ends);
}

static void a_client_that_is_gone_stops_nothing(void **state)
{
	struct ends ends = open_pipes();
	unsigned int line = 0;

	(void)state;
	fence_close_fd(&ends.to);
	feed(&ends, &line, 1024);
	assert_true(ends.tee->is_closed);
	assert_int_equal(ends.tee->dropped_bytes, 1024 * 16);
	close_tee(&ends);
}

static void a_socket_that_is_full_does_not_block(void **state)
{
	unsigned int line = 0;
	struct ends ends;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	ends = open_tee(fds[0], fds[1]);
	assert_int_equal(ends.tee->to.kind, TEE_SOCKET);
	feed(&ends, &line, 65536);
	assert_int_equal(ends.tee->length, TEE_BACKLOG);
	close_tee(&ends);
}

static void the_clients_own_descriptor_stays_blocking(void **state)
{
	struct tee_sink sink;
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(tee_sink_open(fds[1], &sink), 0);
	assert_int_equal(sink.kind, TEE_NEVER_BLOCKS);
	assert_false(fcntl(fds[1], F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(sink.fd, F_GETFL) & O_NONBLOCK);
	(void)close(sink.fd);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_come_out_as_they_went_in),
		cmocka_unit_test(a_client_that_reads_late_loses_nothing_within_the_backlog),
		cmocka_unit_test(beyond_the_backlog_bytes_are_dropped_and_counted),
		cmocka_unit_test(a_client_that_is_gone_stops_nothing),
		cmocka_unit_test(a_socket_that_is_full_does_not_block),
		cmocka_unit_test(the_clients_own_descriptor_stays_blocking),
	};

	/* As the monitor, which has it blocked. */
	sigset_t pipe_signal;

	(void)sigemptyset(&pipe_signal);
	(void)sigaddset(&pipe_signal, SIGPIPE);
	(void)sigprocmask(SIG_BLOCK, &pipe_signal, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
