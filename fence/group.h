/* A command as a group: run it, and end all of it, provably.
 *
 * Two stages. The caller is the *launcher*; it forks a *monitor*, which owns the
 * command. Both are child subreapers, so whatever the command starts, and however
 * it detaches, stays a descendant. They are joined by a socket pair: when the
 * launcher dies, the monitor reads end of file, ends everything and reaps it; when
 * the monitor dies, the orphans fall to the launcher, which does the same. The
 * group has ended when nothing is left to wait for (ECHILD), not when the command
 * exits. fence-run has one group; fence-gate has one for each running stage.
 *
 * Use: fence_group_start; watch fence_group_fd in the loop (or poll it) and call
 * fence_group_step whenever it is readable, until that returns 1; read the result;
 * fence_group_free. The caller must have all signals blocked, and must be a
 * subreaper (fence_group_prepare does both once per program). */
#ifndef FENCE_GROUP_H
#define FENCE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fence/capture.h"
#include "fence/err.h"
#include "fence/ident.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/vocab.h"

enum fence_term_scope {
	FENCE_TERM_LEADER, /* the command alone: it shuts its workers down itself */
	FENCE_TERM_GROUP,  /* its process group (the default) */
	FENCE_TERM_TREE,   /* every descendant */
};

/* What a running group tells its launcher, in order. */
enum fence_group_news {
	FENCE_GROUP_STARTED,   /* `leader`: the command runs */
	FENCE_GROUP_ENDING,    /* `cause`: the first signal is about to be sent */
	FENCE_GROUP_SIGNALLED, /* `sig` was sent, to end it or because it was asked for */
	FENCE_GROUP_EXITED,    /* `exit`: the command itself */
	FENCE_GROUP_LEFTOVER,  /* `count` processes that it left */
	FENCE_GROUP_IDLE,      /* no output for as long as the idle time-out */
	FENCE_GROUP_STOPPED,   /* INHERIT only: `sig` has stopped the command, as ^Z does; the
				  time-outs are paused. The launcher is expected to stop too */
};

struct fence_group_event {
	enum fence_group_news news;
	enum fence_contain contain; /* with STARTED: what is in force */
	uint64_t cgroup_id;	    /* with STARTED: the group's own cgroup; 0: none */
	int64_t at_ms;		    /* after the start */
	enum fence_cause cause;
	int sig;
	unsigned int count;
	struct fence_exit exit;
	struct fence_ident leader;
};

/* What to do with what the command left behind when it exited. */
enum fence_leftover {
	FENCE_LEFTOVER_KILL,  /* end it: TERM, the grace, KILL */
	FENCE_LEFTOVER_WAIT,  /* wait for it (the time-out still counts) */
	FENCE_LEFTOVER_FAIL,  /* end it, and the caller treats it as a failure */
	FENCE_LEFTOVER_LEAVE, /* let it go: nothing is promised of it any more */
};

/* What makes the end certain (fence-run(1), CONTAINMENT). */
enum fence_group_contain {
	FENCE_GROUP_PIDNS,     /* a pid namespace: what is in it ends with its first process */
	FENCE_GROUP_CGROUP,    /* a cgroup of its own, ended by one write */
	FENCE_GROUP_SUBREAPER, /* the two stages being subreapers, alone */
	FENCE_GROUP_BEST,      /* the first of these that works here */
};

struct fence_group_plan {
	/* With session INHERIT the command has the launcher's process group, so that a
	 * terminal's job control is its own affair: it alone is followed when it stops and goes
	 * on (FENCE_GROUP_STOPPED, then CONT to the launcher), and signals go to
	 * those of the group that come from it, never to the group itself.
	 *
	 * stdio[1], stdio[2] are ignored for captured streams; at most 64 keep_fds */
	struct fence_spawn_plan spawn;
	int64_t timeout_ms;	 /* 0: none */
	int64_t idle_timeout_ms; /* 0: none; counts captured output only */
	int64_t cpu_timeout_ms;	 /* 0: none; user and system time of all of it together */
	bool boottime;		 /* timeout_ms counts while the machine is suspended, too */
	int64_t grace_ms;	 /* between TERM and KILL; one for the whole ending */
	enum fence_term_scope term_scope;
	enum fence_leftover leftover;
	enum fence_group_contain contain; /* one that is impossible here: nothing is started */

