#include "guard/browser/evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"

#define PUT_MS 1000 /* for who reads lines of evidence */

enum reason evidence_reason(enum proof_state state)
{
	switch (state) {
	case PROOF_SANDBOXED:
		return REASON_OK;
	case PROOF_PENDING:
		return REASON_PENDING;
	case PROOF_WEAKENED:
		return REASON_WEAKENED;
	case PROOF_UNPROVEN:
		break;
	}
	return REASON_UNPROVEN;
}

/* --- the record -------------------------------------------------------------------- */

static void write_number_or_null(struct fence_jsonw *w, const char *key, int64_t value)
{
	if (value < 0)
		fence_jsonw_null(w, key);
	else
		fence_jsonw_int(w, key, value);
}

/* 0 stands for "could not be read". */
static void write_inode(struct fence_jsonw *w, const char *key, uint64_t inode)
{
	if (inode == 0)
		fence_jsonw_null(w, key);
	else
		fence_jsonw_uint(w, key, inode);
}

static void write_layers_read(struct fence_jsonw *w, const struct proc_layers *layers)
{
	write_number_or_null(w, "seccompMode", layers->seccomp_mode);
	write_number_or_null(w, "seccompFilters", layers->seccomp_filters);
	fence_jsonw_uint(w, "pidDepth", layers->pid_depth);
	write_inode(w, "userNamespace", layers->user_ns);
	write_inode(w, "pidNamespace", layers->pid_ns);
	write_inode(w, "netNamespace", layers->net_ns);
	fence_jsonw_uint(w, "effectiveCapabilities", layers->cap_eff);
}

static void write_words(struct fence_jsonw *w, const char *key, unsigned int layers)
{
	fence_jsonw_open(w, key, '[');
	for (unsigned int bit = 1; bit < LAYER_ALL; bit <<= 1)
		if ((layers & bit) != 0)
			fence_jsonw_string(w, NULL, layer_word((enum layer)bit));
	fence_jsonw_close(w, ']');
}

static void write_renderer(struct fence_jsonw *w, const struct proof_renderer *renderer)
{
	fence_jsonw_open(w, NULL, '{');
	fence_jsonw_int(w, "pid", renderer->pid);
	fence_jsonw_uint(w, "startTicks", renderer->start_ticks);
	fence_jsonw_string(w, "standing", standing_word(renderer->standing));
	write_layers_read(w, &renderer->layers);
	fence_jsonw_bool(w, "emptyRoot", renderer->layers.root == PROC_ROOT_EMPTY);
	write_words(w, "missing", renderer->missing);
	write_words(w, "unknown", renderer->unknown);
	fence_jsonw_int(w, "settleMs", renderer->settle_ms);
	fence_jsonw_close(w, '}');
}

static void write_renderers(struct fence_jsonw *w, const struct proof *proof)
{
	unsigned int count = proof == NULL ? 0 : proof->kept_count;

	fence_jsonw_open(w, "renderers", '[');
	for (unsigned int i = count > PROOF_RENDERERS ? count - PROOF_RENDERERS : 0; i < count; i++)
		write_renderer(w, &proof->kept[i % PROOF_RENDERERS]);
	fence_jsonw_close(w, ']');
}

static void write_standings(struct fence_jsonw *w, const struct proof *proof)
{
	fence_jsonw_open(w, "standings", '{');
	for (enum standing it = STANDING_PROVEN; it <= STANDING_VANISHED; it++)
		fence_jsonw_uint(w, standing_word(it), proof == NULL ? 0 : proof->standings[it]);
	fence_jsonw_close(w, '}');
}

static void write_processes(struct fence_jsonw *w, const struct proof *proof)
{
	fence_jsonw_open(w, "processes", '{');
	for (enum proc_type it = PROC_OTHER; it < PROC_TYPES; it++)
		fence_jsonw_uint(w, proc_type_word(it), proof == NULL ? 0 : proof->seen[it]);
	fence_jsonw_close(w, '}');
}

static bool has_judged(const struct proof *proof)
{
	return proof != NULL && proof->standings[STANDING_PROVEN] +
						proof->standings[STANDING_WEAK] +
						proof->standings[STANDING_UNPROVEN] >
					0;
}

