/* fence-run: run one command as a group, end all of it, say how it went.
 *
 * The order of main matters: signals are taken over first, so that none is lost
 * and none has a disposition that somebody else chose; then descriptors 0 to 2
 * exist; then options are read, while every open descriptor is still the
 * caller's; then everything that can be refused is refused; then the command is
 * started. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/err.h"
#include "fence/group.h"
#include "fence/loop.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "supervisor/run.h"

#define PROGRAM	   "fence-run"
#define OUR_FAULT  125
#define TEXT_BYTES (32 * 1024)

extern char **environ;

struct run {
	struct run_conf conf;
	char *const *argv;
	char **env;
	sigset_t old_mask;
	bool ignores_hangup; /* started by nohup(1) */
	int log_fd;
	struct run_record_file record_file;
	char file[PATH_MAX];
	char started_at[25];
	struct fence_group_plan plan;
	struct fence_group *group;
	struct fence_loop loop;
	struct fence_watch signal_watch, group_watch;
	bool stopping;
	unsigned int urgent; /* INT and TERM so far */
	struct fence_err err;
};

static int complain(const struct fence_err *err)
{
	char line[1200];
	size_t length = fence_err_line(err, PROGRAM, line, sizeof(line));

	(void)fence_write_full(2, line, length);
	return OUR_FAULT;
}

/* One line for a person; -q wants none. */
static void __attribute__((format(printf, 2, 3)))
say(const struct run *run, const char *format, ...)
{
	char line[1024];
	va_list args;
	int length;

	if (run->conf.quiet)
		return;
	va_start(args, format);
	length = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (length < 0)
		return;
	dprintf(2, PROGRAM ": %s\n", line);
}

/* --- signals ------------------------------------------------------------------------ */

static void wanted_signals(const struct run *run, sigset_t *ret)
{
	/* SIGCHLD: the command may have stopped the monitor. */
	static const int read_here[] = {
		SIGINT,	  SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2,
		SIGWINCH, SIGALRM, SIGCONT, SIGTSTP, SIGCHLD,
	};

	(void)sigemptyset(ret);
	for (size_t i = 0; i < sizeof(read_here) / sizeof(read_here[0]); i++)
		(void)sigaddset(ret, read_here[i]);
	if (!run->ignores_hangup)
		(void)sigaddset(ret, SIGHUP);
	/* Real-time signals by the kernel's count; the two below are a threads library's. */
	for (int sig = 34; sig <= FENCE_SIGNAL_MAX; sig++)
		fence_sigset_add(ret, sig);
}

/* INT, TERM, HUP and QUIT ask for the end: the command hears the very signal that
 * we got, and has the grace from then on. INT or TERM again means at once. */
static int asked_to_end(struct run *run, int sig)
{
	if (sig == SIGINT || sig == SIGTERM)
		run->urgent++;
	if (run->stopping && run->urgent >= 2)
		return fence_group_stop(run->group, FENCE_CAUSE_SUPERVISOR_SIGNAL);
	if (run->stopping)
		return fence_group_signal(run->group, sig);
	run->stopping = true;
	return fence_group_stop_with(run->group, FENCE_CAUSE_SUPERVISOR_SIGNAL, sig);
}

static int pass_on(struct run *run, int sig)
{
	int rc;

	if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT)
		return asked_to_end(run, sig);
	if (sig == SIGCHLD)
		return fence_group_wake(run->group);
	rc = fence_group_signal(run->group, sig);
	/* The shell that sent it waits for us to stop. CONT wakes us, blocked or not,
	 * and is then read here like any other. */
	if (sig == SIGTSTP)
		(void)kill(getpid(), SIGSTOP);
	return rc;
}

static int signal_came(void *arg, uint32_t events)
{
	struct run *run = arg;
	struct signalfd_siginfo info;
	ssize_t got = fence_read_some(run->signal_watch.fd, &info, sizeof(info));

	(void)events;
	if (got != sizeof(info))
		return 0;
	return pass_on(run, (int)info.ssi_signo);
}

static int group_spoke(void *arg, uint32_t events)
{
	struct run *run = arg;

	(void)events;
	return fence_group_step(run->group, NULL, 0, &run->err);
}

/* --- the run ------------------------------------------------------------------------- */

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

static int check_dir(struct run *run)
{
	owned_fd fd = -1;

	if (run->conf.dir == NULL)
		return 0;
	fd = open(run->conf.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? fence_fail(&run->err, -errno, "change directory to %s", run->conf.dir) : 0;
}

static void fill_plan(struct run *run)
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
	plan->capture = run_reads_output(conf);
	plan->tail_bytes = conf->captures ? (size_t)conf->tail_bytes : 0;
	plan->log_fd = run->log_fd;
	for (int i = 0; i < 2 && run_passes_output(conf); i++)
		plan->tee_fd[i] = i + 1;
}

/* Everything that can be refused before anything runs. */
static int prepare(struct run *run)
{
	int rc = run_conf_check(&run->conf, &run->err);

	if (rc == 0)
		rc = check_dir(run);
	if (rc == 0)
		rc = run_record_prepare(&run->conf, &run->record_file, &run->err);
	if (rc == 0)
		rc = open_log(run, &run->log_fd);
	if (rc == 0)
		rc = run_env_build(&run->conf, environ, &run->env, &run->err);
	return rc;
}

