/* Output of a group: drained always, so that the command never blocks on us, and
 * passed on as it comes.
 *
 * A tee belongs to somebody else, and may be a pipe whose reader is slow, a
 * terminal that is stopped, or a socket. It is never set non-blocking, since that
 * would change it for everybody who shares it; each write is made so that it
 * cannot block. While the command runs, a tee that is full holds it back, as it
 * would without us: nothing is lost. After its end we go on reading into memory,
 * at most PENDING_LIMIT, and the last flush is bounded by the monitor. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/group_priv.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "fence/tree.h"

#define PIPE_BYTES    (1024 * 1024)
#define WIDEN_BYTES   (32 * 1024) /* read at once: the pipe was half full */
#define CHUNK_BYTES   (256 * 1024)
#define TURN_BYTES    (4 * PIPE_BYTES)
#define PENDING_LIMIT (2 * PIPE_BYTES)
#define LOG_WAIT_MS   1000 /* for a log that is no file */

/* --- writing without ever blocking ------------------------------------------- */

static bool is_writable(int fd, int timeout_ms)
{
	struct pollfd event = { .fd = fd, .events = POLLOUT };

	return poll(&event, 1, timeout_ms) > 0;
}

/* What a pipe calls writable has room for PIPE_BUF (pipe(7)); a terminal promises one
 * byte, and waits in the middle of a longer write when it is stopped. */
static ssize_t write_small(int fd, const void *bytes, size_t count)
{
	bool may_wait = isatty(fd) && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
	size_t room = may_wait ? 1 : PIPE_BUF;

	if (!is_writable(fd, 0))
		return -EAGAIN;
	return fence_write_some(fd, bytes, count < room ? count : room);
}

/* A terminal may be stopped (^S) for as long as it likes, and a write that waits for
 * it would keep us from every time-out. Opened anew it has a description of its own,
 * which can be non-blocking without changing it for others. -1: it is no terminal, or
 * may not be opened; the other end of a pseudo-terminal would be a new one. */
static int reopen_terminal(int fd)
{
	char path[64];

	if (fd < 0 || !isatty(fd) || ptsname_r(fd, path, sizeof(path)) == 0)
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Writes some of it, or says -EAGAIN where it would have to wait. Regular files
 * never wait for anybody. */
static ssize_t write_now(int fd, const void *bytes, size_t count)
{
	struct stat st;
	ssize_t done;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode))
		return fence_write_some(fd, bytes, count);
	if (S_ISSOCK(st.st_mode)) {
		done = send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
		return done < 0 ? -errno : done;
	}
	done = fence_write_nowait(fd, bytes, count);
	/* Terminals, and pipes of older kernels, do not know how. */
	if (done == -EOPNOTSUPP || done == -EINVAL || done == -ENOSYS || done == -ESPIPE)
		return write_small(fd, bytes, count);
	return done;
}

static void write_log(struct fence_output *output, const uint8_t *bytes, size_t count)
{
	while (count > 0 && output->log_fd >= 0) {
		ssize_t done = write_now(output->log_fd, bytes, count);

		if (done == -EAGAIN && is_writable(output->log_fd, LOG_WAIT_MS))
			continue;
		if (done < 0) {
			/* A log with a hole would be worse than one that ends. */
			output->result->log_errno = (int)-done;
			output->log_fd = -1;
			return;
		}
		bytes += done;
		count -= (size_t)done;
	}
}

/* --- tee ----------------------------------------------------------------------- */

static void end_stream(struct fence_stream *stream)
{
	if (stream->output->loop != NULL)
		fence_loop_remove(stream->output->loop, &stream->pipe_watch);
	fence_close_fd(&stream->pipe_fd);
}

static void give_up_tee(struct fence_stream *stream, int error)
{
	struct fence_output *output = stream->output;

	if (output->loop != NULL)
		fence_loop_remove(output->loop, &stream->tee_watch);
	if (error == ECONNRESET)
		error = EPIPE; /* a socket's word for the same */
	output->result->tee_errno[stream - output->streams] = error;
	stream->tee_fd = -1;
	stream->pending_bytes = 0;
	/* As without us: yes(1) before head(1) ends of a broken pipe. A terminal has no
	 * such thing: it hangs up, and what does not mind writes on. */
	if (error == EPIPE && stream->tee_only && stream->is_pty)
		output->unread = true;
	else if (error == EPIPE && stream->tee_only)
		end_stream(stream);
}

/* How much of it the tee took; all of it (as if) when there is no tee any more. */
static size_t tee_some(struct fence_stream *stream, const uint8_t *bytes, size_t count)
{
	size_t done = 0;

	while (done < count && stream->tee_fd >= 0) {
		ssize_t some = write_now(stream->tee_fd, bytes + done, count - done);

		if (some == -EAGAIN)
			return done;
		if (some < 0)
			give_up_tee(stream, (int)-some);
		else
			done += (size_t)some;
	}
	return count;
}

