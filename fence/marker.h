/* Markers: the small JSON file that says where an attempt stands, bound to its own
 * inode (fence-marker.5).
 *
 * Reading is authentic or nothing. Writing is compare, swap, make durable, under
 * byte 0 of MARKER.lock, so that of two writers none loses the other's update, and
 * so that a writer killed at any instruction leaves the whole old or the whole new
 * state under the marker's name. */
#ifndef FENCE_MARKER_H
#define FENCE_MARKER_H

#include <linux/limits.h> /* PATH_MAX and NAME_MAX, in strict C as well */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fence/err.h"
#include "fence/ident.h"
#include "fence/json.h"
#include "fence/jsonw.h"
#include "fence/vocab.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FENCE_MARKER_BYTES	   1024 /* of the whole file */
#define FENCE_MARKER_ATTEMPT_BYTES 129	/* with the NUL, as all of these */
#define FENCE_MARKER_NONCE_BYTES   33
#define FENCE_MARKER_HANDLE_BYTES  65
#define FENCE_MARKER_HOST_BYTES	   65

/* --- words ----------------------------------------------------------------------------- */

enum fence_marker_format {
	FENCE_MARKER_V1,	 /* fence-marker/v1 */
	FENCE_MARKER_COCKPIT_V1, /* cockpit-executor/v1: the first eight fields, others as they come
				  */
};

enum fence_marker_status {
	FENCE_MARKER_ACTIVE,
	FENCE_MARKER_TERMINATING,
	FENCE_MARKER_TERMINATED,
	FENCE_MARKER_CANCELLED,
};

enum fence_marker_by {
	FENCE_MARKER_BY_EXECUTOR,
	FENCE_MARKER_BY_SUPERVISOR,
	FENCE_MARKER_BY_GROUP_RUNNER,
	FENCE_MARKER_BY_CANCEL,
	FENCE_MARKER_BY_REPAIR,
};

/* How sure a replacement must be before it counts. */
enum fence_marker_durable {
	FENCE_MARKER_DURABLE_FULL,   /* file and directory synced: survives a power cut */
	FENCE_MARKER_DURABLE_RENAME, /* file synced: after a power cut the old or the new state */
	FENCE_MARKER_DURABLE_NONE,   /* nothing synced: for what a reboot ends anyway */
};

#define FENCE_MARKER_FORMATS  "fence-marker/v1|cockpit-executor/v1"
#define FENCE_MARKER_STATUSES "active|terminating|terminated|cancelled"
#define FENCE_MARKER_DURABLES "full|rename|none"

const char *fence_marker_format_word(enum fence_marker_format format);
const char *fence_marker_status_word(enum fence_marker_status status);
const char *fence_marker_by_word(enum fence_marker_by by);

/* active -> terminating -> terminated; active or terminating -> cancelled. The same
 * status again is an update that carries other news (a group, a result), except
 * that nothing follows `terminated`. */
bool fence_marker_may_become(enum fence_marker_status from, enum fence_marker_status to);

/* 1 to 128 of A-Za-z0-9._- */
bool fence_marker_is_attempt_id(const char *text);

/* Where a marker lies: the folder and the name in it. */
struct fence_marker_path {
	char dir[PATH_MAX];
	char name[NAME_MAX + 1];
};

/* -EINVAL: the path names no file in a folder; -ENAMETOOLONG. Slashes at the end of
 * the folder go, since they would make a link pass for the folder behind it. */
int fence_marker_path_split(const char *path, struct fence_marker_path *ret, struct fence_err *err);

/* --- a marker ----------------------------------------------------------------------------- */

/* Which file in which folder. A copy has another inode and a marker that was moved
 * another folder than it says, so neither is a marker any more. */
struct fence_marker_place {
	uint64_t marker_dev, marker_ino;
	uint64_t parent_dev, parent_ino;
};

/* "markerDev":"…" and the three others, as members of an open object. */
void fence_marker_place_write(struct fence_jsonw *w, const struct fence_marker_place *place);

/* How an attempt ended. */
struct fence_marker_result {
	enum fence_cause cause;
	int code;   /* exit status; -1: it has none */
	int signal; /* 0: it has none */
	enum fence_reap reap;
	unsigned int survivors;
};

