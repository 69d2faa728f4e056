/* The evidence record (fence-chromium-evidence/v1): numbers and closed words only,
 * no text, path, argument, environment or host name. */
#ifndef GUARD_BROWSER_EVIDENCE_H
#define GUARD_BROWSER_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fence/err.h"
#include "fence/jsonw.h"
#include "guard/browser/proof.h"
#include "guard/browser/reason.h"

#define EVIDENCE_SCHEMA	   "fence-chromium-evidence/v1"
#define EVIDENCE_MAX_BYTES (128u << 10)

enum evidence_cleanup {
	EVIDENCE_CLEANUP_PENDING,
	EVIDENCE_CLEANUP_DONE,
	EVIDENCE_CLEANUP_FAILED, /* something of the launch was left */
	EVIDENCE_CLEANUP_NONE,	 /* nothing of ours to clean */
};

struct evidence {
	enum proof_state state;
	enum reason reason;
	enum reason_vocabulary vocabulary;
	bool is_final;
	bool has_dropped_uid;
	uid_t uid;
	pid_t browser_pid, keeper_pid, monitor_pid; /* 0: none */
	bool is_monitor_lost;
	bool has_ended_browser; /* we killed it */
	int command_line;	/* 1 clean, 0 not, negative: not read */
	unsigned int flags_dropped, flags_risky, environment_dropped;
	enum evidence_cleanup cleanup;
	int64_t probe_us, first_renderer_ms, proven_ms, total_ms; /* -1: did not happen */
	uint64_t stderr_bytes, stderr_dropped_bytes;
	const struct proof *proof; /* NULL: none was made */
};

void evidence_write(const struct evidence *evidence, struct fence_jsonw *w);

/* What a proof's state is called as a reason. */
enum reason evidence_reason(enum proof_state state);

/* Where records go. */
struct evidence_sink {
	int dir_fd;	/* of the file; -1: no file */
	char name[256]; /* in it */
	int fd;		/* lines go here; -1: nowhere */
};

/* Opens the folder of `path` (NULL: no file). -errno with words. */
int evidence_sink_open(const char *path, int fd, struct evidence_sink *ret, struct fence_err *err);

/* Puts one whole line: the file is replaced atomically, the descriptor gets the line
 * appended if `to_fd`. -errno; both are tried. A descriptor that does not take the line
 * within a second (-ETIMEDOUT), or at all, is closed. */
int evidence_put(struct evidence_sink *sink, const char *line, size_t length, bool to_fd);

#endif
