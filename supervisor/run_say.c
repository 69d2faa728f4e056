/* What a run says to a person. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "supervisor/run.h"

/* Standard error may be a pipe that nobody reads, full of the command's own words. */
static void say_line(const struct run *run, const char *line, size_t length_bytes)
{
	struct pollfd room = { .fd = 2, .events = POLLOUT };
	owned_fd null = -1;

	if (run->say_patience_ms == 0 || poll(&room, 1, run->say_patience_ms) != 0) {
		(void)fence_write_full(2, line, length_bytes);
		return;
	}
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null >= 0)
		(void)dup2(null, 2);
}

int run_complain(const struct run *run, const struct fence_err *err)
{
	char line[1200];
	size_t length = fence_err_line(err, run->program, line, sizeof(line));

	say_line(run, line, length);
	return RUN_OUR_FAULT;
}

void run_say(const struct run *run, const char *format, ...)
{
	char words[1024], line[1100];
	va_list args;
	int length;

	if (run->conf.quiet)
		return;
	va_start(args, format);
	length = vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	if (length < 0)
		return;
	length = snprintf(line, sizeof(line), "%s: %s\n", run->program, words);
	if (length > 0 && (size_t)length < sizeof(line))
		say_line(run, line, (size_t)length);
}

static void add_processes(struct fence_text *text, const pid_t *pids, const char (*names)[16],
			  unsigned int count)
{
	unsigned int shown = count < 8 ? count : 8;

	for (unsigned int i = 0; i < shown; i++) {
		fence_text_add(text, "%s", i == 0 ? "" : ", ");
		if (names != NULL)
			fence_text_add_safe(text, names[i], strnlen(names[i], sizeof(names[i])));
		fence_text_add(text, names != NULL ? " (%d)" : "%d", (int)pids[i]);
	}
	if (count > shown)
		fence_text_add(text, " and %u more", count - shown);
}

static void say_leftover(const struct run *run, const struct fence_group_result *result)
{
	static const char *const done[] = {
		[FENCE_LEFTOVER_KILL] = "ended",
		[FENCE_LEFTOVER_WAIT] = "waited for",
		[FENCE_LEFTOVER_FAIL] = "ended",
		[FENCE_LEFTOVER_LEAVE] = "left",
	};
	char buf[512];
	struct fence_text text;

	fence_text_init(&text, buf, sizeof(buf));
	add_processes(&text, result->leftover_pids, (const char(*)[16])result->leftover_names,
		      result->leftover_count);
	run_say(run, "%s what the command left behind: %s", done[run->conf.leftover], buf);
}

static void say_leak(const struct run *run, const struct fence_group_result *result)
{
	char buf[512];
	struct fence_text text;

	fence_text_init(&text, buf, sizeof(buf));
	add_processes(&text, result->holder_pids, NULL, result->holder_count);
	run_say(run, "output was still held open after the command had exited, by %s",
		result->holder_count > 0 ? buf : "a process that cannot be looked into");
}

static void say_survivors(const struct run *run, const struct fence_group_result *result)
{
	struct fence_err err = { 0 };
	char buf[512];
	struct fence_text text;

	fence_text_init(&text, buf, sizeof(buf));
	if (result->survivor_pids[0] > 0)
		add_processes(&text, result->survivor_pids, NULL, result->survivor_count);
	else
		fence_text_add(&text, "that cannot be seen");
	(void)fence_fail_why(&err, -EPERM, "KILL did not end it", "end process %s", buf);
	(void)fence_hint(&err, "it belongs to another user, or waits in the kernel for a device");
	(void)run_complain(run, &err);
}

/* A reader that has gone away, as head(1) does, is no news. */
static void say_tee(const struct run *run, int stream, int error)
{
	if (error == 0 || error == EPIPE)
		return;
	run_say(run, "write to standard %s: %s; what follows is not there",
		stream == 0 ? "output" : "error",
		error == ETIMEDOUT ? "its reader was too slow" : fence_errno_words(error));
}

static void say_not_started(const struct run *run, const struct fence_group_result *result)
{
	struct fence_err err = { 0 };
	const char *step = fence_spawn_step_name(result->failed_step);

	if (result->monitor_lost) {
		(void)fence_fail_why(&err, -ECANCELED, "the monitor was killed", "start %s",
				     run->argv[0]);
		(void)run_complain(run, &err);
		return;
	}
	if ((result->failed_step == FENCE_SPAWN_STEP_GATE ||
	     result->failed_step == FENCE_SPAWN_STEP_CONTAIN) &&
	    result->failure.code < 0) {
		(void)run_complain(run, &result->failure);
		return;
	}
	if (result->failed_step == FENCE_SPAWN_STEP_EXEC)
		(void)fence_fail(&err, -result->failed_errno, "%s %s", step, run->argv[0]);
	else
		(void)fence_fail(&err, -result->failed_errno, "%s for %s", step, run->argv[0]);
	if (result->failed_errno == ENOENT && run->file[0] != '\0')
		(void)fence_hint(&err, "the file is there, but its interpreter is not");
	else if (result->failed_errno == ENOENT)
		(void)fence_hint(&err, "check the name and PATH");
	else if (result->failed_errno == ENOEXEC)
		(void)fence_hint(&err, "give a script a first line like #!/bin/sh");
	(void)run_complain(run, &err);
}

void run_say_result(const struct run *run, const struct fence_group_result *result)
{
	if (result->cause == FENCE_CAUSE_NOT_STARTED) {
		say_not_started(run, result);
		return;
	}
	if (result->survivor_count > 0)
		say_survivors(run, result);
	if (result->monitor_lost)
		run_say(run,
			"the monitor was killed; the command and all that it started were ended");
	if (result->limit == FENCE_LIMIT_CPU)
		run_say(run, "the command was ended: it used more than %lld ms of processor time",
			run->conf.cpu_timeout_ms);
	else if (result->cause == FENCE_CAUSE_TIMEOUT)
		run_say(run, "the command was ended: it ran longer than %lld ms",
			run->conf.timeout_ms);
	if (result->cause == FENCE_CAUSE_IDLE_TIMEOUT)
		run_say(run, "the command was ended: no output for %lld ms",
			run->conf.idle_timeout_ms);
	if (result->leftover_count > 0)
		say_leftover(run, result);
	if (result->leaked)
		say_leak(run, result);
	if (result->log_errno != 0)
		run_say(run, "write log %s: %s; what follows is not in it", run->conf.log_path,
			fence_errno_words(result->log_errno));
	for (int i = 0; i < 2; i++)
		say_tee(run, i, result->tee_errno[i]);
}
