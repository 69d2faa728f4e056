/* What the files of fence/group share: the memory between launcher and monitor,
 * what they say to each other, and the decisions as pure functions. Nobody else
 * includes this, the unit tests excepted. */
#ifndef FENCE_GROUP_PRIV_H
#define FENCE_GROUP_PRIV_H

#include "fence/cgroup.h"
#include "fence/group.h"
#include "fence/loop.h"

#define FENCE_GROUP_KEEP_MAX 64 /* spawn.keep_count at most */

/* Who is to be ended is listed through /proc, for which a process needs so many descriptors
 * at a time. They are set aside before the command is born: with none to be had later on,
 * it could be neither found nor ended. */
#define FENCE_GROUP_SPARE_FDS 2
int fence_group_set_aside(int fd, int ret_spare[FENCE_GROUP_SPARE_FDS]);
void fence_group_give_back(int spare[FENCE_GROUP_SPARE_FDS]);

/* What happened, from which the result is judged. */
struct fence_group_facts {
	bool started;
	bool own_group; /* the command led a group of its own */
	bool exit_known;
	struct fence_exit exit;
	bool monitor_lost; /* before it knew how the command exited */
	bool stopped;	   /* we had a cause to end it, before it ended by itself */
	enum fence_cause stop_cause;
	enum fence_sender term_to_leader, kill_to_leader; /* NONE: not sent to the command */
	uint64_t forwarded;				  /* signals passed on to it: bit N-1 */
	bool term_sent, kill_sent;			  /* to any of the group */
	unsigned int survivors;
	bool left; /* something was left running, by wish */
};

struct fence_group_judgement {
	enum fence_cause cause;
	enum fence_reap reap;
	enum fence_sender killed_by;
};

struct fence_group_judgement fence_group_judge(const struct fence_group_facts *facts);
enum fence_cause fence_group_judge_cause(const struct fence_group_facts *facts);

/* Memory that both stages have, and that outlives either of them. The rings of
 * the two tails follow it, and then the two heads. Only the monitor writes, until it
 * is gone. */
struct fence_group_shared {
	struct fence_group_result result;
	struct fence_group_facts facts;
	struct fence_tail tails[2];
	struct fence_head heads[2];
	int64_t start_us;
	int64_t user_us, system_us;
	enum fence_contain contain;	 /* in force */
	pid_t init;			 /* of the pid namespace; 0: there is none */
	bool init_killed;		 /* before it could count all of them */
	unsigned int ended_count;	 /* reaped by a stage since `announced` */
	unsigned int init_reaped;	 /* by that init, in all, set atomically by it ... */
	unsigned int init_reaped_before; /* ... and before `announced` */
	bool announced;			 /* `ending` was called */
	pid_t pid;			 /* set, atomically, once the command runs */
	bool ended;			 /* set, atomically, as the monitor's last word */
	char cgroup_path[PATH_MAX];	 /* empty: no cgroup was made */
};

uint8_t *fence_group_ring(struct fence_group_shared *shared, int stream);
uint8_t *fence_group_head(struct fence_group_shared *shared, int stream);

/* Adds one reaped process's use. */
void fence_group_account(struct fence_group_shared *shared, const struct rusage *usage);

/* Fills in what is computed from the rest: the judgement, times, byte counts. */
void fence_group_conclude(struct fence_group_shared *shared);

/* Launcher to monitor, one packet each. End of file says that the other is dead. */
enum fence_group_word {
	FENCE_GROUP_STOP,   /* value: the cause; sig: what to begin with */
	FENCE_GROUP_END,    /* value: the cause; sig */
	FENCE_GROUP_SIGNAL, /* sig */
};

struct fence_group_packet {
	int32_t word;
	int32_t value;
	int32_t sig;
	int64_t grace_ms; /* with STOP; -1: the plan's */
};

/* The monitor's life; `control_fd` is its end of the socket pair. */
void fence_group_monitor(const struct fence_group_plan *plan, struct fence_group_shared *shared,
			 int control_fd) __attribute__((noreturn));

/* The monitor's first steps (group_aside.c): closes what it does not need, and
 * leaves the launcher's process group. */
void fence_group_close_rest(const struct fence_group_plan *plan, int control_fd);
int fence_group_step_aside(const struct fence_group_plan *plan);
/* For INHERIT, once the command is born: into a session of our own. ^Z at the terminal must
 * not stop the one that keeps the time. */
