/* zombies: how many dead processes a tool leaves unreaped while its command runs on.
 *
 *   zombies COUNT TOOL...       runs TOOL with this program as its command, which makes
 *                               COUNT orphans that die at once
 *   zombies make COUNT PIPE     that command: makes them, says so on descriptor PIPE,
 *                               and waits to be ended
 *
 * TOOL ends in the word that comes before the command (`--`). Prints the largest number
 * of zombies seen among the descendants at any of many looks, the number a moment after
 * the last was made, and the looks. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/tree.h"

#define MAX_WORDS    32
#define SETTLE_MS    100
#define BURST	     50
#define BURST_GAP_MS 5

extern char **environ;

static void __attribute__((noreturn)) die(const char *what, const char *why)
{
	fprintf(stderr, "zombies: %s: %s\n", what, why);
	exit(125);
}

/* In bursts: a long run that now and then starts helpers which daemonise and die. */
static int make_orphans(long count, const char *path)
{
	int fd;

	for (long i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)fork();
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			return 1;
		if (i % BURST == BURST - 1)
			(void)poll(NULL, 0, BURST_GAP_MS);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || close(fd) < 0)
		return 1;
	for (;;)
		(void)pause();
}

static unsigned int count_zombies(struct fence_tree *tree)
{
	unsigned int zombies = 0;

	if (fence_tree_list(tree) < 0)
		die("list descendants", strerror(errno));
	for (size_t i = 0; i < tree->count; i++) {
		struct fence_proc_stat stat;

		zombies += fence_proc_stat(tree->nodes[i].pid, &stat) == 0 && stat.state == 'Z';
	}
	return zombies;
}

static pid_t start(char **argv)
{
	static char path[4096];
	struct fence_spawn_plan plan = {
		.file = path,
		.argv = argv,
		.envp = environ,
		.stdio = { -1, -1, 2 },
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

static void end_all(void)
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

static int watch(char **argv, const char *done)
{
	struct fence_tree tree = { 0 };
	unsigned int most = 0;
	unsigned int now;
	unsigned int looks = 0;
	pid_t pid = start(argv);
	int64_t start_ms = fence_now_ms();

	do {
		now = count_zombies(&tree);
		most = now > most ? now : most;
		looks++;
	} while (access(done, F_OK) < 0 && fence_now_ms() - start_ms < 30000);
	(void)poll(NULL, 0, SETTLE_MS);
	now = count_zombies(&tree);
	printf("%u %u %u\n", most, now, looks);
	fence_tree_drop(&tree);
	(void)kill(pid, SIGTERM);
	end_all();
	return access(done, F_OK) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	char *words[MAX_WORDS + 5];
	char done[] = "/tmp/fence-zombies.XXXXXX";
	int count = 0;
	sigset_t all;
	int rc;

	if (argc == 4 && strcmp(argv[1], "make") == 0)
		return make_orphans(strtol(argv[2], NULL, 10), argv[3]);
	if (argc < 3 || argc - 2 > MAX_WORDS)
		die("usage", "zombies COUNT TOOL...");
	if (mkdtemp(done) == NULL || rmdir(done) < 0)
		die(done, strerror(errno));
	for (int i = 2; i < argc; i++)
		words[count++] = argv[i];
	words[count++] = argv[0];
	words[count++] = (char[]){ "make" };
	words[count++] = argv[1];
	words[count++] = done;
	words[count] = NULL;
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	rc = watch(words, done);
	(void)unlink(done);
	return rc;
}
