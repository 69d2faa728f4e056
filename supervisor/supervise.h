/* What fence-supervisor is asked for. */
#ifndef SUPERVISOR_SUPERVISE_H
#define SUPERVISOR_SUPERVISE_H

#include <stdbool.h>

#include "fence/group.h"
#include "fence/marker.h"
#include "fence/opts.h"
#include "supervisor/run.h"

struct supervise_conf {
	struct run_conf run; /* the shared rows fill it, so it comes first */
	const char *attempt_id;
	const char *marker_path;
	enum fence_marker_format format;
	enum fence_marker_durable durable;
	bool create;
	long long release_timeout_ms; /* 0: none */
	int executor_pidfd;	      /* -1: none was named */
	bool has_socket;	      /* --control-fd was given */

	/* After supervise_check. */
	int control_fd; /* -1: there are no control lines */
	int event_fd;	/* -1: there are no events */
	int null_fd;	/* what the command reads then; -1: what we do */
};

extern const struct fence_cli supervise_cli;

void supervise_conf_init(struct supervise_conf *conf);

/* What the options say together, and the two descriptors of the protocol: -EINVAL. */
int supervise_check(struct supervise_conf *conf, struct fence_err *err);

/* Standard input and output are the protocol's: the command gets /dev/null and our
 * standard error instead. */
void supervise_fill_streams(const struct supervise_conf *conf, struct fence_group_plan *plan);

#endif
