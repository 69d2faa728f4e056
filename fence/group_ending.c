/* The monitor ends its group: TERM to a scope, one grace, then KILL in rounds until
 * nothing is left to wait for. */
#include <signal.h>
#include <string.h>

#include "fence/clock.h"
#include "fence/group_monitor.h"
#include "fence/sys.h"

#define ROUND_SMALL   64
#define KILL_SOON_MS  2
#define KILL_AGAIN_MS 20    /* nothing died: look at the whole tree again */
#define INIT_STUCK_MS 500   /* on a busy machine it may have had no turn for a while */
#define SURVIVE_MS    2000  /* nothing died for so long after KILL: nothing will */
#define KILL_CAP_MS   10000 /* ... and in any case */

/* Once, before the first signal. */
static void announce_ending(struct fence_monitor *m)
{
	enum fence_cause cause = fence_group_judge_cause(m->facts);

	if (m->shared->announced)
		return;
	if (m->plan->ending != NULL)
		m->plan->ending(m->plan->arg, cause);
	m->shared->init_reaped_before = __atomic_load_n(&m->shared->init_reaped, __ATOMIC_ACQUIRE);
	m->shared->announced = true;
	fence_monitor_tell(m, (struct fence_group_event){ .news = FENCE_GROUP_ENDING,
							  .cause = cause });
}

/* The init of a pid namespace is ours, and no part of the group. */
bool fence_monitor_is_alive(const struct fence_proc_stat *proc, const void *arg)
{
	const struct fence_monitor *m = arg;

	return proc->state != 'Z' && proc->state != 'X' && proc->pid != m->contain.init;
}

unsigned int fence_monitor_signal_tree(struct fence_monitor *m, const int *sigs, size_t count,
				       fence_tree_pick *pick)
{
	if (fence_tree_list(&m->tree) < 0)
		return 0; /* no memory, no /proc: the group and KILL's rounds remain */
	return fence_tree_signal(&m->tree, sigs, count, pick, m);
}

static bool is_in_launchers_group(const struct fence_proc_stat *proc, const void *arg)
{
	const struct fence_monitor *m = arg;

	return fence_monitor_is_alive(proc, m) && proc->group == m->launcher_group &&
	       proc->pid != m->leader;
}

/* To the command's process group. While the leader is not reaped its number is
 * its own; afterwards the pidfd stands for it (6.9; older kernels: the members are
 * reached one by one as descendants). The launcher's group is not ours to signal: there,
 * the command and those of it that came from the command. */
void fence_monitor_signal_group(struct fence_monitor *m, int sig)
{
	if (!m->leader_gone)
		(void)kill(m->facts->own_group ? -m->leader : m->leader, sig);
	else if (m->facts->own_group)
		(void)fence_pidfd_signal(m->leader_pidfd, sig, PIDFD_SIGNAL_PROCESS_GROUP);
	if (!m->facts->own_group && sig != SIGKILL)
		(void)fence_monitor_signal_tree(m, &sig, 1, is_in_launchers_group);
}

static void note_term(struct fence_monitor *m)
{
	if (!m->facts->term_sent)
		m->result->term_at_ms = fence_monitor_since_start_ms(m);
	m->facts->term_sent = true;
}

static enum fence_sender sender_of(const struct fence_monitor *m)
{
	if (!m->facts->stopped)
		return FENCE_SENDER_LEFTOVER;
	if (m->facts->stop_cause == FENCE_CAUSE_TIMEOUT ||
	    m->facts->stop_cause == FENCE_CAUSE_IDLE_TIMEOUT)
		return FENCE_SENDER_TIMEOUT;
	return FENCE_SENDER_REQUEST;
}

void fence_monitor_note_sent(struct fence_monitor *m, int sig)
{
	if (sig >= 1 && sig <= 64)
		m->facts->forwarded |= UINT64_C(1) << (sig - 1);
}

