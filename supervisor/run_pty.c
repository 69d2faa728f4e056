/* A terminal of the command's own, relayed.
 *
 * Our terminal is raw meanwhile, so every key is a byte that goes through: ^C and ^Z are
 * the business of the command's terminal. We touch our own only while we have it: in the
 * background its mode is left alone and nothing is read from it, and twice a second we
 * look whether it has come to us.
 *
 * Nothing here waits: input that the command does not take yet stays in our buffer, and
 * we read on once it is gone.
 *
 * The end of our input is typed, as a person would type ^D. Typed into a line that the
 * command still reads, or while the terminal's mode changes, it would be lost or become a
 * zero byte; so it is typed when all before it was taken, and again, at most once a
 * second, for the next reader. A command that has made its terminal raw reads bytes, not
 * keys, and gets none that nobody wrote. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "supervisor/run.h"

#define LOOK_FIRST_MS	10
#define LOOK_MOST_MS	1000
#define LOOK_AWAY_MS	500
#define TYPED_ENDS_MAX	10 /* to a command that reads keys: it may take them for something else */
#define DEFAULT_ROWS	24
#define DEFAULT_COLUMNS 80

/* --- birth ------------------------------------------------------------------------------ */

static int get_size(struct winsize *ret)
{
	for (int fd = 0; fd < 3; fd++)
		if (fence_ioctl(fd, TIOCGWINSZ, ret) == 0)
			return 0;
	return -ENOTTY;
}

void run_pty_resize(struct run_pty *pty)
{
	struct winsize size;

	if (pty->master >= 0 && get_size(&size) == 0)
		(void)fence_ioctl(pty->master, TIOCSWINSZ, &size);
}

/* Like ours, if we have one. Otherwise nobody types, and an echo would be output that the
 * command never wrote. */
static int set_up(struct run_pty *pty)
{
	struct winsize size = { .ws_row = DEFAULT_ROWS, .ws_col = DEFAULT_COLUMNS };
	struct termios mode;

	(void)get_size(&size);
	if (tcgetattr(pty->is_terminal ? 0 : pty->slave, &mode) < 0)
		return -errno;
	if (!pty->is_terminal)
		mode.c_lflag &= ~(tcflag_t)ECHO;
	if (tcsetattr(pty->slave, TCSANOW, &mode) < 0)
		return -errno;
	return fence_ioctl(pty->master, TIOCSWINSZ, &size);
}

static int open_both(struct run_pty *pty)
{
	int unlocked = 0;
	int rc;

	pty->master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (pty->master < 0)
		return -errno;
	rc = fence_ioctl(pty->master, TIOCSPTLCK, &unlocked);
	if (rc == 0)
		rc = fence_pty_slave(pty->master);
	if (rc < 0)
		return rc;
	pty->slave = rc;
	return set_up(pty);
}

int run_pty_plan(struct run *run)
{
	struct run_pty *pty = &run->terminal.pty;
	int rc;

	pty->run = run;
	pty->is_terminal = isatty(0);
	rc = open_both(pty);
	if (rc < 0) {
		(void)fence_fail(&run->err, rc, "make a terminal for the command");
		return fence_hint(&run->err, "--pty needs /dev/ptmx and a free pseudo-terminal");
	}
	for (int i = 0; i < 3; i++)
		run->plan.spawn.stdio[i] = pty->slave;
	run->plan.spawn.own_terminal = true;
	run->plan.pty_fd = pty->master;
	run->plan.tee_fd[1] = -1;
	return 0;
}

/* --- our own terminal --------------------------------------------------------------------- */

void run_pty_leave(struct run_pty *pty)
{
	/* Should it be another job's by now, its mode is that job's as well. */
	if (pty->is_raw && !run_is_background(0))
		(void)tcsetattr(0, TCSANOW, &pty->mode);
	pty->is_raw = false;
}

static void make_raw(struct run_pty *pty)
{
	struct termios raw;

	if (pty->is_raw || tcgetattr(0, &pty->mode) < 0)
		return;
	raw = pty->mode;
	cfmakeraw(&raw);
	pty->is_raw = tcsetattr(0, TCSANOW, &raw) == 0;
}

/* --- input ------------------------------------------------------------------------------- */

static void look_after(struct run_pty *pty, int64_t wait_ms)
{
	int64_t at_ms = fence_now_ms() + wait_ms;

	if (at_ms < pty->look_timer.at_ms)
		pty->look_timer.at_ms = at_ms;
}

static bool has_input(const struct run_pty *pty)
{
	return pty->input_at < pty->input_end;
}

