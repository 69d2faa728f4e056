/* The monitor passes signals on, stops and continues its group, and follows a command that
 * has its caller's terminal. */
#include <signal.h>
#include <unistd.h>

#include "fence/group_monitor.h"

#define WAKE_LOOK_MS 50 /* was the launcher stopped just after it was continued? */

static bool is_alive_elsewhere(const struct fence_proc_stat *proc, const void *arg)
{
	const struct fence_monitor *m = arg;

	return fence_monitor_is_alive(proc, m) && proc->group != m->leader;
}

/* Of a group that is also the launcher's. Whoever is stopped already has heard of it
 * from the terminal, or has stopped itself after it had put the screen in order. */
static bool is_running(const struct fence_proc_stat *proc, const void *arg)
{
	return fence_monitor_is_alive(proc, arg) && proc->state != 'T';
}

static bool is_running_elsewhere(const struct fence_proc_stat *proc, const void *arg)
{
	const struct fence_monitor *m = arg;

	return is_running(proc, m) && proc->group != m->launcher_group && proc->pid != m->leader;
}

/* One that does not look stopped may be about to, on a busy machine: it gets the CONT as
 * well, which takes that from it. The command itself was seen to stop. */
static bool is_to_continue(const struct fence_proc_stat *proc, const void *arg)
{
	const struct fence_monitor *m = arg;

	return fence_monitor_is_alive(proc, m) && (proc->pid != m->leader || proc->state == 'T');
}

static void stop_or_continue_each(struct fence_monitor *m, int sig)
{
	static const int stop_only[] = { SIGSTOP };
	static const int cont_only[] = { SIGCONT };

	if (sig != SIGCONT)
		(void)fence_monitor_signal_tree(m, stop_only, 1, is_running);
	else
		(void)fence_monitor_signal_tree(m, cont_only, 1, is_to_continue);
	if (sig == SIGCONT && m->paused)
		fence_monitor_resume_timers(m);
}

/* A group whose leader's parent is in another session is orphaned in the kernel's
 * sense, and there TSTP, TTIN and TTOU do nothing by default. STOP does. */
static void stop_or_continue(struct fence_monitor *m, int sig)
{
	static const int stop_only[] = { SIGSTOP };
	static const int cont_only[] = { SIGCONT };

	if (m->phase == ENDING || m->phase == KILLING)
		return; /* what is being ended must be able to act on it */
	if (sig != SIGCONT && !m->paused)
		fence_monitor_pause_timers(m);
	if (!m->facts->own_group) {
		stop_or_continue_each(m, sig);
		return;
	}
	fence_monitor_signal_group(m, sig == SIGCONT ? SIGCONT : SIGSTOP);
	(void)fence_monitor_signal_tree(m, sig == SIGCONT ? cont_only : stop_only, 1,
					is_alive_elsewhere);
	if (sig == SIGCONT && m->paused)
		fence_monitor_resume_timers(m);
}

void fence_monitor_forward(struct fence_monitor *m, int sig)
{
	if (sig == SIGTSTP || sig == SIGSTOP || sig == SIGTTIN || sig == SIGTTOU ||
	    sig == SIGCONT) {
		stop_or_continue(m, sig);
		return;
	}
	fence_monitor_note_sent(m, sig);
	fence_monitor_signal_group(m, sig);
	fence_monitor_tell_signalled(m, sig);
}

/* The terminal has stopped all of the group; the rest of the tree has not heard of it. */
static void leader_was_stopped(struct fence_monitor *m, int sig)
{
	static const int stop_only[] = { SIGSTOP };

	m->leader_stopped = true;
	if (m->phase == ENDING || m->phase == KILLING)
		return;
	if (!m->paused)
		fence_monitor_pause_timers(m);
	(void)fence_monitor_signal_tree(m, stop_only, 1, is_running_elsewhere);
	fence_monitor_tell(m,
			   (struct fence_group_event){ .news = FENCE_GROUP_STOPPED, .sig = sig });
}

static void continue_launcher(const struct fence_monitor *m)
{
	if (!m->executor_gone && getppid() == m->launcher)
		(void)kill(m->launcher, SIGCONT);
}

/* Whoever continued it may have meant it alone; a launcher that stays stopped would be
 * one that a shell waits for. It may also be just about to stop. */
static void leader_was_continued(struct fence_monitor *m)
{
	m->leader_stopped = false;
	stop_or_continue(m, SIGCONT);
	continue_launcher(m);
	fence_monitor_set_timer(m, TIMER_WAKE, WAKE_LOOK_MS);
}

int fence_monitor_wake_due(void *arg)
{
	struct fence_monitor *m = arg;
	struct fence_proc_stat stat;

	if (!m->leader_stopped && fence_proc_stat(m->launcher, &stat) == 0 && stat.state == 'T')
		continue_launcher(m);
	return 0;
}

void fence_monitor_follow_leader(struct fence_monitor *m)
{
	int sig;

	/* Continued, and gone before we looked: nobody else wakes the launcher. */
	if (m->leader_gone && m->leader_stopped) {
		m->leader_stopped = false;
		continue_launcher(m);
		fence_monitor_set_timer(m, TIMER_WAKE, WAKE_LOOK_MS);
	}
	while (!m->leader_gone && fence_reap_job(m->leader, &sig) == 1) {
		if (sig == SIGCONT)
			leader_was_continued(m);
		else
			leader_was_stopped(m, sig);
	}
}
