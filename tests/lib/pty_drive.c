/* pty_drive: runs a command on a terminal of its own and plays the person before it.
 *
 *   pty_drive [-t SECONDS] [-s ROWSxCOLUMNS] STEP... -- COMMAND [ARG...]
 *
 * The command leads a session whose terminal is new, with clean signals. Steps are done
 * in order, each when the one before it is done:
 *
 *   expect TEXT     until the terminal has shown TEXT, after what was expected before
 *   type TEXT       TEXT is typed; \n \r \t \e \\ and \xHH are what they are in C
 *   file PATH       until PATH is there and not empty
 *   silence SECONDS until the terminal has shown nothing for so long
 *   resize ROWSxCOLUMNS   the window changes
 *   owner           prints `[owner: leader]` when the terminal's foreground group is that
 *                   of COMMAND, `[owner: other]` or `[owner: none]`
 *   signal N        COMMAND is sent signal N
 *   hangup          the terminal goes away
 *
 * What the terminal shows goes to standard output as it comes, carriage returns and
 * all; TEXT looked for is that. After the last step: until COMMAND ends. Exit status:
 * its own, 128+n for a signal; 124 what was waited for did not come in SECONDS (10) in
 * all, which is said, and COMMAND is killed; 125 we failed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"

#define LOOK_AGAIN_MS 5 /* for a file, of which no event comes */
#define SHOWN_BYTES   (4 * 1024 * 1024)
#define TOO_LATE      124
#define OUR_FAULT     125

struct drive {
	int master;
	pid_t pid;
	int pidfd;
	bool ended; /* the command */
	int64_t stop_at_ms;
	int64_t shown_at_ms; /* the last byte */
	char *shown;
	size_t shown_bytes, expected_bytes; /* expected: up to here */
	struct winsize size;
};

static void __attribute__((noreturn)) die(const char *what, const char *why)
{
	fprintf(stderr, "pty_drive: %s: %s\n", what, why);
	exit(OUR_FAULT);
}

static struct winsize parse_size(const char *text)
{
	struct winsize size = { 0 };
	char *end;

	size.ws_row = (unsigned short)strtoul(text, &end, 10);
	if (*end != 'x')
		die(text, "not of the form ROWSxCOLUMNS");
	size.ws_col = (unsigned short)strtoul(end + 1, &end, 10);
	if (*end != '\0' || size.ws_row == 0 || size.ws_col == 0)
		die(text, "not of the form ROWSxCOLUMNS");
	return size;
}

/* --- birth ------------------------------------------------------------------------- */

static void __attribute__((noreturn)) become(int slave, char **argv)
{
	sigset_t none;

	for (int sig = 1; sig <= 64; sig++)
		(void)fence_signal_default(sig);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setsid();
	if (ioctl(slave, TIOCSCTTY, 0) < 0)
		die("take the terminal", strerror(errno));
	for (int fd = 0; fd < 3; fd++)
		(void)dup2(slave, fd);
	(void)fence_close_range(3, ~0U, 0);
	(void)execvp(argv[0], argv);
	die(argv[0], strerror(errno));
}

static void start(struct drive *drive, char **argv)
{
	int slave;

	if (openpty(&drive->master, &slave, NULL, NULL, &drive->size) < 0)
		die("open a terminal", strerror(errno));
	(void)fcntl(drive->master, F_SETFD, FD_CLOEXEC);
	(void)fcntl(drive->master, F_SETFL, O_NONBLOCK);
	switch (fence_spawn_fork(0, &drive->pid, &drive->pidfd)) {
	case 0:
		become(slave, argv);
	case 1:
		(void)close(slave);
		break;
	default:
		die("fork", strerror(errno));
	}
}

/* --- what happens ------------------------------------------------------------------- */

