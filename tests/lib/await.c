/* await: waits for an event, with a deadline, so that no test has to sleep.
 *
 *   await [-t SECONDS] gone PID...      until none of the processes exists
 *   await [-t SECONDS] file PATH        until PATH exists and is not empty
 *   await [-t SECONDS] nofile PATH      until PATH does not exist
 *   await [-t SECONDS] none WORD        until no process has WORD in its command line
 *   await [-t SECONDS] some WORD        until one has; prints its pid
 *   await [-t SECONDS] state PID LETTER until /proc/PID/stat shows the state (T, S, Z…)
 *
 * The deadline is 10 s unless told. Exit status: 0 it happened, 1 it did not in
 * time, 2 usage. `none` and `some` look for a whole argument or a part of one and
 * leave this process and its ancestors out. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"

#define LOOK_AGAIN_MS 5 /* where the kernel sends no event: a new command line, a state */

struct wait {
	int64_t stop_at_ms;
	char **words;
	int count;
};

static int left_ms(const struct wait *wait)
{
	int64_t left = wait->stop_at_ms - fence_now_ms();

	return left < 0 ? 0 : (int)left;
}

static void pause_for_look(const struct wait *wait)
{
	int left = left_ms(wait);

	(void)poll(NULL, 0, left < LOOK_AGAIN_MS ? left : LOOK_AGAIN_MS);
}

static bool is_gone(pid_t pid, int timeout_ms)
{
	owned_fd fd = fence_pidfd_open(pid, 0);
	struct pollfd event = { .fd = fd, .events = POLLIN };
	char path[64];
	struct stat st;

	if (fd < 0)
		return true;
	if (poll(&event, 1, timeout_ms) <= 0)
		return false;
	/* Dead; a zombie still has its entry until somebody reaps it. */
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) < 0;
}

static bool all_gone(const struct wait *wait)
{
	for (int i = 0; i < wait->count; i++)
		if (!is_gone((pid_t)atol(wait->words[i]), left_ms(wait)))
			return false;
	return true;
}

static bool has_content(const struct wait *wait)
{
	struct stat st;

	return stat(wait->words[0], &st) == 0 && (!S_ISREG(st.st_mode) || st.st_size > 0);
}

static bool has_no_file(const struct wait *wait)
{
	struct stat st;

	return lstat(wait->words[0], &st) < 0 && errno == ENOENT;
}

static pid_t parent_of(pid_t pid)
{
	char path[64];
	char stat_text[512];
	const char *at;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (fence_read_file(AT_FDCWD, path, stat_text, sizeof(stat_text)) < 0)
		return 0;
	at = strrchr(stat_text, ')');
	return at == NULL ? 0 : (pid_t)strtol(at + 4, NULL, 10);
}

static bool is_ours(pid_t pid)
{
	for (pid_t at = getpid(); at > 0; at = parent_of(at))
		if (at == pid)
			return true;
	return false;
}

static bool command_has(pid_t pid, const char *word)
{
	static char text[65536];
	char path[64];
	ssize_t length;

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	length = fence_read_file(AT_FDCWD, path, text, sizeof(text));
	return length > 0 && memmem(text, (size_t)length, word, strlen(word)) != NULL;
}

static pid_t find_process(const char *word)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while (proc != NULL && found == 0 && (entry = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && command_has(pid, word) && !is_ours(pid))
			found = pid;
	}
	if (proc != NULL)
		(void)closedir(proc);
	return found;
}

static bool has_none(const struct wait *wait)
{
	pid_t pid = find_process(wait->words[0]);

	/* A process has no command line while it becomes another program: look twice. */
	if (pid == 0) {
		(void)poll(NULL, 0, LOOK_AGAIN_MS);
		pid = find_process(wait->words[0]);
	}
	if (pid == 0)
		return true;
	(void)is_gone(pid, left_ms(wait)); /* wait for that one, then look again */
	return false;
}

static bool has_some(const struct wait *wait)
{
	pid_t pid = find_process(wait->words[0]);

	if (pid > 0)
		printf("%d\n", (int)pid);
	return pid > 0;
}

static bool has_state(const struct wait *wait)
{
	char path[64];
	char text[512];
	const char *at;

	(void)snprintf(path, sizeof(path), "/proc/%s/stat", wait->words[0]);
	if (fence_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	at = strrchr(text, ')');
	return at != NULL && at[2] == wait->words[1][0];
}

static const struct {
	const char *name;
	int min_words;
	bool (*happened)(const struct wait *wait);
} events[] = {
	{ "gone", 1, all_gone }, { "file", 1, has_content }, { "nofile", 1, has_no_file },
	{ "none", 1, has_none }, { "some", 1, has_some },    { "state", 2, has_state },
};

int main(int argc, char **argv)
{
	struct wait wait = { .stop_at_ms = fence_now_ms() + 10000 };
	int at = 1;

	if (argc > 2 && strcmp(argv[1], "-t") == 0) {
		wait.stop_at_ms = fence_now_ms() + (int64_t)(strtod(argv[2], NULL) * 1000);
		at = 3;
	}
	for (size_t i = 0; at < argc && i < sizeof(events) / sizeof(events[0]); i++) {
		if (strcmp(argv[at], events[i].name) != 0)
			continue;
		wait.words = argv + at + 1;
		wait.count = argc - at - 1;
		if (wait.count < events[i].min_words)
			break;
		while (!events[i].happened(&wait)) {
			if (left_ms(&wait) == 0)
				return 1;
			pause_for_look(&wait);
		}
		return 0;
	}
	fprintf(stderr, "usage: await [-t SECONDS] gone|file|nofile|none|some|state WORD...\n");
	return 2;
}
