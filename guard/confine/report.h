/* What init tells the launcher, one packet each over a socket pair. */
#ifndef GUARD_CONFINE_REPORT_H
#define GUARD_CONFINE_REPORT_H

#include <stdbool.h>
#include <sys/types.h>

#include "fence/err.h"
#include "fence/reap.h"
#include "guard/confine/leftover.h"
#include "guard/confine/plan.h"

enum guard_report_kind {
	GUARD_REPORT_FAILED,	  /* nothing was started: stage, status, err, path */
	GUARD_REPORT_ABSENT,	  /* a denied path that does not exist: path */
	GUARD_REPORT_PLACEHOLDER, /* made for a protected path that does not exist: path */
	GUARD_REPORT_GIT,	  /* a repository: path; status 0 it is a copy, else -errno */
	GUARD_REPORT_STARTED,	  /* with a pidfd of the command beside it */
	GUARD_REPORT_STOPPED,	  /* the command was stopped: status is the signal */
	GUARD_REPORT_DISCARDED,	  /* a copy that something was done in, with what was written
				   * beside it: path; err.why: its stash; status -errno: it
				   * could not be handed over */
	GUARD_REPORT_GROUPLESS,	  /* the command's process group is empty, others run on */
	GUARD_REPORT_ENDED,	  /* how, leftover */
};

struct guard_report {
	enum guard_report_kind kind;
	int status;		   /* FAILED: what to exit with; GIT */
	bool proc_masked;	   /* STARTED */
	enum guard_layer landlock; /* STARTED */
	struct fence_exit how;
	struct guard_leftover leftover; /* known only if the record is asked for */
	struct fence_err err;
	char stage[32];
	char path[1024]; /* cut when longer */
};

/* 0 or -errno. `fd_too` goes with it; -1: none. Does not block for long: the
 * launcher does nothing but read. */
int guard_report_send(int sock, const struct guard_report *report, int fd_too);

/* 1: one came, with an owned descriptor or -1; 0: none now; -EPIPE: no more ever. */
int guard_report_take(int sock, struct guard_report *ret, int *ret_fd);

#endif
