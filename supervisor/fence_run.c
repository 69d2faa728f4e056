/* fence-run: run one command as a group, end all of it, say how it went. */
#include "fence/err.h"
#include "fence/group.h"
#include "fence/loop.h"
#include "supervisor/run.h"

static int run_command(struct run *run)
{
	struct fence_group_result unfound;
	const struct fence_group_result *result;
	int rc = run_prepare(run);

	if (rc < 0)
		return run_complain(run, &run->err);
	rc = run_find(run);
	if (rc < 0) {
		run_not_found(run, rc, &unfound);
		return run_finish(run, &unfound);
	}
	run_fill_plan(run);
	rc = fence_group_start(&run->plan, &run->group, &run->err);
	if (rc == 0)
		rc = run_watch_signals(run);
	if (rc == 0)
		rc = run_watch_group(run);
	if (rc == 0)
		rc = fence_loop_run(&run->loop);
	if (rc != RUN_ENDED) {
		if (run->err.code == 0)
			(void)fence_fail(&run->err, rc, "watch the command");
		fence_group_free(run->group);
		return run_complain(run, &run->err);
	}
	result = fence_group_result(run->group);
	run_say_result(run, result);
	return run_finish(run, result);
}

int main(int argc, char **argv)
{
	static struct run run;
	int rc = run_begin(&run, run_cli.program);

	if (rc < 0)
		return run_complain(&run, &run.err);
	run_conf_init(&run.conf);
	rc = run_read_options(&run, &run_cli, &run.conf, argc, argv);
	return rc != 0 ? rc - 1 : run_command(&run);
}
