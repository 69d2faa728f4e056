/* The whole waiting of the launcher and of init: for signals, and for each other. */
#ifndef GUARD_CONFINE_SERVE_H
#define GUARD_CONFINE_SERVE_H

#include <sys/signalfd.h>

/* Two descriptors are all that there is to wait for, and poll(2) needs no setting up,
 * where an epoll set is four system calls in each of two processes at every launch.
 * Level-triggered; an answer that is not 0 ends the serving. */
struct guard_serving {
	int signal_fd;
	int sock;
	int (*on_signal)(void *arg, const struct signalfd_siginfo *info);
	int (*on_socket)(void *arg);
	int tick_ms; /* so often on_tick is called while nothing else happens; 0: never */
	int (*on_tick)(void *arg);
	void *arg;
};

/* The answer that ended it, or -errno. */
int guard_serve(struct guard_serving *serving);

#endif
