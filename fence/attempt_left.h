/* What is left of an attempt whose supervisor died: found by what proves it, and
 * ended. For fence/attempt_repair.
 *
 * A process is found first and opened then, and the proof is read once more through
 * the open pidfd: the pid cannot have become somebody else's in between. Nothing is
 * signalled but what was opened so. */
#ifndef FENCE_ATTEMPT_LEFT_H
#define FENCE_ATTEMPT_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fence/attempt.h"

/* Why a process is known to be of the attempt, strongest first. */
enum fence_left_proof {
	FENCE_LEFT_GROUP,      /* in the recorded group, whose number is still that one's */
	FENCE_LEFT_SESSION,    /* in the session of the group's leader, likewise */
	FENCE_LEFT_CGROUP,     /* in the recorded cgroup or below */
	FENCE_LEFT_STAMP,      /* its environment names the very supervisor */
	FENCE_LEFT_DESCENDANT, /* child of one of these */
	FENCE_LEFT_UNPROVEN,   /* has the group's number, which may be a stranger's by now */
};
const char *fence_left_proof_word(enum fence_left_proof proof);

struct fence_left {
	pid_t pid;
	enum fence_left_proof proof;
	int pidfd; /* the list's */
	char name[16];
};

/* Zeroed is empty; fence_left_list_drop frees and closes. */
struct fence_left_list {
	struct fence_left *items; /* the unproven ones too */
	size_t count, capacity;
	size_t unproven; /* of `count` */
	bool has_self;	 /* the caller is of the attempt itself */
	bool is_partial; /* there were more than descriptors: look again after these */
};
void fence_left_list_drop(struct fence_left_list *list);

/* What to look for, from the marker of a supervisor of this boot and pid namespace. */
struct fence_left_traces {
	struct fence_ident group;
	int group_pidfd;		       /* -1: its leader is gone, or it has none */
	bool group_gone;		       /* certainly: its number is a stranger's now */
	char stamp[FENCE_ATTEMPT_STAMP_BYTES]; /* or empty */
	int cgroup_fd;			       /* -1: none */
	char *cgroup_path;		       /* as /proc/PID/cgroup has it */
};

/* What the marker says too little about to be proof is not looked for: a stamp and a
 * group need the boot, a stamp the supervisor's start time, and a group its leader's
 * id: a start time alone is shared by whoever gets the number soon enough. */
int fence_left_traces_open(const struct fence_marker *marker, struct fence_left_traces *ret,
			   struct fence_err *err);
void fence_left_traces_close(struct fence_left_traces *traces);

/* One look at all processes: 0 or -errno. */
int fence_left_find(const struct fence_left_traces *traces, struct fence_left_list *list,
		    struct fence_err *err);

struct fence_left_ended {
	bool term_sent, kill_sent;
	unsigned int survivors; /* proven, and still there */
	unsigned int unproven;
};

/* Ends what is proven: TERM and CONT to all, up to `grace_ms` for them to end, then
 * KILL in rounds until nothing is found, a bounded time. */
int fence_left_end(const struct fence_left_traces *traces, int64_t grace_ms,
		   struct fence_left_ended *ret, struct fence_err *err);

/* The cgroup of this id: a descriptor of its folder, and its path from the hierarchy's
 * root, which the caller frees. -ENOENT: there is none (any more) that can be seen. */
int fence_cgroup_find(uint64_t id, int *ret_fd, char **ret_path);

#endif
