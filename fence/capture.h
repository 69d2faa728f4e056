/* Bounded capture of a command's output: the last N bytes of a stream, every
 * byte counted, memory constant whatever comes. The command writes into a pipe;
 * we always drain it, so it can never block on us. */
#ifndef FENCE_CAPTURE_H
#define FENCE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A ring over memory that somebody else owns (for a group: memory that it
 * shares with its launcher, so what was captured survives the monitor). */
struct fence_tail {
	uint64_t total_bytes; /* everything that ever came */
	size_t size_bytes;    /* the ring's */
	size_t at;	      /* where the next byte goes */
};

void fence_tail_init(struct fence_tail *tail, size_t size_bytes);
void fence_tail_add(struct fence_tail *tail, uint8_t *ring, const void *bytes, size_t count);

/* How much of it is kept: min(total, size). */
size_t fence_tail_kept(const struct fence_tail *tail);

/* The first bytes of a stream, over memory that somebody else owns. */
struct fence_head {
	size_t size_bytes;
	size_t kept_bytes;
};

void fence_head_add(struct fence_head *head, uint8_t *memory, const void *bytes, size_t count);

/* How much of a head is not in the tail as well, so that head and tail after each other are
 * the stream, `*ret_omitted` bytes left out between them. When there is such a gap, a
 * character that lost its last bytes to it is left out too. */
size_t fence_head_before(const struct fence_head *head, const uint8_t *memory,
			 const struct fence_tail *tail, uint64_t *ret_omitted);

/* Copies the kept bytes in order into `ret` (room for size_bytes) and returns
 * their count; with `utf8_front`, a character that lost its first bytes to the
 * ring is left out at the front. */
size_t fence_tail_copy(const struct fence_tail *tail, const uint8_t *ring, bool utf8_front,
		       uint8_t *ret);

#endif
