#include "guard/confine/serve.h"

#include <errno.h>
#include <poll.h>

#include "fence/sys.h"

static int take_signal(const struct guard_serving *serving)
{
	struct signalfd_siginfo info;

	if (fence_read_some(serving->signal_fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	return serving->on_signal(serving->arg, &info);
}

int guard_serve(struct guard_serving *serving)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = serving->signal_fd, .events = POLLIN },
			{ .fd = serving->sock, .events = POLLIN },
		};
		int ready = poll(fds, 2, serving->tick_ms > 0 ? serving->tick_ms : -1);
		int rc = 0;

		if (ready < 0 && errno != EINTR)
			return -errno;
		if (ready == 0)
			rc = serving->on_tick(serving->arg);
		if (fds[1].revents != 0)
			rc = serving->on_socket(serving->arg);
		if (rc == 0 && fds[0].revents != 0)
			rc = take_signal(serving);
		if (rc != 0)
			return rc;
	}
}