/* Takes what the terminal shows now. */
static void take_output(struct drive *drive)
{
	char *at;
	ssize_t got;

	for (;;) {
		at = drive->shown + drive->shown_bytes;
		if (drive->master < 0 || drive->shown_bytes == SHOWN_BYTES)
			return;
		got = read(drive->master, at, SHOWN_BYTES - drive->shown_bytes);
		if (got <= 0)
			return; /* nothing now; or EIO: nobody has it open */
		drive->shown_bytes += (size_t)got;
		drive->shown_at_ms = fence_now_ms();
		if (fence_write_full(1, at, (size_t)got) < 0)
			die("write", "standard output failed");
	}
}

static int least(int64_t a, int64_t b)
{
	return (int)(a < b ? a : b);
}

/* One event, or `limit_ms` at most. False when time is up. */
static bool wait_event(struct drive *drive, int64_t limit_ms)
{
	struct pollfd events[2] = {
		{ .fd = drive->pidfd, .events = POLLIN },
		{ .fd = drive->master, .events = POLLIN },
	};
	int64_t left_ms = drive->stop_at_ms - fence_now_ms();

	if (left_ms <= 0)
		return false;
	if (drive->ended)
		events[0].fd = -1;
	(void)poll(events, 2, least(left_ms, limit_ms));
	drive->ended |= (events[0].revents & POLLIN) != 0;
	/* A terminal that nobody has open hangs up all the time. */
	if ((events[1].revents & (POLLHUP | POLLIN)) == POLLHUP)
		(void)poll(NULL, 0, least(LOOK_AGAIN_MS, limit_ms));
	take_output(drive);
	return true;
}

/* --- steps -------------------------------------------------------------------------- */

/* Each: 1 done, 0 not yet, after waiting for one event; -1 time is up, or it cannot
 * happen any more. */
static int step_expect(struct drive *drive, const char *text)
{
	const char *from = drive->shown + drive->expected_bytes;
	const char *found =
		memmem(from, drive->shown_bytes - drive->expected_bytes, text, strlen(text));

	if (found != NULL) {
		drive->expected_bytes = (size_t)(found - drive->shown) + strlen(text);
		return 1;
	}
	return !drive->ended && wait_event(drive, INT32_MAX) ? 0 : -1;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c == '\0' ? NULL : strchr(digits, c | 0x20);

	if (at == NULL)
		die("type", "\\x wants two hexadecimal digits");
	return (int)(at - digits);
}

static char unescape(const char **at)
{
	static const char names[] = "nrte\\";
	static const char bytes[] = "\n\r\t\033\\";
	const char *name;

	if (**at != '\\')
		return *(*at)++;
	(*at)++;
	if (**at == 'x') {
		char byte = (char)(hex_digit((*at)[1]) << 4 | hex_digit((*at)[2]));

		*at += 3;
		return byte;
	}
	name = **at == '\0' ? NULL : strchr(names, **at);
	if (name == NULL)
		die("type", "unknown escape; use \\n \\r \\t \\e \\\\ \\xHH");
	(*at)++;
	return bytes[name - names];
}

static int step_type(struct drive *drive, const char *text)
{
	while (*text != '\0') {
		char byte = unescape(&text);

		while (write(drive->master, &byte, 1) != 1)
			if (drive->ended || !wait_event(drive, LOOK_AGAIN_MS))
				return -1;
	}
	return 1;
}

static int step_file(struct drive *drive, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && st.st_size > 0)
		return 1;
	return wait_event(drive, LOOK_AGAIN_MS) ? 0 : -1;
}

static int step_silence(struct drive *drive, const char *text)
{
	int64_t wanted_ms = (int64_t)(strtod(text, NULL) * 1000);
	int64_t quiet_ms = fence_now_ms() - drive->shown_at_ms;

	if (quiet_ms >= wanted_ms)
		return 1;
	return wait_event(drive, wanted_ms - quiet_ms) ? 0 : -1;
}

static int step_resize(struct drive *drive, const char *text)
{
	struct winsize size = parse_size(text);

	return ioctl(drive->master, TIOCSWINSZ, &size) < 0 ? -1 : 1;
}

