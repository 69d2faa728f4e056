/* Shared by the keeper and the monitor; nobody else's. */
#ifndef GUARD_BROWSER_MONITOR_INT_H
#define GUARD_BROWSER_MONITOR_INT_H

#include "guard/browser/monitor.h"

/* What both are born with. */
struct monitor_fds {
	int browser_pidfd;
	int stderr_fd; /* read end of the browser's standard error */
	int exec_fd;   /* end of file: executed; an int: the errno */
	int ready_fd;  /* one byte: both are ready */
	int link_fd;   /* between the two: records */
	struct tee_sink client;
};

/* Closes every descriptor but these (in any order, -1 is none) and the standard
 * ones, which become /dev/null: a client must not wait for our copies. */
int monitor_keep_only(const int *fds, size_t count);

/* The monitor's life. Never returns. */
_Noreturn void monitor_run(struct launch *launch, const struct monitor_fds *fds);

#endif