/* Each true only if every renderer that was judged is in it. */
static void write_layers(struct fence_jsonw *w, const struct proof *proof)
{
	fence_jsonw_open(w, "layers", '{');
	for (unsigned int bit = 1; bit < LAYER_ALL; bit <<= 1)
		fence_jsonw_bool(w, layer_word((enum layer)bit),
				 has_judged(proof) && (proof->lacking & bit) == 0);
	fence_jsonw_close(w, '}');
}

static void write_browser(struct fence_jsonw *w, const struct evidence *evidence)
{
	if (evidence->browser_pid == 0) {
		fence_jsonw_null(w, "browser");
		return;
	}
	fence_jsonw_open(w, "browser", '{');
	fence_jsonw_int(w, "pid", evidence->browser_pid);
	if (evidence->proof != NULL) {
		fence_jsonw_uint(w, "startTicks", evidence->proof->start_ticks);
		write_layers_read(w, &evidence->proof->browser);
	}
	if (evidence->command_line < 0)
		fence_jsonw_null(w, "commandLineClean");
	else
		fence_jsonw_bool(w, "commandLineClean", evidence->command_line == 1);
	fence_jsonw_bool(w, "endedByMonitor", evidence->has_ended_browser);
	fence_jsonw_close(w, '}');
}

static void write_monitor(struct fence_jsonw *w, const struct evidence *evidence)
{
	if (evidence->monitor_pid == 0) {
		fence_jsonw_null(w, "monitor");
		return;
	}
	fence_jsonw_open(w, "monitor", '{');
	fence_jsonw_int(w, "pid", evidence->monitor_pid);
	if (evidence->keeper_pid != 0)
		fence_jsonw_int(w, "keeperPid", evidence->keeper_pid);
	fence_jsonw_bool(w, "lost", evidence->is_monitor_lost);
	fence_jsonw_close(w, '}');
}

static void write_warnings(struct fence_jsonw *w, const struct evidence *evidence)
{
	const struct {
		const char *word;
		unsigned int count;
	} warnings[] = {
		{ "flag_dropped", evidence->flags_dropped },
		{ "flag_risky", evidence->flags_risky },
		{ "restricted_env_dropped", evidence->environment_dropped },
	};

	fence_jsonw_open(w, "warnings", '[');
	for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++) {
		if (warnings[i].count == 0)
			continue;
		fence_jsonw_open(w, NULL, '{');
		fence_jsonw_string(w, "word", warnings[i].word);
		fence_jsonw_uint(w, "count", warnings[i].count);
		fence_jsonw_close(w, '}');
	}
	fence_jsonw_close(w, ']');
}

static void write_durations(struct fence_jsonw *w, const struct evidence *evidence)
{
	fence_jsonw_open(w, "durations", '{');
	write_number_or_null(w, "probeUs", evidence->probe_us);
	write_number_or_null(w, "firstRendererMs", evidence->first_renderer_ms);
	write_number_or_null(w, "provenMs", evidence->proven_ms);
	write_number_or_null(w, "totalMs", evidence->total_ms);
	fence_jsonw_close(w, '}');
}

void evidence_write(const struct evidence *evidence, struct fence_jsonw *w)
{
	static const char *const cleanup_words[] = {
		[EVIDENCE_CLEANUP_PENDING] = "pending",
		[EVIDENCE_CLEANUP_DONE] = "done",
		[EVIDENCE_CLEANUP_FAILED] = "failed",
		[EVIDENCE_CLEANUP_NONE] = "none",
	};

	fence_jsonw_open(w, NULL, '{');
	fence_jsonw_head(w, EVIDENCE_SCHEMA, "fence-chromium");
	fence_jsonw_string(w, "state", proof_state_word(evidence->state));
	fence_jsonw_string(w, "code", reason_word(evidence->reason, evidence->vocabulary));
	fence_jsonw_bool(w, "final", evidence->is_final);
	fence_jsonw_string(w, "method", "user_namespace");
	fence_jsonw_bool(w, "uidDropped", evidence->has_dropped_uid);
	fence_jsonw_uint(w, "uid", evidence->uid);
	write_layers(w, evidence->proof);
	write_processes(w, evidence->proof);
	write_standings(w, evidence->proof);
	write_browser(w, evidence);
	write_renderers(w, evidence->proof);
	write_monitor(w, evidence);
	write_warnings(w, evidence);
	write_durations(w, evidence);
	fence_jsonw_open(w, "stderr", '{');
	fence_jsonw_uint(w, "bytes", evidence->stderr_bytes);
	fence_jsonw_uint(w, "droppedBytes", evidence->stderr_dropped_bytes);
	fence_jsonw_close(w, '}');
	fence_jsonw_string(w, "cleanup", cleanup_words[evidence->cleanup]);
	fence_jsonw_close(w, '}');
}

