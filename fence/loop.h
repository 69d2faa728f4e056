/* One event loop: descriptors (pipes, sockets, pidfds, a signalfd) through
 * epoll, and moments. Everything a program waits for goes through it; nothing
 * polls, so an idle program makes no wake-ups.
 *
 * Watches and timers are the caller's memory and must outlive their time in
 * the loop. A callback may add and remove any watch, its own too. It returns 0
 * to go on, or anything else to end the loop with that answer. */
#ifndef FENCE_LOOP_H
#define FENCE_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct fence_watch {
	int fd; /* -1: not in a loop */
	int (*ready)(void *arg, uint32_t epoll_events);
	void *arg;
};

struct fence_timer {
	int64_t at_ms; /* FENCE_NEVER: not set */
	int (*due)(void *arg);
	void *arg;
	struct fence_timer *next; /* the loop's */
};

struct fence_loop {
	int epoll_fd;
	struct fence_timer *timers;
};

int fence_loop_open(struct fence_loop *ret);
void fence_loop_close(struct fence_loop *loop);

/* `epoll_events` as in epoll_ctl(2), level-triggered. Fill `ready` and `arg`
 * first. -EPERM: a regular file, which is always ready and has no place here. */
int fence_loop_add(struct fence_loop *loop, struct fence_watch *watch, int fd,
		   uint32_t epoll_events);
/* Does not close the descriptor. Removing what is not there is fine. */
void fence_loop_remove(struct fence_loop *loop, struct fence_watch *watch);

/* In the loop while it is wanted: adds or removes it unless that is so already. */
int fence_loop_set(struct fence_loop *loop, struct fence_watch *watch, int fd, bool wanted,
		   uint32_t epoll_events);

/* Enters a timer (once), then arm it by `at_ms` as often as wanted. A due timer
 * is set to FENCE_NEVER before its callback runs. */
void fence_loop_timer(struct fence_loop *loop, struct fence_timer *timer);

/* Runs until a callback returns non-zero: that answer, or -errno. */
int fence_loop_run(struct fence_loop *loop);

/* Blocks every signal and returns a close-on-exec, non-blocking signalfd for
 * `wanted`, or -errno. `old` (may be NULL) gets the mask that was. */
int fence_signals_take(const sigset_t *wanted, sigset_t *old);

#endif
