/* fence-run: run one command as a group, end all of it, say how it went. */
#include <errno.h>

#include "fence/err.h"
#include "fence/group.h"
#include "fence/loop.h"
#include "supervisor/fence.h"
#include "supervisor/run.h"

#define FENCE_SHUT 77

struct fenced {
	struct run run;
	struct run_fence fence;
};

/* A fence that is shut already is no news of the start. */
static int borrow_fence(struct fenced *f)
{
	const struct run_conf *conf = &f->run.conf;
	int rc;

	if (conf->fence_path == NULL)
		return 0;
	f->fence.attempt_id = conf->attempt_id;
	f->fence.format = conf->format;
	rc = run_fence_init(&f->fence, &f->run.err);
	if (rc == 0)
		rc = run_fence_borrow(&f->fence, &conf->approved, &f->run.err);
	run_fence_plan(&f->fence, &f->run.plan.spawn);
	return rc;
}

static int watch(struct fenced *f)
{
	struct run *run = &f->run;
	int rc = run_watch_signals(run);

	if (rc == 0)
		rc = run_watch_group(run);
	if (rc == 0 && run->conf.fence_path != NULL)
		rc = run_fence_watch(&f->fence, &run->loop, run->group, &run->err);
	if (rc == 0)
		rc = run_terminal_watch(run);
	return rc < 0 ? rc : fence_loop_run(&run->loop);
}

static int run_command(struct fenced *f)
{
	struct run *run = &f->run;
	struct fence_group_result unfound;
	const struct fence_group_result *result;
	int rc = 0;

	f->fence.path = run->conf.fence_path;
	if (f->fence.path != NULL)
		rc = run_fence_name_marker(&f->fence, &run->conf, &run->err);
	if (rc == 0)
		rc = run_prepare(run);
	if (rc < 0)
		return run_complain(run, &run->err);
	rc = run_find(run);
	if (rc < 0) {
		run_not_found(run, rc, &unfound);
		return run_finish(run, &unfound);
	}
	run_fill_plan(run);
	rc = run_terminal_plan(run);
	if (rc < 0)
		return run_complain(run, &run->err);
	rc = borrow_fence(f);
	if (rc < 0)
		return (void)run_complain(run, &run->err), FENCE_SHUT;
	rc = fence_group_start(&run->plan, &run->group, &run->err);
	if (rc == 0)
		rc = watch(f);
	run_terminal_end(run, rc == RUN_ENDED ? fence_group_result(run->group) : NULL);
	if (rc != RUN_ENDED) {
		if (run->err.code == 0)
			(void)fence_fail(&run->err, rc, "watch the command");
		fence_group_abandon(run->group, NULL, 0);
		return run_complain(run, &run->err);
	}
	result = fence_group_result(run->group);
	if (run->err.code < 0) /* the fence's watch */
		(void)run_complain(run, &run->err);
	run_say_result(run, result);
	rc = run_finish(run, result);
	if (rc == fence_exit_status(&result->exit))
		run_reraise(run, result);
	return rc;
}

int main(int argc, char **argv)
{
	static struct fenced fenced;
	struct run *run = &fenced.run;
	int rc = run_begin(run, run_cli.program);

	if (rc < 0)
		return run_complain(run, &run->err);
	run_conf_init(&run->conf);
	rc = run_read_options(run, &run_cli, &run->conf, argc, argv);
	return rc != 0 ? rc - 1 : run_command(&fenced);
}
