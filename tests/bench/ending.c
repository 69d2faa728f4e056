/* ending: how long a tool takes to end what it started once its time is up, and how much
 * of it is left.
 *
 *   ending [-s] LIMIT_MS FILE TOOL...
 *
 * TOOL is a whole command; what it runs makes FILE once all of it is there, which is to
 * be before LIMIT_MS. TOOL either has a time-out of that length itself, or with -s is
 * sent TERM at that moment. Prints the microseconds from then until TOOL has ended, and
 * how many of its descendants are alive at that moment; those are then ended here. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/tree.h"

extern char **environ;

static void __attribute__((noreturn)) die(const char *what, const char *why)
{
	fprintf(stderr, "ending: %s: %s\n", what, why);
	exit(125);
}

static pid_t start(char **argv)
{
	static char path[4096];
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct fence_spawn_plan plan = {
		.file = path,
		.argv = argv,
		.envp = environ,
		.session = FENCE_SPAWN_OWN_GROUP,
		.stdio = { null_fd, null_fd, null_fd },
		.umask = -1,
	};
	enum fence_spawn_step step;
	pid_t pid;

	if (fence_spawn_find(argv[0], getenv("PATH"), NULL, path, sizeof(path)) < 0)
		die(argv[0], "command not found");
	if (fence_spawn_exec(&plan, &pid, NULL, &step) < 0)
		die(argv[0], fence_spawn_step_name(step));
	return pid;
}

static unsigned int count_alive(void)
{
	struct fence_tree tree = { 0 };
	unsigned int alive = 0;

	if (fence_tree_list(&tree) < 0)
		die("list descendants", strerror(errno));
	for (size_t i = 0; i < tree.count; i++) {
		struct fence_proc_stat stat;

		alive += fence_proc_stat(tree.nodes[i].pid, &stat) == 0 && stat.state != 'Z' &&
			 stat.state != 'X';
	}
	fence_tree_drop(&tree);
	return alive;
}

static void end_rest(void)
{
	struct fence_exit how;
	int rc;

	do {
		(void)fence_tree_kill_children(NULL);
		while ((rc = fence_reap_look(&how)) == 1)
			(void)fence_reap_take(how.pid, &how, NULL);
		(void)poll(NULL, 0, 1);
	} while (rc != -ECHILD);
}

int main(int argc, char **argv)
{
	bool signals = argc > 1 && strcmp(argv[1], "-s") == 0;
	int at = signals ? 2 : 1;
	struct fence_exit how;
	int64_t limit_ms;
	int64_t due_us;
	int64_t took_us;
	sigset_t all;
	pid_t pid;

	if (argc < at + 3 || fence_parse_number(argv[at], 1, 60000, &limit_ms) < 0)
		die("usage", "ending [-s] LIMIT_MS FILE TOOL...");
	(void)unlink(argv[at + 1]);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	due_us = fence_now_us() + limit_ms * 1000;
	pid = start(argv + at + 2);
	(void)poll(NULL, 0, (int)limit_ms - 10);
	if (access(argv[at + 1], F_OK) < 0) {
		end_rest();
		die(argv[at + 1], "not made in time; a longer limit is needed");
	}
	while (fence_now_us() < due_us)
		(void)poll(NULL, 0, 1);
	if (signals)
		(void)kill(pid, SIGTERM);
	if (fence_reap_wait(pid, &how, NULL) < 0)
		die("wait", strerror(errno));
	took_us = fence_now_us() - due_us;
	printf("%lld %u\n", (long long)took_us, count_alive());
	end_rest();
	return 0;
}
