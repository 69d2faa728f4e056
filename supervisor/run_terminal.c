/* A command that shares our terminal, and what all three ways to deal with one have in
 * common.
 *
 * With --foreground the terminal itself tells the command of ^C, ^\ and ^Z, since it is
 * in the same process group. We have them as well and do nothing: a program that goes on
 * after ^C is no run that was asked to end. What comes from a process is another matter,
 * and is passed on. A stop is the command's own affair too; when it has stopped, the
 * monitor says so, and we stop by the same signal, so that the shell sees what it would
 * see without us. */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/sys.h"
#include "fence/tree.h"
#include "supervisor/run.h"

bool run_is_background(int fd)
{
	pid_t owner = tcgetpgrp(fd);

	return owner >= 0 && owner != getpgrp();
}

/* --- before and after ------------------------------------------------------------------- */

static void remember_mode(struct run_foreground *foreground)
{
	foreground->fd = -1;
	for (int fd = 0; fd < 3; fd++) {
		if (tcgetpgrp(fd) != getpgrp() || tcgetattr(fd, &foreground->mode) < 0)
			continue;
		foreground->fd = fd;
		return;
	}
}

/* A command that was killed had no time to put the terminal in order. One that had given
 * it to a group of its own, as a shell does, has left it to nobody. It was ours at the
 * start, so this takes it from no one. */
static void restore_mode(const struct run_foreground *foreground)
{
	pid_t owner = tcgetpgrp(foreground->fd);

	if (owner > 0 && owner != getpgrp() && kill(-owner, 0) < 0 && errno == ESRCH) {
		(void)tcsetpgrp(foreground->fd, getpgrp());
		owner = tcgetpgrp(foreground->fd);
	}
	if (owner == getpgrp())
		(void)tcsetattr(foreground->fd, TCSANOW, &foreground->mode);
}

void run_terminal_init(struct run_terminal *terminal)
{
	terminal->foreground.fd = -1;
	terminal->progress.fd = -1;
	terminal->pty.master = terminal->pty.slave = -1;
}

int run_terminal_plan(struct run *run)
{
	if (run->conf.foreground) {
		remember_mode(&run->terminal.foreground);
		run->plan.spawn.session = FENCE_SPAWN_INHERIT;
	}
	return run->conf.pty ? run_pty_plan(run) : 0;
}

int run_terminal_watch(struct run *run)
{
	if (run->conf.progress)
		run_progress_watch(run);
	return run->conf.pty ? run_pty_watch(run) : 0;
}

void run_terminal_end(struct run *run, const struct fence_group_result *result)
{
	struct run_foreground *foreground = &run->terminal.foreground;

	run_progress_erase(&run->terminal.progress);
	run_pty_leave(&run->terminal.pty);
	run_pty_close(&run->terminal.pty);
	if (foreground->fd >= 0 && (result == NULL || result->term_sent || result->kill_sent))
		restore_mode(foreground);
}

/* --- signals ------------------------------------------------------------------------------ */

bool run_terminal_delivered(const struct run *run, int sig, bool from_terminal)
{
	if (!run->conf.foreground || !from_terminal)
		return false;
	switch (sig) {
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
	case SIGWINCH:
		return true;
	case SIGHUP:
		/* A session's leader hears of a lost terminal alone. */
		return getsid(0) != getpid();
	default:
		return false;
	}
}

/* By default, and not blocked, for as long as it takes. Sent while it is blocked, it is one
 * with what the terminal may have sent to all of the group: otherwise we would stop twice.
 * Where nobody could continue us (an orphaned group) the kernel drops all of them but
 * STOP, for the command as well. */
static void stop_by(int sig)
{
	sigset_t one;
	sigset_t old;

	(void)sigemptyset(&one);
	(void)sigaddset(&one, sig);
	(void)fence_signal_default(sig);
	(void)kill(getpid(), sig);
	(void)sigprocmask(SIG_UNBLOCK, &one, &old);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
}

void run_terminal_stop(struct run *run, int sig)
{
	int64_t stopped_at_ms = fence_now_ms();

	run_progress_erase(&run->terminal.progress);
	run_pty_leave(&run->terminal.pty);
	if (sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
		stop_by(sig);
	else
		(void)kill(getpid(), SIGSTOP);
	run->terminal.progress.away_ms += fence_now_ms() - stopped_at_ms;
	run_pty_enter(&run->terminal.pty);
}

void run_terminal_told(struct run *run, const struct fence_group_event *event)
{
	struct fence_proc_stat stat;
	pid_t pid = fence_group_pid(run->group);

	if (event->news != FENCE_GROUP_STOPPED)
		return;
	/* It may have been continued meanwhile. */
	if (fence_proc_stat(pid, &stat) == 0 && stat.state == 'T')
		run_terminal_stop(run, event->sig);
}
