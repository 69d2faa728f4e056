/* fence-marker's verbs: what they share. Each verb has a file of its own with its
 * options, says one sentence or one JSON line, and differs by its exit status. */
#ifndef FENCE_CLI_MARKER_CLI_H
#define FENCE_CLI_MARKER_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "fence/attempt.h"
#include "fence/marker.h"
#include "fence/opts.h"

#define MARKER_PROGRAM "fence-marker"

enum {
	STATUS_DONE = 0,
	STATUS_OTHER_STATE = 1, /* authentic, but not in the asked state */
	STATUS_NO_MARKER = 2,
	STATUS_USAGE = 64,
	STATUS_BUSY = 75, /* or timed out */
	STATUS_REFUSED = 77,
};

struct marker_conf {
	const char *path;
	const char *attempt_id;
	long long pid;
	enum fence_marker_format format;
	bool has_approved;
	struct fence_marker_approved approved;
	bool has_status;
	enum fence_marker_status status;
	unsigned int statuses; /* 1 << each one waited for */
	bool over;
	enum fence_marker_durable durable;
	long long lock_wait_ms;
	long long timeout_ms; /* 0: none */
	long long appear_ms;
	bool has_wait;
	long long wait_ms; /* 0: for ever */
	long long grace_ms;
	bool apply, force;
	bool json, explain;
};

/* What a verb cannot do without. */
enum marker_need {
	MARKER_NEEDS_ATTEMPT = 1,
	MARKER_NEEDS_PID = 2,
	MARKER_NEEDS_APPROVED = 4,
	MARKER_NEEDS_STATUS = 8,
	MARKER_NEEDS_GOAL = 16, /* --status or --over, one of them */
};

struct marker_verb {
	struct fence_cli cli;
	unsigned int needs;
	int (*run)(const struct marker_conf *conf); /* returns the exit status */
};

extern const struct marker_verb marker_create_verb, marker_read_verb, marker_replace_verb,
	marker_wait_verb, marker_cancel_verb, marker_repair_verb;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- options that more than one verb has ---------------------------------------------- */

int marker_set_attempt(void *arg, const char *value, struct fence_err *err);
int marker_set_format(void *arg, const char *value, struct fence_err *err);
int marker_set_durable(void *arg, const char *value, struct fence_err *err);
int marker_set_lock_wait(void *arg, const char *value, struct fence_err *err);

#define MARKER_OPT_FORMAT                                                                          \
	{                                                                                          \
		0, "format", "FORMAT", "the marker's format (default fence-marker/v1)",            \
			.set = marker_set_format, .choices = FENCE_MARKER_FORMATS                  \
	}
#define MARKER_OPT_DURABLE                                                                         \
	{                                                                                          \
		0, "durable", "HOW",                                                               \
			"what is synced: file and folder, file, nothing (default full)",           \
			.set = marker_set_durable, .choices = FENCE_MARKER_DURABLES                \
	}
#define MARKER_OPT_LOCK_WAIT                                                                       \
	{                                                                                          \
		0, "lock-wait", "DURATION", "how long to wait for another writer (default 5s)",    \
			.set = marker_set_lock_wait                                                \
	}
#define MARKER_OPT_JSON                                                                            \
	{                                                                                          \
		0, "json", NULL, "one JSON line instead of a sentence",                            \
			FENCE_OPT_TRUE(struct marker_conf, json)                                   \
	}
#define MARKER_EXITS                                                                               \
	"exit status: 0 done; 1 authentic, but not as asked; 2 no authentic marker;\n"             \
	"64 usage; 75 busy or timed out; 77 refused\n"

/* --- saying it --------------------------------------------------------------------------- */

/* What a verb found out, for either way of saying it. */
struct marker_outcome {
	const char *word; /* "replaced": a closed list for each verb */
	int status;
	bool changed;			   /* the file: what goes wrong afterwards is no refusal */
	const struct fence_marker *marker; /* NULL: there is none to show */
	const char *rule;		   /* NULL: not asked for */
	const char *life;		   /* of the supervisor; NULL: not looked at */
	const char *tail;		   /* goes on with the sentence; NULL: nothing */
	/* Further members of the JSON line. */
	void (*more)(struct fence_jsonw *w, const void *arg);
	const void *more_arg;
	struct fence_err err; /* code 0: nothing went wrong */
};

/* Says it, the error too, and returns the exit status. */
int marker_say(const struct marker_conf *conf, const struct marker_outcome *out,
	       const char *schema);
/* One line on standard error; returns `status`. */
int marker_complain(const struct fence_err *err, int status);

/* "PATH: no authentic marker", with what to do about it. */
void marker_fail_none(struct fence_err *err, const char *path);

/* --- waiting ------------------------------------------------------------------------------- */

enum marker_wait_end {
	MARKER_WAIT_REACHED,
	MARKER_WAIT_NEVER,     /* it cannot come any more */
	MARKER_WAIT_DEAD,      /* nobody is there to bring it */
	MARKER_WAIT_NONE,      /* no authentic marker */
	MARKER_WAIT_TIMED_OUT, /* the marker is there, if `has_marker` */
	MARKER_WAIT_FAILED,    /* with words */
	MARKER_WAIT_ON,	       /* not yet */
};

struct marker_goal {
	const char *attempt_id; /* NULL: any */
	enum fence_marker_format format;
	unsigned int statuses; /* 1 << each; 0: until it is over */
	int64_t timeout_ms;    /* 0: none */
	int64_t appear_ms;
};

/* REACHED, NEVER or ON, by the marker alone. */
enum marker_wait_end marker_judge_goal(const struct fence_marker *marker,
				       const struct marker_goal *goal);

struct marker_waited {
	enum marker_wait_end end;
	bool has_marker;
	struct fence_marker marker;
	const char *life; /* NULL: not looked at */
	struct fence_err err;
};

/* Sleeps on the folder's events and on the supervisor's end; makes no wake-up of
 * its own but for the two times. */
void marker_wait_for(const char *path, const struct marker_goal *goal, struct marker_waited *ret);

/* How a wait ended, as an outcome: its word, status and error. */
void marker_end_outcome(const char *path, const struct marker_waited *waited,
			struct marker_outcome *out);

#endif
