#include "fence/vocab.h"

#include <errno.h>
#include <string.h>

const char *fence_cause_word(enum fence_cause cause)
{
	static const char *const words[] = {
		[FENCE_CAUSE_EXITED] = "exited",
		[FENCE_CAUSE_SIGNALLED] = "signalled",
		[FENCE_CAUSE_TIMEOUT] = "timeout",
		[FENCE_CAUSE_IDLE_TIMEOUT] = "idle-timeout",
		[FENCE_CAUSE_OUTPUT_LIMIT] = "output-limit",
		[FENCE_CAUSE_TERMINATE_REQUEST] = "terminate-request",
		[FENCE_CAUSE_CANCELLED] = "cancelled",
		[FENCE_CAUSE_EXECUTOR_GONE] = "executor-gone",
		[FENCE_CAUSE_SUPERVISOR_SIGNAL] = "supervisor-signal",
		[FENCE_CAUSE_MARKER_LOST] = "marker-lost",
		[FENCE_CAUSE_NOT_STARTED] = "not-started",
	};

	return words[cause];
}

const char *fence_reap_word(enum fence_reap reap)
{
	static const char *const words[] = {
		[FENCE_REAP_NO_SESSION] = "no-session",
		[FENCE_REAP_CLEAR] = "clear",
		[FENCE_REAP_TERM] = "reaped-term",
		[FENCE_REAP_KILL] = "reaped-kill",
		[FENCE_REAP_SURVIVED] = "survived",
		[FENCE_REAP_INHERITED] = "inherited",
		[FENCE_REAP_REFUSED_OWN_GROUP] = "refused-own-group",
	};

	return words[reap];
}

const char *fence_contain_word(enum fence_contain contain)
{
	static const char *const words[] = {
		[FENCE_CONTAIN_PIDNS] = "pidns",
		[FENCE_CONTAIN_CGROUP] = "cgroup",
		[FENCE_CONTAIN_SUBREAPER] = "subreaper",
		[FENCE_CONTAIN_GROUP] = "group",
	};

	return words[contain];
}

int fence_cause_find(const char *word)
{
	for (int i = FENCE_CAUSE_EXITED; i <= FENCE_CAUSE_NOT_STARTED; i++)
		if (strcmp(word, fence_cause_word((enum fence_cause)i)) == 0)
			return i;
	return -EINVAL;
}

int fence_reap_find(const char *word)
{
	for (int i = FENCE_REAP_NO_SESSION; i <= FENCE_REAP_REFUSED_OWN_GROUP; i++)
		if (strcmp(word, fence_reap_word((enum fence_reap)i)) == 0)
			return i;
	return -EINVAL;
}
