/* run_swarm: shapes of process trees that runners fail to end.
 *
 *   run_swarm hoppers COUNT FILE     COUNT chains, in each of which a process forks
 *                                    its successor and exits, for seconds; FILE
 *                                    appears once they run
 *   run_swarm setsid-hoppers COUNT FILE   each hop in a session of its own
 *   run_swarm daemons COUNT FILE     COUNT descendants, every second one daemonised
 *                                    (setsid, double fork); each waits for ever
 *   run_swarm deaf-daemons COUNT FILE     the same, ignoring TERM
 *   run_swarm threads FILE           a child that was forked by a second thread, which
 *                                    waits for ever
 *   run_swarm from-thread FILE COMMAND... COMMAND, started by a second thread, which
 *                                    ends; FILE appears once it has; then COMMAND is
 *                                    waited for and its exit status handed back
 *
 * All chains together make at most HOPS_TOTAL processes: even when nobody reaps them
 * they stay well below the machine's limit of pids, and a test that fails does not
 * leave a swarm behind for ever. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HOPS_TOTAL 16000
#define BURST	   8

static void touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, "up\n", 3) != 3)
		_exit(1);
	(void)close(fd);
}

static void wait_for_ever(void)
{
	for (;;)
		(void)pause();
}

/* Bursts as fast as fork goes, and a nap after each, so that the few hops there are
 * last for seconds. */
static void hop(bool own_session, int hops)
{
	const struct timespec nap = { .tv_nsec = BURST * 1000000 };

	for (int i = 0; i < hops; i++) {
		pid_t pid = fork();

		if (pid > 0)
			_exit(0);
		if (pid == 0 && own_session)
			(void)setsid();
		if (i % BURST == 0)
			(void)nanosleep(&nap, NULL);
	}
	_exit(0);
}

static void start_hoppers(int count, bool own_session)
{
	for (int i = 0; i < count; i++)
		if (fork() == 0)
			hop(own_session, HOPS_TOTAL / count);
}

static void daemonise(void)
{
	pid_t pid;

	(void)setsid();
	pid = fork();
	if (pid != 0)
		_exit(0);
	wait_for_ever();
}

static void start_daemons(int count)
{
	for (int i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0 && i % 2 == 0)
			daemonise();
		if (pid == 0)
			wait_for_ever();
		if (pid < 0)
			_exit(1);
	}
}

static void *fork_in_thread(void *path)
{
	if (fork() == 0)
		wait_for_ever();
	touch(path);
	wait_for_ever();
	return NULL;
}

struct start {
	char **argv;
	pid_t pid;
};

static void *start_in_thread(void *arg)
{
	struct start *start = arg;

	start->pid = fork();
	if (start->pid == 0) {
		(void)execvp(start->argv[0], start->argv);
		_exit(127);
	}
	return NULL;
}

static int run_from_thread(const char *path, char **argv)
{
	struct start start = { .argv = argv };
	pthread_t thread;
	int status;

	if (pthread_create(&thread, NULL, start_in_thread, &start) != 0 ||
	    pthread_join(thread, NULL) != 0 || start.pid < 0)
		return 125;
	touch(path);
	if (waitpid(start.pid, &status, 0) < 0)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	pthread_t thread;

	if (argc == 3 && strcmp(argv[1], "threads") == 0) {
		if (pthread_create(&thread, NULL, fork_in_thread, argv[2]) != 0)
			return 1;
		wait_for_ever();
	}
	if (argc > 3 && strcmp(argv[1], "from-thread") == 0)
		return run_from_thread(argv[2], argv + 3);
	if (argc != 4)
		return 2;
	if (strcmp(argv[1], "deaf-daemons") == 0)
		(void)sigaction(SIGTERM, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	if (strstr(argv[1], "hoppers") != NULL)
		start_hoppers(count, argv[1][0] == 's');
	else
		start_daemons(count);
	touch(argv[3]);
	wait_for_ever();
}
