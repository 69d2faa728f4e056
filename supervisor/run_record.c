/* The result record, fence-run-result/v1 (schemas/fence-run-result-v1.json). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/jsonw.h"
#include "supervisor/run.h"

/* A byte becomes at most six in JSON (\u0001). */
#define ESCAPED_MAX 6
#define FRAME_BYTES (32 * 1024)

/* --- its parts -------------------------------------------------------------------- */

static void write_pids(struct fence_jsonw *w, const char *key, const pid_t *pids,
		       unsigned int count)
{
	fence_jsonw_open(w, key, '[');
	for (unsigned int i = 0; i < count && i < FENCE_GROUP_PIDS; i++)
		if (pids[i] > 0) /* 0: there is one, which could not be seen */
			fence_jsonw_int(w, NULL, pids[i]);
	fence_jsonw_close(w, ']');
}

static void write_command(struct fence_jsonw *w, char *const *argv)
{
	fence_jsonw_open(w, "command", '[');
	for (; *argv != NULL; argv++)
		fence_jsonw_string(w, NULL, *argv);
	fence_jsonw_close(w, ']');
}

/* waitpid(2)'s word, as other programs store it. */
static int raw_status(const struct fence_exit *how)
{
	return how->signalled ? how->number | (how->core ? 0x80 : 0) : how->number << 8;
}

static void write_exit(struct fence_jsonw *w, const struct fence_group_result *result)
{
	if (!result->exit_known) {
		fence_jsonw_null(w, "exit");
		return;
	}
	fence_jsonw_open(w, "exit", '{');
	fence_jsonw_string(w, "kind", result->exit.signalled ? "signal" : "code");
	fence_jsonw_int(w, result->exit.signalled ? "signal" : "code", result->exit.number);
	fence_jsonw_bool(w, "core", result->exit.core);
	fence_jsonw_int(w, "rawStatus", raw_status(&result->exit));
	if (result->exit.signalled)
		fence_jsonw_string(w, "sentBy", fence_sender_word(result->killed_by));
	fence_jsonw_close(w, '}');
}

/* A monitor that was killed between the fork and its word about it has told neither. */
static void write_process(struct fence_jsonw *w, const struct fence_group_result *result)
{
	fence_jsonw_open(w, "process", '{');
	if (result->pid > 0)
		fence_jsonw_int(w, "pid", result->pid);
	if (result->start_ticks > 0)
		fence_jsonw_decimal(w, "start", result->start_ticks);
	fence_jsonw_close(w, '}');
}

static void write_failure(struct fence_jsonw *w, const struct fence_group_result *result)
{
	/* A gate that was shut says more than its number. */
	const char *why =
		result->failed_step == FENCE_SPAWN_STEP_GATE && result->failure.why[0] != '\0'
			? result->failure.why
			: fence_errno_words(result->failed_errno);

	fence_jsonw_open(w, "failure", '{');
	fence_jsonw_string(w, "step", fence_spawn_step_name(result->failed_step));
	fence_jsonw_int(w, "errno", result->failed_errno);
	fence_jsonw_string(w, "why", why);
	fence_jsonw_close(w, '}');
}

static void write_sent(struct fence_jsonw *w, const struct fence_group_result *result)
{
	fence_jsonw_open(w, "sent", '{');
	if (result->term_sent)
		fence_jsonw_int(w, "termAtMs", result->term_at_ms);
	if (result->kill_sent)
		fence_jsonw_int(w, "killAtMs", result->kill_at_ms);
	fence_jsonw_close(w, '}');
}

static void write_leftover(struct fence_jsonw *w, const struct run_record *record)
{
	static const char *const actions[] = {
		[FENCE_LEFTOVER_KILL] = "kill",
		[FENCE_LEFTOVER_WAIT] = "wait",
		[FENCE_LEFTOVER_FAIL] = "fail",
		[FENCE_LEFTOVER_LEAVE] = "leave",
	};
	const struct fence_group_result *result = record->result;

	fence_jsonw_open(w, "leftover", '{');
	fence_jsonw_uint(w, "count", result->leftover_count);
	fence_jsonw_string(w, "action", actions[record->conf->leftover]);
	write_pids(w, "pids", result->leftover_pids, result->leftover_count);
	fence_jsonw_open(w, "names", '[');
	for (unsigned int i = 0; i < result->leftover_count && i < FENCE_GROUP_PIDS; i++)
		fence_jsonw_string(w, NULL, result->leftover_names[i]);
	fence_jsonw_close(w, ']');
	fence_jsonw_close(w, '}');
}

