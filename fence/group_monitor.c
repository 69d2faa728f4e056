/* The monitor's course: every event ends in fence_monitor_advance(), which looks at where
 * things stand and moves on. Reaping comes before deciding: a process that has died by
 * itself was not ended by us. */
#include <errno.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include "fence/clock.h"
#include "fence/group_monitor.h"
#include "fence/sys.h"

#define REAP_AT_ONCE 128  /* then the time-outs have their turn */
#define INIT_MS	     2000 /* a pid namespace's init, to say whether others live there */

int64_t fence_monitor_since_start_ms(const struct fence_monitor *m)
{
	return (fence_now_us() - m->shared->start_us) / 1000;
}

void fence_monitor_set_timer(struct fence_monitor *m, int timer, int64_t limit_ms)
{
	/* Now is a millisecond that has begun: counted from its end, no limit is ever
	 * cut short. */
	m->timers[timer].at_ms = limit_ms == 0 ? FENCE_NEVER : fence_deadline_ms(limit_ms) + 1;
}

void fence_monitor_clear_timer(struct fence_monitor *m, int timer)
{
	m->timers[timer].at_ms = FENCE_NEVER;
	if (timer <= TIMER_IDLE)
		m->paused_left_ms[timer] = -1; /* it does not come back with CONT */
}

