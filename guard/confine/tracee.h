/* A process that stands in a system call, looked at from outside: what its arguments
 * point to, and what a path means to it. What is read may be changed by others at once:
 * good for telling, never for deciding. */
#ifndef GUARD_CONFINE_TRACEE_H
#define GUARD_CONFINE_TRACEE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes of its memory: how many, at most `size_bytes`, could be read. */
size_t guard_tracee_read(pid_t pid, uint64_t address, void *ret, size_t size_bytes);
/* A string, cut to what fits: false when there is none. */
bool guard_tracee_string(pid_t pid, uint64_t address, char *ret, size_t size_bytes);

/* Its name, as comm(5) has it; "?" when it is gone. */
void guard_tracee_name(pid_t pid, char ret[17]);
/* It is process 1 of its pid namespace. */
bool guard_tracee_is_init(pid_t pid);
/* Its /proc shows a process of that number: 1 yes, 0 no, -1 that cannot be told. */
int guard_tracee_sees(pid_t pid, pid_t other);

struct guard_tracee_path {
	char text[PATH_MAX]; /* absolute; without links, as far as it exists */
	bool exists;
	bool has_folder; /* what it lies in exists */
	bool is_special; /* it exists and is a device, a FIFO or a socket */
	bool is_whole;	 /* `text` is it, and not only as it was written */
};

/* `path` as the process means it, relative to its descriptor `dir_fd` (AT_FDCWD: its
 * working directory). `follow`: its last part, too. False: nothing is known of it. */
bool guard_tracee_path(pid_t pid, int dir_fd, const char *path, bool follow,
		       struct guard_tracee_path *ret);

#endif
