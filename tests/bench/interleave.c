/* interleave: times whole commands, one of each in turn, so that whatever else the
 * machine does falls on all of them alike. Prints medians and ratios.
 *
 *   interleave [-n ROUNDS] [-b BASE] [-c LABEL:OTHER:RATIO] [-d LABEL:OTHER:MICROSECONDS]
 *       LABEL COMMAND...
 *
 * A COMMAND is split at blanks; nothing is quoted. The ratio is to BASE (a label;
 * the first one unless told). -c adds a bar, LABEL at most RATIO times OTHER by
 * their medians, -d another, LABEL at most so much longer than OTHER; a missed one
 * makes the exit status 1. A command that fails ends the run: a wrong answer quickly
 * is no measurement. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"

#define MAX_COMMANDS 16
#define MAX_WORDS    64
#define MAX_ROUNDS   5000
#define MAX_BARS     8

extern char **environ;

struct command {
	const char *label;
	char *argv[MAX_WORDS];
	char path[4096];
	int64_t *us;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "interleave: %s: %s\n", what, why);
	exit(125);
}

static void split(char *line, struct command *command)
{
	int count = 0;

	for (char *at = line; *at != '\0';) {
		at += strspn(at, " ");
		if (*at == '\0' || count == MAX_WORDS - 1)
			break;
		command->argv[count++] = at;
		at += strcspn(at, " ");
		if (*at != '\0')
			*at++ = '\0';
	}
	if (count == 0 || fence_spawn_find(command->argv[0], getenv("PATH"), NULL, command->path,
					   sizeof(command->path)) < 0)
		die(command->label, "command not found");
}

static int64_t run_once(const struct command *command, int null_fd)
{
	struct fence_spawn_plan plan = {
		.file = command->path,
		.argv = command->argv,
		.envp = environ,
		.stdio = { null_fd, null_fd, null_fd },
		.umask = -1,
	};
	int64_t start = fence_now_us();
	enum fence_spawn_step step;
	struct fence_exit how;
	pid_t pid;

	if (fence_spawn_exec(&plan, &pid, NULL, &step) < 0)
		die(command->label, fence_spawn_step_name(step));
	if (fence_reap_wait(pid, &how, NULL) < 0 || fence_exit_status(&how) != 0)
		die(command->label, "the command failed");
	return fence_now_us() - start;
}

static int compare(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a;
	int64_t right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

static double median_us(const struct command *commands, int count, int rounds, const char *label)
{
	for (int i = 0; i < count; i++)
		if (strcmp(commands[i].label, label) == 0)
			return (double)commands[i].us[rounds / 2];
	die(label, "no such label");
	return 0;
}

/* "LABEL:OTHER:LIMIT", and whether the limit is one of the ratio (c) or of the
 * difference in microseconds (d). */
struct bar {
	char kind;
	char *text;
};

/* True when it holds. */
static bool is_within(struct bar bar, const struct command *commands, int count, int rounds)
{
	const char *label = bar.text;
	char *other = strchr(bar.text, ':');
	char *limit = other == NULL ? NULL : strchr(other + 1, ':');
	bool is_ratio = bar.kind == 'c';
	double ours, theirs, got;
	bool within;

	if (limit == NULL)
		die(bar.text, "not of the form LABEL:OTHER:LIMIT");
	*other++ = '\0';
	*limit++ = '\0';
	ours = median_us(commands, count, rounds, label);
	theirs = median_us(commands, count, rounds, other);
	got = is_ratio ? ours / theirs : ours - theirs;
	within = got <= strtod(limit, NULL);
	printf("  bar: %s <= %s %s %s%s: %.*f, %s\n", label, is_ratio ? limit : other,
	       is_ratio ? "x" : "+", is_ratio ? other : limit, is_ratio ? "" : " us",
	       is_ratio ? 2 : 0, got, within ? "met" : "MISSED");
	return within;
}

static void report(struct command *commands, int count, int rounds, const char *base)
{
	double base_us;

	for (int i = 0; i < count; i++)
		qsort(commands[i].us, (size_t)rounds, sizeof(int64_t), compare);
	base_us = median_us(commands, count, rounds, base == NULL ? commands[0].label : base);
	printf("  %-26s %10s %10s %8s\n", "", "median us", "p90 us", "ratio");
	for (int i = 0; i < count; i++)
		printf("  %-26s %10lld %10lld %8.2f\n", commands[i].label,
		       (long long)commands[i].us[rounds / 2],
		       (long long)commands[i].us[rounds * 9 / 10],
		       (double)commands[i].us[rounds / 2] / base_us);
}

int main(int argc, char **argv)
{
	static struct command commands[MAX_COMMANDS];
	const char *base = NULL;
	int rounds = 200;
	int count = 0;
	int null_fd;
	int letter;
	sigset_t all;
	struct bar bars[MAX_BARS];
	int bar_count = 0;
	bool within = true;

	while ((letter = getopt(argc, argv, "+n:b:c:d:")) != -1) {
		int64_t value;

		if (letter == 'b')
			base = optarg;
		else if ((letter == 'c' || letter == 'd') && bar_count < MAX_BARS)
			bars[bar_count++] = (struct bar){ (char)letter, optarg };
		else if (letter == 'n' && fence_parse_number(optarg, 1, MAX_ROUNDS, &value) == 0)
			rounds = (int)value;
		else
			die("usage", "interleave [-n ROUNDS] [-b BASE] LABEL COMMAND...");
	}
	for (; optind + 1 < argc && count < MAX_COMMANDS; optind += 2, count++) {
		commands[count].label = argv[optind];
		commands[count].us = calloc((size_t)rounds, sizeof(int64_t));
		if (commands[count].us == NULL)
			die("memory", strerror(errno));
		split(argv[optind + 1], &commands[count]);
	}
	if (count == 0)
		die("usage", "nothing to measure");
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; i < count; i++) /* warm the page cache */
		(void)run_once(&commands[i], null_fd);
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < count; i++)
			commands[i].us[round] = run_once(&commands[i], null_fd);
	report(commands, count, rounds, base);
	for (int i = 0; i < bar_count; i++)
		within &= is_within(bars[i], commands, count, rounds);
	for (int i = 0; i < count; i++)
		free(commands[i].us);
	return within ? 0 : 1;
}