int fence_group_leave(void);

/* --- containment (group_contain.c, group_init.c) ------------------------------- */

/* What holds the command, beside that the stages are subreapers. The monitor's. */
struct fence_containment {
	struct fence_group_shared *shared;
	bool in_user_ns;   /* we went into a user namespace to be allowed the other one */
	int proc_fd;	   /* the child's, before it is the command */
	pid_t init;	   /* 0: none, or reaped */
	int init_fd;	   /* what is said to it, and its one answer; -1: none */
	bool init_told;	   /* the command is gone */
	bool init_decided; /* and it said that others are not, or it did not answer in time */
	bool kill_asked;
	struct fence_cgroup cgroup;
};

/* Zeroed in a way that fence_contain_leave takes. */
void fence_contain_init(struct fence_containment *contain, struct fence_group_shared *shared);
/* Makes what the plan wants, and puts into `spawn` how the command is born into it.
 * -errno with words and with what to do: nothing is a substitute for what was named. */
int fence_contain_enter(struct fence_containment *contain, enum fence_group_contain wish,
			struct fence_spawn_plan *spawn, struct fence_err *err);
/* The command was reaped: an init may end once it has no children. */
void fence_contain_command_gone(struct fence_containment *contain);
/* The init said something, or is dead: -EPIPE. */
int fence_contain_hear(struct fence_containment *contain);
/* KILL to everything in it, at once, as far as it goes further than the caller's own. */
void fence_contain_kill(struct fence_containment *contain);
/* Nothing lives in it that is not our child. */
bool fence_contain_is_empty(const struct fence_containment *contain);
/* Reads the memory controller's counters, and removes what was made. */
void fence_contain_leave(struct fence_containment *contain);

/* The life of process 1 of a pid namespace: reaps, until the monitor's end of `fd` says
 * otherwise or is closed. */
void fence_group_init_main(int fd, unsigned int *reaped) __attribute__((noreturn));
#define FENCE_INIT_COMMAND_GONE 'g' /* to it: end once nobody is left */
#define FENCE_INIT_KILL		'k' /* to it: end everybody */
#define FENCE_INIT_OTHERS_LIVE	'o' /* from it, after the first, once */

/* --- output (group_output.c) ------------------------------------------------- */

struct fence_output;

struct fence_stream {
	struct fence_output *output;
	struct fence_tail *tail;
	uint8_t *ring;
	struct fence_head *head;
	uint8_t *head_memory;
	int pipe_fd;   /* our end; -1: at its end */
	bool is_wide;  /* the pipe was widened */
	bool is_pty;   /* the master of a pseudo-terminal instead */
	int tee_fd;    /* -1: none, or given up */
	bool tee_only; /* nobody else wants the bytes */
	struct fence_watch pipe_watch, tee_watch;
	uint8_t *pending; /* for the tee, which would not take it yet */
	size_t pending_bytes, pending_room;
};

struct fence_output {
	struct fence_stream streams[2];
	struct fence_loop *loop;
	struct fence_group_result *result;
	int log_fd;
	int slave_fd; /* of the terminal, until the command has exited; -1: none */
	uint8_t *chunk;
	bool unread;		 /* a terminal's output that nobody reads any more */
	bool draining;		 /* the command is gone: read on even when a tee is slow */
	int (*moved)(void *arg); /* called after bytes came or a stream ended */
	void *arg;
};

/* Makes the pipes. `ret_ends` are the command's: pass them on, then close them. */
int fence_output_open(struct fence_output *output, const struct fence_group_plan *plan,
		      struct fence_group_shared *shared, int ret_ends[2]);
int fence_output_watch(struct fence_output *output, struct fence_loop *loop);
bool fence_output_is_open(const struct fence_output *output);
/* Bytes wait for a tee, so reading, and perhaps the command, waits as well. */
bool fence_output_is_held(const struct fence_output *output);
void fence_output_drain(struct fence_output *output);
/* Who else holds our pipes: into the result. */
void fence_output_name_holders(const struct fence_output *output);
/* The last look: takes what is in the pipes now, and gives each tee up to
 * `flush_ms` in all to take what waits for it. Anything readable on
 * `interrupt_fd` ends the patience. */
void fence_output_finish(struct fence_output *output, int64_t flush_ms, int interrupt_fd);

#endif
