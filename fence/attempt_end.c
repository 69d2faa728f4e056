/* Ending what is left of an attempt. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fence/attempt_left.h"
#include "fence/cgroup.h"
#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"

/* What does not go for so long after KILL sleeps in the kernel, and may for ever. */
#define KILL_MS	      5000
#define KILL_ROUNDS   1000
#define KILL_ROUND_MS 1000

/* Each process that is left takes a descriptor; the usual soft limit is 1024. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit); /* fewer at a time otherwise */
	}
}

/* The group at once where that can be done: it reaches what is being forked. */
static bool signal_group(const struct fence_left_traces *traces, int sig)
{
	return traces->group_pidfd >= 0 &&
	       fence_pidfd_signal(traces->group_pidfd, sig, PIDFD_SIGNAL_PROCESS_GROUP) == 0;
}

/* Returns whether anybody got it. */
static bool signal_all(const struct fence_left_traces *traces, const struct fence_left_list *list,
		       int sig)
{
	bool group_done = signal_group(traces, sig), sent = group_done;

	for (size_t i = 0; i < list->count; i++) {
		const struct fence_left *left = &list->items[i];

		if (left->proof == FENCE_LEFT_UNPROVEN ||
		    (left->proof == FENCE_LEFT_GROUP && group_done))
			continue;
		/* Who may not be signalled, or has gone, shows in the next look. */
		sent |= fence_pidfd_signal(left->pidfd, sig, 0) == 0;
	}
	return sent;
}

/* One by one otherwise. */
static bool kill_cgroup(const struct fence_left_traces *traces)
{
	owned_fd fd = -1;

	if (traces->cgroup_fd >= 0)
		fd = openat(traces->cgroup_fd, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	return fd >= 0 && fence_write_full(fd, "1", 1) == 0;
}

/* Until all that is proven has ended, or the moment has come. */
static int wait_for_all(const struct fence_left_list *list, int64_t stop_at_ms)
{
	owned_mem struct pollfd *fds = calloc(list->count + 1, sizeof(*fds));
	nfds_t count = 0;

	if (!fds)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].proof != FENCE_LEFT_UNPROVEN)
			fds[count++] =
				(struct pollfd){ .fd = list->items[i].pidfd, .events = POLLIN };
	while (count > 0) {
		int64_t left_ms = stop_at_ms - fence_now_ms();
		int wait_ms = left_ms < 0 ? 0 : left_ms > INT32_MAX ? INT32_MAX : (int)left_ms;
		int rc = poll(fds, count, wait_ms);

		if (rc < 0 && errno != EINTR)
			return -errno;
		if (rc == 0 && left_ms <= 0)
			return 0;
		for (nfds_t i = 0; rc > 0 && i < count;) {
			if (fds[i].revents != 0)
				fds[i] = fds[--count];
			else
				i++;
		}
	}
	return 0;
}

struct ending {
	const struct fence_left_traces *traces;
	struct fence_left_list list;
	struct fence_left_ended *ret;
	struct fence_err *err;
};

/* How many are proven, or -errno. */
static int look(struct ending *e)
{
	int rc = fence_left_find(e->traces, &e->list, e->err);

	if (rc < 0)
		return rc;
	e->ret->unproven = (unsigned int)e->list.unproven;
	e->ret->survivors = (unsigned int)(e->list.count - e->list.unproven);
	return (int)e->ret->survivors;
}

/* Only what came up after the last look is there when a look finds something before
 * the time is over, so nobody gets TERM twice. */
static int ask(struct ending *e, int64_t stop_at_ms)
{
	int rc = look(e);

	while (rc > 0 && fence_now_ms() < stop_at_ms) {
		(void)signal_all(e->traces, &e->list, SIGTERM);
		(void)signal_all(e->traces, &e->list, SIGCONT);
		e->ret->term_sent = true;
		rc = wait_for_all(&e->list, stop_at_ms);
		if (rc < 0)
			return fence_fail(e->err, rc, "wait for what is left");
		rc = look(e);
	}
	return rc;
}

static int force(struct ending *e)
{
	int64_t stop_at_ms = fence_now_ms() + KILL_MS;
	int rc = (int)e->ret->survivors, idle_rounds = 0;

	/* Who may not be signalled once may not be twice: then there is nothing to wait for. */
	for (int round = 0;
	     rc > 0 && idle_rounds < 2 && round < KILL_ROUNDS && fence_now_ms() < stop_at_ms;
	     round++) {
		int64_t round_at_ms = fence_now_ms() + KILL_ROUND_MS;
		bool sent = kill_cgroup(e->traces);

		sent |= signal_all(e->traces, &e->list, SIGKILL);
		idle_rounds = sent ? 0 : idle_rounds + 1;
		e->ret->kill_sent |= idle_rounds == 0;
		if (idle_rounds == 0)
			rc = wait_for_all(&e->list,
					  round_at_ms < stop_at_ms ? round_at_ms : stop_at_ms);
		if (rc < 0)
			return fence_fail(e->err, rc, "wait for what is left");
		rc = look(e);
	}
	return rc;
}

/* The cgroup itself was the attempt's, and nobody else will remove it: when its name says
 * that it was made for one command. One in which something lives stays. */
static void remove_cgroup(const struct fence_left_traces *traces)
{
	const char *name = traces->cgroup_fd < 0 ? NULL : strrchr(traces->cgroup_path, '/');
	char link[64], path[PATH_MAX];
	ssize_t length;

	if (name == NULL ||
	    strncmp(name + 1, FENCE_CGROUP_PREFIX, sizeof(FENCE_CGROUP_PREFIX) - 1) != 0)
		return;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", traces->cgroup_fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return;
	path[length] = '\0';
	(void)fence_cgroup_remove(path);
}

int fence_left_end(const struct fence_left_traces *traces, int64_t grace_ms,
		   struct fence_left_ended *ret, struct fence_err *err)
{
	struct ending e = { .traces = traces, .ret = ret, .err = err };
	int rc;

	*ret = (struct fence_left_ended){ 0 };
	raise_descriptors();
	rc = ask(&e, fence_now_ms() + grace_ms);
	if (rc > 0)
		rc = force(&e);
	fence_left_list_drop(&e.list);
	if (rc == 0)
		remove_cgroup(traces);
	return rc < 0 ? rc : 0;
}
