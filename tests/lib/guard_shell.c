/* guard_shell COMMAND [ARG...]: what an interactive shell does with a job, on a
 * pseudo-terminal of its own. Starts COMMAND in the foreground, waits until it has
 * printed something, types Ctrl-Z, takes the terminal back, continues the job in the
 * foreground, types "go" and then, once the command has printed more, Ctrl-C. Prints
 * what it saw: started, stopped, continued, ended STATUS, terminal returned. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define PATIENCE_MS 10000

static int terminal; /* the slave */
static int keys;     /* the master */

static void give_up(const char *what)
{
	printf("gave up: %s\n", what);
	exit(1);
}

/* The terminal echoes what is typed; we wait for `text` to come. */
static void await_text(const char *text)
{
	static char seen[65536];
	static size_t length;
	struct pollfd event = { .fd = keys, .events = POLLIN };

	while (strstr(seen, text) == NULL) {
		ssize_t got;

		if (poll(&event, 1, PATIENCE_MS) <= 0)
			give_up(text);
		got = read(keys, seen + length, sizeof(seen) - length - 1);
		if (got <= 0)
			give_up(text);
		length += (size_t)got;
	}
	memset(seen, 0, sizeof(seen));
	length = 0;
}

static void type(const char *text)
{
	if (write(keys, text, strlen(text)) < 0)
		give_up("typing");
}

static void open_terminal(void)
{
	keys = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (keys < 0 || grantpt(keys) < 0 || unlockpt(keys) < 0 || setsid() < 0)
		give_up("a terminal");
	terminal = open(ptsname(keys), O_RDWR | O_CLOEXEC);
	if (terminal < 0 || ioctl(terminal, TIOCSCTTY, 0) < 0)
		give_up("a controlling terminal");
}

/* Who hands the terminal over from the background would be stopped for it. */
static void block_background_writes(int how)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTTOU);
	(void)sigprocmask(how, &set, NULL);
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid != 0) {
		(void)setpgid(pid, pid);
		return pid;
	}
	(void)setpgid(0, 0);
	(void)tcsetpgrp(terminal, getpid());
	block_background_writes(SIG_UNBLOCK);
	for (int fd = 0; fd <= 2; fd++)
		(void)dup2(terminal, fd);
	(void)execvp(argv[0], argv);
	_exit(127);
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 2)
		return 2;
	if (fork() != 0) {
		(void)wait(&status);
		return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	(void)alarm(60);
	open_terminal();
	block_background_writes(SIG_BLOCK);
	pid = start(argv + 1);
	await_text("up");
	printf("started\n");
	type("\x1a");
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		give_up("the job did not stop");
	printf("stopped\n");
	(void)tcsetpgrp(terminal, getpgrp());
	(void)tcsetpgrp(terminal, pid);
	(void)kill(-pid, SIGCONT);
	type("go\n");
	await_text("went on");
	printf("continued\n");
	type("\x03");
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		give_up("the job did not end");
	printf("ended %d\n", WEXITSTATUS(status));
	printf("%s\n", tcgetpgrp(terminal) == pid ? "terminal returned" : "terminal lost");
	return 0;
}
