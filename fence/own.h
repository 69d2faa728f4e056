/* Ownership by declaration: who declares it closes it, unless it is taken.
 *
 *     owned_fd fd = open(path, O_RDONLY | O_CLOEXEC);
 *     owned_mem char *text = NULL;
 *     ...
 *     *ret_fd = fence_take_fd(&fd);
 *
 * The cleanup functions accept "nothing" (-1, NULL) and keep errno. */
#ifndef FENCE_OWN_H
#define FENCE_OWN_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define owned_fd  __attribute__((cleanup(fence_drop_fd))) int
#define owned_mem __attribute__((cleanup(fence_drop_mem)))

static inline void fence_drop_fd(const int *fd)
{
	if (*fd >= 0) {
		int kept = errno;

		(void)close(*fd);
		errno = kept;
	}
}

/* Works for any pointer type: the attribute passes the variable's address. */
static inline void fence_drop_mem(void *address_of_pointer)
{
	int kept = errno;

	free(*(void **)address_of_pointer);
	errno = kept;
}

/* Hands the descriptor over; the variable then owns nothing. */
static inline int fence_take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* Hands the memory over; the variable then owns nothing. */
#define fence_take_mem(pointer)                                                                    \
	__extension__({                                                                            \
		__typeof__(*(pointer)) taken_ = *(pointer);                                        \
		*(pointer) = NULL;                                                                 \
		taken_;                                                                            \
	})

/* Closes what the variable owns now, rather than at the end of its scope. */
static inline void fence_close_fd(int *fd)
{
	fence_drop_fd(fd);
	*fd = -1;
}

#endif
