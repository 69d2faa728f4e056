/* Drains the browser's standard error and passes it on byte for byte. Reading never
 * stops, so the browser can never block on us; when the client's end does not take
 * the bytes, what exceeds a bounded backlog is dropped and counted. */
#ifndef GUARD_BROWSER_TEE_H
#define GUARD_BROWSER_TEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEE_BACKLOG (256u << 10)

enum tee_kind {
	TEE_NEVER_BLOCKS, /* a file, or our own non-blocking opening of a pipe or terminal */
	TEE_SOCKET,
	TEE_POLL, /* shared with others and blocking: ask before each small write */
};

struct tee_sink {
	int fd;
	enum tee_kind kind;
	bool can_wait; /* epoll may watch it */
};

/* A close-on-exec descriptor for what `fd` writes to, without changing the flags of
 * the open file that the client shares. For the caller's own uid. -errno. */
int tee_sink_open(int fd, struct tee_sink *ret);

struct tee {
	int from; /* non-blocking */
	struct tee_sink to;
	bool is_closed; /* the client's end is gone: drop everything */
	size_t start, length;
	uint64_t read_bytes, dropped_bytes;
	char backlog[TEE_BACKLOG];
};

void tee_init(struct tee *tee, int from, const struct tee_sink *to);

/* Reads what there is, once, and passes it on: the count, 0 at the end of file,
 * -EAGAIN when there is nothing now. */
int tee_step(struct tee *tee);

/* Writes what it can of the backlog. */
void tee_flush(struct tee *tee);

#endif
