/* One run, from options to exit status: what fence-run is, and what fence-supervisor
 * has in it. In parts: what was asked for (run_opts.c), the environment (run_env.c),
 * the plan (run_plan.c), signals and the loop (run_watch.c), what is said to a person
 * (run_say.c), the record (run_record.c), the exit status (run_status.c), terminals
 * (run_terminal.h). */
#ifndef SUPERVISOR_RUN_H
#define SUPERVISOR_RUN_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fence/err.h"
#include "fence/group.h"
#include "fence/loop.h"
#include "fence/marker.h"
#include "fence/opts.h"
#include "fence/own.h"
#include "supervisor/event.h"
#include "supervisor/run_terminal.h"

#define RUN_LIMITS_MAX	  16
#define RUN_FDS_MAX	  64
#define RUN_ENV_EDITS_MAX 256
#define RUN_CAPTURE_MAX	  (UINT64_C(256) << 20)

/* One --env or --unset, in the order of the command line. */
struct run_env_edit {
	const char *text; /* NAME, or NAME=VALUE */
	bool unset;
};

struct run_conf {
	long long timeout_ms, idle_timeout_ms, cpu_timeout_ms, grace_ms;
	bool boottime;
	enum fence_term_scope term_scope;
	enum fence_leftover leftover;
	enum fence_group_contain contain;
	bool captures; /* --capture was given */
	unsigned long long tail_bytes, head_bytes;
	bool tee;
	bool leak_fails;
	const char *log_path;
	const char *stream_paths[2]; /* --stdout, --stderr; NULL: as inherited */
	const char *result_path;     /* "-": standard output */
	int result_fd;		     /* -1: none */
	int events_fd;		     /* -1: none */
	const char *dir;
	int umask;
	long long nice;
	struct fence_spawn_limit limits[RUN_LIMITS_MAX];
	size_t limit_count;
	int keep_fds[RUN_FDS_MAX]; /* ascending */
	size_t keep_count;
	bool env_allow;
	struct run_env_edit env_edits[RUN_ENV_EDITS_MAX];
	size_t env_edit_count;
	bool keep_signals;
	bool reraise;
	bool quiet;
	bool foreground, pty, progress;

	/* The fence of somebody else's attempt. */
	const char *fence_path; /* NULL: none */
	const char *attempt_id;
	enum fence_marker_format format;
	bool has_approved;
	struct fence_marker_approved approved;
};

extern const struct fence_cli run_cli;
/* Its rows, for programs that run a command as well; the last has no name. */
extern const struct fence_opt run_options[];

void run_conf_init(struct run_conf *conf);

/* What the options say together: -EINVAL with words. */
int run_conf_check(const struct run_conf *conf, struct fence_err *err);

/* One more --env or --unset. The text stays the caller's. -EINVAL, -E2BIG. */
int run_conf_edit_env(struct run_conf *conf, const char *text, bool unset, struct fence_err *err);

/* Is the output read by us, and does it go on to our own standard output? */
bool run_reads_output(const struct run_conf *conf);
bool run_passes_output(const struct run_conf *conf);

/* The command's environment, from `base` (our own). One allocation with *ret as its
 * start; the strings stay where they are: free *ret alone. */
int run_env_build(const struct run_conf *conf, char *const *base, char ***ret,
		  struct fence_err *err);
/* The value of `name` there, or NULL. */
const char *run_env_get(char *const *env, const char *name);

/* What fence-run itself exits with. */
int run_exit_status(const struct run_conf *conf, const struct fence_group_result *result);

/* The command that could not be started: 127 when it is not there, 126 when it is, 77
 * when its fence was shut, 125 when it was not even tried. */
int run_start_status(enum fence_spawn_step step, int error);

/* A record of fence-run-result/v1. */
struct run_record {
	const char *program;
	const struct run_conf *conf;
	char *const *argv;
	char started_at[25];
	const struct fence_group_result *result;
	int exit_status;
	struct fence_group_output kept[2]; /* bytes NULL: not captured */
};

/* Where a result file goes is looked at before the command is run, so that a
 * mistyped path is no lost record. */
struct run_record_file {
	int dir_fd; /* -1: no file asked for */
	const char *name;
};

int run_record_prepare(const struct run_conf *conf, struct run_record_file *ret,
		       struct fence_err *err);

/* Writes the record to everywhere it is wanted: the file whole or not at all. */
int run_record_write(const struct run_record *record, const struct run_record_file *file,
		     struct fence_err *err);

/* --- a run ------------------------------------------------------------------------- */

#define RUN_OUR_FAULT 125

struct run {
	const char *program; /* who speaks */
	/* A standard error that takes nothing for so long hears no more; 0: it is waited for,
	 * as by any program. */
	int say_patience_ms;
	struct run_conf conf;
	char *const *argv; /* the command */
	char **env;
	sigset_t old_mask;
	bool ignores_hangup; /* started by nohup(1) */
	int log_fd;
	int stdin_fd;	   /* -1: as inherited */
	int stream_fds[2]; /* -1: as inherited */
	struct event_sink events;
	struct run_record_file record_file;
	char file[PATH_MAX];
	char started_at[25];
	struct fence_group_plan plan;
	struct fence_group *group; /* NULL: not started */
	struct fence_loop loop;
	struct fence_watch signal_watch, group_watch;
	struct run_terminal terminal;
	bool stopping;
	unsigned int urgent; /* INT and TERM so far */
	struct fence_err err;
};

/* First in main, and in this order: signals are taken over, so that none is lost and none
 * has a disposition that somebody else chose; descriptors 0 to 2 exist; then options are
 * read, while every open descriptor is still the caller's. -errno. */
int run_begin(struct run *run, const char *program);

/* 0: go on, with the command in run->argv; else the exit status plus one. `conf` is
 * what the rows of `cli` fill. */
int run_read_options(struct run *run, const struct fence_cli *cli, void *conf, int argc,
		     char **argv);

/* Everything that can be refused before anything runs: -errno with words. */
int run_prepare(struct run *run);
/* Looks the command up: 0, or -errno for run_not_found. */
int run_find(struct run *run);
/* The plan, from the options; what else the caller wants in it comes after. */
void run_fill_plan(struct run *run);

/* What --events-fd wants told: of the group while it runs, and the end. */
void run_tell(struct run *run, const struct fence_group_event *event);
void run_tell_ended(struct run *run, const struct fence_group_result *result, int exit_status);

/* --reraise: ends us as the command ended, so that our parent sees the very signal. Returns
 * when that is not what our exit status says. */
void run_reraise(const struct run *run, const struct fence_group_result *result);

/* What ends the loop, beside -errno. */
enum {
	RUN_ENDED = 1,	  /* the group has ended; its result is whole */
	RUN_UNWANTED = 2, /* a signal asked for the end before there was a group */
};

/* The loop with signals in it, and then the group too. -errno with words. */
int run_watch_signals(struct run *run);
int run_watch_group(struct run *run);

/* Writes "program: ..." to standard error, and returns RUN_OUR_FAULT. */
int run_complain(const struct run *run, const struct fence_err *err);
/* One line for a person; --quiet wants none. */
void run_say(const struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_say_result(const struct run *run, const struct fence_group_result *result);

/* Writes the record: the exit status. */
int run_finish(struct run *run, const struct fence_group_result *result);
/* No such command: `ret` is how that went, which is said. */
void run_not_found(struct run *run, int error, struct fence_group_result *ret);

#endif
