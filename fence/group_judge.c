/* Decisions of fence/group that need nothing but facts. */
#include <string.h>

#include "fence/clock.h"
#include "fence/group_priv.h"

const char *fence_sender_word(enum fence_sender sender)
{
	static const char *const words[] = {
		[FENCE_SENDER_NONE] = "none",	    [FENCE_SENDER_TIMEOUT] = "timeout",
		[FENCE_SENDER_REQUEST] = "request", [FENCE_SENDER_LEFTOVER] = "leftover",
		[FENCE_SENDER_OTHER] = "other",
	};

	return words[sender];
}

const char *fence_limit_word(enum fence_limit limit)
{
	static const char *const words[] = {
		[FENCE_LIMIT_NONE] = "none",
		[FENCE_LIMIT_WALL] = "wall",
		[FENCE_LIMIT_IDLE] = "idle",
		[FENCE_LIMIT_CPU] = "cpu",
	};

	return words[limit];
}

enum fence_cause fence_group_judge_cause(const struct fence_group_facts *facts)
{
	if (!facts->started)
		return FENCE_CAUSE_NOT_STARTED;
	if (facts->stopped)
		return facts->stop_cause;
	/* Nobody could say how it went: its monitor was killed. */
	if (facts->monitor_lost || !facts->exit_known)
		return FENCE_CAUSE_SUPERVISOR_SIGNAL;
	return facts->exit.signalled ? FENCE_CAUSE_SIGNALLED : FENCE_CAUSE_EXITED;
}

static enum fence_reap judge_reap(const struct fence_group_facts *facts)
{
	if (!facts->started)
		return FENCE_REAP_NO_SESSION;
	if (facts->survivors > 0)
		return FENCE_REAP_SURVIVED;
	if (facts->kill_sent)
		return FENCE_REAP_KILL;
	if (facts->term_sent)
		return FENCE_REAP_TERM;
	if (facts->left)
		return FENCE_REAP_INHERITED;
	return facts->own_group ? FENCE_REAP_CLEAR : FENCE_REAP_INHERITED;
}

/* The signal that it died of was ours when we had sent that very one. */
static enum fence_sender judge_killer(const struct fence_group_facts *facts)
{
	int number = facts->exit.number;

	if (!facts->started || !facts->exit_known || !facts->exit.signalled)
		return FENCE_SENDER_NONE;
	if (number == SIGKILL && facts->kill_to_leader != FENCE_SENDER_NONE)
		return facts->kill_to_leader;
	if (number == SIGTERM && facts->term_to_leader != FENCE_SENDER_NONE)
		return facts->term_to_leader;
	if (number >= 1 && number <= 64 && (facts->forwarded >> (number - 1) & 1) != 0)
		return FENCE_SENDER_REQUEST;
	return FENCE_SENDER_OTHER;
}

struct fence_group_judgement fence_group_judge(const struct fence_group_facts *facts)
{
	return (struct fence_group_judgement){
		.cause = fence_group_judge_cause(facts),
		.reap = judge_reap(facts),
		.killed_by = judge_killer(facts),
	};
}

uint8_t *fence_group_ring(struct fence_group_shared *shared, int stream)
{
	return (uint8_t *)(shared + 1) + (size_t)stream * shared->tails[0].size_bytes;
}

uint8_t *fence_group_head(struct fence_group_shared *shared, int stream)
{
	return fence_group_ring(shared, 2) + (size_t)stream * shared->heads[stream].size_bytes;
}

static int64_t usec(struct timeval time)
{
	return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

void fence_group_account(struct fence_group_shared *shared, const struct rusage *usage)
{
	uint64_t peak = (uint64_t)usage->ru_maxrss * 1024;

	shared->user_us += usec(usage->ru_utime);
	shared->system_us += usec(usage->ru_stime);
	if (peak > shared->result.peak_rss_bytes)
		shared->result.peak_rss_bytes = peak;
}

void fence_group_conclude(struct fence_group_shared *shared)
{
	struct fence_group_result *result = &shared->result;
	struct fence_group_judgement judgement;

	shared->facts.survivors = result->survivor_count;
	judgement = fence_group_judge(&shared->facts);
	result->cause = judgement.cause;
	result->reap = judgement.reap;
	result->killed_by = judgement.killed_by;
	result->contain = shared->contain;
	result->ended_known = shared->contain != FENCE_CONTAIN_PIDNS ||
			      (!result->monitor_lost && !shared->init_killed);
	result->ended_count = shared->ended_count;
	if (shared->announced)
		result->ended_count += __atomic_load_n(&shared->init_reaped, __ATOMIC_ACQUIRE) -
				       shared->init_reaped_before;
	result->exit_known = shared->facts.exit_known;
	result->exit = shared->facts.exit;
	result->term_sent = shared->facts.term_sent;
	result->kill_sent = shared->facts.kill_sent;
	result->user_ms = shared->user_us / 1000;
	result->system_ms = shared->system_us / 1000;
	for (int i = 0; i < 2; i++)
		result->output_bytes[i] = shared->tails[i].total_bytes;
	if (shared->start_us > 0) {
		result->wall_us = fence_now_us() - shared->start_us;
		result->wall_ms = result->wall_us / 1000;
	}
}