static void keep_pending(struct fence_stream *stream, const uint8_t *bytes, size_t count)
{
	size_t wanted = stream->pending_bytes + count;

	if (wanted > stream->pending_room) {
		uint8_t *more = wanted > PENDING_LIMIT + CHUNK_BYTES
					? NULL
					: realloc(stream->pending, wanted);

		if (more == NULL) {
			give_up_tee(stream, ETIMEDOUT);
			return;
		}
		stream->pending = more;
		stream->pending_room = wanted;
	}
	memcpy(stream->pending + stream->pending_bytes, bytes, count);
	stream->pending_bytes = wanted;
}

static void tee_pending(struct fence_stream *stream)
{
	size_t done = tee_some(stream, stream->pending, stream->pending_bytes);

	if (stream->pending_bytes == 0)
		return;
	stream->pending_bytes -= done;
	memmove(stream->pending, stream->pending + done, stream->pending_bytes);
}

static void tee_bytes(struct fence_stream *stream, const uint8_t *bytes, size_t count)
{
	size_t done = 0;

	if (stream->tee_fd < 0)
		return;
	if (stream->pending_bytes == 0)
		done = tee_some(stream, bytes, count);
	if (done < count)
		keep_pending(stream, bytes + done, count - done);
}

/* --- reading ------------------------------------------------------------------- */

/* -errno: the command's output cannot be waited for, and the command would be held
 * back for ever. */
static int update_watches(struct fence_stream *stream)
{
	struct fence_output *output = stream->output;
	size_t held_limit = output->draining ? PENDING_LIMIT : 0;
	bool wants_room = stream->tee_fd >= 0 && stream->pending_bytes > 0;
	int rc;

	if (output->loop == NULL)
		return 0;
	rc = fence_loop_set(output->loop, &stream->tee_watch, stream->tee_fd, wants_room, EPOLLOUT);
	if (rc < 0)
		give_up_tee(stream, -rc);
	return fence_loop_set(output->loop, &stream->pipe_watch, stream->pipe_fd,
			      stream->pipe_fd >= 0 && stream->pending_bytes <= held_limit, EPOLLIN);
}

/* A wide pipe costs two allocations in the kernel, and most commands never fill even a
 * narrow one: where nobody reads behind us it is widened for who has shown that he
 * fills it. That it may be refused, beyond a user's quota, is no loss. */
static void widen_pipe(struct fence_stream *stream)
{
	if (stream->is_wide)
		return;
	stream->is_wide = true;
	(void)fcntl(stream->pipe_fd, F_SETPIPE_SZ, PIPE_BYTES);
}

/* One read: the count; 0 when nothing is there now, or nothing will come. */
static size_t read_stream(struct fence_stream *stream)
{
	struct fence_output *output = stream->output;
	ssize_t got = fence_read_some(stream->pipe_fd, output->chunk, CHUNK_BYTES);

	if (got >= WIDEN_BYTES)
		widen_pipe(stream);
	if (got == -EAGAIN)
		return 0;
	if (got <= 0) {
		end_stream(stream);
		return 0;
	}
	fence_head_add(stream->head, stream->head_memory, output->chunk, (size_t)got);
	fence_tail_add(stream->tail, stream->ring, output->chunk, (size_t)got);
	write_log(output, output->chunk, (size_t)got);
	tee_bytes(stream, output->chunk, (size_t)got);
	return (size_t)got;
}

static int pipe_ready(void *arg, uint32_t events)
{
	struct fence_stream *stream = arg;
	size_t taken = 0;
	size_t got;
	int rc;

	(void)events;
	/* Who writes a lot writes on meanwhile: a few reads for one wake-up, and then the
	 * time-outs have their turn. */
	do {
		got = read_stream(stream);
		taken += got;
	} while (got >= WIDEN_BYTES && taken < TURN_BYTES && stream->pending_bytes == 0);
	rc = update_watches(stream);
	return rc < 0 ? rc : stream->output->moved(stream->output->arg);
}

static int tee_ready(void *arg, uint32_t events)
{
	struct fence_stream *stream = arg;

	int rc;

	(void)events;
	tee_pending(stream);
	rc = update_watches(stream);
	return rc < 0 ? rc : stream->output->moved(stream->output->arg);
}

/* --- the monitor's words --------------------------------------------------------- */

