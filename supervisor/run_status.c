/* Which exit status a run has. Pure. */
#include <errno.h>

#include "supervisor/run.h"

int run_start_status(enum fence_spawn_step step, int error)
{
	if (step == FENCE_SPAWN_STEP_GATE)
		return 77;
	if (step != FENCE_SPAWN_STEP_EXEC)
		return 125;
	return error == ENOENT ? 127 : 126;
}

int run_exit_status(const struct run_conf *conf, const struct fence_group_result *result)
{
	if (result->cause == FENCE_CAUSE_NOT_STARTED)
		return run_start_status(result->failed_step, result->failed_errno);
	/* What we promise was not kept: that is said before anything else. */
	if (result->survivor_count > 0 || result->monitor_lost || !result->exit_known)
		return 125;
	if (result->cause == FENCE_CAUSE_TIMEOUT || result->cause == FENCE_CAUSE_IDLE_TIMEOUT)
		return 124;
	if (conf->leftover == FENCE_LEFTOVER_FAIL && result->leftover_count > 0)
		return 125;
	if (conf->leak_fails && result->leaked)
		return 125;
	return fence_exit_status(&result->exit);
}
