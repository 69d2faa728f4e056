/* The side monitor: two processes in a session of their own, beside the browser and
 * not above it, so that the client keeps the browser's pid, group and exit status.
 *
 *   keeper    the caller's user: writes evidence where the caller may write
 *   monitor   the browser's user, the keeper's child: drains standard error, proves,
 *             and when the browser has ended ends what is left and cleans up
 *
 * Either notices the other's death: without its monitor the browser is ended by the
 * keeper, since nobody could prove it any more; without its keeper the monitor does
 * all but write evidence. The client's standard error is closed last: end of file on
 * it means that evidence is final and everything is cleaned up. */
#ifndef GUARD_BROWSER_MONITOR_H
#define GUARD_BROWSER_MONITOR_H

#include <stdint.h>

#include "fence/err.h"
#include "guard/browser/evidence.h"
#include "guard/browser/folder.h"
#include "guard/browser/identity.h"
#include "guard/browser/tee.h"

struct launch {
	struct identity identity;
	char root[FOLDER_ROOT_MAX];
	struct evidence_sink sink;
	struct evidence evidence; /* what is known before the start */
	int64_t started_ms;
};

/* Starts both for the calling process, which will execute the browser. All signals
 * must be blocked. On return `ret_stderr_fd` is the pipe that the browser must have
 * as its standard error, and `ret_exec_fd` takes an int, the errno, should execve
 * fail; both are close-on-exec and the caller's. */
int monitor_start(struct launch *launch, int *ret_stderr_fd, int *ret_exec_fd,
		  struct fence_err *err);

#endif
