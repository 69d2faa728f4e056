/* fence-run in parts: what was asked for, the environment, the plan, the record.
 * Its main file has the loop and does the talking. */
#ifndef SUPERVISOR_RUN_H
#define SUPERVISOR_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fence/err.h"
#include "fence/group.h"
#include "fence/opts.h"
#include "fence/own.h"

#define RUN_FDS_MAX	  64
#define RUN_ENV_EDITS_MAX 256
#define RUN_CAPTURE_MAX	  (UINT64_C(256) << 20)

/* One --env or --unset, in the order of the command line. */
struct run_env_edit {
	const char *text; /* NAME, or NAME=VALUE */
	bool unset;
};

struct run_conf {
	long long timeout_ms, idle_timeout_ms, grace_ms;
	enum fence_term_scope term_scope;
	enum fence_leftover leftover;
	bool captures; /* --capture was given */
	unsigned long long tail_bytes;
	bool tee;
	bool leak_fails;
	const char *log_path;
	const char *result_path; /* "-": standard output */
	int result_fd;		 /* -1: none */
	const char *dir;
	int umask;
	int keep_fds[RUN_FDS_MAX]; /* ascending */
	size_t keep_count;
	bool env_allow;
	struct run_env_edit env_edits[RUN_ENV_EDITS_MAX];
	size_t env_edit_count;
	bool keep_signals;
	bool quiet;
};

extern const struct fence_cli run_cli;

void run_conf_init(struct run_conf *conf);

/* What the options say together: -EINVAL with words. */
int run_conf_check(const struct run_conf *conf, struct fence_err *err);

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

/* The command that could not be started: 127 when it is not there, 126 when it is,
 * 125 when it was not even tried. */
int run_start_status(enum fence_spawn_step step, int error);

/* A record of fence-run-result/v1. */
struct run_record {
	const struct run_conf *conf;
	char *const *argv;
	char started_at[25];
	const struct fence_group_result *result;
	int exit_status;
	const uint8_t *tails[2]; /* NULL: not captured */
	size_t tail_bytes[2];
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

#endif
