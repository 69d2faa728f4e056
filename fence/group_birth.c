/* The monitor's life, from the command's birth on. */
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/group_monitor.h"
#include "fence/own.h"
#include "fence/sys.h"

#define FLUSH_MS 5000 /* for a tee whose reader is slow, after the end */

static int start_command(struct fence_monitor *m)
{
	struct fence_spawn_plan spawn = m->plan->spawn;
	int ends[2];
	int rc;

	m->result->failed_step = FENCE_SPAWN_STEP_SESSION;
	rc = fence_group_step_aside(m->plan);
	if (rc < 0)
		return rc;
	m->result->failed_step = FENCE_SPAWN_STEP_CONTAIN;
	rc = fence_contain_enter(&m->contain, m->plan->contain, &spawn, &m->result->failure);
	if (rc < 0)
		return rc;
	m->result->failed_step = FENCE_SPAWN_STEP_STDIO;
	rc = fence_output_open(&m->output, m->plan, m->shared, ends);
	if (rc < 0)
		return rc;
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			spawn.stdio[i + 1] = ends[i];
	spawn.gate_err = &m->result->failure;
	m->shared->start_us = fence_now_us();
	rc = fence_spawn_exec(&spawn, &m->leader, &m->leader_pidfd, &m->result->failed_step);
	for (int i = 0; i < 2; i++)
		fence_close_fd(&ends[i]);
	return rc;
}

static void command_started(struct fence_monitor *m)
{
	struct fence_group_event event = { .news = FENCE_GROUP_STARTED,
					   .contain = m->shared->contain,
					   .cgroup_id = m->contain.cgroup.id };
	struct fence_proc_stat stat;

	m->facts->started = true;
	m->result->pid = m->leader;
	__atomic_store_n(&m->shared->pid, m->leader, __ATOMIC_RELEASE);
	if (m->plan->with_start_ticks && fence_proc_stat(m->leader, &stat) == 0)
		m->result->start_ticks = stat.start_ticks;
	if (m->plan->told != NULL) {
		/* A command that is gone already still has its pid. */
		if (fence_ident_of_pidfd(m->leader_pidfd, &event.leader) < 0)
			event.leader.pid = m->leader;
		fence_monitor_tell(m, event);
	}
	/* A writer's end that was meant for the command must end with it. */
	for (int i = 0; i < 3; i++) {
		int fd = m->plan->spawn.stdio[i];

		if (fd > 2 && fd != m->plan->log_fd && fd != m->plan->tee_fd[0] &&
		    fd != m->plan->tee_fd[1])
			(void)close(fd);
	}
}

static int watch_containment(struct fence_monitor *m)
{
	int fd = m->contain.init_fd >= 0 ? m->contain.init_fd : m->contain.cgroup.events_fd;

	m->contain_watch =
		(struct fence_watch){ .fd = -1, .ready = fence_monitor_contain_ready, .arg = m };
	if (fd < 0)
		return 0;
	/* Read once, so that only what changes from now on is news. */
	(void)fence_contain_is_empty(&m->contain);
	return fence_loop_add(&m->loop, &m->contain_watch, fd,
			      m->contain.init_fd >= 0 ? EPOLLIN : EPOLLPRI);
}