	/* Output. With `capture` both streams go through pipes into bounded tails.
	 * Each may be passed on: tee_fd[stream] (0: stdout, 1: stderr; -1: not), and
	 * both into log_fd (-1: none). The descriptors stay the caller's. A tee that
	 * fails or whose reader is gone is given up and said in the result; when its
	 * reader was the only one (no tail, no log), the command's writes fail from then
	 * on, as they would without us. A tee
	 * that is full holds the command back, as it would without us; after the
	 * command's end it is given up when it has not taken the rest within 5 s. */
	bool capture;
	size_t tail_bytes;
	size_t head_bytes; /* of each stream's beginning as well */
	int tee_fd[2];
	int log_fd;
	/* With `capture`: the master of a pseudo-terminal whose other side is in
	 * spawn.stdio, instead of pipes; -1: pipes. What comes from it is stdout's.
	 * Non-blocking. It may be written to and resized meanwhile by the caller, who keeps
	 * it; should nobody read the output any more the group gets a HUP. */
	int pty_fd;
	int64_t drain_idle_ms; /* after the command's exit: give up after so long without a byte ...
				*/
	int64_t drain_cap_ms;  /* ... and after so long in any case */

	/* Look up the command's start time for the result: three calls into /proc, which
	 * who starts hundreds of commands may save. */
	bool with_start_ticks;

	/* Called once, before the first signal that is to end anything of the group, in the
	 * process that is about to send it: the monitor, or the launcher when the monitor was
	 * killed. NULL: nobody wants to know. Until it returns nothing is signalled. */
	void (*ending)(void *arg, enum fence_cause cause);
	/* Called by fence_group_step. NULL: nothing is told, at no cost. A launcher that
	 * takes none of it for long misses some. */
	void (*told)(void *arg, const struct fence_group_event *event);
	void *arg; /* of both */
};

/* Sane defaults: no time-outs, 5 s grace, group scope, leftovers killed, nothing
 * captured, stdio and directory inherited, no containment but subreapers, drain 200 ms and 2 s,
 * start time known. */
void fence_group_plan_init(struct fence_group_plan *plan);

/* Which limit was reached, when the cause is a time-out. */
enum fence_limit {
	FENCE_LIMIT_NONE,
	FENCE_LIMIT_WALL,
	FENCE_LIMIT_IDLE,
	FENCE_LIMIT_CPU,
};
const char *fence_limit_word(enum fence_limit limit);

/* Who sent a signal that ended something. */
enum fence_sender {
	FENCE_SENDER_NONE,
	FENCE_SENDER_TIMEOUT,  /* us: a limit was reached */
	FENCE_SENDER_REQUEST,  /* us: the caller asked (fence_group_stop), or forwarded a signal */
	FENCE_SENDER_LEFTOVER, /* us: it was still there after the command */
	FENCE_SENDER_OTHER,    /* somebody else, or the command itself */
};
const char *fence_sender_word(enum fence_sender sender);

#define FENCE_GROUP_PIDS 32

struct fence_group_result {
	enum fence_cause cause;
	enum fence_reap reap;
	enum fence_contain contain;
	enum fence_limit limit;

	/* The command itself. Valid unless cause is NOT_STARTED. */
	pid_t pid;
	uint64_t start_ticks; /* 0: not known, or not asked for */
	bool exit_known;      /* false: the monitor was killed before it could say */
	struct fence_exit exit;
	enum fence_sender killed_by;	/* who sent the signal it died of */
	bool term_sent, kill_sent;	/* by us, to any of the group */
	int64_t term_at_ms, kill_at_ms; /* after the start; -1: not sent */

	/* Why it did not start; in words as well when a gate was shut. */
	enum fence_spawn_step failed_step;
	int failed_errno;
	struct fence_err failure;

	/* What was still there when the command had exited by itself and its captured
	 * output had ended (or was given up); zombies do not count. The count may
	 * exceed FENCE_GROUP_PIDS; the lists hold the first of them. */
	unsigned int leftover_count;
	pid_t leftover_pids[FENCE_GROUP_PIDS];
	char leftover_names[FENCE_GROUP_PIDS][16]; /* comm */
	/* Reaped after our first signal that was to end something: the command, and what it
	 * did not reap itself. Not known when the kernel alone ended a pid namespace: its
	 * monitor had been killed, or its init was stuck. */
	bool ended_known;
	unsigned int ended_count;

	/* Outlived KILL (uninterruptible): never zero silently. A pid of 0: not known. */
	unsigned int survivor_count;
	pid_t survivor_pids[FENCE_GROUP_PIDS];

	/* Output that was still held open when we stopped reading: its holders. */
	bool leaked;
	unsigned int holder_count;
	pid_t holder_pids[FENCE_GROUP_PIDS];
	uint64_t output_bytes[2]; /* out, err: everything that came */
	int tee_errno[2];	  /* 0: all of it was passed on; EPIPE: the reader went away */
	int log_errno;		  /* 0: all of it was written */

