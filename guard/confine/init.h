/* PID 1 of the command's pid namespace: confines itself, starts the command, reaps,
 * relays signals, and takes everything with it when the command, or the launcher,
 * is gone. */
#ifndef GUARD_CONFINE_INIT_H
#define GUARD_CONFINE_INIT_H

#include <signal.h>

#include "guard/confine/apply.h"

struct guard_command {
	char *const *argv;
	char *const *envp;
	const sigset_t *mask; /* the signal mask that it gets */
	bool foreground;      /* it shall have the terminal from its start */
	bool on_terminal;     /* there is one that it may get */
	bool tell_started;    /* somebody wants to know */
	int signal_fd;	      /* the launcher's: read here it tells of our signals (signalfd(2)) */
};

/* What the launcher may say to init, a byte each. Its end of the socket says: end. */
#define GUARD_SAY_GO_ON	   'g' /* STARTED was heard: reap what dies */
#define GUARD_SAY_TERMINAL 't' /* give the command the terminal, and continue it */

/* Exits as the command does, or with words sent before. `sock` is init's end; the launcher's end
 * must be closed here. All signals are blocked. Never returns. */
__attribute__((noreturn)) void guard_init_run(struct guard_confine *confine,
					      const struct guard_command *command, int sock);

/* Which signals are passed on to the command. */
void guard_relayed_signals(sigset_t *ret);

#endif
