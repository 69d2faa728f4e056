/* run_signals: what a process was given, and what it is sent.
 *
 *   run_signals show             prints the ignored and the blocked signals, the open
 *                                descriptors and the session's leader, a line each
 *   run_signals with IGNORED BLOCKED COMMAND...   runs COMMAND with these signals (numbers
 *                                joined by commas, or -) ignored and blocked
 *   run_signals wait FILE SIG... makes FILE, then prints the number of each signal of the
 *                                list that comes, a line each; TERM ends it
 *   run_signals close FD... -- COMMAND...   runs COMMAND with these descriptors closed
 *   run_signals open FD... -- COMMAND...   ... or open, which sh cannot do above 9 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int show(void)
{
	struct sigaction action;
	sigset_t blocked;
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *entry;

	printf("ignored:");
	for (int sig = 1; sig < 65; sig++)
		if (sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			printf(" %d", sig);
	printf("\nblocked:");
	(void)sigprocmask(SIG_SETMASK, NULL, &blocked);
	for (int sig = 1; sig < 65; sig++)
		if (sigismember(&blocked, sig) == 1)
			printf(" %d", sig);
	printf("\nfds:");
	while (fds != NULL && (entry = readdir(fds)) != NULL)
		if (entry->d_name[0] != '.' && atol(entry->d_name) != dirfd(fds))
			printf(" %s", entry->d_name);
	printf("\nleads: %s\n", getsid(0) == getpid() && getpgrp() == getpid() ? "yes" : "no");
	if (fds != NULL)
		(void)closedir(fds);
	return 0;
}

static int run_with(char **argv)
{
	sigset_t blocked;

	(void)sigemptyset(&blocked);
	for (const char *at = argv[2]; at != NULL && *at != '-'; at = strchr(at, ',')) {
		at += *at == ',';
		(void)sigaction((int)strtol(at, NULL, 10),
				&(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	}
	for (const char *at = argv[3]; at != NULL && *at != '-'; at = strchr(at, ',')) {
		at += *at == ',';
		(void)sigaddset(&blocked, (int)strtol(at, NULL, 10));
	}
	(void)sigprocmask(SIG_SETMASK, &blocked, NULL);
	(void)execvp(argv[4], argv + 4);
	return 127;
}

static void change_fd(const char *how, int fd)
{
	if (strcmp(how, "close") == 0)
		(void)close(fd);
	else
		(void)dup2(0, fd);
}

static int run_changed(char **argv)
{
	int at = 2;

	for (; argv[at] != NULL && strcmp(argv[at], "--") != 0; at++)
		change_fd(argv[1], (int)strtol(argv[at], NULL, 10));
	if (argv[at] == NULL)
		return 2;
	(void)execvp(argv[at + 1], argv + at + 1);
	return 127;
}

static int wait_for(int argc, char **argv)
{
	sigset_t wanted;
	int sig;
	FILE *file;

	(void)sigemptyset(&wanted);
	(void)sigaddset(&wanted, SIGTERM);
	for (int i = 3; i < argc; i++)
		(void)sigaddset(&wanted, (int)strtol(argv[i], NULL, 10));
	(void)sigprocmask(SIG_BLOCK, &wanted, NULL);
	file = fopen(argv[2], "w");
	if (file == NULL || fprintf(file, "up\n") < 0 || fclose(file) != 0)
		return 1;
	do {
		if (sigwait(&wanted, &sig) != 0)
			return 1;
		printf("%d\n", sig);
		(void)fflush(stdout);
	} while (sig != SIGTERM);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "show") == 0)
		return show();
	if (argc > 4 && strcmp(argv[1], "with") == 0)
		return run_with(argv);
	if (argc > 3 && (strcmp(argv[1], "close") == 0 || strcmp(argv[1], "open") == 0))
		return run_changed(argv);
	if (argc > 2 && strcmp(argv[1], "wait") == 0)
		return wait_for(argc, argv);
	return 2;
}