/* --- where it goes ------------------------------------------------------------------- */

/* Only a plain file is replaced: as root a rename would put a file where /dev/null
 * was, and a link would be lost without what it names being written. */
static int check_place(const struct evidence_sink *sink, const char *path, struct fence_err *err)
{
	struct stat st;

	if (fstatat(sink->dir_fd, sink->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fence_fail(err, -errno, "evidence %s", path);
	if (S_ISREG(st.st_mode))
		return 0;
	(void)fence_fail_why(err, -EINVAL, "it is there, and no plain file", "evidence %s", path);
	(void)fence_hint(err, "name a new file, or a descriptor with --fence-evidence-fd");
	return -EINVAL;
}

int evidence_sink_open(const char *path, int fd, struct evidence_sink *ret, struct fence_err *err)
{
	char folder[PATH_MAX];
	const char *slash = path == NULL ? NULL : strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	*ret = (struct evidence_sink){ .dir_fd = -1, .fd = fd };
	if (path == NULL)
		return 0;
	if (name[0] == '\0' || strlen(name) > sizeof(ret->name) - 16 ||
	    strlen(path) >= sizeof(folder))
		return fence_fail_why(err, -EINVAL, "not a file's name", "evidence %s", path);
	(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	(void)snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1,
		       slash ? path : ".");
	ret->dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->dir_fd < 0)
		return fence_fail(err, -errno, "open the evidence's folder %s", folder);
	return check_place(ret, path, err);
}

static int replace(const struct evidence_sink *sink, const char *line, size_t length)
{
	char name[sizeof(sink->name) + 16];
	owned_fd fd = -1;
	int rc;

	(void)snprintf(name, sizeof(name), ".%s.%d", sink->name, getpid());
	(void)unlinkat(sink->dir_fd, name, 0); /* left by an earlier process of this number */
	fd = openat(sink->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	rc = fence_write_full(fd, line, length);
	if (rc == 0 && renameat(sink->dir_fd, name, sink->dir_fd, sink->name) < 0)
		rc = -errno;
	if (rc < 0)
		(void)unlinkat(sink->dir_fd, name, 0);
	return rc;
}

/* Somebody who does not read must not keep us from everything else, so a line has
 * until PUT_MS to be taken. */
static int put_line(int fd, const char *line, size_t length)
{
	int64_t stop_at_ms = fence_now_ms() + PUT_MS;

	while (length > 0) {
		struct pollfd ready = { .fd = fd, .events = POLLOUT };
		int64_t left_ms = stop_at_ms - fence_now_ms();
		ssize_t put;

		if (left_ms <= 0 || poll(&ready, 1, (int)left_ms) == 0)
			return -ETIMEDOUT;
		put = fence_write_nowait(fd, line, length);
		/* A pipe that polls writable takes PIPE_BUF bytes without blocking. */
		if (put == -EOPNOTSUPP)
			put = fence_write_some(fd, line, length < PIPE_BUF ? length : PIPE_BUF);
		if (put < 0 && put != -EAGAIN && put != -EINTR)
			return (int)put;
		if (put < 0) {
			(void)poll(NULL, 0, 1); /* not all that polls writable is */
			continue;
		}
		line += put;
		length -= (size_t)put;
	}
	return 0;
}

int evidence_put(struct evidence_sink *sink, const char *line, size_t length, bool to_fd)
{
	int file_rc = sink->dir_fd < 0 ? 0 : replace(sink, line, length);
	int fd_rc = sink->fd < 0 || !to_fd ? 0 : put_line(sink->fd, line, length);

	/* Half a line may be there, to which another one must not be joined. */
	if (fd_rc < 0)
		fence_close_fd(&sink->fd);
	return file_rc < 0 ? file_rc : fd_rc;
}
