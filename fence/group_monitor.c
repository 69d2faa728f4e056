/* The monitor: owns one command from birth to ECHILD.
 *
 *   RUNNING   the command runs
 *   DRAINING  it has exited; its output is still open somewhere
 *   WAITING   what it left may go on (FENCE_LEFTOVER_WAIT)
 *   ENDING    TERM was sent; one grace for everything
 *   KILLING   KILL is being sent, until nothing is left to wait for
 *
 * Every event ends in advance(), which looks at where things stand and moves on.
 * Reaping comes before deciding: a process that has died by itself was not ended
 * by us. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/group_priv.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "fence/tree.h"

#define ROUND_SMALL   64
#define KILL_SOON_MS  2
#define KILL_AGAIN_MS 20    /* nothing died: look at the whole tree again */
#define SURVIVE_MS    2000  /* nothing died for so long after KILL: nothing will */
#define KILL_CAP_MS   10000 /* ... and in any case */
#define CPU_LOOK_MS   10    /* the grain of the kernel's account in /proc */
#define REAP_AT_ONCE  128   /* then the time-outs have their turn */
#define WAKE_LOOK_MS  50    /* was the launcher stopped just after it was continued? */
#define FLUSH_MS      5000  /* for a tee whose reader is slow, after the end */
#define INIT_MS	      2000  /* a pid namespace's init, to say whether others live there */
#define DONE	      1	    /* what ends the loop */

enum phase {
	RUNNING,
	DRAINING,
	WAITING,
	ENDING,
	KILLING,
};

enum {
	TIMER_LIMIT,
	TIMER_IDLE,
	TIMER_GRACE,
	TIMER_DRAIN_IDLE,
	TIMER_DRAIN_CAP,
	TIMER_KILL,
	TIMER_REAP,
	TIMER_CPU,
	TIMER_INIT,
	TIMER_WAKE,
	TIMERS,
};

struct monitor {
	const struct fence_group_plan *plan;
	struct fence_group_shared *shared;
	struct fence_group_result *result;
	struct fence_group_facts *facts;
	struct fence_output output;
	struct fence_loop loop;
	int control_fd;
	struct fence_watch control_watch, signal_watch;
	struct fence_timer timers[TIMERS];
	int boot_fd; /* -1, or a clock that goes on in a suspended machine */
	struct fence_watch boot_watch;
	struct fence_tree tree;
	struct fence_containment contain;
	struct fence_watch contain_watch;
	unsigned int init_reaped; /* when last looked at */
	enum phase phase;
	pid_t leader;
	int leader_pidfd;
	bool leader_gone;    /* reaped */
	bool empty;	     /* ECHILD: nothing is left */
	bool drain_over;     /* no longer waiting for the end of the output */
	bool rest_signalled; /* TERM went to what the leader left */
	bool group_termed, tree_termed;
	bool executor_gone; /* the launcher is dead */
	bool survived;
	bool hung_up; /* HUP was sent: nobody reads the terminal any more */
	pid_t launcher, launcher_group, launcher_session;
	bool leader_stopped; /* seen with a group that is the launcher's only */
	bool paused;
	int64_t paused_left_ms[2]; /* of TIMER_LIMIT and TIMER_IDLE */
	int64_t boot_left_ms;
	int64_t kill_progress_ms, kill_start_ms;
	unsigned int round_children, round_reaped; /* of the last round of KILL */
	unsigned int stops;			   /* how often we were asked */
	int64_t grace_ms;
};

static int advance(struct monitor *m);
static void forward(struct monitor *m, int sig);
static void follow_leader(struct monitor *m);

static int64_t since_start_ms(const struct monitor *m)
{
	return (fence_now_us() - m->shared->start_us) / 1000;
}

static void set_timer(struct monitor *m, int timer, int64_t limit_ms)
{
	/* Now is a millisecond that has begun: counted from its end, no limit is ever
	 * cut short. */
	m->timers[timer].at_ms = limit_ms == 0 ? FENCE_NEVER : fence_deadline_ms(limit_ms) + 1;
}

static void clear_timer(struct monitor *m, int timer)
{
	m->timers[timer].at_ms = FENCE_NEVER;
}

/* Of the command's life: none of them counts while it is being ended. */
static void clear_limits(struct monitor *m)
{
	clear_timer(m, TIMER_LIMIT);
	clear_timer(m, TIMER_IDLE);
	clear_timer(m, TIMER_CPU);
	if (m->boot_fd >= 0)
		fence_loop_remove(&m->loop, &m->boot_watch);
}

