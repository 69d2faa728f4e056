/* Which exit status a run has, and dying as the command died. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fence/sys.h"

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

void run_reraise(const struct run *run, const struct fence_group_result *result)
{
	int sig = result->exit.number;
	sigset_t none;

	if (!run->conf.reraise || !result->exit_known || !result->exit.signalled ||
	    run_exit_status(&run->conf, result) != fence_exit_status(&result->exit))
		return;
	/* The command has left its core, if it was to leave one; ours would be in its place. */
	(void)fence_set_limit(RLIMIT_CORE, 0, 0);
	(void)fence_signal_default(sig);
	(void)sigemptyset(&none);
	(void)kill(getpid(), sig);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}