static void write_stream(struct fence_jsonw *w, const struct run_record *record, int stream)
{
	static const char *const names[] = { "stdout", "stderr" };
	const struct fence_group_result *result = record->result;
	const struct fence_group_output *kept = &record->kept[stream];

	fence_jsonw_open(w, names[stream], '{');
	fence_jsonw_uint(w, "bytes", result->output_bytes[stream]);
	fence_jsonw_bool(w, "passedOn",
			 run_passes_output(record->conf) && result->tee_errno[stream] == 0);
	if (kept->bytes != NULL) {
		fence_jsonw_bool(w, "truncated", kept->omitted_bytes > 0);
		if (record->conf->head_bytes > 0)
			fence_jsonw_bytes(w, "head", (const char *)kept->bytes, kept->head_bytes);
		fence_jsonw_uint(w, "omittedBytes", kept->omitted_bytes);
		fence_jsonw_bytes(w, "tail", (const char *)kept->bytes + kept->head_bytes,
				  kept->tail_bytes);
	}
	fence_jsonw_close(w, '}');
}

static void write_output(struct fence_jsonw *w, const struct run_record *record)
{
	const struct fence_group_result *result = record->result;

	fence_jsonw_open(w, "output", '{');
	for (int i = 0; i < 2; i++)
		write_stream(w, record, i);
	fence_jsonw_bool(w, "leaked", result->leaked);
	write_pids(w, "holders", result->holder_pids, result->holder_count);
	if (record->conf->log_path != NULL) {
		fence_jsonw_open(w, "log", '{');
		fence_jsonw_string(w, "path", record->conf->log_path);
		fence_jsonw_bool(w, "complete", result->log_errno == 0);
		if (result->log_errno != 0)
			fence_jsonw_string(w, "why", fence_errno_words(result->log_errno));
		fence_jsonw_close(w, '}');
	}
	fence_jsonw_close(w, '}');
}

static void write_use(struct fence_jsonw *w, const struct run_record *record)
{
	const struct fence_group_result *result = record->result;

	fence_jsonw_string(w, "startedAt", record->started_at);
	fence_jsonw_int(w, "wallMs", result->wall_ms);
	fence_jsonw_int(w, "wallUs", result->wall_us);
	fence_jsonw_int(w, "userMs", result->user_ms);
	fence_jsonw_int(w, "systemMs", result->system_ms);
	fence_jsonw_uint(w, "peakRssBytes", result->peak_rss_bytes);
	if (result->memory_known)
		fence_jsonw_uint(w, "memoryKills", result->memory_kills);
	if (result->memory_peak_bytes > 0)
		fence_jsonw_uint(w, "peakMemoryBytes", result->memory_peak_bytes);
}

static void write_record(struct fence_jsonw *w, const struct run_record *record)
{
	const struct fence_group_result *result = record->result;
	bool started = result->cause != FENCE_CAUSE_NOT_STARTED;

	fence_jsonw_open(w, NULL, '{');
	fence_jsonw_head(w, "fence-run-result/v1", record->program);
	write_command(w, record->argv);
	fence_jsonw_string(w, "cause", fence_cause_word(result->cause));
	fence_jsonw_string(w, "reap", fence_reap_word(result->reap));
	fence_jsonw_string(w, "contain", fence_contain_word(result->contain));
	if (result->limit != FENCE_LIMIT_NONE)
		fence_jsonw_string(w, "limit", fence_limit_word(result->limit));
	fence_jsonw_int(w, "exitStatus", record->exit_status);
	write_exit(w, result);
	if (started)
		write_process(w, result);
	else
		write_failure(w, result);
	write_sent(w, result);
	write_leftover(w, record);
	fence_jsonw_open(w, "survivors", '{');
	fence_jsonw_uint(w, "count", result->survivor_count);
	write_pids(w, "pids", result->survivor_pids, result->survivor_count);
	fence_jsonw_close(w, '}');
	if (result->ended_known)
		fence_jsonw_uint(w, "endedCount", result->ended_count);
	if (run_reads_output(record->conf))
		write_output(w, record);
	write_use(w, record);
	fence_jsonw_bool(w, "monitorLost", result->monitor_lost);
	fence_jsonw_close(w, '}');
}