/* --- news ------------------------------------------------------------------------ */

/* What the launcher does not take is lost, so that it can never hold us. */
static void tell(const struct monitor *m, struct fence_group_event event)
{
	if (m->plan->told == NULL || m->executor_gone)
		return;
	event.at_ms = since_start_ms(m);
	(void)send(m->control_fd, &event, sizeof(event), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void tell_signalled(const struct monitor *m, int sig)
{
	tell(m, (struct fence_group_event){ .news = FENCE_GROUP_SIGNALLED, .sig = sig });
}

/* Once, before the first signal. */
static void announce_ending(struct monitor *m)
{
	enum fence_cause cause = fence_group_judge_cause(m->facts);

	if (m->shared->announced)
		return;
	if (m->plan->ending != NULL)
		m->plan->ending(m->plan->arg, cause);
	m->shared->init_reaped_before = __atomic_load_n(&m->shared->init_reaped, __ATOMIC_ACQUIRE);
	m->shared->announced = true;
	tell(m, (struct fence_group_event){ .news = FENCE_GROUP_ENDING, .cause = cause });
}

/* --- signals ------------------------------------------------------------------- */

/* The init of a pid namespace is ours, and no part of the group. */
static bool is_alive(const struct fence_proc_stat *proc, const void *arg)
{
	const struct monitor *m = arg;

	return proc->state != 'Z' && proc->state != 'X' && proc->pid != m->contain.init;
}

static bool is_alive_elsewhere(const struct fence_proc_stat *proc, const void *arg)
{
	const struct monitor *m = arg;

	return is_alive(proc, m) && proc->group != m->leader;
}

static unsigned int signal_tree(struct monitor *m, const int *sigs, size_t count,
				fence_tree_pick *pick)
{
	if (fence_tree_list(&m->tree) < 0)
		return 0; /* no memory, no /proc: the group and KILL's rounds remain */
	return fence_tree_signal(&m->tree, sigs, count, pick, m);
}

static bool is_in_launchers_group(const struct fence_proc_stat *proc, const void *arg)
{
	const struct monitor *m = arg;

	return is_alive(proc, m) && proc->group == m->launcher_group && proc->pid != m->leader;
}

/* To the command's process group. While the leader is not reaped its number is
 * its own; afterwards the pidfd stands for it (6.9; older kernels: the members are
 * reached one by one as descendants). The launcher's group is not ours to signal: there,
 * the command and those of it that came from the command. */
static void signal_group(struct monitor *m, int sig)
{
	if (!m->leader_gone)
		(void)kill(m->facts->own_group ? -m->leader : m->leader, sig);
	else if (m->facts->own_group)
		(void)fence_pidfd_signal(m->leader_pidfd, sig, PIDFD_SIGNAL_PROCESS_GROUP);
	if (!m->facts->own_group && sig != SIGKILL)
		(void)signal_tree(m, &sig, 1, is_in_launchers_group);
}

static void note_term(struct monitor *m)
{
	if (!m->facts->term_sent)
		m->result->term_at_ms = since_start_ms(m);
	m->facts->term_sent = true;
}

static enum fence_sender sender_of(const struct monitor *m)
{
	if (!m->facts->stopped)
		return FENCE_SENDER_LEFTOVER;
	if (m->facts->stop_cause == FENCE_CAUSE_TIMEOUT ||
	    m->facts->stop_cause == FENCE_CAUSE_IDLE_TIMEOUT)
		return FENCE_SENDER_TIMEOUT;
	return FENCE_SENDER_REQUEST;
}

static void note_sent(struct monitor *m, int sig)
{
	if (sig >= 1 && sig <= 64)
		m->facts->forwarded |= UINT64_C(1) << (sig - 1);
}

/* The polite signal, to as much of the group as was asked for. */
static void term_scope(struct monitor *m, int sig)
{
	const int sigs[] = { sig, SIGCONT };

	note_term(m);
	tell_signalled(m, sig);
	if (sig == SIGTERM)
		m->facts->term_to_leader = sender_of(m);
	else
		note_sent(m, sig);
	switch (m->plan->term_scope) {
	case FENCE_TERM_TREE:
		(void)signal_tree(m, sigs, 2, is_alive);
		m->tree_termed = true;
		return;
	case FENCE_TERM_GROUP:
		signal_group(m, sig);
		signal_group(m, SIGCONT);
		m->group_termed = m->facts->own_group;
		return;
	case FENCE_TERM_LEADER:
		(void)kill(m->leader, sig);
		(void)kill(m->leader, SIGCONT);
		return;
	}
}

/* What the leader left gets its TERM too, once: a second one means "at once" to
 * many programs. */
static void term_rest(struct monitor *m)
{
	/* A stopped process acts on TERM only once it is continued. */
	static const int term_and_cont[] = { SIGTERM, SIGCONT };

	const struct fence_tree_except except = { .pid = m->contain.init,
						  .group = m->group_termed ? m->leader : 0 };

	m->rest_signalled = true;
	if (m->tree_termed || m->empty)
		return;
	if (fence_tree_signal_all(&m->tree, term_and_cont, 2, &except) == 0)
		return;
	note_term(m);
	tell_signalled(m, SIGTERM);
}

/* --- ending -------------------------------------------------------------------- */

/* One round. The children, and their groups, are enough: what they leave becomes
 * ours, and has its turn in the next round. The whole tree is walked only when
 * nothing dies, since something in between may be beyond our power. */
static void kill_round(struct monitor *m, bool whole_tree)
{
	static const int kill_only[] = { SIGKILL };
	const struct fence_spare spare = { .pids = &m->contain.init,
					   .count = whole_tree ? 0 : 1,
					   .session = m->launcher_session };
	int count;

	if (whole_tree || !m->contain.kill_asked)
		fence_contain_kill(&m->contain);
	signal_group(m, SIGKILL);
	if (whole_tree)
		(void)signal_tree(m, kill_only, 1, NULL);
	/* An init ends everybody in its namespace, and counts them; one that is slow or
	 * stopped is ended itself, and all of them with it. */
	m->shared->init_killed |= whole_tree && m->contain.init > 0;
	count = fence_tree_kill_children(&spare);
	m->round_children = count > 0 ? (unsigned int)count : 0;
	m->round_reaped = 0;
	m->timers[TIMER_KILL].at_ms = fence_now_ms() + KILL_AGAIN_MS;
}

/* After some have died. A small group is gone through each time, which is what
 * outruns a swarm of forks; a large one once a good part of it is reaped, or else
 * a thousand deaths would mean a thousand walks through the other 999. */
static void kill_next(struct monitor *m)
{
	if (m->round_children <= ROUND_SMALL || m->round_reaped * 4 >= m->round_children)
		kill_round(m, false);
	else
		m->timers[TIMER_KILL].at_ms = fence_now_ms() + KILL_SOON_MS;
}

static void kill_now(struct monitor *m)
{
	if (m->phase == KILLING || m->empty)
		return;
	announce_ending(m);
	m->phase = KILLING;
	m->paused = false;
	clear_limits(m);
	clear_timer(m, TIMER_GRACE);
	m->facts->kill_sent = true;
	m->result->kill_at_ms = since_start_ms(m);
	tell_signalled(m, SIGKILL);
	if (!m->leader_gone)
		m->facts->kill_to_leader = sender_of(m);
	m->kill_start_ms = m->kill_progress_ms = fence_now_ms();
	kill_round(m, false);
}

static void start_ending(struct monitor *m, int sig)
{
	announce_ending(m);
	m->phase = ENDING;
	m->paused = false;
	clear_limits(m);
	if (m->grace_ms == 0) {
		kill_now(m);
		return;
	}
	set_timer(m, TIMER_GRACE, m->grace_ms);
	if (!m->leader_gone)
		term_scope(m, sig);
}

/* The cause is what came first: a command that had already exited by itself was
 * not ended by what happens to its leftovers, unless waiting for them is part of
 * the run. */
static void note_cause(struct monitor *m, enum fence_cause cause)
{
	if (m->facts->stopped || (m->leader_gone && m->phase != WAITING))
		return;
	m->facts->stopped = true;
	m->facts->stop_cause = cause;
}

static void stop(struct monitor *m, enum fence_cause cause, int sig)
{
	note_cause(m, cause);
	if (m->phase == RUNNING || m->phase == WAITING || m->phase == DRAINING)
		start_ending(m, sig);
}

static void asked_to_stop(struct monitor *m, enum fence_cause cause, int sig)
{
	m->stops++;
	if (m->stops == 1) {
		stop(m, cause, sig);
		return;
	}
	m->drain_over = true;
	kill_now(m);
}

/* --- the command's end ----------------------------------------------------------- */

static void arm_drain(struct monitor *m)
{
	if (m->timers[TIMER_DRAIN_CAP].at_ms != FENCE_NEVER || m->drain_over)
		return;
	m->timers[TIMER_DRAIN_IDLE].at_ms = fence_now_ms() + m->plan->drain_idle_ms;
	m->timers[TIMER_DRAIN_CAP].at_ms = fence_now_ms() + m->plan->drain_cap_ms;
}

static bool output_done(const struct monitor *m)
{
	return m->drain_over || !fence_output_is_open(&m->output);
}

static void command_exited(struct monitor *m)
{
	m->phase = DRAINING;
	if (m->contain.init > 0)
		m->timers[TIMER_INIT].at_ms = fence_now_ms() + INIT_MS;
	clear_timer(m, TIMER_IDLE);
	if (m->plan->leftover != FENCE_LEFTOVER_WAIT)
		clear_limits(m);
	fence_output_drain(&m->output);
	/* What is waited for may hold the output as long as it lives: that is no leak. */
	if (!output_done(m) && m->plan->leftover != FENCE_LEFTOVER_WAIT)
		arm_drain(m);
}

static void record_leftover(struct monitor *m)
{
	struct fence_group_result *result = m->result;

	result->leftover_count = 0;
	if (fence_tree_list(&m->tree) < 0)
		m->tree.count = 0;
	for (size_t i = 0; i < m->tree.count; i++) {
		struct fence_proc_stat stat;
		unsigned int at = result->leftover_count;

		if (fence_proc_stat(m->tree.nodes[i].pid, &stat) < 0 || !is_alive(&stat, m))
			continue;
		if (at < FENCE_GROUP_PIDS) {
			result->leftover_pids[at] = stat.pid;
			memcpy(result->leftover_names[at], stat.name, sizeof(stat.name));
		}
		result->leftover_count++;
	}
}

static void settle_leftover(struct monitor *m)
{
	record_leftover(m);
	tell(m, (struct fence_group_event){ .news = FENCE_GROUP_LEFTOVER,
					    .count = m->result->leftover_count });
	if (m->plan->leftover == FENCE_LEFTOVER_WAIT) {
		m->phase = WAITING;
		return;
	}
	if (m->plan->leftover == FENCE_LEFTOVER_LEAVE) {
		m->facts->left = true;
		return;
	}
	start_ending(m, SIGTERM);
}

static void record_survivors(struct monitor *m)
{
	struct fence_group_result *result = m->result;

	m->survived = true;
	result->survivor_count = 0;
	if (fence_tree_list(&m->tree) < 0)
		m->tree.count = 0;
	for (size_t i = 0; i < m->tree.count; i++) {
		struct fence_proc_stat stat;

		if (fence_proc_stat(m->tree.nodes[i].pid, &stat) < 0 || !is_alive(&stat, m))
			continue;
		if (result->survivor_count < FENCE_GROUP_PIDS)
			result->survivor_pids[result->survivor_count] = stat.pid;
		result->survivor_count++;
	}
	/* ECHILD was not reached, so there is one, seen or not. */
	if (result->survivor_count == 0)
		result->survivor_count = 1;
}

/* The init of a pid namespace is our child, so its being there says nothing about others:
 * it ends, or says that there are others, once it knows that the command is gone. */
static bool init_decides(const struct monitor *m)
{
	return m->contain.init > 0 && !m->contain.init_decided;
}

/* Where things stand after an event. DONE when the run has ended. */
static int advance(struct monitor *m)
{
	if (m->survived)
		return DONE;
	if (m->phase == RUNNING && m->leader_gone)
		command_exited(m);
	if (m->phase == DRAINING && !m->empty && !init_decides(m) &&
	    (output_done(m) || m->plan->leftover == FENCE_LEFTOVER_WAIT))
		settle_leftover(m);
	if (m->facts->left)
		return DONE;
	if (m->phase == ENDING && m->leader_gone && !m->rest_signalled)
		term_rest(m);
	if (!m->empty || !m->leader_gone)
		return 0;
	if (output_done(m) || m->executor_gone)
		return DONE;
	/* Nothing of ours runs; somebody outside still holds the output. */
	fence_output_drain(&m->output);
	arm_drain(m);
	return 0;
}

/* --- events ---------------------------------------------------------------------- */

static void reap_dead(struct monitor *m)
{
	struct fence_exit how;
	struct rusage usage;
	unsigned int reaped = 0;
	int rc;

	while ((rc = fence_reap_look(&how)) == 1 && reaped < REAP_AT_ONCE) {
		if (fence_reap_take(how.pid, &how, &usage) < 0)
			break;
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
		tell(m, (struct fence_group_event){ .news = FENCE_GROUP_EXITED, .exit = how });
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

static int child_died(void *arg, uint32_t events)
{
	struct monitor *m = arg;
	struct signalfd_siginfo info;

	(void)events;
	(void)fence_read_some(m->signal_watch.fd, &info, sizeof(info));
	reap_dead(m);
	if (!m->facts->own_group)
		follow_leader(m);
	/* Whoever died may have left us a child that has not had its KILL. */
	if (m->phase == KILLING && !m->empty)
		kill_next(m);
	return advance(m);
}

static int reap_due(void *arg)
{
	struct monitor *m = arg;

	reap_dead(m);
	if (m->phase == KILLING && !m->empty)
		kill_next(m);
	return advance(m);
}

static int limit_reached(struct monitor *m, enum fence_cause cause, enum fence_limit limit)
{
	bool stopped = m->facts->stopped;

	reap_dead(m);
	if (!m->leader_gone || m->phase == WAITING)
		stop(m, cause, SIGTERM);
	if (!stopped && m->facts->stopped)
		m->result->limit = limit;
	return advance(m);
}

static int timeout_due(void *arg)
{
	return limit_reached(arg, FENCE_CAUSE_TIMEOUT, FENCE_LIMIT_WALL);
}

static int boot_timeout_due(void *arg, uint32_t events)
{
	struct monitor *m = arg;

	(void)events;
	fence_loop_remove(&m->loop, &m->boot_watch);
	return timeout_due(m);
}

/* What all of it has used: who was reaped, and who runs. */
static int64_t cpu_used_ms(struct monitor *m)
{
	int64_t used_ms = (m->shared->user_us + m->shared->system_us) / 1000;
	long ticks_a_second = sysconf(_SC_CLK_TCK);
	uint64_t ticks = 0;
	struct fence_proc_stat stat;

	if (fence_tree_list(&m->tree) < 0)
		m->tree.count = 0;
	for (size_t i = 0; i < m->tree.count; i++)
		if (fence_proc_stat(m->tree.nodes[i].pid, &stat) == 0)
			ticks += stat.cpu_ticks;
	return used_ms + (int64_t)(ticks * 1000 / (uint64_t)ticks_a_second);
}

/* The limit cannot be reached sooner than when every processor works at nothing else: so
 * much is slept, and then it is looked again. */
static int cpu_due(void *arg)
{
	struct monitor *m = arg;
	int64_t left_ms;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	reap_dead(m);
	left_ms = m->plan->cpu_timeout_ms - cpu_used_ms(m);
	if (left_ms <= 0)
		return limit_reached(m, FENCE_CAUSE_TIMEOUT, FENCE_LIMIT_CPU);
	left_ms /= processors > 0 ? processors : 1;
	set_timer(m, TIMER_CPU, left_ms > CPU_LOOK_MS ? left_ms : CPU_LOOK_MS);
	return advance(m);
}

static int idle_due(void *arg)
{
	struct monitor *m = arg;

	/* The command may be silent because whoever reads its output is slow. */
	if (fence_output_is_held(&m->output)) {
		set_timer(m, TIMER_IDLE, m->plan->idle_timeout_ms);
		return 0;
	}
	tell(m, (struct fence_group_event){ .news = FENCE_GROUP_IDLE });
	return limit_reached(m, FENCE_CAUSE_IDLE_TIMEOUT, FENCE_LIMIT_IDLE);
}

static int grace_due(void *arg)
{
	struct monitor *m = arg;

	reap_dead(m);
	kill_now(m);
	return advance(m);
}

static int drain_due(void *arg)
{
	struct monitor *m = arg;

	clear_timer(m, TIMER_DRAIN_IDLE);
	clear_timer(m, TIMER_DRAIN_CAP);
	if (fence_output_is_open(&m->output)) {
		m->result->leaked = true;
		fence_output_name_holders(&m->output);
	}
	m->drain_over = true;
	reap_dead(m);
	return advance(m);
}

/* Those whom a namespace's init reaps are dead as well. */
static void note_init_progress(struct monitor *m, int64_t now_ms)
{
	unsigned int reaped = __atomic_load_n(&m->shared->init_reaped, __ATOMIC_ACQUIRE);

	if (reaped != m->init_reaped)
		m->kill_progress_ms = now_ms;
	m->init_reaped = reaped;
}

static int init_due(void *arg)
{
	struct monitor *m = arg;

	m->contain.init_decided = true;
	clear_timer(m, TIMER_INIT);
	reap_dead(m);
	return advance(m);
}

/* The init's answer, or a change in whether the cgroup is empty. */
static int contain_ready(void *arg, uint32_t events)
{
	struct monitor *m = arg;

	(void)events;
	if (m->contain.init_fd >= 0 && fence_contain_hear(&m->contain) < 0)
		fence_loop_remove(&m->loop, &m->contain_watch);
	reap_dead(m);
	return advance(m);
}

static int kill_due(void *arg)
{
	struct monitor *m = arg;
	int64_t now = fence_now_ms();

	reap_dead(m);
	note_init_progress(m, now);
	if (!m->empty &&
	    (now - m->kill_progress_ms >= SURVIVE_MS || now - m->kill_start_ms >= KILL_CAP_MS))
		record_survivors(m);
	else if (!m->empty)
		kill_round(m, now - m->kill_progress_ms >= KILL_AGAIN_MS);
	return advance(m);
}

static int output_moved(void *arg)
{
	struct monitor *m = arg;
	int64_t now;

	if (m->plan->idle_timeout_ms > 0 && m->timers[TIMER_IDLE].at_ms != FENCE_NEVER)
		set_timer(m, TIMER_IDLE, m->plan->idle_timeout_ms);
	if (m->output.unread && !m->hung_up) {
		m->hung_up = true;
		forward(m, SIGHUP);
		signal_group(m, SIGCONT);
	}
	if (m->timers[TIMER_DRAIN_IDLE].at_ms != FENCE_NEVER) {
		now = fence_now_ms();
		m->timers[TIMER_DRAIN_IDLE].at_ms = now + m->plan->drain_idle_ms;
	}
	return fence_output_is_open(&m->output) ? 0 : advance(m);
}

/* --- the launcher's words ---------------------------------------------------------- */

/* 0: it stands still. */
static void set_boot_clock(struct monitor *m, int64_t limit_ms)
{
	const struct itimerspec at = { .it_value = { .tv_sec = limit_ms / 1000,
						     .tv_nsec = limit_ms % 1000 * 1000000 } };

	(void)timerfd_settime(m->boot_fd, 0, &at, NULL);
}

static int64_t boot_clock_left_ms(const struct monitor *m)
{
	struct itimerspec left = { 0 };

	(void)timerfd_gettime(m->boot_fd, &left);
	return left.it_value.tv_sec * 1000 + left.it_value.tv_nsec / 1000000;
}

static void pause_timers(struct monitor *m)
{
	if (m->boot_fd >= 0) {
		m->boot_left_ms = boot_clock_left_ms(m) + 1;
		set_boot_clock(m, 0);
	}
	for (int i = TIMER_LIMIT; i <= TIMER_IDLE; i++) {
		int64_t at_ms = m->timers[i].at_ms;

		m->paused_left_ms[i] = at_ms == FENCE_NEVER ? -1 : at_ms - fence_now_ms();
		m->timers[i].at_ms = FENCE_NEVER;
	}
	m->paused = true;
}

static void resume_timers(struct monitor *m)
{
	for (int i = TIMER_LIMIT; i <= TIMER_IDLE; i++)
		if (m->paused_left_ms[i] >= 0)
			m->timers[i].at_ms = fence_now_ms() + m->paused_left_ms[i];
	if (m->boot_fd >= 0)
		set_boot_clock(m, m->boot_left_ms);
	m->paused = false;
}

/* Of a group that is also the launcher's. Whoever is stopped already has heard of it
 * from the terminal, or has stopped itself after it had put the screen in order. */
static bool is_running(const struct fence_proc_stat *proc, const void *arg)
{
	return is_alive(proc, arg) && proc->state != 'T';
}

static bool is_running_elsewhere(const struct fence_proc_stat *proc, const void *arg)
{
	const struct monitor *m = arg;

	return is_running(proc, m) && proc->group != m->launcher_group && proc->pid != m->leader;
}

/* One that does not look stopped may be about to, on a busy machine: it gets the CONT as
 * well, which takes that from it. The command itself was seen to stop. */
static bool is_to_continue(const struct fence_proc_stat *proc, const void *arg)
{
	const struct monitor *m = arg;

	return is_alive(proc, m) && (proc->pid != m->leader || proc->state == 'T');
}

static void stop_or_continue_each(struct monitor *m, int sig)
{
	static const int stop_only[] = { SIGSTOP };
	static const int cont_only[] = { SIGCONT };

	if (sig != SIGCONT)
		(void)signal_tree(m, stop_only, 1, is_running);
	else
		(void)signal_tree(m, cont_only, 1, is_to_continue);
	if (sig == SIGCONT && m->paused)
		resume_timers(m);
}

/* A group whose leader's parent is in another session is orphaned in the kernel's
 * sense, and there TSTP, TTIN and TTOU do nothing by default. STOP does. */
static void stop_or_continue(struct monitor *m, int sig)
{
	static const int stop_only[] = { SIGSTOP };
	static const int cont_only[] = { SIGCONT };

	if (m->phase == ENDING || m->phase == KILLING)
		return; /* what is being ended must be able to act on it */
	if (sig != SIGCONT && !m->paused)
		pause_timers(m);
	if (!m->facts->own_group) {
		stop_or_continue_each(m, sig);
		return;
	}
	signal_group(m, sig == SIGCONT ? SIGCONT : SIGSTOP);
	(void)signal_tree(m, sig == SIGCONT ? cont_only : stop_only, 1, is_alive_elsewhere);
	if (sig == SIGCONT && m->paused)
		resume_timers(m);
}

static void forward(struct monitor *m, int sig)
{
	if (sig == SIGTSTP || sig == SIGSTOP || sig == SIGTTIN || sig == SIGTTOU ||
	    sig == SIGCONT) {
		stop_or_continue(m, sig);
		return;
	}
	note_sent(m, sig);
	signal_group(m, sig);
	tell_signalled(m, sig);
}

/* --- a command that has its caller's terminal ----------------------------------------- */

/* The terminal has stopped all of the group; the rest of the tree has not heard of it. */
static void leader_was_stopped(struct monitor *m, int sig)
{
	static const int stop_only[] = { SIGSTOP };

	m->leader_stopped = true;
	if (m->phase == ENDING || m->phase == KILLING)
		return;
	if (!m->paused)
		pause_timers(m);
	(void)signal_tree(m, stop_only, 1, is_running_elsewhere);
	tell(m, (struct fence_group_event){ .news = FENCE_GROUP_STOPPED, .sig = sig });
}

static void continue_launcher(const struct monitor *m)
{
	if (!m->executor_gone && getppid() == m->launcher)
		(void)kill(m->launcher, SIGCONT);
}

/* Whoever continued it may have meant it alone; a launcher that stays stopped would be
 * one that a shell waits for. It may also be just about to stop. */
static void leader_was_continued(struct monitor *m)
{
	m->leader_stopped = false;
	stop_or_continue(m, SIGCONT);
	continue_launcher(m);
	set_timer(m, TIMER_WAKE, WAKE_LOOK_MS);
}

static int wake_due(void *arg)
{
	struct monitor *m = arg;
	struct fence_proc_stat stat;

	if (!m->leader_stopped && fence_proc_stat(m->launcher, &stat) == 0 && stat.state == 'T')
		continue_launcher(m);
	return 0;
}

static void follow_leader(struct monitor *m)
{
	int sig;

	/* Continued, and gone before we looked: nobody else wakes the launcher. */
	if (m->leader_gone && m->leader_stopped) {
		m->leader_stopped = false;
		continue_launcher(m);
		set_timer(m, TIMER_WAKE, WAKE_LOOK_MS);
	}
	while (!m->leader_gone && fence_reap_job(m->leader, &sig) == 1) {
		if (sig == SIGCONT)
			leader_was_continued(m);
		else
			leader_was_stopped(m, sig);
	}
}

/* --- the launcher's end ----------------------------------------------------------------- */

static int launcher_gone(struct monitor *m)
{
	fence_loop_remove(&m->loop, &m->control_watch);
	m->executor_gone = true;
	note_cause(m, FENCE_CAUSE_EXECUTOR_GONE);
	kill_now(m);
	return advance(m);
}

static int control_ready(void *arg, uint32_t events)
{
	struct monitor *m = arg;
	struct fence_group_packet packet;
	ssize_t got = recv(m->control_watch.fd, &packet, sizeof(packet), MSG_DONTWAIT);

	(void)events;
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0)
		return launcher_gone(m);
	if (got != sizeof(packet))
		return 0;
	reap_dead(m);
	if (packet.word == FENCE_GROUP_STOP && packet.grace_ms >= 0 && m->stops == 0)
		m->grace_ms = packet.grace_ms;
	if (packet.word == FENCE_GROUP_STOP)
		asked_to_stop(m, (enum fence_cause)packet.value, packet.sig);
	else if (packet.word == FENCE_GROUP_END)
		stop(m, (enum fence_cause)packet.value, packet.sig);
	else
		forward(m, packet.sig);
	return advance(m);
}

/* --- birth ------------------------------------------------------------------------- */

static int start_command(struct monitor *m)
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

static void command_started(struct monitor *m)
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
		tell(m, event);
	}
	/* A writer's end that was meant for the command must end with it. */
	for (int i = 0; i < 3; i++) {
		int fd = m->plan->spawn.stdio[i];

		if (fd > 2 && fd != m->plan->log_fd && fd != m->plan->tee_fd[0] &&
		    fd != m->plan->tee_fd[1])
			(void)close(fd);
	}
}

static int watch_boot_clock(struct monitor *m)
{
	m->boot_watch = (struct fence_watch){ .fd = -1, .ready = boot_timeout_due, .arg = m };
	m->boot_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (m->boot_fd < 0)
		return -errno;
	set_boot_clock(m, m->plan->timeout_ms);
	return fence_loop_add(&m->loop, &m->boot_watch, m->boot_fd, EPOLLIN);
}

static int watch_containment(struct monitor *m)
{
	int fd = m->contain.init_fd >= 0 ? m->contain.init_fd : m->contain.cgroup.events_fd;

	m->contain_watch = (struct fence_watch){ .fd = -1, .ready = contain_ready, .arg = m };
	if (fd < 0)
		return 0;
	/* Read once, so that only what changes from now on is news. */
	(void)fence_contain_is_empty(&m->contain);
	return fence_loop_add(&m->loop, &m->contain_watch, fd,
			      m->contain.init_fd >= 0 ? EPOLLIN : EPOLLPRI);
}

static int watch_everything(struct monitor *m, int control_fd)
{
	static int (*const due[TIMERS])(void *arg) = {
		[TIMER_LIMIT] = timeout_due,   [TIMER_IDLE] = idle_due,
		[TIMER_GRACE] = grace_due,     [TIMER_DRAIN_IDLE] = drain_due,
		[TIMER_DRAIN_CAP] = drain_due, [TIMER_KILL] = kill_due,
		[TIMER_REAP] = reap_due,       [TIMER_CPU] = cpu_due,
		[TIMER_INIT] = init_due,       [TIMER_WAKE] = wake_due,
	};
	sigset_t deaths;
	int signal_fd;
	int rc;

	(void)sigemptyset(&deaths);
	(void)sigaddset(&deaths, SIGCHLD);
	signal_fd = fence_signals_take(&deaths, NULL);
	if (signal_fd < 0)
		return signal_fd;
	m->signal_watch = (struct fence_watch){ .fd = -1, .ready = child_died, .arg = m };
	m->control_watch = (struct fence_watch){ .fd = -1, .ready = control_ready, .arg = m };
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
	set_timer(m, TIMER_IDLE, m->plan->idle_timeout_ms);
	if (m->plan->cpu_timeout_ms > 0)
		m->timers[TIMER_CPU].at_ms = fence_now_ms();
	if (m->plan->boottime && m->plan->timeout_ms > 0)
		rc = rc < 0 ? rc : watch_boot_clock(m);
	else
		set_timer(m, TIMER_LIMIT, m->plan->timeout_ms);
	m->output.moved = output_moved;
	m->output.arg = m;
	return rc < 0 ? rc : fence_output_watch(&m->output, &m->loop);
}

/* A loop that cannot be is no reason to leave the command alone: it is killed, and
 * the launcher, which sees no `ended`, ends what might be left. */
static void __attribute__((noreturn)) give_up(const struct monitor *m)
{
	const struct fence_spare spare = { .session = m->launcher_session };

	(void)fence_tree_kill_children(&spare);
	_exit(125);
}

void fence_group_monitor(const struct fence_group_plan *plan, struct fence_group_shared *shared,
			 int control_fd)
{
	struct monitor m = {
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
	int rc;

	fence_contain_init(&m.contain, shared);
	fence_group_close_rest(plan, control_fd);
	rc = start_command(&m);
	if (rc < 0) {
		m.result->failed_errno = -rc;
	} else {
		command_started(&m);
		if (plan->spawn.session == FENCE_SPAWN_INHERIT && fence_group_leave() < 0)
			give_up(&m);
		if (watch_everything(&m, control_fd) < 0 || fence_loop_run(&m.loop) != DONE)
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