/* "cause":"…" and the others, as members of an open object. */
void fence_marker_result_write(struct fence_jsonw *w, const struct fence_marker_result *result);

struct fence_marker {
	enum fence_marker_format format;
	enum fence_marker_status status;
	char attempt_id[FENCE_MARKER_ATTEMPT_BYTES];
	struct fence_marker_place place; /* what it says, which a reader has compared */
	struct fence_ident supervisor;

	/* Optional ones; 0 and empty mean "not known". */
	int64_t seq;
	char nonce[FENCE_MARKER_NONCE_BYTES];
	char handle[FENCE_MARKER_HANDLE_BYTES];
	char host[FENCE_MARKER_HOST_BYTES];
	struct fence_ident group; /* pid 0: none yet; boot and namespace as the supervisor's */
	uint64_t group_cgroup;
	bool has_by, has_result;
	enum fence_marker_by by;
	struct fence_marker_result result;

	/* The file itself, with a NUL behind it: what the fields above were read from,
	 * and what is not known to us too. */
	char text[FENCE_MARKER_BYTES + 1];
	size_t text_bytes;
};

/* Which rule of reading was broken. */
enum fence_marker_rule {
	FENCE_MARKER_RULE_NAME,	    /* the path names a file in a folder */
	FENCE_MARKER_RULE_PARENT,   /* the folder is one, and no link */
	FENCE_MARKER_RULE_ENTRY,    /* a regular file, and no link */
	FENCE_MARKER_RULE_SIZE,	    /* 1 to 1024 bytes */
	FENCE_MARKER_RULE_READ,	    /* it can be opened and read */
	FENCE_MARKER_RULE_STABLE,   /* nothing changed while it was read */
	FENCE_MARKER_RULE_JSON,	    /* one object, strict, and a newline */
	FENCE_MARKER_RULE_FORMAT,   /* the format asked for */
	FENCE_MARKER_RULE_FIELD,    /* fields are there and of their type */
	FENCE_MARKER_RULE_IDENTITY, /* it says that it is this file in this folder */
};
const char *fence_marker_rule_word(enum fence_marker_rule rule);

/* Reads an authentic marker: 0, or -EBADMSG for everything else. Who wants to know
 * why gives `ret_rule` and `err`; both may be NULL. It never changes the file. A
 * reader that meets a replacement half way looks again, a bounded number of times. */
int fence_marker_read(const char *path, enum fence_marker_format format, struct fence_marker *ret,
		      enum fence_marker_rule *ret_rule, struct fence_err *err);

/* The part of reading that needs no file: what a marker's bytes say. -EBADMSG. */
int fence_marker_parse(const char *text, size_t text_bytes, enum fence_marker_format format,
		       struct fence_marker *ret, enum fence_marker_rule *ret_rule,
		       struct fence_err *err);

/* --- the approved marker -------------------------------------------------------------------- */

/* What an executor names to a supervisor: this very file, for this supervisor. With
 * `seq` and `nonce` this very state of it, which the four numbers alone are not: a
 * file system gives a freed inode out again. */
struct fence_marker_approved {
	pid_t supervisor_pid;
	struct fence_marker_place place;
	int64_t seq;			      /* 0: any */
	char nonce[FENCE_MARKER_NONCE_BYTES]; /* empty: any */
};

/* {"supervisorPid":P,"markerDev":"…","markerIno":"…","parentDev":"…","parentIno":"…"}
 * and, when wanted, "seq" and "nonce"; anything else is refused: -EINVAL. */
int fence_marker_approved_parse(const char *text, struct fence_marker_approved *ret,
				struct fence_err *err);
/* Writes that object's members from a marker. */
void fence_marker_approved_write(struct fence_jsonw *w, const struct fence_marker *marker);

/* 0 when `marker`, just read, is the one that was meant; -ESTALE with what differs. */
int fence_marker_compare(const struct fence_marker *marker, const char *attempt_id,
			 const struct fence_marker_approved *approved, struct fence_err *err);

/* The same, and its status is `active`: only then may an attempt start. */
int fence_marker_check_approved(const struct fence_marker *marker, const char *attempt_id,
				const struct fence_marker_approved *approved,
				struct fence_err *err);

