/* Deaths. This module is the only one that waits for children.
 *
 * Look first: while a dead child is not reaped its pid, and the group and
 * session it led, cannot be given to anybody else, so that is the moment to
 * signal what it left. Then take it. */
#ifndef FENCE_REAP_H
#define FENCE_REAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct fence_exit {
	pid_t pid;
	bool signalled; /* died of `number` (a signal), else exited with it */
	bool core;
	int number;
};

/* Any dead child, left unreaped: 1 and its exit; 0: none is dead now;
 * -ECHILD: there are no children at all. */
int fence_reap_look(struct fence_exit *ret);

/* Reaps this dead child. `usage` (may be NULL) counts it and all that it
 * waited for itself. -EAGAIN when it is not dead. */
int fence_reap_take(pid_t pid, struct fence_exit *ret, struct rusage *usage);

/* Any dead child, in one call, for whoever has nothing to do in between: 1; 0: none is dead
 * now; -ECHILD. */
int fence_reap_next(struct fence_exit *ret, struct rusage *usage);

/* Waits for it to die, then reaps. */
int fence_reap_wait(pid_t pid, struct fence_exit *ret, struct rusage *usage);

/* Is this child of ours dead, and not reaped yet? */
bool fence_reap_is_dead(pid_t pid);

/* Waits for any child to die, and reaps it; -ECHILD: there is none left. */
int fence_reap_any(struct fence_exit *ret);

/* This child was stopped by a signal since the last time that this was asked: 1
 * and the signal; 0: no. */
int fence_reap_stopped(pid_t pid, int *ret_signal);

/* The same of any child of ours in that process group. */
int fence_reap_stopped_in(pid_t group, int *ret_signal);

/* The same, and whether it was continued (then the signal is CONT): each is told once,
 * and only the last of them when they came at once. */
int fence_reap_job(pid_t pid, int *ret_signal);

/* 128+n for a signal, else the status: what a shell would see. */
int fence_exit_status(const struct fence_exit *how);

#endif
