/* One line on a terminal that says how far the run is, rewritten twice a second.
 *
 * It is written only while we have the terminal, only when that takes it at once (one
 * that is stopped with ^S would hold us up), and without any control sequence beyond the
 * carriage return, so any terminal will do. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "fence/text.h"
#include "fence/tree.h"
#include "supervisor/run.h"

#define EVERY_MS    500
#define WIDTH_MAX   120
#define WIDTH_OR    80
#define PATH_BYTES  64
#define STATM_BYTES 128

/* --- the line ------------------------------------------------------------------------------- */

static void add_duration(struct fence_text *text, int64_t ms)
{
	int64_t s = ms / 1000;

	if (s >= 3600)
		fence_text_add(text, "%lldh%02lldm", (long long)(s / 3600),
			       (long long)(s / 60 % 60));
	else if (s >= 60)
		fence_text_add(text, "%lldm%02llds", (long long)(s / 60), (long long)(s % 60));
	else
		fence_text_add(text, "%llds", (long long)s);
}

static void add_size(struct fence_text *text, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;
	uint64_t tenths = bytes * 10;

	for (; tenths >= 10240 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		tenths /= 1024;
	if (unit == 0 || tenths >= 1000)
		fence_text_add(text, "%llu %s", (unsigned long long)(tenths / 10), units[unit]);
	else
		fence_text_add(text, "%llu.%llu %s", (unsigned long long)(tenths / 10),
			       (unsigned long long)(tenths % 10), units[unit]);
}

void run_progress_line(const struct run_progress_facts *facts, const char *program, size_t width,
		       char *ret, size_t size_bytes)
{
	struct fence_text text;

	fence_text_init(&text, ret, size_bytes);
	fence_text_add(&text, "%s: ", program);
	add_duration(&text, facts->elapsed_ms);
	if (facts->limit_ms > 0) {
		fence_text_add(&text, " of ");
		add_duration(&text, facts->limit_ms);
	}
	fence_text_add(&text, ", %u process%s, RSS ", facts->processes,
		       facts->processes == 1 ? "" : "es");
	add_size(&text, facts->rss_bytes);
	if (facts->reads_output) {
		fence_text_add(&text, ", output ");
		add_size(&text, facts->output_bytes);
	}
	if (width < size_bytes)
		ret[width] = '\0';
}

/* --- what it says ------------------------------------------------------------------------------
 */

static uint64_t rss_bytes(pid_t pid)
{
	char path[PATH_BYTES];
	char text[STATM_BYTES];
	unsigned long long pages;

	(void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	if (fence_read_file(AT_FDCWD, path, text, sizeof(text)) < 0 ||
	    sscanf(text, "%*u %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Our own monitor is no process of the command's. */
static void count_processes(const struct run *run, struct run_progress_facts *facts)
{
	struct fence_tree tree = { 0 };
	pid_t monitor = fence_group_monitor_pid(run->group);

	if (fence_tree_list(&tree) < 0)
		tree.count = 0;
	for (size_t i = 0; i < tree.count; i++) {
		uint64_t bytes = rss_bytes(tree.nodes[i].pid);

		/* A zombie has none. */
		if (tree.nodes[i].pid == monitor || bytes == 0)
			continue;
		facts->processes++;
		facts->rss_bytes += bytes;
	}
	fence_tree_drop(&tree);
}

/* --- on the terminal -----------------------------------------------------------------------------
 */

static size_t columns(int fd)
{
	struct winsize size;

	if (fence_ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return WIDTH_OR;
	return size.ws_col;
}

/* The last column is left free: many terminals go to the next line there. */
static size_t line_width(int fd)
{
	size_t wanted = columns(fd);

	return wanted > WIDTH_MAX ? WIDTH_MAX : wanted - 1;
}

static bool may_write(const struct run_progress *progress)
{
	struct pollfd event = { .fd = progress->fd, .events = POLLOUT };

	return !run_is_background(progress->fd) && poll(&event, 1, 0) > 0 &&
	       (event.revents & POLLOUT) != 0;
}

static void write_line(struct run_progress *progress, const char *line)
{
	size_t width = line_width(progress->fd);
	char text[2 * WIDTH_MAX + 8];
	int length;

	/* Padded, so that a shorter line leaves nothing of the longer one before. */
	length = snprintf(text, sizeof(text), "\r%-*s\r", (int)width, line);
	if (length > 0)
		(void)fence_write_some(progress->fd, text, (size_t)length);
}

void run_progress_erase(struct run_progress *progress)
{
	if (progress->fd >= 0 && progress->shown && may_write(progress))
		write_line(progress, "");
	progress->shown = false;
}

static int progress_due(void *arg)
{
	struct run_progress *progress = arg;
	const struct run *run = progress->run;
	struct run_progress_facts facts = {
		.elapsed_ms = fence_now_ms() - progress->start_ms - progress->away_ms,
		.limit_ms = run->conf.timeout_ms,
		.reads_output = run_reads_output(&run->conf),
		.output_bytes = fence_group_output_bytes(run->group),
	};
	char line[WIDTH_MAX + 1];

	progress->timer.at_ms = fence_now_ms() + EVERY_MS;
	if (!may_write(progress))
		return 0;
	count_processes(run, &facts);
	run_progress_line(&facts, run->program, line_width(progress->fd), line, sizeof(line));
	write_line(progress, line);
	progress->shown = true;
	return 0;
}

/* Opened anew it can be non-blocking for us alone. One that may not be opened is written
 * to only when it has room for something, and may then wait for the rest. */
static int open_terminal(void)
{
	int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? 2 : fd;
}

void run_progress_watch(struct run *run)
{
	struct run_progress *progress = &run->terminal.progress;

	if (!isatty(2))
		return;
	progress->run = run;
	progress->fd = open_terminal();
	progress->start_ms = fence_now_ms();
	progress->timer = (struct fence_timer){ .due = progress_due, .arg = progress };
	fence_loop_timer(&run->loop, &progress->timer);
	progress->timer.at_ms = progress->start_ms + EVERY_MS;
}
