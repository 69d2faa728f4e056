/* Closed vocabularies of records (fence.7): a word that is not here is never
 * written. */
#ifndef FENCE_VOCAB_H
#define FENCE_VOCAB_H

#ifdef __cplusplus
extern "C" {
#endif

/* Why an attempt ended. */
enum fence_cause {
	FENCE_CAUSE_EXITED,
	FENCE_CAUSE_SIGNALLED,
	FENCE_CAUSE_TIMEOUT,
	FENCE_CAUSE_IDLE_TIMEOUT,
	FENCE_CAUSE_OUTPUT_LIMIT,
	FENCE_CAUSE_TERMINATE_REQUEST,
	FENCE_CAUSE_CANCELLED,
	FENCE_CAUSE_EXECUTOR_GONE,
	FENCE_CAUSE_SUPERVISOR_SIGNAL,
	FENCE_CAUSE_MARKER_LOST,
	FENCE_CAUSE_NOT_STARTED,
};

/* How what was left was ended. */
enum fence_reap {
	FENCE_REAP_NO_SESSION,
	FENCE_REAP_CLEAR,
	FENCE_REAP_TERM,
	FENCE_REAP_KILL,
	FENCE_REAP_SURVIVED,
	FENCE_REAP_INHERITED,
	FENCE_REAP_REFUSED_OWN_GROUP,
};

/* What made the end certain, strongest first. */
enum fence_contain {
	FENCE_CONTAIN_PIDNS,
	FENCE_CONTAIN_CGROUP,
	FENCE_CONTAIN_SUBREAPER,
	FENCE_CONTAIN_GROUP,
};

const char *fence_cause_word(enum fence_cause cause);
const char *fence_reap_word(enum fence_reap reap);
const char *fence_contain_word(enum fence_contain contain);

/* The other way round: the enumerator's number, or -EINVAL for a word that is not there. */
int fence_cause_find(const char *word);
int fence_reap_find(const char *word);

#ifdef __cplusplus
}
#endif

#endif
