#include "fence/limit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "fence/clock.h"
#include "fence/opts.h"

static const struct {
	const char *name;
	int resource;
	bool is_size; /* in bytes, so it takes a unit */
} resources[] = {
	{ "as", RLIMIT_AS, true },
	{ "core", RLIMIT_CORE, true },
	{ "cpu", RLIMIT_CPU, false },
	{ "data", RLIMIT_DATA, true },
	{ "fsize", RLIMIT_FSIZE, true },
	{ "memlock", RLIMIT_MEMLOCK, true },
	{ "msgqueue", RLIMIT_MSGQUEUE, true },
	{ "nice", RLIMIT_NICE, false },
	{ "nofile", RLIMIT_NOFILE, false },
	{ "nproc", RLIMIT_NPROC, false },
	{ "rss", RLIMIT_RSS, true },
	{ "rtprio", RLIMIT_RTPRIO, false },
	{ "rttime", RLIMIT_RTTIME, false },
	{ "sigpending", RLIMIT_SIGPENDING, false },
	{ "stack", RLIMIT_STACK, true },
};
#define RESOURCE_COUNT (sizeof(resources) / sizeof(resources[0]))

static int parse_amount(const char *text, bool is_size, uint64_t *ret)
{
	int64_t number;
	int rc;

	if (strcmp(text, "unlimited") == 0) {
		*ret = UINT64_MAX;
		return 0;
	}
	if (is_size)
		return fence_parse_size(text, ret);
	rc = fence_parse_number(text, 0, INT64_MAX, &number);
	if (rc == 0)
		*ret = (uint64_t)number;
	return rc;
}

static int find_resource(const char *name, size_t *ret, struct fence_err *err)
{
	const char *names[RESOURCE_COUNT];
	const char *nearest;

	for (size_t i = 0; i < RESOURCE_COUNT; i++) {
		names[i] = resources[i].name;
		if (strcmp(name, resources[i].name) == 0)
			return *ret = i, 0;
	}
	(void)fence_fail_why(err, -EINVAL, "no such resource", "\"%s\"", name);
	nearest = fence_nearest(name, names, RESOURCE_COUNT);
	if (nearest != NULL)
		return fence_hint(err, "did you mean %s?", nearest);
	return fence_hint(err, "see setrlimit(2); the names are nofile, nproc, core ...");
}

int fence_limit_parse(const char *text, struct fence_spawn_limit *ret, struct fence_err *err)
{
	char words[128];
	char *amount, *hard;
	size_t at = 0;
	int rc;

	if ((size_t)snprintf(words, sizeof(words), "%s", text) >= sizeof(words) ||
	    (amount = strchr(words, '=')) == NULL) {
		(void)fence_fail_why(err, -EINVAL, "not NAME=N or NAME=SOFT:HARD", "\"%s\"", text);
		return fence_hint(err, "write it like nofile=1024");
	}
	*amount++ = '\0';
	rc = find_resource(words, &at, err);
	if (rc < 0)
		return rc;
	hard = strchr(amount, ':');
	if (hard != NULL)
		*hard++ = '\0';
	ret->resource = resources[at].resource;
	rc = parse_amount(amount, resources[at].is_size, &ret->soft);
	if (rc == 0)
		rc = parse_amount(hard != NULL ? hard : amount, resources[at].is_size, &ret->hard);
	if (rc < 0)
		return fence_fail_why(err, -EINVAL,
				      resources[at].is_size ? "not a size" : "not a number",
				      "\"%s\"", text);
	if (ret->soft > ret->hard)
		return fence_fail_why(err, -EINVAL, "the soft limit is above the hard one",
				      "\"%s\"", text);
	return 0;
}

const char *fence_limit_name(int resource)
{
	for (size_t i = 0; i < RESOURCE_COUNT; i++)
		if (resources[i].resource == resource)
			return resources[i].name;
	return "?";
}