static int step_owner(struct drive *drive, const char *text)
{
	pid_t group = 0;

	(void)text;
	if (ioctl(drive->master, TIOCGPGRP, &group) < 0)
		group = 0;
	take_output(drive);
	dprintf(1, "[owner: %s]\n",
		group == drive->pid ? "leader" : (group > 0 ? "other" : "none"));
	return 1;
}

static int step_signal(struct drive *drive, const char *text)
{
	(void)fence_pidfd_signal(drive->pidfd, (int)strtol(text, NULL, 10), 0);
	return 1;
}

static int step_hangup(struct drive *drive, const char *text)
{
	(void)text;
	take_output(drive);
	fence_close_fd(&drive->master);
	return 1;
}

static const struct step {
	const char *name;
	bool has_text;
	int (*run)(struct drive *drive, const char *text);
} steps[] = {
	{ "expect", true, step_expect }, { "type", true, step_type },
	{ "file", true, step_file },	 { "silence", true, step_silence },
	{ "resize", true, step_resize }, { "owner", false, step_owner },
	{ "signal", true, step_signal }, { "hangup", false, step_hangup },
};

static const struct step *find_step(const char *name)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (strcmp(steps[i].name, name) == 0)
			return &steps[i];
	die(name, "unknown step");
}

/* Where the command begins: a step that is misspelt is found before anything runs. */
static int find_command(int argc, char **argv, int at)
{
	while (at < argc && strcmp(argv[at], "--") != 0)
		at += find_step(argv[at])->has_text ? 2 : 1;
	if (at + 1 >= argc)
		die("usage", "pty_drive [-t SECONDS] [-s ROWSxCOLUMNS] STEP... -- COMMAND");
	return at + 1;
}

/* The command is killed, and with its terminal all that is on it hears HUP. */
static int too_late(struct drive *drive, const char *what, const char *text)
{
	struct fence_exit how;

	fprintf(stderr, "pty_drive: %s %s: it did not happen\n", what, text);
	(void)fence_pidfd_signal(drive->pidfd, SIGKILL, 0);
	(void)fence_reap_wait(drive->pid, &how, NULL);
	return TOO_LATE;
}

static int do_steps(struct drive *drive, char **argv)
{
	for (int at = 0; strcmp(argv[at], "--") != 0;) {
		const struct step *step = find_step(argv[at]);
		const char *text = step->has_text ? argv[at + 1] : "";
		int rc;

		do
			rc = step->run(drive, text);
		while (rc == 0);
		if (rc < 0)
			return too_late(drive, step->name, text);
		at += step->has_text ? 2 : 1;
	}
	while (!drive->ended)
		if (!wait_event(drive, INT32_MAX))
			return too_late(drive, "the command", "ends");
	return 0;
}

int main(int argc, char **argv)
{
	struct drive drive = {
		.stop_at_ms = fence_now_ms() + 10000,
		.shown_at_ms = fence_now_ms(),
		.size = { .ws_row = 24, .ws_col = 80 },
	};
	struct fence_exit how;
	int letter;
	int command;
	int rc;

	while ((letter = getopt(argc, argv, "+t:s:")) != -1) {
		if (letter == 't')
			drive.stop_at_ms = fence_now_ms() + (int64_t)(strtod(optarg, NULL) * 1000);
		else if (letter == 's')
			drive.size = parse_size(optarg);
		else
			return OUR_FAULT;
	}
	/* getopt has swallowed a "--" that came before any step. */
	if (strcmp(argv[optind - 1], "--") == 0)
		optind--;
	command = find_command(argc, argv, optind);
	drive.shown = malloc(SHOWN_BYTES);
	if (drive.shown == NULL)
		die("memory", strerror(errno));
	start(&drive, argv + command);
	rc = do_steps(&drive, argv + optind);
	take_output(&drive);
	free(drive.shown);
	if (rc != 0)
		return rc;
	rc = fence_reap_wait(drive.pid, &how, NULL);
	return rc < 0 ? OUR_FAULT : fence_exit_status(&how);
}