static size_t most_bytes(const struct run_record *record)
{
	size_t escaped = 0;

	for (int i = 0; i < 2; i++)
		escaped += record->kept[i].head_bytes + record->kept[i].tail_bytes;

	for (char *const *arg = record->argv; *arg != NULL; arg++)
		escaped += strlen(*arg) + 1;
	if (record->conf->log_path != NULL)
		escaped += strlen(record->conf->log_path);
	return FRAME_BYTES + ESCAPED_MAX * escaped;
}

/* --- where it goes ------------------------------------------------------------------ */

int run_record_prepare(const struct run_conf *conf, struct run_record_file *ret,
		       struct fence_err *err)
{
	const char *path = conf->result_path;
	const char *slash = path == NULL ? NULL : strrchr(path, '/');
	owned_mem char *dir = NULL;
	struct stat st;

	*ret = (struct run_record_file){ .dir_fd = -1 };
	if (path == NULL || strcmp(path, "-") == 0)
		return 0;
	ret->name = slash == NULL ? path : slash + 1;
	dir = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
	if (dir == NULL)
		return fence_fail(err, -ENOMEM, "write result %s", path);
	if (ret->name[0] == '\0')
		return fence_fail(err, -EISDIR, "write result %s", path);
	ret->dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ret->dir_fd < 0 || faccessat(ret->dir_fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
		return fence_fail(err, -errno, "write result %s", path);
	/* A rename would put a file in place of a device or a directory. */
	if (fstatat(ret->dir_fd, ret->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fence_fail(err, -errno, "write result %s", path);
	if (!S_ISREG(st.st_mode))
		return fence_fail_why(err, -EINVAL, "it is there and is no regular file",
				      "write result %s", path);
	return 0;
}

/* Readers see the old file or the whole new one. */
static int replace_file(struct fence_jsonw *w, const struct run_record_file *file)
{
	char name[64];
	owned_fd fd = -1;
	int rc;

	(void)snprintf(name, sizeof(name), ".fence-run.%d.%llx", (int)getpid(),
		       (unsigned long long)fence_now_us());
	fd = openat(file->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	rc = fence_jsonw_line(w, fd);
	if (rc == 0 && renameat(file->dir_fd, name, file->dir_fd, file->name) < 0)
		rc = -errno;
	if (rc < 0)
		(void)unlinkat(file->dir_fd, name, 0);
	return rc;
}

int run_record_write(const struct run_record *record, const struct run_record_file *file,
		     struct fence_err *err)
{
	const struct run_conf *conf = record->conf;
	size_t size = most_bytes(record);
	owned_mem char *buf = NULL;
	struct fence_jsonw w;
	int rc = 0;

	if (conf->result_path == NULL && conf->result_fd < 0)
		return 0;
	buf = malloc(size);
	if (buf == NULL)
		return fence_fail(err, -ENOMEM, "write the result");
	/* Ending a line is part of writing it, so each place gets its own. */
	if (file->dir_fd >= 0 || conf->result_path != NULL) {
		fence_jsonw_init(&w, buf, size);
		write_record(&w, record);
		rc = file->dir_fd >= 0 ? replace_file(&w, file) : fence_jsonw_line(&w, 1);
		if (rc < 0)
			return fence_fail(err, rc, "write result %s", conf->result_path);
	}
	if (conf->result_fd >= 0) {
		fence_jsonw_init(&w, buf, size);
		write_record(&w, record);
		rc = fence_jsonw_line(&w, conf->result_fd);
		if (rc < 0)
			return fence_fail(err, rc, "write result to descriptor %d",
					  conf->result_fd);
	}
	return 0;
}

int run_finish(struct run *run, const struct fence_group_result *result)
{
	struct run_record record = {
		.program = run->program,
		.conf = &run->conf,
		.argv = run->argv,
		.result = result,
		.exit_status = run_exit_status(&run->conf, result),
	};
	int rc = 0;

	memcpy(record.started_at, run->started_at, sizeof(record.started_at));
	for (int i = 0; i < 2 && rc == 0 && run->conf.captures && run->group != NULL; i++)
		rc = fence_group_output(run->group, i, &record.kept[i]);
	if (rc == 0)
		rc = run_record_write(&record, &run->record_file, &run->err);
	else
		(void)fence_fail(&run->err, rc, "write the result");
	free(record.kept[0].bytes);
	free(record.kept[1].bytes);
	if (rc < 0)
		record.exit_status = run_complain(run, &run->err);
	run_tell_ended(run, result, record.exit_status);
	return record.exit_status;
}