/* The polite signal, to as much of the group as was asked for. */
static void term_scope(struct fence_monitor *m, int sig)
{
	const int sigs[] = { sig, SIGCONT };

	note_term(m);
	fence_monitor_tell_signalled(m, sig);
	if (sig == SIGTERM)
		m->facts->term_to_leader = sender_of(m);
	else
		fence_monitor_note_sent(m, sig);
	switch (m->plan->term_scope) {
	case FENCE_TERM_TREE:
		(void)fence_monitor_signal_tree(m, sigs, 2, fence_monitor_is_alive);
		m->tree_termed = true;
		return;
	case FENCE_TERM_GROUP:
		fence_monitor_signal_group(m, sig);
		fence_monitor_signal_group(m, SIGCONT);
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
void fence_monitor_term_rest(struct fence_monitor *m)
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
	fence_monitor_tell_signalled(m, SIGTERM);
}

/* One round. The children, and their groups, are enough: what they leave becomes
 * ours, and has its turn in the next round. The whole tree is walked only when
 * nothing dies, since something in between may be beyond our power. */
static void kill_round(struct fence_monitor *m, bool whole_tree)
{
	static const int kill_only[] = { SIGKILL };
	bool init_is_stuck = whole_tree && fence_now_ms() - m->kill_progress_ms >= INIT_STUCK_MS;
	const struct fence_spare spare = { .pids = &m->contain.init,
					   .count = init_is_stuck ? 0 : 1,
					   .session = m->launcher_session };
	int count;

	if (whole_tree || !m->contain.kill_asked)
		fence_contain_kill(&m->contain);
	fence_monitor_signal_group(m, SIGKILL);
	if (whole_tree)
		(void)fence_monitor_signal_tree(m, kill_only, 1,
						init_is_stuck ? NULL : fence_monitor_is_alive);
	/* An init ends everybody in its namespace, and counts them; one that is stuck
	 * is ended itself, and all of them with it. */
	m->shared->init_killed |= init_is_stuck && m->contain.init > 0;
	count = fence_tree_kill_children(&spare);
	m->round_children = count > 0 ? (unsigned int)count : 0;
	m->round_reaped = 0;
	m->timers[TIMER_KILL].at_ms = fence_now_ms() + KILL_AGAIN_MS;
}

/* After some have died. A small group is gone through each time, which is what
 * outruns a swarm of forks; a large one once a good part of it is reaped, or else
 * a thousand deaths would mean a thousand walks through the other 999. */
void fence_monitor_kill_next(struct fence_monitor *m)
{
	if (m->round_children <= ROUND_SMALL || m->round_reaped * 4 >= m->round_children)
		kill_round(m, false);
	else
		m->timers[TIMER_KILL].at_ms = fence_now_ms() + KILL_SOON_MS;
}

void fence_monitor_kill_now(struct fence_monitor *m)
{
	if (m->phase == KILLING || m->empty)
		return;
	announce_ending(m);
	m->phase = KILLING;
	m->paused = false;
	fence_monitor_clear_limits(m);
	fence_monitor_clear_timer(m, TIMER_GRACE);
	m->facts->kill_sent = true;
	m->result->kill_at_ms = fence_monitor_since_start_ms(m);
	fence_monitor_tell_signalled(m, SIGKILL);
	if (!m->leader_gone)
		m->facts->kill_to_leader = sender_of(m);
	m->kill_start_ms = m->kill_progress_ms = fence_now_ms();
	kill_round(m, false);
}

void fence_monitor_start_ending(struct fence_monitor *m, int sig)
{
	announce_ending(m);
	m->phase = ENDING;
	m->paused = false;
	fence_monitor_clear_limits(m);
	if (m->grace_ms == 0) {
		fence_monitor_kill_now(m);
		return;
	}
	fence_monitor_set_timer(m, TIMER_GRACE, m->grace_ms);
	if (!m->leader_gone)
		term_scope(m, sig);
}

/* The cause is what came first: a command that had already exited by itself was
 * not ended by what happens to its leftovers, unless waiting for them is part of
 * the run. */
void fence_monitor_note_cause(struct fence_monitor *m, enum fence_cause cause)
{
	if (m->facts->stopped || (m->leader_gone && m->phase != WAITING))
		return;
	m->facts->stopped = true;
	m->facts->stop_cause = cause;
}

void fence_monitor_stop(struct fence_monitor *m, enum fence_cause cause, int sig)
{
	fence_monitor_note_cause(m, cause);
	if (m->phase == RUNNING || m->phase == WAITING || m->phase == DRAINING)
		fence_monitor_start_ending(m, sig);
}

void fence_monitor_asked_to_stop(struct fence_monitor *m, enum fence_cause cause, int sig)
{
	m->stops++;
	if (m->stops == 1) {
		fence_monitor_stop(m, cause, sig);
		return;
	}
	m->drain_over = true;
	fence_monitor_kill_now(m);
}

int fence_monitor_grace_due(void *arg)
{
	struct fence_monitor *m = arg;

	fence_monitor_reap_dead(m);
	fence_monitor_kill_now(m);
	return fence_monitor_advance(m);
}

unsigned int fence_monitor_list_living(struct fence_monitor *m, pid_t ret_pids[FENCE_GROUP_PIDS],
				       char ret_names[FENCE_GROUP_PIDS][16])
{
	struct fence_proc_stat stat;
	unsigned int count = 0;

	if (fence_tree_list(&m->tree) < 0)
		m->tree.count = 0;
	for (size_t i = 0; i < m->tree.count; i++) {
		if (fence_proc_stat(m->tree.nodes[i].pid, &stat) < 0 ||
		    !fence_monitor_is_alive(&stat, m))
			continue;
		if (count < FENCE_GROUP_PIDS) {
			ret_pids[count] = stat.pid;
			if (ret_names != NULL)
				memcpy(ret_names[count], stat.name, sizeof(stat.name));
		}
		count++;
	}
	return count;
}

static void record_survivors(struct fence_monitor *m)
{
	struct fence_group_result *result = m->result;

	m->survived = true;
	result->survivor_count = fence_monitor_list_living(m, result->survivor_pids, NULL);
	/* ECHILD was not reached, so there is one, seen or not. */
	if (result->survivor_count == 0)
		result->survivor_count = 1;
}

/* Those whom a namespace's init reaps are dead as well. */
static void note_init_progress(struct fence_monitor *m, int64_t now_ms)
{
	unsigned int reaped = __atomic_load_n(&m->shared->init_reaped, __ATOMIC_ACQUIRE);

	if (reaped != m->init_reaped)
		m->kill_progress_ms = now_ms;
	m->init_reaped = reaped;
}

int fence_monitor_kill_due(void *arg)
{
	struct fence_monitor *m = arg;
	int64_t now = fence_now_ms();

	fence_monitor_reap_dead(m);
	note_init_progress(m, now);
	if (!m->empty &&
	    (now - m->kill_progress_ms >= SURVIVE_MS || now - m->kill_start_ms >= KILL_CAP_MS))
		record_survivors(m);
	else if (!m->empty)
		kill_round(m, now - m->kill_progress_ms >= KILL_AGAIN_MS);
	return fence_monitor_advance(m);
}
