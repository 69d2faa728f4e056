/* Repairing a marker whose supervisor died: what is left of the attempt is ended, as
 * far as it is proven to be of it, and its end is published (fence-marker.1).
 *
 * A supervisor that lives, or of which nobody here can know, is left alone with all
 * that it owns. */
#ifndef FENCE_ATTEMPT_REPAIR_H
#define FENCE_ATTEMPT_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "fence/attempt.h"
#include "fence/attempt_left.h"

enum fence_repair_outcome {
	FENCE_REPAIR_DONE,	    /* its end is published */
	FENCE_REPAIR_NOTHING,	    /* it is over already */
	FENCE_REPAIR_PLANNED,	    /* not applied: `left` is what would be ended */
	FENCE_REPAIR_SURVIVED,	    /* something proven is still there, and so published */
	FENCE_REPAIR_UNPROVEN,	    /* something may still be there, and so published */
	FENCE_REPAIR_NOT_DURABLE,   /* published, and not known to survive a power cut */
	FENCE_REPAIR_NO_MARKER,	    /* no authentic one */
	FENCE_REPAIR_OTHER_ATTEMPT, /* it is of another attempt */
	FENCE_REPAIR_BUSY,	    /* another repair, or writer, is at it */
	FENCE_REPAIR_ALIVE,	    /* its supervisor lives, or owns the lock */
	FENCE_REPAIR_UNKNOWABLE,    /* from here nobody can know whether it lives */
	FENCE_REPAIR_INSIDE,	    /* the caller is of the attempt itself */
	FENCE_REPAIR_FAILED,	    /* with -errno and words; what was signalled is told */
};
const char *fence_repair_outcome_word(enum fence_repair_outcome outcome);

struct fence_attempt_repair {
	enum fence_marker_format format;
	const char *attempt_id; /* NULL: any */
	bool apply;		/* else nothing is changed */
	/* A person says that it is over where that cannot be known: its supervisor
	 * elsewhere is dead, and what is unproven is a stranger. Never against a
	 * supervisor that is seen alive. */
	bool force;
	int64_t grace_ms;
	enum fence_marker_durable durable;
	int64_t lock_wait_ms;
};

#define FENCE_REPAIR_LISTED 64

struct fence_attempt_repaired {
	enum fence_repair_outcome outcome;
	bool has_marker;
	struct fence_marker marker; /* as it is now */
	bool has_life;
	enum fence_attempt_life life;
	pid_t owner; /* of the lock, when somebody owns it; 0: not known */
	bool forced; /* it was over only because a person said so */
	/* What the first look found, at most FENCE_REPAIR_LISTED of `left_count`; the
	 * pidfds are closed. */
	struct fence_left left[FENCE_REPAIR_LISTED];
	size_t left_count;
	struct fence_left_ended ended;
};

/* 0, or -errno with words for every outcome that is not one of the first three. */
int fence_attempt_repair(const char *path, const struct fence_attempt_repair *how,
			 struct fence_attempt_repaired *ret, struct fence_err *err);

#endif