/* --- writing -----------------------------------------------------------------------------------
 */

/* A marker's folder and lock, opened for writing. One that is kept keeps the lock
 * file open too: closing any descriptor of a file drops all POSIX locks that the
 * process has on it, and a supervisor has one on byte 1. */
struct fence_marker_writer {
	struct fence_marker_path path;
	int dir_fd;
	int lock_fd;
	char boot_id[FENCE_BOOT_ID_BYTES]; /* for the note in the lock; empty: not known */
};

/* Makes MARKER.lock (0600) when there is none. It is never replaced or removed. */
int fence_marker_writer_open(const char *path, struct fence_marker_writer *ret,
			     struct fence_err *err);
void fence_marker_writer_close(struct fence_marker_writer *writer);

/* Byte 0 of the lock, for who must keep every writer out while it does something that is
 * no replacement: -EAGAIN when it was not to be had in time. Closing the writer, or its
 * end by exec(2), lets go of it as well. */
int fence_marker_lock(const struct fence_marker_writer *writer, int64_t wait_ms,
		      struct fence_err *err);
void fence_marker_unlock(const struct fence_marker_writer *writer);

struct fence_marker_birth {
	enum fence_marker_format format;
	const char *attempt_id;
	pid_t supervisor_pid;		      /* must live: its start time and id are recorded */
	const struct fence_ident *supervisor; /* the same, where it is known; NULL: look */
	enum fence_marker_by by;
	enum fence_marker_durable durable;
	/* Also where an authentic marker of the same format is whose attempt is over
	 * (fence_attempt_is_over): its seq goes on, all else is new. */
	bool over_ended;
	int64_t lock_wait_ms; /* 0: one try */
};

/* Makes the marker, active, where no file of that name is; as durable as asked when it returns
 * 0. -EEXIST: there is one (with over_ended the words say which attempt's, or why it is
 * none); -EAGAIN: the lock was not to be had in time; -ESRCH: no such process; others.
 * Nothing is left behind then. An error with `*ret_made` set: it was made but is not
 * known to be durable. */
int fence_marker_create(struct fence_marker_writer *writer, const struct fence_marker_birth *birth,
			struct fence_marker *ret, bool *ret_made, struct fence_err *err);

/* The new state. What it does not speak of stays as it is, unknown fields byte for
 * byte. */
struct fence_marker_change {
	enum fence_marker_format format;
	const char *attempt_id;
	const struct fence_marker_approved *approved; /* the state to be replaced */
	enum fence_marker_status status;
	/* From active to terminated in one replacement: two steps, of which the first would
	 * be there for no longer than the second takes to replace it. `seq` grows by two. */
	bool through_terminating;
	enum fence_marker_by by;
	const struct fence_ident *group; /* NULL: leave it */
	uint64_t group_cgroup;
	const struct fence_marker_result *result; /* NULL: leave it */
	enum fence_marker_durable durable;
	int64_t lock_wait_ms; /* 0: one try */
};

enum fence_marker_answer {
	FENCE_MARKER_REPLACED,	   /* and as durable as was asked */
	FENCE_MARKER_NOT_REPLACED, /* nothing changed */
	FENCE_MARKER_NOT_DURABLE,  /* replaced, but not known to survive a power cut */
};

/* 0 goes with REPLACED, and only that may be reported as published. Else -errno
 * with words: with NOT_REPLACED -EBADMSG (no authentic marker), -ESTALE (not the
 * approved one any more), -EPERM (that status cannot follow), -EMLINK (it has a second
 * name, which would keep the old state), -EFBIG (would not fit
 * 1024 bytes: never cut), -EAGAIN (busy), or what failed; with NOT_DURABLE what the
 * directory's sync said, or a rename that failed and was done nevertheless (a network
 * file system may lose the reply). `ret` (may be NULL) is the new state unless NOT_REPLACED. */
int fence_marker_replace(struct fence_marker_writer *writer,
			 const struct fence_marker_change *change, struct fence_marker *ret,
			 enum fence_marker_answer *ret_answer, struct fence_err *err);

#ifdef __cplusplus
}
#endif

#endif
