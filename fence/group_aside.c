/* How a monitor takes itself out of the launcher's affairs. */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fence/group_priv.h"
#include "fence/own.h"
#include "fence/sys.h"

int fence_group_set_aside(int fd, int ret_spare[FENCE_GROUP_SPARE_FDS])
{
	int rc = 0;

	for (int i = 0; i < FENCE_GROUP_SPARE_FDS; i++) {
		ret_spare[i] = rc < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (ret_spare[i] < 0 && rc == 0)
			rc = -errno;
	}
	return rc;
}

void fence_group_give_back(int spare[FENCE_GROUP_SPARE_FDS])
{
	for (int i = 0; i < FENCE_GROUP_SPARE_FDS; i++)
		fence_close_fd(&spare[i]);
}

struct fd_set_kept {
	int fds[FENCE_GROUP_KEEP_MAX + 9];
	size_t count;
};

/* In ascending order. */
static void keep(struct fd_set_kept *kept, int fd)
{
	size_t at = kept->count;

	if (fd <= 2 || at == sizeof(kept->fds) / sizeof(kept->fds[0]))
		return;
	for (; at > 0 && kept->fds[at - 1] > fd; at--)
		kept->fds[at] = kept->fds[at - 1];
	kept->fds[at] = fd;
	kept->count++;
}

/* What else the launcher had open is none of ours. Above all the ends of other
 * groups' sockets: with a copy of one here, that group's monitor would not see
 * its launcher die. */
void fence_group_close_rest(const struct fence_group_plan *plan, int control_fd)
{
	struct fd_set_kept kept = { .count = 0 };
	unsigned int first = 3;

	keep(&kept, control_fd);
	keep(&kept, plan->log_fd);
	keep(&kept, plan->pty_fd);
	for (int i = 0; i < 3; i++)
		keep(&kept, plan->spawn.stdio[i]);
	for (int i = 0; i < 2; i++)
		keep(&kept, plan->tee_fd[i]);
	for (size_t i = 0; i < plan->spawn.keep_count; i++)
		keep(&kept, plan->spawn.keep_fds[i]);
	for (size_t i = 0; i < kept.count; i++) {
		unsigned int fd = (unsigned int)kept.fds[i];

		if (fd > first)
			(void)fence_close_range(first, fd - 1, 0);
		if (fd >= first)
			first = fd + 1;
	}
	(void)fence_close_range(first, ~0U, 0);
}

/* Out of the way: ^C at the terminal and signals to the launcher's group must not
 * reach the one that has to outlive them. All signals are blocked already. */
int fence_group_step_aside(const struct fence_group_plan *plan)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return -errno;
	/* The command is to have the caller's group, and is born with ours. */
	if (plan->spawn.session == FENCE_SPAWN_INHERIT)
		return 0;
	/* A group is enough, and a session dear: the kernel makes a scheduling group
	 * for each (15 us of a launch). */
	return setpgid(0, 0) < 0 ? -errno : 0;
}

/* Another group would do for us and not for the command: with a parent in another group
 * of its session it would count as one that somebody can still continue, and when the
 * shell that had stopped it goes away the kernel would not end it. */
int fence_group_leave(void)
{
	return setsid() < 0 ? -errno : 0;
}