static int watch(struct run *run)
{
	sigset_t wanted;
	int fd;
	int rc;

	wanted_signals(run, &wanted);
	fd = fence_signals_take(&wanted, NULL);
	if (fd < 0)
		return fence_fail(&run->err, fd, "watch signals");
	run->signal_watch = (struct fence_watch){ .fd = -1, .ready = signal_came, .arg = run };
	run->group_watch = (struct fence_watch){ .fd = -1, .ready = group_spoke, .arg = run };
	rc = fence_loop_open(&run->loop);
	if (rc == 0)
		rc = fence_loop_add(&run->loop, &run->signal_watch, fd, EPOLLIN);
	if (rc == 0)
		rc = fence_loop_add(&run->loop, &run->group_watch, fence_group_fd(run->group),
				    EPOLLIN);
	return rc < 0 ? fence_fail(&run->err, rc, "watch the command") : 0;
}

/* --- what we say --------------------------------------------------------------------- */

static void add_processes(struct fence_text *text, const pid_t *pids, const char (*names)[16],
			  unsigned int count)
{
	unsigned int shown = count < 8 ? count : 8;

	for (unsigned int i = 0; i < shown; i++) {
		fence_text_add(text, "%s", i == 0 ? "" : ", ");
		if (names != NULL)
			fence_text_add_safe(text, names[i], strnlen(names[i], sizeof(names[i])));
		fence_text_add(text, names != NULL ? " (%d)" : "%d", (int)pids[i]);
	}
	if (count > shown)
		fence_text_add(text, " and %u more", count - shown);
}

static void say_leftover(const struct run *run, const struct fence_group_result *result)
{
	char buf[512];
	struct fence_text text;

	fence_text_init(&text, buf, sizeof(buf));
	add_processes(&text, result->leftover_pids, (const char(*)[16])result->leftover_names,
		      result->leftover_count);
	say(run, "%s what the command left behind: %s",
	    run->conf.leftover == FENCE_LEFTOVER_WAIT ? "waited for" : "ended", buf);
}

static void say_leak(const struct run *run, const struct fence_group_result *result)
{
	char buf[512];
	struct fence_text text;

	fence_text_init(&text, buf, sizeof(buf));
	add_processes(&text, result->holder_pids, NULL, result->holder_count);
	say(run, "output was still held open after the command had exited, by %s",
	    result->holder_count > 0 ? buf : "a process that cannot be looked into");
}

static void say_survivors(const struct fence_group_result *result)
{
	struct fence_err err = { 0 };
	char buf[512];
	struct fence_text text;

	fence_text_init(&text, buf, sizeof(buf));
	add_processes(&text, result->survivor_pids, NULL, result->survivor_count);
	(void)fence_fail_why(&err, -EPERM, "KILL did not end it", "end process %s", buf);
	(void)fence_hint(&err, "it belongs to another user, or waits in the kernel for a device");
	(void)complain(&err);
}

/* A reader that has gone away, as head(1) does, is no news. */
static void say_tee(const struct run *run, int stream, int error)
{
	if (error == 0 || error == EPIPE)
		return;
	say(run, "write to standard %s: %s; what follows is not there",
	    stream == 0 ? "output" : "error",
	    error == ETIMEDOUT ? "its reader was too slow" : fence_errno_words(error));
}

static void say_result(const struct run *run, const struct fence_group_result *result)
{
	if (result->survivor_count > 0)
		say_survivors(result);
	if (result->monitor_lost)
		say(run, "the monitor was killed; the command and all that it started were ended");
	if (result->cause == FENCE_CAUSE_TIMEOUT)
		say(run, "the command was ended: it ran longer than %lld ms", run->conf.timeout_ms);
	if (result->cause == FENCE_CAUSE_IDLE_TIMEOUT)
		say(run, "the command was ended: no output for %lld ms", run->conf.idle_timeout_ms);
	if (result->leftover_count > 0)
		say_leftover(run, result);
	if (result->leaked)
		say_leak(run, result);
	if (result->log_errno != 0)
		say(run, "write log %s: %s; what follows is not in it", run->conf.log_path,
		    fence_errno_words(result->log_errno));
	for (int i = 0; i < 2; i++)
		say_tee(run, i, result->tee_errno[i]);
}

static void say_not_started(const struct run *run, const struct fence_group_result *result)
{
	struct fence_err err = { 0 };
	const char *step = fence_spawn_step_name(result->failed_step);

	if (result->monitor_lost) {
		(void)fence_fail_why(&err, -ECANCELED, "the monitor was killed", "start %s",
				     run->argv[0]);
		(void)complain(&err);
		return;
	}
	if (result->failed_step == FENCE_SPAWN_STEP_EXEC)
		(void)fence_fail(&err, -result->failed_errno, "%s %s", step, run->argv[0]);
	else
		(void)fence_fail(&err, -result->failed_errno, "%s for %s", step, run->argv[0]);
	if (result->failed_errno == ENOENT && run->file[0] != '\0')
		(void)fence_hint(&err, "the file is there, but its interpreter is not");
	else if (result->failed_errno == ENOENT)
		(void)fence_hint(&err, "check the name and PATH");
	else if (result->failed_errno == ENOEXEC)
		(void)fence_hint(&err, "give a script a first line like #!/bin/sh");
	(void)complain(&err);
}

