/* What the command left behind when it ended: every other process of its pid
 * namespace, as pid 1 of it sees them in the /proc of that namespace. They end with
 * the namespace; here they are only named. */
#ifndef GUARD_CONFINE_LEFTOVER_H
#define GUARD_CONFINE_LEFTOVER_H

#include <stdbool.h>
#include <sys/types.h>

#define GUARD_LEFTOVER_NAMED 16

struct guard_leftover {
	bool known;	    /* false: there is no /proc to look into */
	unsigned int count; /* all of them; the first ones are named */
	struct {
		pid_t pid; /* in the namespace */
		char name[16];
	} first[GUARD_LEFTOVER_NAMED];
};

/* One look, for pid 1 after it has reaped the command. Zombies do not count. */
void guard_leftover_look(struct guard_leftover *ret);

#endif