/* What is to be waited for now. */
static int settle(struct run_pty *pty)
{
	struct fence_loop *loop = &pty->run->loop;
	bool wants_input = !pty->input_over && !pty->away && !has_input(pty);
	int rc;

	rc = fence_loop_set(loop, &pty->room_watch, pty->master, has_input(pty), EPOLLOUT);
	if (rc == 0 && !pty->input_is_file)
		rc = fence_loop_set(loop, &pty->input_watch, pty->input_fd, wants_input, EPOLLIN);
	if (rc == -EPERM) {
		pty->input_is_file = true; /* and always ready */
		rc = 0;
	}
	if (pty->away)
		look_after(pty, LOOK_AWAY_MS);
	else if (wants_input && pty->input_is_file)
		look_after(pty, 0);
	else if (pty->input_over && !has_input(pty))
		look_after(pty, pty->look_ms);
	return rc < 0 ? fence_fail(&pty->run->err, rc, "relay the terminal") : 0;
}

void run_pty_enter(struct run_pty *pty)
{
	if (pty->master < 0)
		return;
	pty->away = pty->is_terminal && run_is_background(0);
	if (pty->is_terminal && !pty->away)
		make_raw(pty);
	if (!pty->away)
		run_pty_resize(pty);
	if (pty->run->loop.epoll_fd > 0)
		(void)settle(pty);
}

static void write_input(struct run_pty *pty)
{
	while (has_input(pty)) {
		ssize_t done = fence_write_some(pty->master, pty->input + pty->input_at,
						pty->input_end - pty->input_at);

		if (done == -EAGAIN)
			return;
		/* Nobody is there to read it. */
		pty->input_at = done < 0 ? pty->input_end : pty->input_at + (size_t)done;
	}
}

static void read_input(struct run_pty *pty)
{
	ssize_t got = fence_read_nowait(pty->input_fd, pty->input, sizeof(pty->input));

	/* Said to be readable, by a kind of file that cannot be asked not to wait. */
	if (got == -EOPNOTSUPP || got == -EINVAL || got == -ENOSYS || got == -ESPIPE)
		got = fence_read_some(pty->input_fd, pty->input, sizeof(pty->input));
	if (got == -EAGAIN)
		return;
	pty->input_at = 0;
	pty->input_end = got > 0 ? (size_t)got : 0;
	if (got > 0)
		return;
	/* A terminal that another job has just got says EIO, and so does one that is gone. */
	if (got == -EIO && pty->is_terminal && run_is_background(0)) {
		pty->away = true;
		return;
	}
	pty->input_over = true;
	pty->look_ms = LOOK_FIRST_MS;
}

static int input_ready(void *arg, uint32_t events)
{
	struct run_pty *pty = arg;

	(void)events;
	if (pty->is_terminal && run_is_background(0)) {
		pty->away = true;
		return settle(pty);
	}
	read_input(pty);
	write_input(pty);
	return settle(pty);
}

static int room_came(void *arg, uint32_t events)
{
	struct run_pty *pty = arg;

	(void)events;
	write_input(pty);
	return settle(pty);
}

/* --- the end of the input ------------------------------------------------------------------- */

/* Has the command read all that was typed? A line that was begun does not count: the
 * first end hands it over. */
static bool is_taken(const struct run_pty *pty)
{
	struct pollfd event = { .events = POLLIN };
	owned_fd slave = fence_pty_slave(pty->master);

	if (slave < 0)
		return false;
	event.fd = slave;
	return poll(&event, 1, 0) == 0;
}

static void type_end(struct run_pty *pty)
{
	struct termios mode;

	if (!is_taken(pty) || tcgetattr(pty->master, &mode) < 0)
		return;
	if ((mode.c_lflag & ICANON) == 0 &&
	    ((mode.c_lflag & ISIG) == 0 || pty->typed_ends++ >= TYPED_ENDS_MAX))
		return;
	(void)fence_write_some(pty->master, &mode.c_cc[VEOF], 1);
}

static int look_due(void *arg)
{
	struct run_pty *pty = arg;

	if (pty->away) {
		run_pty_enter(pty);
		return 0;
	}
	if (!pty->input_over)
		return input_ready(pty, 0);
	type_end(pty);
	pty->look_ms = pty->look_ms * 2 < LOOK_MOST_MS ? pty->look_ms * 2 : LOOK_MOST_MS;
	return settle(pty);
}

/* --- begin and end -------------------------------------------------------------------------- */

/* Opened anew, our terminal has a description of its own, which can be non-blocking
 * without becoming so for others. */
static int open_input(const struct run_pty *pty)
{
	int fd = -1;

	if (pty->is_terminal)
		fd = open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? 0 : fd;
}

int run_pty_watch(struct run *run)
{
	struct run_pty *pty = &run->terminal.pty;

	/* The command has it; with ours open as well its output would have no end. */
	fence_close_fd(&pty->slave);
	pty->input_fd = open_input(pty);
	pty->input_watch = (struct fence_watch){ .fd = -1, .ready = input_ready, .arg = pty };
	pty->room_watch = (struct fence_watch){ .fd = -1, .ready = room_came, .arg = pty };
	pty->look_timer = (struct fence_timer){ .due = look_due, .arg = pty };
	fence_loop_timer(&run->loop, &pty->look_timer);
	run_pty_enter(pty);
	return run->err.code;
}

void run_pty_close(struct run_pty *pty)
{
	fence_close_fd(&pty->master);
	fence_close_fd(&pty->slave);
}