static int open_pipe(struct fence_stream *stream, int *ret_end)
{
	int ends[2];
	int flags;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	stream->pipe_fd = ends[0];
	*ret_end = ends[1];
	/* What a slow reader behind us does not take yet, the pipe holds meanwhile. */
	if (stream->tee_fd >= 0)
		widen_pipe(stream);
	/* Our end alone: the command's is a description of its own. */
	flags = fcntl(ends[0], F_GETFL);
	return fcntl(ends[0], F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
}

/* The caller has the master too, to write to: this one is ours to close. Its other side
 * is held open as well while the command runs, which may close all it has of it and open
 * /dev/tty later: meanwhile the master would say that all is over. */
static int open_pty(struct fence_stream *stream, int pty_fd)
{
	int fd = fcntl(pty_fd, F_DUPFD_CLOEXEC, 3);
	int slave_fd = fence_pty_slave(pty_fd);

	if (fd < 0 || slave_fd < 0)
		return fd < 0 ? -errno : slave_fd;
	stream->output->slave_fd = slave_fd;
	stream->pipe_fd = fd;
	stream->is_pty = stream->is_wide = true;
	return 0;
}

int fence_output_open(struct fence_output *output, const struct fence_group_plan *plan,
		      struct fence_group_shared *shared, int ret_ends[2])
{
	output->result = &shared->result;
	output->log_fd = plan->log_fd;
	output->slave_fd = -1;
	for (int i = 0; i < 2; i++) {
		int terminal = plan->capture ? reopen_terminal(plan->tee_fd[i]) : -1;

		output->streams[i] = (struct fence_stream){
			.output = output,
			.tail = &shared->tails[i],
			.ring = fence_group_ring(shared, i),
			.head = &shared->heads[i],
			.head_memory = fence_group_head(shared, i),
			.pipe_fd = -1,
			.tee_fd = terminal >= 0 ? terminal : plan->tee_fd[i],
			.tee_only =
				plan->tail_bytes == 0 && plan->head_bytes == 0 && plan->log_fd < 0,
			.pipe_watch = { .fd = -1, .ready = pipe_ready, .arg = &output->streams[i] },
			.tee_watch = { .fd = -1, .ready = tee_ready, .arg = &output->streams[i] },
		};
		ret_ends[i] = -1;
	}
	if (!plan->capture)
		return 0;
	output->chunk = malloc(CHUNK_BYTES);
	if (output->chunk == NULL)
		return -ENOMEM;
	if (plan->pty_fd >= 0)
		return open_pty(&output->streams[0], plan->pty_fd);
	for (int i = 0; i < 2; i++) {
		int rc = open_pipe(&output->streams[i], &ret_ends[i]);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int fence_output_watch(struct fence_output *output, struct fence_loop *loop)
{
	int rc = 0;

	output->loop = loop;
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = update_watches(&output->streams[i]);
	return rc;
}

bool fence_output_is_open(const struct fence_output *output)
{
	return output->streams[0].pipe_fd >= 0 || output->streams[1].pipe_fd >= 0;
}

bool fence_output_is_held(const struct fence_output *output)
{
	return output->streams[0].pending_bytes > 0 || output->streams[1].pending_bytes > 0;
}

void fence_output_drain(struct fence_output *output)
{
	output->draining = true;
	fence_close_fd(&output->slave_fd);
	/* Failing here leaves what the cap of the drain ends. */
	for (int i = 0; i < 2; i++)
		(void)update_watches(&output->streams[i]);
}

static bool is_named(const struct fence_group_result *result, pid_t pid)
{
	for (unsigned int i = 0; i < result->holder_count; i++)
		if (result->holder_pids[i] == pid)
			return true;
	return false;
}

void fence_output_name_holders(const struct fence_output *output)
{
	struct fence_group_result *result = output->result;
	pid_t found[FENCE_GROUP_PIDS];

	for (int i = 0; i < 2; i++) {
		unsigned int count = 0;

		if (output->streams[i].pipe_fd >= 0)
			count = fence_pipe_holders(output->streams[i].pipe_fd, found,
						   FENCE_GROUP_PIDS);
		for (unsigned int k = 0; k < count; k++)
			if (result->holder_count < FENCE_GROUP_PIDS && !is_named(result, found[k]))
				result->holder_pids[result->holder_count++] = found[k];
	}
}

/* A holder that never stops writing must not keep us here: no more than what two
 * full pipes can hold. */
static void take_the_rest(struct fence_stream *stream)
{
	size_t taken = 0;
	size_t got = 1;

	while (got > 0 && taken < PENDING_LIMIT && stream->pipe_fd >= 0) {
		got = read_stream(stream);
		taken += got;
	}
}

static bool wait_for_tees(const struct fence_output *output, int64_t stop_at_ms, int interrupt_fd)
{
	struct pollfd events[3] = { { .fd = interrupt_fd, .events = POLLIN } };
	int64_t left = stop_at_ms - fence_now_ms();

	for (int i = 0; i < 2; i++) {
		const struct fence_stream *stream = &output->streams[i];

		events[i + 1].fd = stream->pending_bytes > 0 ? stream->tee_fd : -1;
		events[i + 1].events = POLLOUT;
	}
	if (left <= 0 || poll(events, 3, (int)left) <= 0)
		return false;
	return events[0].revents == 0;
}

void fence_output_finish(struct fence_output *output, int64_t flush_ms, int interrupt_fd)
{
	int64_t stop_at_ms = fence_now_ms() + flush_ms;

	output->draining = true;
	fence_close_fd(&output->slave_fd);
	for (int i = 0; i < 2; i++)
		if (output->streams[i].pipe_fd >= 0)
			take_the_rest(&output->streams[i]);
	do {
		for (int i = 0; i < 2; i++)
			tee_pending(&output->streams[i]);
	} while (fence_output_is_held(output) && wait_for_tees(output, stop_at_ms, interrupt_fd));
	for (int i = 0; i < 2; i++) {
		if (output->streams[i].pending_bytes > 0)
			give_up_tee(&output->streams[i], ETIMEDOUT);
		end_stream(&output->streams[i]);
		free(output->streams[i].pending);
	}
	free(output->chunk);
}
