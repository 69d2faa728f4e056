/* Whether an attempt's supervisor lives, and whether the attempt is over. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "fence/attempt.h"
#include "fence/own.h"
#include "fence/sys.h"

const char *fence_attempt_life_word(enum fence_attempt_life life)
{
	static const char *const words[] = {
		[FENCE_ATTEMPT_ALIVE] = "alive",
		[FENCE_ATTEMPT_DEAD] = "dead",
		[FENCE_ATTEMPT_OTHER_BOOT] = "other-boot",
		[FENCE_ATTEMPT_OTHER_PID_NS] = "other-pid-namespace",
		[FENCE_ATTEMPT_OTHER_HOST] = "other-host",
		[FENCE_ATTEMPT_UNKNOWN] = "unknown",
	};

	return words[life];
}

bool fence_attempt_is_over(const struct fence_marker *marker)
{
	if (marker->status == FENCE_MARKER_CANCELLED)
		return marker->has_result && marker->result.survivors == 0;
	return marker->status == FENCE_MARKER_TERMINATED;
}

static bool is_other_host(const struct fence_marker *marker)
{
	char host[FENCE_MARKER_HOST_BYTES] = "";

	if (marker->host[0] == '\0')
		return false;
	/* A name too long for a marker was never written to one. */
	return gethostname(host, sizeof(host)) < 0 || strcmp(host, marker->host) != 0;
}

/* Where its writer was, as far as it says; DEAD: nothing speaks against here. */
static enum fence_attempt_life judge_place(const struct fence_marker *marker,
					   const struct fence_ident *here)
{
	const struct fence_ident *supervisor = &marker->supervisor;

	if (is_other_host(marker))
		return FENCE_ATTEMPT_OTHER_HOST;
	if (supervisor->boot_id[0] != '\0' && strcmp(supervisor->boot_id, here->boot_id) != 0)
		return FENCE_ATTEMPT_OTHER_BOOT;
	if (supervisor->pid_ns != 0 && supervisor->pid_ns != here->pid_ns)
		return FENCE_ATTEMPT_OTHER_PID_NS;
	return FENCE_ATTEMPT_DEAD;
}

/* 1: it has ended, reaped or not; 0: it has not; -errno. */
static int has_ended(int pidfd)
{
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };
	int rc;

	do {
		rc = poll(&ended, 1, 0);
	} while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : rc > 0;
}

/* Is the process `found`, which has the supervisor's pid, the supervisor? */
static enum fence_attempt_life compare(const struct fence_ident *supervisor,
				       const struct fence_ident *found)
{
	if (supervisor->id != 0 && found->id != 0)
		return supervisor->id == found->id ? FENCE_ATTEMPT_ALIVE : FENCE_ATTEMPT_DEAD;
	if (supervisor->start_ticks == 0)
		return FENCE_ATTEMPT_UNKNOWN;
	return supervisor->start_ticks == found->start_ticks ? FENCE_ATTEMPT_ALIVE
							     : FENCE_ATTEMPT_DEAD;
}

/* Who has the pid is asked after the pidfd was opened, and through it. */
static int judge_process(const struct fence_ident *supervisor, enum fence_attempt_life *ret,
			 int *ret_pidfd, struct fence_err *err)
{
	owned_fd pidfd = fence_pidfd_open(supervisor->pid, 0);
	struct fence_ident found;
	int rc;

	*ret = FENCE_ATTEMPT_DEAD;
	if (pidfd == -ESRCH || pidfd == -ENOENT || pidfd == -EINVAL) /* nobody, or a thread */
		return 0;
	if (pidfd < 0)
		return fence_fail(err, pidfd, "open supervisor pid %d", supervisor->pid);
	rc = has_ended(pidfd);
	if (rc != 0)
		return rc < 0 ? fence_fail(err, rc, "poll supervisor pid %d", supervisor->pid) : 0;
	rc = fence_ident_of_pidfd(pidfd, &found);
	if (rc == 0) {
		*ret = compare(supervisor, &found);
		if (*ret == FENCE_ATTEMPT_ALIVE && ret_pidfd)
			*ret_pidfd = fence_take_fd(&pidfd);
		return 0;
	}
	if (rc != -ESRCH)
		return fence_fail(err, rc, "look at supervisor pid %d", supervisor->pid);
	/* It ended meanwhile, or a /proc with hidepid= does not show it. */
	*ret = has_ended(pidfd) > 0 ? FENCE_ATTEMPT_DEAD : FENCE_ATTEMPT_UNKNOWN;
	return 0;
}

int fence_attempt_judge(const struct fence_marker *marker, enum fence_attempt_life *ret,
			int *ret_pidfd, struct fence_err *err)
{
	struct fence_ident here;
	enum fence_attempt_life life;
	int rc = fence_ident_self(&here);

	if (ret_pidfd)
		*ret_pidfd = -1;
	if (rc < 0)
		return fence_fail(err, rc, "find out boot and pid namespace");
	life = judge_place(marker, &here);
	if (life == FENCE_ATTEMPT_DEAD)
		rc = judge_process(&marker->supervisor, &life, ret_pidfd, err);
	if (rc == 0)
		*ret = life;
	return rc;
}
