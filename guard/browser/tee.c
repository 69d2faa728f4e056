#include "guard/browser/tee.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/sys.h"

static int duplicate(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 5);

	return copy < 0 ? -errno : copy;
}

int tee_sink_open(int fd, struct tee_sink *ret)
{
	struct stat st;
	char path[32];
	int own;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = (struct tee_sink){ .kind = TEE_NEVER_BLOCKS, .can_wait = !S_ISREG(st.st_mode) };
	if (S_ISSOCK(st.st_mode))
		ret->kind = TEE_SOCKET;
	if (S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode)) {
		ret->fd = duplicate(fd);
		return ret->fd < 0 ? ret->fd : 0;
	}
	/* O_NONBLOCK on the descriptor that we were given would be set for the client
	 * as well; an opening of our own is not shared. */
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own < 0) {
		ret->kind = TEE_POLL;
		own = duplicate(fd);
	}
	ret->fd = own;
	return own < 0 ? own : 0;
}

void tee_init(struct tee *tee, int from, const struct tee_sink *to)
{
	tee->from = from;
	tee->to = *to;
	tee->is_closed = false;
	tee->start = tee->length = 0;
	tee->read_bytes = tee->dropped_bytes = 0;
}

static ssize_t write_some(const struct tee_sink *to, const char *bytes, size_t count)
{
	struct pollfd ready = { .fd = to->fd, .events = POLLOUT };
	ssize_t put;

	switch (to->kind) {
	case TEE_SOCKET:
		put = send(to->fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
		return put < 0 ? -errno : put;
	case TEE_POLL:
		/* A pipe that polls writable takes PIPE_BUF bytes without blocking. */
		if (poll(&ready, 1, 0) <= 0)
			return -EAGAIN;
		return fence_write_some(to->fd, bytes, count < PIPE_BUF ? count : PIPE_BUF);
	case TEE_NEVER_BLOCKS:
		break;
	}
	return fence_write_some(to->fd, bytes, count);
}

void tee_flush(struct tee *tee)
{
	while (tee->length > 0 && !tee->is_closed) {
		size_t run = TEE_BACKLOG - tee->start;
		ssize_t put = write_some(&tee->to, tee->backlog + tee->start,
					 run < tee->length ? run : tee->length);

		if (put == -EAGAIN || put == -EINTR)
			return;
		if (put < 0) {
			tee->is_closed = true;
			break;
		}
		tee->start = (tee->start + (size_t)put) % TEE_BACKLOG;
		tee->length -= (size_t)put;
	}
	if (tee->is_closed) {
		tee->dropped_bytes += tee->length;
		tee->length = 0;
	}
}

static void add(struct tee *tee, const char *bytes, size_t count)
{
	size_t room = TEE_BACKLOG - tee->length;
	size_t end = (tee->start + tee->length) % TEE_BACKLOG;
	size_t first;

	if (count > room) {
		tee->dropped_bytes += count - room;
		count = room;
	}
	first = TEE_BACKLOG - end < count ? TEE_BACKLOG - end : count;
	memcpy(tee->backlog + end, bytes, first);
	memcpy(tee->backlog, bytes + first, count - first);
	tee->length += count;
}

int tee_step(struct tee *tee)
{
	char bytes[16384];
	ssize_t got = fence_read_some(tee->from, bytes, sizeof(bytes));

	if (got <= 0)
		return (int)got;
	tee->read_bytes += (uint64_t)got;
	add(tee, bytes, (size_t)got);
	tee_flush(tee);
	return (int)got;
}
