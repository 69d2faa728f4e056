/* The lines of --status-fd: fence-guard-status/v1. */
#ifndef GUARD_CONFINE_RECORD_H
#define GUARD_CONFINE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "fence/reap.h"
#include "guard/confine/apply.h"
#include "guard/confine/report.h"

struct guard_exec_record {
	pid_t pid; /* the command's, as the launcher sees it; 0: not known */
	pid_t init_pid;
	bool proc_masked;
	enum guard_layer landlock;
	struct guard_names absent_denied;
	struct guard_names placeholders;
	struct guard_names git;		 /* repositories, and of each */
	int git_rcs[GUARD_PRIVATES_MAX]; /* 0: the command has a copy; else -errno */
	struct guard_names discarded;	 /* of them, what was done in it, and of each */
	struct guard_names kept;	 /* the folder that has it; "": none */
	struct guard_names kept_why;	 /* why there is none, or not all is in it; "" */
	struct guard_leftover leftover;
};

/* Each writes one line and returns 0 or -errno. */
int guard_record_failure(int fd, const struct guard_report *report);
int guard_record_exec(int fd, const struct guard_confine *confine,
		      const struct guard_exec_record *record);
int guard_record_exit(int fd, const struct fence_exit *how, const struct guard_limits *limits,
		      const struct guard_exec_record *record, const struct rusage *usage,
		      int64_t wall_ms);

#endif
