/* A run's plan: what was asked for, made ready, or refused. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fence/clock.h"
#include "supervisor/run.h"

extern char **environ;

static int open_log(struct run *run, int *ret)
{
	const char *path = run->conf.log_path;

	*ret = -1;
	if (path == NULL)
		return 0;
	/* Non-blocking, so that a pipe without a reader is an error and no wait. */
	*ret = open(path,
		    O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		    0666);
	return *ret < 0 ? fence_fail(&run->err, -errno, "open log %s", path) : 0;
}

/* In a session of its own the command could read what is typed for whoever has the
 * terminal now, since the kernel asks only the terminal's own session to wait. So what is
 * started in the background reads nothing, as a shell without job control has it. */
static bool is_behind_others(void)
{
	pid_t owner = tcgetpgrp(0);

	return owner > 0 && owner != getpgrp();
}

/* For the command itself, as a shell's > would open it. */
static int open_streams(struct run *run)
{
	run->stdin_fd = -1;
	if (!run->conf.foreground && !run->conf.pty && is_behind_others()) {
		run->stdin_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (run->stdin_fd < 0)
			return fence_fail(&run->err, -errno, "open /dev/null");
	}
	for (int i = 0; i < 2; i++) {
		const char *path = run->conf.stream_paths[i];

		run->stream_fds[i] = -1;
		if (path == NULL)
			continue;
		if (i == 1 && run->conf.stream_paths[0] != NULL &&
		    strcmp(path, run->conf.stream_paths[0]) == 0)
			run->stream_fds[1] = fcntl(run->stream_fds[0], F_DUPFD_CLOEXEC, 3);
		else
			run->stream_fds[i] =
				open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC,
				     0666);
		if (run->stream_fds[i] < 0)
			return fence_fail(&run->err, -errno, "open %s", path);
	}
	return 0;
}

static int check_dir(struct run *run)
{
	owned_fd fd = -1;

	if (run->conf.dir == NULL)
		return 0;
	fd = open(run->conf.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? fence_fail(&run->err, -errno, "change directory to %s", run->conf.dir) : 0;
}

static void group_told(void *arg, const struct fence_group_event *event)
{
	run_tell(arg, event);
	run_terminal_told(arg, event);
}

void run_fill_plan(struct run *run)
{
	const struct run_conf *conf = &run->conf;
	struct fence_group_plan *plan = &run->plan;

	fence_group_plan_init(plan);
	plan->spawn.file = run->file;
	plan->spawn.argv = run->argv;
	plan->spawn.envp = run->env;
	plan->spawn.dir = conf->dir;
	plan->spawn.umask = conf->umask;
	plan->spawn.keep_fds = conf->keep_fds;
	plan->spawn.keep_count = conf->keep_count;
	plan->spawn.keep_signals = conf->keep_signals;
	plan->spawn.mask = &run->old_mask;
	plan->timeout_ms = conf->timeout_ms;
	plan->idle_timeout_ms = conf->idle_timeout_ms;
	plan->grace_ms = conf->grace_ms;
	plan->term_scope = conf->term_scope;
	plan->leftover = conf->leftover;
	/* The best that lets go of what is left. */
	plan->contain =
		conf->leftover == FENCE_LEFTOVER_LEAVE ? FENCE_GROUP_SUBREAPER : conf->contain;
	plan->capture = run_reads_output(conf);
	plan->tail_bytes = conf->captures ? (size_t)conf->tail_bytes : 0;
	plan->log_fd = run->log_fd;
	plan->cpu_timeout_ms = conf->cpu_timeout_ms;
	plan->boottime = conf->boottime;
	plan->head_bytes = (size_t)conf->head_bytes;
	plan->spawn.nice = (int)conf->nice;
	plan->spawn.limits = conf->limits;
	plan->spawn.limit_count = conf->limit_count;
	for (int i = 0; i < 2 && run_passes_output(conf); i++)
		plan->tee_fd[i] = i + 1;
	plan->spawn.stdio[0] = run->stdin_fd;
	for (int i = 0; i < 2; i++)
		plan->spawn.stdio[i + 1] = run->stream_fds[i];
	if (conf->events_fd >= 0 || conf->foreground) {
		plan->told = group_told;
		plan->arg = run;
	}
}

int run_prepare(struct run *run)
{
	int rc = run_conf_check(&run->conf, &run->err);

	run->events.fd = run->conf.events_fd;
	if (rc == 0)
		rc = check_dir(run);
	if (rc == 0)
		rc = run_record_prepare(&run->conf, &run->record_file, &run->err);
	if (rc == 0)
		rc = open_log(run, &run->log_fd);
	if (rc == 0)
		rc = open_streams(run);
	if (rc == 0)
		rc = run_env_build(&run->conf, environ, &run->env, &run->err);
	/* For the record alone: it makes the C library read the time zone's file. */
	if (rc == 0 && (run->conf.result_path != NULL || run->conf.result_fd >= 0))
		fence_wall_stamp(run->started_at);
	return rc;
}

int run_find(struct run *run)
{
	return fence_spawn_find(run->argv[0], run_env_get(run->env, "PATH"), run->conf.dir,
				run->file, sizeof(run->file));
}

void run_not_found(struct run *run, int error, struct fence_group_result *ret)
{
	*ret = (struct fence_group_result){
		.cause = FENCE_CAUSE_NOT_STARTED,
		.reap = FENCE_REAP_NO_SESSION,
		.contain = FENCE_CONTAIN_SUBREAPER,
		.failed_step = FENCE_SPAWN_STEP_EXEC,
		.failed_errno = -error,
	};
	if (error == -ENOENT)
		run->file[0] = '\0';
	run_say_result(run, ret);
}