	int64_t wall_ms;
	int64_t wall_us;
	int64_t user_ms, system_ms; /* of the command and all that was reaped */
	uint64_t peak_rss_bytes;    /* of the largest single process */
	/* Of all together, and how many the memory controller killed: with a cgroup, where
	 * that controller is. */
	bool memory_known;
	uint64_t memory_kills, memory_peak_bytes;
	bool monitor_lost; /* the monitor died; the launcher ended the group */
};

struct fence_group; /* the launcher's side */

/* Once per program, before the first group: subreaper, SIGCHLD to its default,
 * all signals blocked. `ret_mask` (may be NULL) gets the mask that was. */
int fence_group_prepare(sigset_t *ret_mask, struct fence_err *err);

int fence_group_start(const struct fence_group_plan *plan, struct fence_group **ret,
		      struct fence_err *err);

/* Readable when there is something for fence_group_step. */
int fence_group_fd(const struct fence_group *group);

/* Takes what the monitor said. 1: the group has ended and the result is whole;
 * 0: it goes on; -errno. When the monitor was killed, this call itself ends what
 * the monitor left, and returns 1 when nothing of it is left. `others` are the
 * launcher's other running groups: their monitors are not orphans. */
int fence_group_step(struct fence_group *group, struct fence_group *const *others,
		     size_t other_count, struct fence_err *err);

/* Ends the group: TERM to the scope, the grace, KILL. A second call is KILL now.
 * `cause` is what the result will say, unless a cause came first. */
int fence_group_stop(struct fence_group *group, enum fence_cause cause);

/* The same, but beginning with `sig` (INT, HUP, QUIT ...) instead of TERM: for
 * passing on a request to end in the words it came in. What is left once the
 * command is gone gets TERM all the same. */
int fence_group_stop_with(struct fence_group *group, enum fence_cause cause, int sig);

/* For what is no insistence: a group that is being ended already goes on as it was, with
 * its grace, however often this is called, and it does not make the next call above the
 * second. */
int fence_group_end(struct fence_group *group, enum fence_cause cause);

/* As fence_group_stop, with another grace than the plan's. */
int fence_group_stop_within(struct fence_group *group, enum fence_cause cause, int64_t grace_ms);

/* Forwards a signal to the command's process group. TSTP, STOP, TTIN and TTOU stop
 * the whole tree (as STOP: the kernel drops the others in a session of its own) and
 * pause the time-outs; CONT continues both. */
int fence_group_signal(struct fence_group *group, int sig);

/* Any process of our user can stop the monitor, the command too, and a stopped monitor
 * keeps no time-out. To be called when SIGCHLD came: continues it if it was stopped. */
int fence_group_wake(struct fence_group *group);

/* Reaps dead children of the caller that are none of the group's: process 1 gets everybody's
 * orphans, and a shell may have started something before it became us. To be called when
 * SIGCHLD came, by a program that has one group and waits for nobody else. */
void fence_group_reap_strangers(const struct fence_group *group);

/* The command's pid once it was started, 0 before. */
pid_t fence_group_pid(const struct fence_group *group);
/* The monitor's; 0 once it is reaped. */
pid_t fence_group_monitor_pid(const struct fence_group *group);

/* How much has come from the streams that are read, so far. */
uint64_t fence_group_output_bytes(const struct fence_group *group);

/* Whole once fence_group_step returned 1; owned by the group. */
const struct fence_group_result *fence_group_result(const struct fence_group *group);

/* What was kept of a captured stream (0, 1): its beginning, `omitted` bytes that were
 * not kept, its end. Where some were left out, both are cut at UTF-8 boundaries. Before
 * fence_group_step returned 1 it is what there is at the moment; the oldest bytes of a full
 * ring may then be overwritten already. */
struct fence_group_output {
	uint8_t *bytes; /* head and tail after each other; the caller's: free it */
	size_t head_bytes, tail_bytes;
	uint64_t omitted_bytes;
};
int fence_group_output(const struct fence_group *group, int stream, struct fence_group_output *ret);

/* The tail alone, in the same way. */
int fence_group_tail(const struct fence_group *group, int stream, uint8_t **ret, size_t *ret_bytes);

/* For who cannot go on with a group: all of it is ended, also what a monitor left that could
 * not go on itself. Then closes and frees; one that has ended is only freed. `others` as
 * for fence_group_step. */
void fence_group_abandon(struct fence_group *group, struct fence_group *const *others,
			 size_t other_count);

/* Closes and frees. A group that still runs is killed first, by its monitor; only
 * fence_group_step ends what a monitor left that was itself killed. */
void fence_group_free(struct fence_group *group);

#endif
