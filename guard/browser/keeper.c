#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "guard/browser/ending.h"
#include "guard/browser/monitor_int.h"

/* How long a browser's own children get to end after it. */
#define GRACE_MS 300

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int monitor_keep_only(const int *fds, size_t count)
{
	int sorted[16];
	unsigned int first = 3;
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null_fd < 0 || count > sizeof(sorted) / sizeof(sorted[0]))
		return null_fd < 0 ? -errno : -E2BIG;
	for (int fd = 0; fd <= 2; fd++)
		if (dup2(null_fd, fd) < 0)
			return -errno;
	memcpy(sorted, fds, count * sizeof(sorted[0]));
	qsort(sorted, count, sizeof(sorted[0]), compare);
	for (size_t i = 0; i < count; i++) {
		if (sorted[i] < (int)first)
			continue;
		if ((unsigned int)sorted[i] > first)
			(void)fence_close_range(first, (unsigned int)sorted[i] - 1, 0);
		first = (unsigned int)sorted[i] + 1;
	}
	return fence_close_range(first, ~0U, 0);
}

/* --- the keeper ------------------------------------------------------------------- */

/* Passes records on until the monitor is gone. Each packet is one line, before which
 * one byte says whether it is for the descriptor too. */
static void pass_records(struct launch *launch, int link_fd, char *buf, size_t size_bytes)
{
	for (;;) {
		ssize_t got = fence_read_some(link_fd, buf, size_bytes);

		if (got <= 1)
			return;
		/* A full disk does not end the browser: the file then still says what it
		 * said before, which is never more than was proven then. */
		(void)evidence_put(&launch->sink, buf + 1, (size_t)got - 1, buf[0] == '!');
	}
}

/* The monitor was killed: nobody can prove the browser any more, so it ends. */
static void end_without_monitor(struct launch *launch, const struct monitor_fds *fds, char *buf,
				size_t size_bytes)
{
	owned_fd proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ending ending = { .count = 0 };
	struct evidence *evidence = &launch->evidence;
	struct fence_jsonw w;
	struct pollfd ended = { .fd = fds->browser_pidfd, .events = POLLIN };

	ending_add_descendants(&ending, proc_fd, evidence->browser_pid);
	evidence->has_ended_browser = poll(&ended, 1, 0) == 0;
	(void)fence_pidfd_signal(fds->browser_pidfd, SIGKILL, 0);
	(void)poll(&ended, 1, 2000);
	(void)ending_finish(&ending, GRACE_MS);
	evidence->state = PROOF_UNPROVEN;
	evidence->reason = REASON_UNPROVEN;
	evidence->is_final = true;
	evidence->is_monitor_lost = true;
	evidence->total_ms = fence_now_ms() - launch->started_ms;
	fence_jsonw_init(&w, buf, size_bytes);
	evidence_write(evidence, &w);
	if (!w.overflow) {
		w.buf[w.length_bytes++] = '\n';
		(void)evidence_put(&launch->sink, w.buf, w.length_bytes, true);
	}
	/* Last, since there is no way back: its user owns the root. */
	if (identity_become(&launch->identity) < 0)
		_exit(1);
	ending_add_by_root(&ending, proc_fd, launch->root);
	(void)ending_finish(&ending, 0);
	_exit(folder_remove(launch->root) < 0);
}

static _Noreturn void keep(struct launch *launch, const struct monitor_fds *fds, pid_t monitor,
			   char *buf, size_t size_bytes)
{
	const int mine[] = { fds->browser_pidfd, fds->link_fd, fds->client.fd, launch->sink.dir_fd,
			     launch->sink.fd };
	struct fence_exit how;

	if (monitor_keep_only(mine, sizeof(mine) / sizeof(mine[0])) < 0)
		_exit(1);
	pass_records(launch, fds->link_fd, buf, size_bytes);
	if (fence_reap_wait(monitor, &how, NULL) < 0 || how.signalled || how.number != 0)
		end_without_monitor(launch, fds, buf, size_bytes);
	_exit(0);
}