/* --- the record ---------------------------------------------------------------------- */

static int finish(struct run *run, const struct fence_group_result *result)
{
	struct run_record record = {
		.conf = &run->conf,
		.argv = run->argv,
		.result = result,
		.exit_status = run_exit_status(&run->conf, result),
	};
	uint8_t *tails[2] = { NULL, NULL };
	int rc = 0;

	memcpy(record.started_at, run->started_at, sizeof(record.started_at));
	for (int i = 0; i < 2 && rc == 0 && run->conf.captures && run->group != NULL; i++) {
		rc = fence_group_tail(run->group, i, &tails[i], &record.tail_bytes[i]);
		record.tails[i] = tails[i];
	}
	if (rc == 0)
		rc = run_record_write(&record, &run->record_file, &run->err);
	else
		(void)fence_fail(&run->err, rc, "write the result");
	free(tails[0]);
	free(tails[1]);
	if (rc < 0)
		return complain(&run->err);
	return record.exit_status;
}

/* No such command: there is a record of that as well. */
static int not_found(struct run *run, int error)
{
	struct fence_group_result result = {
		.cause = FENCE_CAUSE_NOT_STARTED,
		.reap = FENCE_REAP_NO_SESSION,
		.contain = FENCE_CONTAIN_SUBREAPER,
		.failed_step = FENCE_SPAWN_STEP_EXEC,
		.failed_errno = -error,
	};

	if (error == -ENOENT)
		run->file[0] = '\0';
	say_not_started(run, &result);
	return finish(run, &result);
}

static int run_command(struct run *run)
{
	const struct fence_group_result *result;
	int rc = prepare(run);

	if (rc < 0)
		return complain(&run->err);
	/* For the record alone: it makes the C library read the time zone's file. */
	if (run->conf.result_path != NULL || run->conf.result_fd >= 0)
		fence_wall_stamp(run->started_at);
	rc = fence_spawn_find(run->argv[0], run_env_get(run->env, "PATH"), run->conf.dir, run->file,
			      sizeof(run->file));
	if (rc < 0)
		return not_found(run, rc);
	fill_plan(run);
	rc = fence_group_start(&run->plan, &run->group, &run->err);
	if (rc == 0)
		rc = watch(run);
	if (rc == 0)
		rc = fence_loop_run(&run->loop);
	if (rc != 1) {
		if (run->err.code == 0)
			(void)fence_fail(&run->err, rc, "watch the command");
		fence_group_free(run->group);
		return complain(&run->err);
	}
	result = fence_group_result(run->group);
	if (result->cause == FENCE_CAUSE_NOT_STARTED)
		say_not_started(run, result);
	else
		say_result(run, result);
	return finish(run, result);
}

static bool is_ignored(int sig)
{
	struct sigaction action;

	return sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Reads the options: 0 go on, else the exit status plus one. */
static int read_options(struct run *run, int argc, char **argv)
{
	/* On the heap, which is not touched before it is used. */
	owned_mem char *buf = malloc(TEXT_BYTES);
	struct fence_text text;
	int rest;
	int rc;

	if (buf == NULL)
		return complain(&(struct fence_err){ .code = -ENOMEM, .what = "start" }) + 1;
	fence_text_init(&text, buf, TEXT_BYTES);
	run_conf_init(&run->conf);
	rc = fence_opts_parse(&run_cli, argc, argv, &run->conf, &rest, &text, &run->err);
	if (rc == FENCE_OPTS_TEXT) {
		rc = fence_write_full(1, text.buf, text.length_bytes);
		if (rc < 0)
			(void)fence_fail(&run->err, rc, "write to standard output");
		return rc < 0 ? complain(&run->err) + 1 : 1;
	}
	if (rc == FENCE_OPTS_PARSED && rest >= argc) {
		rc = fence_fail_why(&run->err, -EINVAL, "none was given", "run a command");
		(void)fence_hint(&run->err, "use " PROGRAM " [options] -- COMMAND [ARG...]");
	}
	if (rc < 0)
		return complain(&run->err) + 1;
	run->argv = argv + rest;
	return 0;
}

int main(int argc, char **argv)
{
	static struct run run = { .log_fd = -1, .record_file = { .dir_fd = -1 } };
	int rc = fence_group_prepare(&run.old_mask, &run.err);

	if (rc == 0 && (rc = fence_fix_stdio()) < 0)
		(void)fence_fail(&run.err, rc, "open /dev/null");
	if (rc < 0)
		return complain(&run.err);
	run.ignores_hangup = is_ignored(SIGHUP);
	rc = read_options(&run, argc, argv);
	return rc != 0 ? rc - 1 : run_command(&run);
}