static int watch_everything(struct fence_monitor *m, int control_fd)
{
	static int (*const due[TIMERS])(void *arg) = {
		[TIMER_LIMIT] = fence_monitor_timeout_due,
		[TIMER_IDLE] = fence_monitor_idle_due,
		[TIMER_GRACE] = fence_monitor_grace_due,
		[TIMER_DRAIN_IDLE] = fence_monitor_drain_due,
		[TIMER_DRAIN_CAP] = fence_monitor_drain_due,
		[TIMER_KILL] = fence_monitor_kill_due,
		[TIMER_REAP] = fence_monitor_reap_due,
		[TIMER_CPU] = fence_monitor_cpu_due,
		[TIMER_INIT] = fence_monitor_init_due,
		[TIMER_WAKE] = fence_monitor_wake_due,
	};
	sigset_t deaths;
	int signal_fd;
	int rc;

	(void)sigemptyset(&deaths);
	(void)sigaddset(&deaths, SIGCHLD);
	signal_fd = fence_signals_take(&deaths, NULL);
	if (signal_fd < 0)
		return signal_fd;
	m->signal_watch =
		(struct fence_watch){ .fd = -1, .ready = fence_monitor_child_died, .arg = m };
	m->control_watch =
		(struct fence_watch){ .fd = -1, .ready = fence_monitor_control_ready, .arg = m };
	rc = fence_loop_open(&m->loop);
	if (rc == 0)
		rc = fence_loop_add(&m->loop, &m->signal_watch, signal_fd, EPOLLIN);
	if (rc == 0)
		rc = fence_loop_add(&m->loop, &m->control_watch, control_fd, EPOLLIN);
	if (rc == 0)
		rc = watch_containment(m);
	for (int i = 0; i < TIMERS; i++) {
		m->timers[i].due = due[i];
		m->timers[i].arg = m;
		fence_loop_timer(&m->loop, &m->timers[i]);
	}
	fence_monitor_set_timer(m, TIMER_IDLE, m->plan->idle_timeout_ms);
	if (m->plan->cpu_timeout_ms > 0)
		m->timers[TIMER_CPU].at_ms = fence_now_ms();
	if (m->plan->boottime && m->plan->timeout_ms > 0)
		rc = rc < 0 ? rc : fence_monitor_watch_boot_clock(m);
	else
		fence_monitor_set_timer(m, TIMER_LIMIT, m->plan->timeout_ms);
	m->output.moved = fence_monitor_output_moved;
	m->output.arg = m;
	return rc < 0 ? rc : fence_output_watch(&m->output, &m->loop);
}

/* A loop that cannot be is no reason to leave the command alone: it is killed, and
 * the launcher, which sees no `ended`, ends what might be left. */
static void __attribute__((noreturn)) give_up(const struct fence_monitor *m)
{
	const struct fence_spare spare = { .session = m->launcher_session };

	(void)fence_tree_kill_children(&spare);
	_exit(125);
}

void fence_group_monitor(const struct fence_group_plan *plan, struct fence_group_shared *shared,
			 int control_fd)
{
	struct fence_monitor m = {
		.plan = plan,
		.shared = shared,
		.result = &shared->result,
		.facts = &shared->facts,
		.leader_pidfd = -1,
		.boot_fd = -1,
		.control_fd = control_fd,
		.grace_ms = plan->grace_ms,
		.launcher = getppid(),
		.launcher_group = getpgrp(),
		.launcher_session = getsid(0),
	};
	int spare_fds[FENCE_GROUP_SPARE_FDS];
	int rc;

	fence_contain_init(&m.contain, shared);
	fence_group_close_rest(plan, control_fd);
	rc = fence_group_set_aside(control_fd, spare_fds);
	if (rc == 0)
		rc = start_command(&m);
	if (rc < 0) {
		m.result->failed_errno = -rc;
	} else {
		command_started(&m);
		if (plan->spawn.session == FENCE_SPAWN_INHERIT && fence_group_leave() < 0)
			give_up(&m);
		rc = watch_everything(&m, control_fd);
		/* From here on nothing is opened for good. */
		fence_group_give_back(spare_fds);
		if (rc < 0 || fence_loop_run(&m.loop) != FENCE_MONITOR_DONE)
			give_up(&m);
		fence_output_finish(&m.output, m.executor_gone ? 0 : FLUSH_MS, control_fd);
	}
	fence_contain_leave(&m.contain);
	fence_group_conclude(shared);
	__atomic_store_n(&shared->ended, true, __ATOMIC_RELEASE);
	/* Wakes the launcher while the kernel takes our memory apart. */
	(void)close(control_fd);
	_exit(0);
}
