/* A run at a terminal: the command that shares ours (--foreground) or has one of its own
 * (--pty), and the line that shows how far it is (--progress). One file each. */
#ifndef SUPERVISOR_RUN_TERMINAL_H
#define SUPERVISOR_RUN_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#include "fence/group.h"
#include "fence/loop.h"

struct run;

#define RUN_PTY_INPUT_BYTES 16384

/* --foreground. What the terminal was like, for after a command that did not get to
 * putting it in order. */
struct run_foreground {
	int fd; /* -1: no terminal, or not ours at the start */
	struct termios mode;
};

/* --pty. The launcher is the one that may read our terminal, so it relays the input, the
 * mode and the size; the monitor reads the output, as it does from pipes, so that all
 * that is promised of pipes is true of it. */
struct run_pty {
	struct run *run;
	int master, slave; /* -1: none; the slave only until the command is started */
	int input_fd;	   /* what we read: 0, or the same terminal opened anew */
	bool is_terminal;  /* 0 is one */
	bool is_raw;
	struct termios mode; /* to put back */
	bool away;	     /* another job has the terminal */
	bool input_over, input_is_file;
	unsigned int typed_ends; /* how often the end was typed to a command that reads keys */
	int64_t look_ms;	 /* until the next look */
	struct fence_watch input_watch, room_watch;
	struct fence_timer look_timer;
	uint8_t input[RUN_PTY_INPUT_BYTES];
	size_t input_at, input_end;
};

/* --progress. */
struct run_progress {
	struct run *run;
	int fd;		 /* -1: standard error is no terminal */
	bool shown;	 /* a line is there to be erased */
	int64_t away_ms; /* in which we were stopped */
	int64_t start_ms;
	struct fence_timer timer;
};

struct run_terminal {
	struct run_foreground foreground;
	struct run_pty pty;
	struct run_progress progress;
};

/* Nothing is done to any terminal, until it is asked for. */
void run_terminal_init(struct run_terminal *terminal);
/* After the plan is filled: -errno with words in run->err. */
int run_terminal_plan(struct run *run);
/* Once the group has started: watches what is to be watched. */
int run_terminal_watch(struct run *run);
/* At the end, and before anything is said: the terminal is as it was. `result` is NULL
 * when we gave up. */
void run_terminal_end(struct run *run, const struct fence_group_result *result);

/* The command has this signal already, from the terminal. */
bool run_terminal_delivered(const struct run *run, int sig, bool from_terminal);
/* Stops us with `sig`, as who started us expects. Returns once we were continued. */
void run_terminal_stop(struct run *run, int sig);
/* What the group tells: a command that was stopped takes us with it. */
void run_terminal_told(struct run *run, const struct fence_group_event *event);

/* Is our process group not the one that has the terminal? False where that cannot be:
 * no terminal, or not that of our session. */
bool run_is_background(int fd);

/* run_pty.c */
int run_pty_plan(struct run *run);
int run_pty_watch(struct run *run);
void run_pty_resize(struct run_pty *pty);
void run_pty_leave(struct run_pty *pty); /* our terminal gets its mode back */
void run_pty_enter(struct run_pty *pty); /* ... and is ours again, if we have it */
void run_pty_close(struct run_pty *pty);

/* run_progress.c */
void run_progress_watch(struct run *run);
void run_progress_erase(struct run_progress *progress);

struct run_progress_facts {
	int64_t elapsed_ms, limit_ms; /* 0: no limit */
	unsigned int processes;
	uint64_t rss_bytes;
	bool reads_output;
	uint64_t output_bytes;
};
/* "fence-run: 12s of 60s, 3 processes, 45 MiB resident", at most `width` columns. */
void run_progress_line(const struct run_progress_facts *facts, const char *program, size_t width,
		       char *ret, size_t size_bytes);

#endif
