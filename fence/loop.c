#include "fence/loop.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/sys.h"

int fence_loop_open(struct fence_loop *ret)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return -errno;
	*ret = (struct fence_loop){ .epoll_fd = fd };
	return 0;
}

void fence_loop_close(struct fence_loop *loop)
{
	if (loop->epoll_fd >= 0)
		(void)close(loop->epoll_fd);
	loop->epoll_fd = -1;
}

int fence_loop_add(struct fence_loop *loop, struct fence_watch *watch, int fd,
		   uint32_t epoll_events)
{
	struct epoll_event event = { .events = epoll_events, .data.ptr = watch };

	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return -errno;
	watch->fd = fd;
	return 0;
}

void fence_loop_remove(struct fence_loop *loop, struct fence_watch *watch)
{
	if (watch->fd < 0)
		return;
	(void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
	watch->fd = -1;
}

int fence_loop_set(struct fence_loop *loop, struct fence_watch *watch, int fd, bool wanted,
		   uint32_t epoll_events)
{
	if (wanted && watch->fd < 0)
		return fence_loop_add(loop, watch, fd, epoll_events);
	if (!wanted)
		fence_loop_remove(loop, watch);
	return 0;
}

void fence_loop_timer(struct fence_loop *loop, struct fence_timer *timer)
{
	timer->at_ms = FENCE_NEVER;
	timer->next = loop->timers;
	loop->timers = timer;
}

/* How long epoll may sleep. A deadline given to epoll_wait costs no descriptor and
 * no call of its own, which a timerfd would; it is rounded up, never early. */
static int sleep_ms(const struct fence_loop *loop)
{
	int64_t nearest = FENCE_NEVER;
	int64_t left;

	for (const struct fence_timer *t = loop->timers; t != NULL; t = t->next)
		if (t->at_ms < nearest)
			nearest = t->at_ms;
	if (nearest == FENCE_NEVER)
		return -1;
	left = nearest - fence_now_ms();
	if (left < 0)
		return 0;
	return left > INT_MAX - 1 ? INT_MAX - 1 : (int)left + 1;
}

static int run_timers(struct fence_loop *loop)
{
	int64_t now = fence_now_ms();

	for (struct fence_timer *t = loop->timers; t != NULL; t = t->next) {
		int rc;

		if (t->at_ms > now)
			continue;
		t->at_ms = FENCE_NEVER;
		rc = t->due(t->arg);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* A callback may remove, and even free, a watch whose event is further on in the
 * same batch; taking one event at a time makes that safe. The kernel hands out
 * level-triggered descriptors in turn, so none starves. */
static int run_one(struct fence_loop *loop)
{
	struct epoll_event event;
	struct fence_watch *watch;
	int count;

	do {
		count = epoll_wait(loop->epoll_fd, &event, 1, sleep_ms(loop));
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		return -errno;
	if (count == 0)
		return 0;
	watch = event.data.ptr;
	return watch->ready(watch->arg, event.events);
}

int fence_loop_run(struct fence_loop *loop)
{
	for (;;) {
		int rc = run_one(loop);

		if (rc != 0)
			return rc;
		if (loop->timers == NULL)
			continue;
		rc = run_timers(loop);
		if (rc != 0)
			return rc;
	}
}

int fence_signals_take(const sigset_t *wanted, sigset_t *old)
{
	sigset_t all;
	int fd;

	fence_sigset_fill(&all);
	if (sigprocmask(SIG_SETMASK, &all, old) < 0)
		return -errno;
	fd = signalfd(-1, wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
