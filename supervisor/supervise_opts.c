/* The options of fence-supervisor: its own rows, and fence-run's after them. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence/sys.h"
#include "supervisor/supervise.h"

void supervise_conf_init(struct supervise_conf *conf)
{
	*conf = (struct supervise_conf){
		.release_timeout_ms = 30000,
		.executor_pidfd = -1,
		.control_fd = -1,
		.event_fd = -1,
		.null_fd = -1,
	};
	run_conf_init(&conf->run);
}

static int set_attempt(void *conf, const char *value, struct fence_err *err)
{
	if (!fence_marker_is_attempt_id(value))
		return fence_fail_why(err, -EINVAL, "must be 1 to 128 of A-Za-z0-9._-", "\"%s\"",
				      value);
	((struct supervise_conf *)conf)->attempt_id = value;
	return 0;
}

static int set_marker(void *conf, const char *value, struct fence_err *err)
{
	struct fence_marker_path path;

	((struct supervise_conf *)conf)->marker_path = value;
	return fence_marker_path_split(value, &path, err);
}

static int set_format(void *conf, const char *value, struct fence_err *err)
{
	(void)err;
	((struct supervise_conf *)conf)->format =
		(enum fence_marker_format)fence_opt_choice(FENCE_MARKER_FORMATS, value);
	return 0;
}

static int set_durable(void *conf, const char *value, struct fence_err *err)
{
	(void)err;
	((struct supervise_conf *)conf)->durable =
		(enum fence_marker_durable)fence_opt_choice(FENCE_MARKER_DURABLES, value);
	return 0;
}

static int set_release_timeout(void *conf, const char *value, struct fence_err *err)
{
	return fence_opt_duration(value, &((struct supervise_conf *)conf)->release_timeout_ms, err);
}

static int set_control_fd(void *arg, const char *value, struct fence_err *err)
{
	struct supervise_conf *conf = arg;
	long long fd;
	int type;
	socklen_t size = sizeof(type);
	/* 0 to 2 are the command's. */
	int rc = fence_opt_number(value, 3, 1048575, &fd, err);

	if (rc < 0)
		return rc;
	if (getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
		return fence_fail_why(err, -EINVAL, "not an open socket", "%s", value);
	if (type != SOCK_STREAM)
		return fence_fail_why(err, -EINVAL, "not a stream socket", "%s", value);
	conf->control_fd = (int)fd;
	conf->has_socket = true;
	return 0;
}

/* The pidfd is opened at once: later the number could be somebody else's. */
static int set_executor(void *arg, const char *value, struct fence_err *err)
{
	struct supervise_conf *conf = arg;
	long long pid;
	int rc = fence_opt_number(value, 1, INT32_MAX, &pid, err);

	if (rc < 0)
		return rc;
	rc = fence_pidfd_open((pid_t)pid, 0);
	if (rc < 0)
		return fence_fail(err, rc, "%s", value);
	fence_drop_fd(&conf->executor_pidfd);
	conf->executor_pidfd = rc;
	return 0;
}

static const struct fence_opt own_options[] = {
	{ 0, "attempt", "ID", "the attempt: 1 to 128 of A-Za-z0-9._-", .set = set_attempt },
	{ 0, "marker", "PATH", "its marker", .set = set_marker },
	{ 0, "format", "FORMAT", "the marker's format (fence-marker/v1)", .set = set_format,
	  .choices = FENCE_MARKER_FORMATS },
	{ 0, "create", NULL, "make the marker and start at once, without control lines",
	  FENCE_OPT_TRUE(struct supervise_conf, create) },
	{ 0, "control-fd", "N", "control lines and events on this socket, not on 0 and 1",
	  .set = set_control_fd },
	{ 0, "executor", "PID", "end the attempt also when this process ends",
	  .set = set_executor },
	{ 0, "release-timeout", "DURATION", "give up when not released for so long (30s)",
	  .set = set_release_timeout },
	{ 0, "durable", "HOW", "what is synced: file and folder, file, nothing (full)",
	  .set = set_durable, .choices = FENCE_MARKER_DURABLES },
};

const struct fence_cli supervise_cli = {
	.program = "fence-supervisor",
	.summary = "own one attempt for an executor: start it, end it, keep its marker true",
	.operands = "-- COMMAND [ARG...]",
	.opts = own_options,
	.count = sizeof(own_options) / sizeof(own_options[0]),
	.shared = run_options,
	.notes = "Control lines come in on standard input and events go out on standard output,\n"
		 "see fence-protocol(7); with --create there are none.\n"
		 "Exit status: the command's; 75 busy (--create); 77 refused, the command never\n"
		 "ran; 124 a time-out; 125 fence-supervisor failed; 126 the command cannot be\n"
		 "executed; 127 it was not found; 128+N it died of signal N.\n",
};

/* The protocol's own two streams. With --create there is no protocol, unless there is
 * a socket for it. */
static void settle_protocol(struct supervise_conf *conf)
{
	if (conf->has_socket) {
		conf->event_fd = conf->control_fd;
	} else if (!conf->create) {
		conf->control_fd = 0;
		conf->event_fd = 1;
	}
}

int supervise_check(struct supervise_conf *conf, struct fence_err *err)
{
	const char *missing = conf->attempt_id == NULL	  ? "--attempt ID"
			      : conf->marker_path == NULL ? "--marker PATH"
							  : NULL;
	bool record_on_1 =
		(conf->run.result_path != NULL && strcmp(conf->run.result_path, "-") == 0) ||
		conf->run.result_fd == 1 || conf->run.events_fd == 1;

	settle_protocol(conf);
	if (missing != NULL) {
		(void)fence_fail_why(err, -EINVAL, "missing", "%s", missing);
		return fence_hint(err, "see fence-supervisor --help");
	}
	if (conf->event_fd == 1 && record_on_1) {
		(void)fence_fail_why(err, -EINVAL, "the events go there",
				     "result record on standard output");
		return fence_hint(err, "use --result FILE or --control-fd N");
	}
	if (conf->run.leftover == FENCE_LEFTOVER_LEAVE) {
		(void)fence_fail_why(err, -EINVAL, "an attempt ends when nothing of it runs",
				     "--leftover leave");
		return fence_hint(err, "use fence-run for what may outlive its command");
	}
	if (conf->event_fd != 1)
		return 0;
	conf->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return conf->null_fd < 0 ? fence_fail(err, -errno, "open /dev/null") : 0;
}

void supervise_fill_streams(const struct supervise_conf *conf, struct fence_group_plan *plan)
{
	if (conf->event_fd != 1)
		return;
	plan->spawn.stdio[0] = conf->null_fd;
	if (!plan->capture && plan->spawn.stdio[1] < 0) /* --stdout has its own */
		plan->spawn.stdio[1] = 2;
	else if (plan->tee_fd[0] == 1)
		plan->tee_fd[0] = 2;
}
