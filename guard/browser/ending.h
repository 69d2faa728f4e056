/* What a browser leaves behind when it is gone, and its end: zygotes and their
 * namespaces' first processes, a crash handler that has left the tree. Processes are
 * held by pidfds, so nobody else can be hit. */
#ifndef GUARD_BROWSER_ENDING_H
#define GUARD_BROWSER_ENDING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ENDING_MAX 512

struct ending {
	int pidfds[ENDING_MAX];
	size_t count;
};

/* Adds one process; with `start_ticks` other than 0 only if it is this very one. */
void ending_add(struct ending *ending, int proc_fd, pid_t pid, uint64_t start_ticks);

/* Adds all who descend from it now. */
void ending_add_descendants(struct ending *ending, int proc_fd, pid_t pid);

/* Adds all whose environment names this private root, wherever they are. Only
 * those that we may look into: for the browser's own user. */
void ending_add_by_root(struct ending *ending, int proc_fd, const char *root);

/* Waits for their ends, and after the grace kills. Closes the descriptors. Returns
 * how many outlived even that (for two seconds). */
size_t ending_finish(struct ending *ending, int64_t grace_ms);

#endif
