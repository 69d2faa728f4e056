#include "gate/launch.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence/sibling.h"
#include "gate/environ.h"

#define TAIL_BYTES ((size_t)256 * 1024)

int gate_find_program(const char *name, char *ret_path, size_t size_bytes, struct fence_err *err)
{
	if (fence_sibling_find(name, ret_path, size_bytes) == 0)
		return 0;
	(void)fence_fail_why(err, -ENOENT, "not found", "%s", name);
	return fence_hint(err, "install it beside fence-gate or into %s", FENCE_BINDIR);
}

static int find_command(const struct gate_stage *stage, const struct gate_launch_where *where,
			struct gate_launch *launch, struct fence_err *err)
{
	int rc = fence_spawn_find(stage->argv[0], gate_environ_get(launch->environment, "PATH"),
				  where->root, launch->file, sizeof(launch->file));

	if (rc == 0)
		return 0;
	(void)fence_fail(err, rc, "%s", stage->argv[0]);
	return fence_hint(err, "install it or correct command");
}

/* fence-guard looks the command up itself, inside of the confinement. */
static int confine(const struct gate_stage *stage, const struct gate_launch_where *where,
		   struct gate_launch *launch, struct fence_err *err)
{
	const char *const head[] = { where->guard,	"exec",
				     "--profile",	gate_sandbox_word(stage->sandbox),
				     "--env-all",	"--status-fd",
				     launch->keep_text, "--protect",
				     launch->protect,	stage->policy ? "--policy" : "--",
				     stage->policy,	"--" };
	const size_t head_count = sizeof(head) / sizeof(head[0]) - (stage->policy ? 0 : 2);

	if (strlen(where->guard) >= sizeof(launch->file))
		return fence_fail(err, -ENAMETOOLONG, "%s", where->guard);
	(void)snprintf(launch->file, sizeof(launch->file), "%s", where->guard);
	(void)snprintf(launch->keep_text, sizeof(launch->keep_text), "%d", where->status_fd);
	(void)snprintf(launch->protect, sizeof(launch->protect), "%s/.fence", where->root);
	launch->keep_fd = where->status_fd;
	launch->plan.spawn.keep_fds = &launch->keep_fd;
	launch->plan.spawn.keep_count = 1;
	launch->argv = calloc(head_count + stage->argc + 1, sizeof(*launch->argv));
	if (!launch->argv)
		return fence_fail(err, -ENOMEM, "start stage %s", stage->id);
	for (size_t i = 0; i < head_count; i++)
		launch->argv[i] = (char *)(uintptr_t)head[i]; /* execve writes nothing */
	memcpy(launch->argv + head_count, stage->argv, stage->argc * sizeof(*stage->argv));
	launch->plan.spawn.argv = launch->argv;
	return 0;
}

static void fill_plan(const struct gate_stage *stage, const struct gate_launch_where *where,
		      struct gate_launch *launch)
{
	struct fence_group_plan *plan = &launch->plan;

	plan->spawn.file = launch->file;
	plan->spawn.argv = stage->argv;
	plan->spawn.envp = launch->environment;
	plan->spawn.session = FENCE_SPAWN_OWN_SESSION;
	plan->spawn.stdio[0] = where->null_fd;
	plan->spawn.dir = where->root;
	plan->spawn.umask = 022;
	plan->timeout_ms = stage->timeout_ms;
	plan->idle_timeout_ms = stage->idle_timeout_ms;
	plan->grace_ms = stage->grace_ms;
	plan->leftover = stage->leaks_fail ? FENCE_LEFTOVER_FAIL : FENCE_LEFTOVER_KILL;
	plan->capture = true;
	plan->tail_bytes = TAIL_BYTES;
	plan->log_fd = where->log_fd;
	plan->with_start_ticks = false; /* a pid alone is enough for the record */
	/* A chatty daemon must not hold the stage: 200 ms in all, as the manual says. */
	plan->drain_idle_ms = 200;
	plan->drain_cap_ms = 200;
}

int gate_launch_make(const struct gate_stage *stage, const struct gate_launch_where *where,
		     struct gate_launch *ret, struct fence_err *err)
{
	int rc;

	ret->environment = NULL;
	ret->argv = NULL;
	fence_group_plan_init(&ret->plan);
	rc = gate_environ_make(stage, where->environment, &ret->environment, err);
	if (rc < 0)
		return rc;
	fill_plan(stage, where, ret);
	if (stage->sandbox == GATE_SANDBOX_NONE)
		return find_command(stage, where, ret, err);
	return confine(stage, where, ret, err);
}

void gate_launch_free(struct gate_launch *launch)
{
	free(launch->environment);
	free(launch->argv);
	launch->environment = NULL;
	launch->argv = NULL;
}
