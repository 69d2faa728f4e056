/* An attempt's life, as its marker tells it (fence.7): who owns it, whether its owner
 * still lives, its next state, and waiting for one.
 *
 * Byte 0 of MARKER.lock is held for one update; byte 1 by the supervisor for its whole
 * life. The second is a POSIX lock, owned by the process: it ends with the process even
 * when a child inherited the descriptor, and the kernel names its holder. It also ends
 * when the process closes *any* descriptor of the lock file, so an owner keeps one
 * writer open and opens no other for that marker. */
#ifndef FENCE_ATTEMPT_H
#define FENCE_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fence/err.h"
#include "fence/marker.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- ownership ------------------------------------------------------------------- */

/* Takes byte 1 for the life of this process, at once or not at all: 0; -EBUSY when
 * another process has it, which `err` and `ret_holder` (may be NULL) name; -errno. */
int fence_attempt_own(const struct fence_marker_writer *writer, pid_t *ret_holder,
		      struct fence_err *err);

/* 1: another process owns byte 1 (its pid, as seen from here; 0 when it is in another
 * pid namespace or on another host); 0: nobody does; -errno. */
int fence_attempt_owner(const struct fence_marker_writer *writer, pid_t *ret_pid);

/* --- life -------------------------------------------------------------------------- */

enum fence_attempt_life {
	FENCE_ATTEMPT_ALIVE,	    /* the very supervisor that the marker names runs */
	FENCE_ATTEMPT_DEAD,	    /* it has ended */
	FENCE_ATTEMPT_OTHER_BOOT,   /* the marker is of another boot */
	FENCE_ATTEMPT_OTHER_PID_NS, /* ... of another pid namespace */
	FENCE_ATTEMPT_OTHER_HOST,   /* ... of another host */
	FENCE_ATTEMPT_UNKNOWN,	    /* it does not say enough to tell its supervisor from a
				       stranger with the same pid, and that pid is taken */
};
const char *fence_attempt_life_word(enum fence_attempt_life life);

/* From the marker's own fields: host, then boot, then pid namespace, then the process.
 * What a marker does not say is not compared, but a supervisor whose start time and id
 * are both unknown is DEAD only when nobody has its pid. 0 or -errno. `ret_pidfd`
 * (may be NULL) gets a close-on-exec pidfd of an ALIVE supervisor, else -1. */
int fence_attempt_judge(const struct fence_marker *marker, enum fence_attempt_life *ret,
			int *ret_pidfd, struct fence_err *err);

/* Does the marker name this very supervisor? What the marker does not say is not
 * compared, its pid excepted. */
bool fence_attempt_names(const struct fence_marker *marker, const struct fence_ident *supervisor);

/* Nothing of it runs any more and nothing will: terminated, or cancelled with a result
 * that counts no survivors. */
bool fence_attempt_is_over(const struct fence_marker *marker);

/* --- the next state ------------------------------------------------------------------ */

/* A step in an attempt's life, whatever state of it is there when its turn comes. */
struct fence_attempt_step {
	enum fence_marker_format format;
	const char *attempt_id;
	/* The supervisor that the marker must name; pid 0: whichever it names. */
	struct fence_ident supervisor;
	enum fence_marker_status status; /* to become */
	bool through_terminating;	 /* marker.h; where it is active */
	enum fence_marker_by by;
	const struct fence_ident *group; /* NULL: leave it */
	uint64_t group_cgroup;
	const struct fence_marker_result *result; /* NULL: leave it */
	enum fence_marker_durable durable;
	int64_t lock_wait_ms;
};

/* Reads the marker, and replaces what it read; when another writer was faster, again,
 * a bounded number of times. A cancelled marker stays cancelled: of a step to another
 * status only the result is added, and without one nothing is written. A marker that
 * already has the status, and for which the step carries no news, is left as it is.
 * Answers as fence_marker_replace, with REPLACED also when there was nothing to write;
 * -EBADMSG: no authentic marker; -ESTALE: it is another attempt's or another
 * supervisor's; -EPERM: that status cannot follow. `ret` (may be NULL) is the state
 * that is there now. */
int fence_attempt_advance(struct fence_marker_writer *writer, const struct fence_attempt_step *step,
			  struct fence_marker *ret, enum fence_marker_answer *ret_answer,
			  struct fence_err *err);

/* --- waiting -------------------------------------------------------------------------- */

/* Changes of one name in a folder, by inotify: readable when the name may mean another
 * file, or other bytes, than before. Changes made on another host over a network file
 * system are not seen. */
struct fence_marker_watch {
	int fd; /* for a loop or poll(2) */
	char name[NAME_MAX + 1];
};

/* Close-on-exec, non-blocking. Watch first, then read the marker, or a change between
 * the two is lost. */
int fence_marker_watch_open(const char *path, struct fence_marker_watch *ret,
			    struct fence_err *err);
/* The same in two steps, for who must know that a watch can be had before it is needed:
 * the first takes what a user has few of, the descriptor. It closes nothing when the second
 * fails. */
int fence_marker_watch_prepare(struct fence_marker_watch *ret, struct fence_err *err);
int fence_marker_watch_start(const char *path, struct fence_marker_watch *watch,
			     struct fence_err *err);
/* Takes some of what is there to read, the rest keeps `fd` readable: 1 when it was about
 * the name (or too much came to tell), 0 when it was about others; -ENOENT when the
 * folder itself has gone, for good; -errno. */
int fence_marker_watch_take(struct fence_marker_watch *watch);
void fence_marker_watch_close(struct fence_marker_watch *watch);

/* --- repair ---------------------------------------------------------------------------- */

/* What the command of an attempt has in its environment, so that what escaped from the
 * group is still known as the attempt's: the stamps of its supervisor and of those around
 * that one, with a space between them, the innermost last. */
#define FENCE_ATTEMPT_VARIABLE	  "FENCE_SUPERVISOR"
#define FENCE_ATTEMPT_STAMP_BYTES 160

/* "BOOTID/PIDNS/PID/START/ID", with 0 or nothing for what is not known. */
void fence_attempt_stamp(const struct fence_ident *supervisor, char ret[FENCE_ATTEMPT_STAMP_BYTES]);

/* --- where the markers are ---------------------------------------------------------------- */

/* What the command of an attempt has in its environment, so that who confines it further
 * can keep the markers from it: the absolute paths of the markers of all attempts that it
 * is part of, the innermost last, with a ':' between them; in a path "%25" is a '%' and
 * "%3A" a ':'. */
#define FENCE_ATTEMPT_MARKERS_VARIABLE "FENCE_MARKERS"
#define FENCE_ATTEMPT_MARKERS_BYTES    16384

/* The variable's value: `outer` (may be NULL or empty) and `path` after it, which is made
 * absolute by the working directory. -ENAMETOOLONG: they do not fit. */
int fence_attempt_markers_add(const char *outer, const char *path,
			      char ret[FENCE_ATTEMPT_MARKERS_BYTES]);
/* Takes one path off `*at`: 1 with it in `ret`, 0 at the end, -EINVAL for what
 * fence_attempt_markers_add did not make, -ENAMETOOLONG when it does not fit. */
int fence_attempt_markers_next(const char **at, char *ret, size_t size);

#ifdef __cplusplus
}
#endif

#endif
