/* supervisor_crew: a command that is hard to end, for the races round a supervisor.
 *
 *   supervisor_crew WORD...
 *
 * says "command PID" on standard error, starts a daemon (a session of its own, its
 * parent gone) that says "daemon PID" there and holds that descriptor like every other
 * process of it, and waits for ever. Words change that:
 *
 *   deaf    none of them heeds TERM
 *   alone   there is no daemon
 *   leaves  it exits as soon as the daemon is on its way, and leaves it */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void say(const char *who)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "%s %d\n", who, (int)getpid());

	/* Nobody reads any more: it is being ended, or should be. */
	(void)!write(2, line, (size_t)length);
}

static void wait_for_ever(void)
{
	for (;;)
		(void)pause();
}

static void start_daemon(void)
{
	if (fork() != 0)
		return;
	(void)setsid();
	if (fork() != 0)
		_exit(0);
	say("daemon");
	wait_for_ever();
}

static bool has(char **words, const char *word)
{
	for (; *words != NULL; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	(void)argc;
	if (has(argv, "deaf"))
		(void)sigaction(SIGTERM, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	say("command");
	if (!has(argv, "alone"))
		start_daemon();
	if (!has(argv, "leaves"))
		wait_for_ever();
	return 0;
}
