#include "guard/browser/ending.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "guard/browser/folder.h"
#include "guard/browser/proc.h"

#define KILLED_MS 2000

void ending_add(struct ending *ending, int proc_fd, pid_t pid, uint64_t start_ticks)
{
	owned_fd pidfd = fence_pidfd_open(pid, 0);
	owned_fd dir_fd = -1;
	struct proc_stat stat;

	if (pidfd < 0 || ending->count == ENDING_MAX)
		return;
	/* The pidfd came first: if the start is right now, it is this process's. */
	if (start_ticks != 0) {
		dir_fd = proc_open(proc_fd, pid);
		if (dir_fd < 0 || proc_read_stat(dir_fd, &stat) < 0 ||
		    stat.start_ticks != start_ticks)
			return;
	}
	ending->pidfds[ending->count++] = fence_take_fd(&pidfd);
}

void ending_add_descendants(struct ending *ending, int proc_fd, pid_t pid)
{
	pid_t pids[ENDING_MAX];
	ssize_t count = proc_descendants(proc_fd, pid, pids, ENDING_MAX);

	for (ssize_t i = 0; i < count; i++)
		ending_add(ending, proc_fd, pids[i], 0);
}

/* Enough for most environments; ours stands at its end, so all of it is read. */
#define ENVIRON_MAX (256 << 10)

static bool names_root(int proc_fd, const char *pid, const char *mark)
{
	char path[32], text[ENVIRON_MAX];
	owned_fd fd = -1;
	ssize_t length;

	(void)snprintf(path, sizeof(path), "%.15s/environ", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	length = fence_read_some(fd, text, sizeof(text));
	return length > 0 && memmem(text, (size_t)length, mark, strlen(mark)) != NULL;
}

void ending_add_by_root(struct ending *ending, int proc_fd, const char *root)
{
	char mark[FOLDER_ROOT_MAX + 16];
	int fd = openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (list == NULL)
		return;
	(void)snprintf(mark, sizeof(mark), "TMPDIR=%s/", root);
	for (const struct dirent *e = readdir(list); e != NULL; e = readdir(list)) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() && names_root(proc_fd, e->d_name, mark))
			ending_add(ending, proc_fd, pid, 0);
	}
	(void)closedir(list);
}

/* Waits until all are dead or the moment has come; forgets the dead. */
static void wait_until(struct ending *ending, int64_t stop_at_ms)
{
	while (ending->count > 0) {
		int *last = &ending->pidfds[ending->count - 1];
		struct pollfd ready = { .fd = *last, .events = POLLIN };
		int64_t left_ms = stop_at_ms - fence_now_ms();
		int rc = poll(&ready, 1, left_ms > 0 ? (int)left_ms : 0);

		if (rc < 0 && errno == EINTR)
			continue;
		if (rc <= 0)
			return;
		(void)close(*last);
		ending->count--;
	}
}

size_t ending_finish(struct ending *ending, int64_t grace_ms)
{
	size_t survivors;

	wait_until(ending, fence_now_ms() + grace_ms);
	for (size_t i = 0; i < ending->count; i++)
		(void)fence_pidfd_signal(ending->pidfds[i], SIGKILL, 0);
	wait_until(ending, fence_now_ms() + KILLED_MS);
	survivors = ending->count;
	while (ending->count > 0)
		(void)close(ending->pidfds[--ending->count]);
	return survivors;
}
