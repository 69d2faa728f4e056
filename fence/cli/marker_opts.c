/* Options that more than one verb of fence-marker has. */
#include <errno.h>

#include "fence/cli/marker_cli.h"

int marker_set_attempt(void *arg, const char *value, struct fence_err *err)
{
	struct marker_conf *conf = arg;

	if (!fence_marker_is_attempt_id(value))
		return fence_fail_why(err, -EINVAL, "must be 1 to 128 of A-Za-z0-9._-",
				      "--attempt");
	conf->attempt_id = value;
	return 0;
}

int marker_set_format(void *arg, const char *value, struct fence_err *err)
{
	struct marker_conf *conf = arg;

	(void)err;
	conf->format = (enum fence_marker_format)fence_opt_choice(FENCE_MARKER_FORMATS, value);
	return 0;
}

int marker_set_durable(void *arg, const char *value, struct fence_err *err)
{
	struct marker_conf *conf = arg;

	(void)err;
	conf->durable = (enum fence_marker_durable)fence_opt_choice(FENCE_MARKER_DURABLES, value);
	return 0;
}

int marker_set_lock_wait(void *arg, const char *value, struct fence_err *err)
{
	struct marker_conf *conf = arg;

	return fence_opt_duration(value, &conf->lock_wait_ms, err);
}
