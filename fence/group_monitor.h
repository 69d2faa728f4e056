/* What the files of the monitor share: its state, and what they ask of each other.
 *
 *   RUNNING   the command runs
 *   DRAINING  it has exited; its output is still open somewhere
 *   WAITING   what it left may go on (FENCE_LEFTOVER_WAIT)
 *   ENDING    TERM was sent; one grace for everything
 *   KILLING   KILL is being sent, until nothing is left to wait for
 *
 * group_birth.c gives birth to the command and watches it; group_monitor.c moves from state
 * to state; group_ending.c sends TERM and KILL; group_limits.c keeps the time-outs;
 * group_jobs.c passes signals on, and stops and continues. Nobody else includes this. */
#ifndef FENCE_GROUP_MONITOR_H
#define FENCE_GROUP_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fence/group_priv.h"
#include "fence/loop.h"
#include "fence/tree.h"

enum fence_phase {
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

struct fence_monitor {
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
	enum fence_phase phase;
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

#define FENCE_MONITOR_DONE 1 /* what ends the loop */

/* The callbacks of watches and timers, `*_ready`, `*_due`, `child_died` and `output_moved`,
 * take the monitor as `arg` and return what the loop is to do: 0 or FENCE_MONITOR_DONE. */

/* --- group_monitor.c ------------------------------------------------------------ */

int64_t fence_monitor_since_start_ms(const struct fence_monitor *m);
/* From now; 0: never. */
void fence_monitor_set_timer(struct fence_monitor *m, int timer, int64_t limit_ms);
void fence_monitor_clear_timer(struct fence_monitor *m, int timer);
/* To the launcher. What it does not take is lost, so that it can never hold us. */
void fence_monitor_tell(const struct fence_monitor *m, struct fence_group_event event);
void fence_monitor_tell_signalled(const struct fence_monitor *m, int sig);
/* Where things stand after an event. FENCE_MONITOR_DONE when the run has ended. */
int fence_monitor_advance(struct fence_monitor *m);
/* Reaps who has died, and notes whether nobody is left. */
void fence_monitor_reap_dead(struct fence_monitor *m);
int fence_monitor_child_died(void *arg, uint32_t events);
int fence_monitor_reap_due(void *arg);
int fence_monitor_drain_due(void *arg);
int fence_monitor_init_due(void *arg);
int fence_monitor_contain_ready(void *arg, uint32_t events);
int fence_monitor_output_moved(void *arg);
int fence_monitor_control_ready(void *arg, uint32_t events);

/* --- group_ending.c --- */

/* The init of a pid namespace is ours, and no part of the group. A fence_tree_pick, `arg`
 * being the monitor. */
bool fence_monitor_is_alive(const struct fence_proc_stat *proc, const void *arg);
unsigned int fence_monitor_signal_tree(struct fence_monitor *m, const int *sigs, size_t count,
				       fence_tree_pick *pick);
/* Who lives: the first of them with pids and names (NULL: without), and how many. */
unsigned int fence_monitor_list_living(struct fence_monitor *m, pid_t ret_pids[FENCE_GROUP_PIDS],
				       char ret_names[FENCE_GROUP_PIDS][16]);
/* To the command's process group, or to those of its launcher's that came from it. */
void fence_monitor_signal_group(struct fence_monitor *m, int sig);
/* The command may die of what we sent. */
void fence_monitor_note_sent(struct fence_monitor *m, int sig);
/* TERM to what the leader left, once. */
void fence_monitor_term_rest(struct fence_monitor *m);
/* After some have died. */
void fence_monitor_kill_next(struct fence_monitor *m);
void fence_monitor_kill_now(struct fence_monitor *m);
/* TERM, or `sig`, to the scope, and the grace begins. */
void fence_monitor_start_ending(struct fence_monitor *m, int sig);
/* The cause is what came first. */
void fence_monitor_note_cause(struct fence_monitor *m, enum fence_cause cause);
/* Begins the end, unless it has begun. */
void fence_monitor_stop(struct fence_monitor *m, enum fence_cause cause, int sig);
/* The same; a second time it is KILL now. */
void fence_monitor_asked_to_stop(struct fence_monitor *m, enum fence_cause cause, int sig);
int fence_monitor_grace_due(void *arg);
int fence_monitor_kill_due(void *arg);

/* --- group_limits.c --- */

/* Of the command's life: none of them counts while it is being ended. */
void fence_monitor_clear_limits(struct fence_monitor *m);
int fence_monitor_timeout_due(void *arg);
int fence_monitor_cpu_due(void *arg);
int fence_monitor_idle_due(void *arg);
/* Instead of TIMER_LIMIT. */
int fence_monitor_watch_boot_clock(struct fence_monitor *m);
/* While the command is stopped its time-outs stand still. */
void fence_monitor_pause_timers(struct fence_monitor *m);
void fence_monitor_resume_timers(struct fence_monitor *m);

/* --- group_jobs.c --- */

/* Stop signals and CONT as what they mean, for all of the tree. */
void fence_monitor_forward(struct fence_monitor *m, int sig);
int fence_monitor_wake_due(void *arg);
/* A command in its launcher's group: has it stopped, or gone on? */
void fence_monitor_follow_leader(struct fence_monitor *m);

#endif
