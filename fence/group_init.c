/* Process 1 of a pid namespace. The kernel ends a namespace with its first process, and
 * gives that one every process whose parent has died: so this one does nothing but reap,
 * and dies when the monitor does. It shares no descriptor with anybody but the monitor. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence/group_priv.h"
#include "fence/reap.h"
#include "fence/sys.h"

struct init {
	int fd;
	unsigned int *reaped;
	bool command_gone;
	bool answered;
};

/* Words from the monitor. Its death ends us, and with us everybody here. */
static void listen_to_monitor(struct init *init)
{
	char words[8];
	ssize_t got = recv(init->fd, words, sizeof(words), MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0)
		_exit(0);
	for (ssize_t i = 0; i < got; i++) {
		init->command_gone |= words[i] == FENCE_INIT_COMMAND_GONE;
		/* All but ourselves, at once: the kernel lets no fork get away from it. They
		 * are reaped here, and so counted, which they would not be if we just died. */
		if (words[i] == FENCE_INIT_KILL)
			(void)kill(-1, SIGKILL);
	}
}

static void reap(struct init *init)
{
	struct fence_exit how;
	int rc;

	while ((rc = fence_reap_next(&how, NULL)) == 1)
		(void)__atomic_add_fetch(init->reaped, 1, __ATOMIC_RELEASE);
	if (!init->command_gone)
		return;
	if (rc == -ECHILD)
		_exit(0);
	if (!init->answered) {
		static const char others = FENCE_INIT_OTHERS_LIVE;

		(void)send(init->fd, &others, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		init->answered = true;
	}
}

void fence_group_init_main(int fd, unsigned int *reaped)
{
	struct init init = { .fd = fd, .reaped = reaped };
	struct signalfd_siginfo info;
	struct pollfd events[2];
	sigset_t deaths;

	/* Whoever dies before this has closed its end of `fd`, which says it too. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		_exit(1);
	if (fd > 0)
		(void)fence_close_range(0, (unsigned int)fd - 1, 0);
	(void)fence_close_range((unsigned int)fd + 1, ~0U, 0);
	(void)sigemptyset(&deaths);
	(void)sigaddset(&deaths, SIGCHLD);
	events[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
	events[1] = (struct pollfd){ .fd = signalfd(-1, &deaths, SFD_CLOEXEC | SFD_NONBLOCK),
				     .events = POLLIN };
	if (events[1].fd < 0)
		_exit(1);
	for (;;) {
		(void)poll(events, 2, -1);
		if (events[1].revents != 0)
			(void)fence_read_some(events[1].fd, &info, sizeof(info));
		if (events[0].revents != 0)
			listen_to_monitor(&init);
		reap(&init);
	}
}
