#include "fence/capture.h"

#include <string.h>

void fence_tail_init(struct fence_tail *tail, size_t size_bytes)
{
	*tail = (struct fence_tail){ .size_bytes = size_bytes };
}

static void add_to_ring(struct fence_tail *tail, uint8_t *ring, const uint8_t *from, size_t count)
{
	size_t first;

	/* Only the last ring-full can be seen afterwards. */
	if (count > tail->size_bytes) {
		from += count - tail->size_bytes;
		count = tail->size_bytes;
	}
	first = tail->size_bytes - tail->at;
	if (first > count)
		first = count;
	memcpy(ring + tail->at, from, first);
	memcpy(ring, from + first, count - first);
	tail->at = (tail->at + count) % tail->size_bytes;
}

void fence_tail_add(struct fence_tail *tail, uint8_t *ring, const void *bytes, size_t count)
{
	if (tail->size_bytes > 0)
		add_to_ring(tail, ring, bytes, count);
	/* Last: what is counted is there, also for a process that shares the memory and is
	 * left with it when we are killed here. */
	__atomic_store_n(&tail->total_bytes, tail->total_bytes + count, __ATOMIC_RELEASE);
}

size_t fence_tail_kept(const struct fence_tail *tail)
{
	return tail->total_bytes < tail->size_bytes ? (size_t)tail->total_bytes : tail->size_bytes;
}

/* Continuation bytes at the front, at most the three that one character can have:
 * more than that is no UTF-8, and is then kept as it came. */
static size_t torn_front(const uint8_t *bytes, size_t count)
{
	size_t torn = 0;

	while (torn < count && torn < 4 && (bytes[torn] & 0xC0) == 0x80)
		torn++;
	return torn < 4 ? torn : 0;
}

size_t fence_tail_copy(const struct fence_tail *tail, const uint8_t *ring, bool utf8_front,
		       uint8_t *ret)
{
	size_t kept = fence_tail_kept(tail);
	bool cut = tail->total_bytes > tail->size_bytes;
	size_t start = cut ? tail->at : 0;
	size_t first = tail->size_bytes - start < kept ? tail->size_bytes - start : kept;
	size_t torn;

	if (kept == 0)
		return 0;
	memcpy(ret, ring + start, first);
	memcpy(ret + first, ring, kept - first);
	torn = utf8_front && cut ? torn_front(ret, kept) : 0;
	memmove(ret, ret + torn, kept - torn);
	return kept - torn;
}

void fence_head_add(struct fence_head *head, uint8_t *memory, const void *bytes, size_t count)
{
	size_t room = head->size_bytes - head->kept_bytes;

	if (count > room)
		count = room;
	if (count == 0)
		return;
	memcpy(memory + head->kept_bytes, bytes, count);
	__atomic_store_n(&head->kept_bytes, head->kept_bytes + count, __ATOMIC_RELEASE);
}

/* The bytes at the end that begin a character and do not end it. */
static size_t torn_back(const uint8_t *bytes, size_t count)
{
	size_t back = 0;
	size_t wanted;

	while (back < count && back < 3 && (bytes[count - 1 - back] & 0xC0) == 0x80)
		back++;
	if (back == count)
		return 0;
	wanted = bytes[count - 1 - back] >= 0xF0   ? 4
		 : bytes[count - 1 - back] >= 0xE0 ? 3
		 : bytes[count - 1 - back] >= 0xC0 ? 2
						   : 1;
	return wanted > back + 1 ? back + 1 : 0;
}

size_t fence_head_before(const struct fence_head *head, const uint8_t *memory,
			 const struct fence_tail *tail, uint64_t *ret_omitted)
{
	uint64_t before = tail->total_bytes - fence_tail_kept(tail);
	size_t kept = before < head->kept_bytes ? (size_t)before : head->kept_bytes;

	if (before > kept)
		kept -= torn_back(memory, kept);
	*ret_omitted = before - kept;
	return kept;
}
