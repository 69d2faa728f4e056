/* The fence round a run: the command starts only while its marker is the approved one
 * and active, the marker says where the run stands, and a marker that is cancelled or
 * lost ends the run. */
#ifndef SUPERVISOR_FENCE_H
#define SUPERVISOR_FENCE_H

#include "fence/attempt.h"
#include "fence/group.h"
#include "fence/ident.h"
#include "fence/loop.h"
#include "fence/marker.h"
#include "supervisor/run.h"

struct run_fence {
	/* Given. */
	const char *path;
	enum fence_marker_format format;
	const char *attempt_id;
	enum fence_marker_durable durable;

	pid_t pid;		       /* ours */
	struct fence_ident supervisor; /* that the marker names: us, or whom we run for */
	struct fence_marker_approved approved;
	struct fence_marker_writer writer; /* kept open: byte 1 of the lock goes with it */
	struct fence_marker_watch watch;
	struct fence_watch loop_watch;
	struct fence_timer watch_timer, look_timer;
	struct fence_loop *loop;
	struct fence_err *err; /* the run's: for what fails later */
	bool borrowed;	       /* the marker is not ours to write */
	bool asked;	       /* the group was told to end */
	struct fence_group *group;
	char markers[sizeof(FENCE_ATTEMPT_MARKERS_VARIABLE "=") + FENCE_ATTEMPT_MARKERS_BYTES];
};

/* Names `fence->path` in the command's environment, see fence/attempt.h. The text is the
 * fence's. */
int run_fence_name_marker(struct run_fence *fence, struct run_conf *conf, struct fence_err *err);

/* Who we are, and the descriptor to watch the marker with. -errno with words. */
int run_fence_init(struct run_fence *fence, struct fence_err *err);

/* The marker's lock, and byte 1 of it. -EBUSY: another supervisor has it, and keeps it
 * though the attempt is over, if it is. */
int run_fence_own(struct run_fence *fence, struct fence_err *err);

/* Makes the marker. -EBUSY: one is there whose attempt may still run; -EEXIST: another
 * file is there, or a marker of another format. */
int run_fence_create(struct run_fence *fence, struct fence_err *err);

/* The marker that somebody made: is it as they say, active, and of the very supervisor
 * that is meant? From then on this very state is the approved one. -ESTALE, -EBADMSG. */
int run_fence_approve(struct run_fence *fence, const struct fence_marker_approved *approved,
		      struct fence_err *err);

/* The same for a marker of somebody else's attempt, whose supervisor is then whom we run
 * for: fence-run's --fence. */
int run_fence_borrow(struct run_fence *fence, const struct fence_marker_approved *approved,
		     struct fence_err *err);

/* The fence's gate, for a command that is about to start: of an attempt of ours it
 * publishes the group, of a borrowed one it keeps every writer out until exec(2). */
void run_fence_plan(struct run_fence *fence, struct fence_spawn_plan *plan);

/* Publishes `terminating`: for fence_group_plan's `ending`, in any of our processes. */
void run_fence_ending(struct run_fence *fence);

/* From a moment after this on the marker is watched, and ends `group`; so does a watch that
 * cannot be had then, with words in `err`, which is kept for that. */
int run_fence_watch(struct run_fence *fence, struct fence_loop *loop, struct fence_group *group,
		    struct fence_err *err);

/* Publishes how it ended: 0 with the marker as it is now, or -errno with words. `result`
 * is changed when the marker knows better: a command that a cancel kept from starting
 * was cancelled. */
int run_fence_conclude(struct run_fence *fence, struct fence_marker_result *result,
		       struct fence_marker *ret, struct fence_err *err);

void run_fence_close(struct run_fence *fence);

#endif