/* In the process that becomes the keeper. */
static _Noreturn void become_keeper(struct launch *launch, struct monitor_fds *fds)
{
	const size_t size_bytes = EVIDENCE_MAX_BYTES;
	char *buf = malloc(size_bytes);
	int link[2];
	pid_t pid;
	int rc;

	/* Nobody of our user may look into either, or take the evidence over. */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (buf == NULL || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link) < 0)
		_exit(1);
	launch->evidence.keeper_pid = getpid();
	rc = fence_spawn_fork(0, &pid, NULL);
	if (rc < 0)
		_exit(1);
	fds->link_fd = link[rc];
	launch->evidence.monitor_pid = rc == 0 ? getpid() : pid;
	if (rc == 0)
		monitor_run(launch, fds);
	keep(launch, fds, pid, buf, size_bytes);
}

/* The middle of the double fork: its end gives the keeper to init (or to whoever
 * reaps there), and its session leaves the client's terminal and group alone. */
static _Noreturn void fork_keeper(struct launch *launch, struct monitor_fds *fds)
{
	pid_t pid;
	int rc;

	if (setsid() < 0)
		_exit(1);
	rc = fence_spawn_fork(0, &pid, NULL);
	if (rc == 0)
		become_keeper(launch, fds);
	_exit(rc < 0);
}

/* --- in the process that will be the browser ------------------------------------------ */

struct pipes {
	int stderr_fds[2], exec_fds[2], ready_fds[2];
};

static int wait_ready(struct pipes *pipes, pid_t middle, struct fence_err *err)
{
	struct fence_exit how;
	char byte;
	int rc = fence_reap_wait(middle, &how, NULL);

	fence_close_fd(&pipes->ready_fds[1]);
	if (rc == 0)
		rc = fence_read_full(pipes->ready_fds[0], &byte, 1);
	if (rc < 0)
		return fence_fail_why(err, -EIO, "it ended before it was ready",
				      "start the browser's monitor");
	return 0;
}

/* Above the descriptors that are the browser's own (0 to 4), so that none of ours
 * can be taken for its debugging pipe. */
static int open_pipe(int fds[2])
{
	int low[2];

	if (pipe2(low, O_CLOEXEC) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		fds[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 5);
		(void)close(low[i]);
	}
	return fds[0] < 0 || fds[1] < 0 ? -EMFILE : 0;
}

static void close_pipes(struct pipes *pipes)
{
	for (int i = 0; i < 2; i++) {
		fence_close_fd(&pipes->stderr_fds[i]);
		fence_close_fd(&pipes->exec_fds[i]);
		fence_close_fd(&pipes->ready_fds[i]);
	}
}

static int open_all(struct pipes *pipes, struct monitor_fds *fds)
{
	int rc = open_pipe(pipes->stderr_fds);

	if (rc == 0)
		rc = open_pipe(pipes->exec_fds);
	if (rc == 0)
		rc = open_pipe(pipes->ready_fds);
	if (rc == 0 && fcntl(pipes->stderr_fds[0], F_SETFL, O_NONBLOCK) < 0)
		rc = -errno;
	if (rc == 0)
		rc = tee_sink_open(2, &fds->client);
	if (rc < 0)
		return rc;
	fds->browser_pidfd = fence_pidfd_open(getpid(), 0);
	fds->stderr_fd = pipes->stderr_fds[0];
	fds->exec_fd = pipes->exec_fds[0];
	fds->ready_fd = pipes->ready_fds[1];
	return fds->browser_pidfd < 0 ? fds->browser_pidfd : 0;
}

int monitor_start(struct launch *launch, int *ret_stderr_fd, int *ret_exec_fd,
		  struct fence_err *err)
{
	struct pipes pipes = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	struct monitor_fds fds = { -1, -1, -1, -1, -1, { -1, TEE_POLL, false } };
	pid_t middle = 0;
	int rc;

	launch->evidence.browser_pid = getpid();
	rc = open_all(&pipes, &fds);
	if (rc == 0) {
		rc = fence_spawn_fork(0, &middle, NULL);
		if (rc == 0)
			fork_keeper(launch, &fds);
	}
	if (rc < 0)
		(void)fence_fail(err, rc, "start the browser's monitor");
	else
		rc = wait_ready(&pipes, middle, err);
	fence_close_fd(&fds.browser_pidfd);
	fence_close_fd(&fds.client.fd);
	if (rc == 0) {
		*ret_stderr_fd = fence_take_fd(&pipes.stderr_fds[1]);
		*ret_exec_fd = fence_take_fd(&pipes.exec_fds[1]);
	}
	close_pipes(&pipes);
	return rc;
}