/* What the launcher does not take is lost, so that it can never hold us. */
void fence_monitor_tell(const struct fence_monitor *m, struct fence_group_event event)
{
	if (m->plan->told == NULL || m->executor_gone)
		return;
	event.at_ms = fence_monitor_since_start_ms(m);
	(void)send(m->control_fd, &event, sizeof(event), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void fence_monitor_tell_signalled(const struct fence_monitor *m, int sig)
{
	fence_monitor_tell(m,
			   (struct fence_group_event){ .news = FENCE_GROUP_SIGNALLED, .sig = sig });
}

static void arm_drain(struct fence_monitor *m)
{
	if (m->timers[TIMER_DRAIN_CAP].at_ms != FENCE_NEVER || m->drain_over)
		return;
	m->timers[TIMER_DRAIN_IDLE].at_ms = fence_now_ms() + m->plan->drain_idle_ms;
	m->timers[TIMER_DRAIN_CAP].at_ms = fence_now_ms() + m->plan->drain_cap_ms;
}

static bool output_done(const struct fence_monitor *m)
{
	return m->drain_over || !fence_output_is_open(&m->output);
}

static void command_exited(struct fence_monitor *m)
{
	m->phase = DRAINING;
	if (m->contain.init > 0)
		m->timers[TIMER_INIT].at_ms = fence_now_ms() + INIT_MS;
	fence_monitor_clear_timer(m, TIMER_IDLE);
	if (m->plan->leftover != FENCE_LEFTOVER_WAIT)
		fence_monitor_clear_limits(m);
	fence_output_drain(&m->output);
	/* What is waited for may hold the output as long as it lives: that is no leak. */
	if (!output_done(m) && m->plan->leftover != FENCE_LEFTOVER_WAIT)
		arm_drain(m);
}

static void record_leftover(struct fence_monitor *m)
{
	m->result->leftover_count =
		fence_monitor_list_living(m, m->result->leftover_pids, m->result->leftover_names);
}

static void settle_leftover(struct fence_monitor *m)
{
	record_leftover(m);
	fence_monitor_tell(m, (struct fence_group_event){ .news = FENCE_GROUP_LEFTOVER,
							  .count = m->result->leftover_count });
	if (m->plan->leftover == FENCE_LEFTOVER_WAIT) {
		m->phase = WAITING;
		return;
	}
	if (m->plan->leftover == FENCE_LEFTOVER_LEAVE) {
		m->facts->left = true;
		return;
	}
	fence_monitor_start_ending(m, SIGTERM);
}

/* The init of a pid namespace is our child, so its being there says nothing about others:
 * it ends, or says that there are others, once it knows that the command is gone. */
static bool init_decides(const struct fence_monitor *m)
{
	return m->contain.init > 0 && !m->contain.init_decided;
}

/* Where things stand after an event. FENCE_MONITOR_DONE when the run has ended. */
int fence_monitor_advance(struct fence_monitor *m)
{
	if (m->survived)
		return FENCE_MONITOR_DONE;
	if (m->phase == RUNNING && m->leader_gone)
		command_exited(m);
	if (m->phase == DRAINING && !m->empty && !init_decides(m) &&
	    (output_done(m) || m->plan->leftover == FENCE_LEFTOVER_WAIT))
		settle_leftover(m);
	if (m->facts->left)
		return FENCE_MONITOR_DONE;
	if (m->phase == ENDING && m->leader_gone && !m->rest_signalled)
		fence_monitor_term_rest(m);
	if (!m->empty || !m->leader_gone)
		return 0;
	if (output_done(m) || m->executor_gone)
		return FENCE_MONITOR_DONE;
	/* Nothing of ours runs; somebody outside still holds the output. */
	fence_output_drain(&m->output);
	arm_drain(m);
	return 0;
}

void fence_monitor_reap_dead(struct fence_monitor *m)
{
	struct fence_exit how;
	struct rusage usage;
	unsigned int reaped = 0;
	int rc = 0;

	while (reaped < REAP_AT_ONCE && (rc = fence_reap_next(&how, &usage)) == 1) {
		reaped++;
		fence_group_account(m->shared, &usage);
		if (how.pid == m->contain.init)
			m->contain.init = 0;
		else
			m->shared->ended_count += m->shared->announced;
		if (how.pid != m->leader)
			continue;
		m->leader_gone = true;
		m->facts->exit = how;
		m->facts->exit_known = true;
		fence_monitor_tell(m, (struct fence_group_event){ .news = FENCE_GROUP_EXITED,
								  .exit = how });
		fence_contain_command_gone(&m->contain);
	}
	m->empty = rc == -ECHILD && fence_contain_is_empty(&m->contain);
	/* A swarm dies as fast as we reap: the time-outs must have their turn. */
	if (rc == 1)
		m->timers[TIMER_REAP].at_ms = fence_now_ms();
	if (reaped > 0)
		m->kill_progress_ms = fence_now_ms();
	m->round_reaped += reaped;
}

int fence_monitor_child_died(void *arg, uint32_t events)
{
	struct fence_monitor *m = arg;
	struct signalfd_siginfo info;

	(void)events;
	(void)fence_read_some(m->signal_watch.fd, &info, sizeof(info));
	fence_monitor_reap_dead(m);
	if (!m->facts->own_group)
		fence_monitor_follow_leader(m);
	/* Whoever died may have left us a child that has not had its KILL. */
	if (m->phase == KILLING && !m->empty)
		fence_monitor_kill_next(m);
	return fence_monitor_advance(m);
}

int fence_monitor_reap_due(void *arg)
{
	struct fence_monitor *m = arg;

	fence_monitor_reap_dead(m);
	if (m->phase == KILLING && !m->empty)
		fence_monitor_kill_next(m);
	return fence_monitor_advance(m);
}

int fence_monitor_drain_due(void *arg)
{
	struct fence_monitor *m = arg;

	fence_monitor_clear_timer(m, TIMER_DRAIN_IDLE);
	fence_monitor_clear_timer(m, TIMER_DRAIN_CAP);
	if (fence_output_is_open(&m->output)) {
		m->result->leaked = true;
		fence_output_name_holders(&m->output);
	}
	m->drain_over = true;
	fence_monitor_reap_dead(m);
	return fence_monitor_advance(m);
}

int fence_monitor_init_due(void *arg)
{
	struct fence_monitor *m = arg;

	m->contain.init_decided = true;
	fence_monitor_clear_timer(m, TIMER_INIT);
	fence_monitor_reap_dead(m);
	return fence_monitor_advance(m);
}

/* The init's answer, or a change in whether the cgroup is empty. */
int fence_monitor_contain_ready(void *arg, uint32_t events)
{
	struct fence_monitor *m = arg;

	(void)events;
	if (m->contain.init_fd >= 0 && fence_contain_hear(&m->contain) < 0)
		fence_loop_remove(&m->loop, &m->contain_watch);
	fence_monitor_reap_dead(m);
	return fence_monitor_advance(m);
}

int fence_monitor_output_moved(void *arg)
{
	struct fence_monitor *m = arg;
	int64_t now;

	if (m->plan->idle_timeout_ms > 0 && m->timers[TIMER_IDLE].at_ms != FENCE_NEVER)
		fence_monitor_set_timer(m, TIMER_IDLE, m->plan->idle_timeout_ms);
	if (m->output.unread && !m->hung_up) {
		m->hung_up = true;
		fence_monitor_forward(m, SIGHUP);
		fence_monitor_signal_group(m, SIGCONT);
	}
	if (m->timers[TIMER_DRAIN_IDLE].at_ms != FENCE_NEVER) {
		now = fence_now_ms();
		m->timers[TIMER_DRAIN_IDLE].at_ms = now + m->plan->drain_idle_ms;
	}
	return fence_output_is_open(&m->output) ? 0 : fence_monitor_advance(m);
}

static int launcher_gone(struct fence_monitor *m)
{
	fence_loop_remove(&m->loop, &m->control_watch);
	m->executor_gone = true;
	fence_monitor_note_cause(m, FENCE_CAUSE_EXECUTOR_GONE);
	fence_monitor_kill_now(m);
	return fence_monitor_advance(m);
}

int fence_monitor_control_ready(void *arg, uint32_t events)
{
	struct fence_monitor *m = arg;
	struct fence_group_packet packet;
	ssize_t got = recv(m->control_watch.fd, &packet, sizeof(packet), MSG_DONTWAIT);

	(void)events;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0)
		return launcher_gone(m);
	if (got != sizeof(packet))
		return 0;
	fence_monitor_reap_dead(m);
	if (packet.word == FENCE_GROUP_STOP && packet.grace_ms >= 0 && m->stops == 0)
		m->grace_ms = packet.grace_ms;
	if (packet.word == FENCE_GROUP_STOP)
		fence_monitor_asked_to_stop(m, (enum fence_cause)packet.value, packet.sig);
	else if (packet.word == FENCE_GROUP_END)
		fence_monitor_stop(m, (enum fence_cause)packet.value, packet.sig);
	else
		fence_monitor_forward(m, packet.sig);
	return fence_monitor_advance(m);
}
