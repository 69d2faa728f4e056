/* A run's beginning, its signals and its loop. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "fence/sys.h"
#include "supervisor/run.h"

#define TEXT_BYTES (32 * 1024)

static bool is_ignored(int sig)
{
	struct sigaction action;

	return sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int run_begin(struct run *run, const char *program)
{
	int rc;

	run->program = program;
	run->log_fd = -1;
	run->events.fd = -1;
	run_terminal_init(&run->terminal);
	run->record_file.dir_fd = -1;
	rc = fence_group_prepare(&run->old_mask, &run->err);
	if (rc == 0 && (rc = fence_fix_stdio()) < 0)
		(void)fence_fail(&run->err, rc, "open /dev/null");
	run->ignores_hangup = is_ignored(SIGHUP);
	return rc;
}

int run_read_options(struct run *run, const struct fence_cli *cli, void *conf, int argc,
		     char **argv)
{
	/* On the heap, which is not touched before it is used. */
	owned_mem char *buf = malloc(TEXT_BYTES);
	struct fence_text text;
	int rest;
	int rc;

	if (buf == NULL)
		return run_complain(run, &(struct fence_err){ .code = -ENOMEM, .what = "start" }) +
		       1;
	fence_text_init(&text, buf, TEXT_BYTES);
	rc = fence_opts_parse(cli, argc, argv, conf, &rest, &text, &run->err);
	if (rc == FENCE_OPTS_TEXT) {
		rc = fence_write_full(1, text.buf, text.length_bytes);
		if (rc < 0)
			(void)fence_fail(&run->err, rc, "write to standard output");
		return rc < 0 ? run_complain(run, &run->err) + 1 : 1;
	}
	if (rc == FENCE_OPTS_PARSED && rest >= argc) {
		rc = fence_fail_why(&run->err, -EINVAL, "none was given", "run a command");
		(void)fence_hint(&run->err, "use %s [options] -- COMMAND [ARG...]", run->program);
	}
	if (rc < 0)
		return run_complain(run, &run->err) + 1;
	run->argv = argv + rest;
	return 0;
}

/* --- signals ------------------------------------------------------------------------ */

static void wanted_signals(const struct run *run, sigset_t *ret)
{
	/* SIGCHLD: the command may have stopped the monitor, or a stranger died. */
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

static int pass_on(struct run *run, int sig, bool from_terminal)
{
	bool ends = sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
	int rc;

	if (run->group == NULL)
		return ends ? RUN_UNWANTED : 0;
	if (run_terminal_delivered(run, sig, from_terminal))
		return 0;
	if (ends)
		return asked_to_end(run, sig);
	if (sig == SIGCHLD) {
		fence_group_reap_strangers(run->group);
		return fence_group_wake(run->group);
	}
	/* The new size is news enough: the kernel tells who is on that terminal. */
	if (sig == SIGWINCH && run->conf.pty && from_terminal) {
		run_pty_resize(&run->terminal.pty);
		return 0;
	}
	rc = fence_group_signal(run->group, sig);
	/* The shell that sent it waits for us to stop. CONT wakes us, blocked or not,
	 * and is then read here like any other. */
	if (sig == SIGTSTP && !run->conf.foreground)
		run_terminal_stop(run, SIGSTOP);
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
	return pass_on(run, (int)info.ssi_signo, info.ssi_code == SI_KERNEL);
}

static int group_spoke(void *arg, uint32_t events)
{
	struct run *run = arg;

	(void)events;
	return fence_group_step(run->group, NULL, 0, &run->err);
}

/* --- the loop --------------------------------------------------------------------- */

int run_watch_signals(struct run *run)
{
	sigset_t wanted;
	int fd;
	int rc;

	wanted_signals(run, &wanted);
	fd = fence_signals_take(&wanted, NULL);
	if (fd < 0)
		return fence_fail(&run->err, fd, "watch signals");
	run->signal_watch = (struct fence_watch){ .fd = -1, .ready = signal_came, .arg = run };
	rc = fence_loop_open(&run->loop);
	if (rc == 0)
		rc = fence_loop_add(&run->loop, &run->signal_watch, fd, EPOLLIN);
	run->events.loop = &run->loop;
	return rc < 0 ? fence_fail(&run->err, rc, "watch signals") : 0;
}

int run_watch_group(struct run *run)
{
	int rc;

	run->group_watch = (struct fence_watch){ .fd = -1, .ready = group_spoke, .arg = run };
	rc = fence_loop_add(&run->loop, &run->group_watch, fence_group_fd(run->group), EPOLLIN);
	return rc < 0 ? fence_fail(&run->err, rc, "watch the command") : 0;
}
