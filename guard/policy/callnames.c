/* What is known of system calls by name; the filters themselves are made at build time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/opts.h"
#include "guard/policy/calls.h"
#include "guard/policy/policy.h"
#include "guard_call_names.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static int compare(const void *name, const void *row)
{
	return strcmp(name, row);
}

const char *guard_call_nearest(const char *name)
{
	const char *all[COUNT(guard_call_names)];

	for (size_t i = 0; i < COUNT(all); i++)
		all[i] = guard_call_names[i];
	return fence_nearest(name, all, COUNT(all));
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool guard_call_is_judged(const struct guard_policy *policy, const char *name)
{
	return is_among(name, guard_judged_calls, COUNT(guard_judged_calls)) ||
	       (!policy->allow_set_id &&
		is_among(name, guard_judged_mode_calls, COUNT(guard_judged_mode_calls))) ||
	       (policy->allow_nesting &&
		is_among(name, guard_judged_nesting_calls,
			 COUNT(guard_judged_nesting_calls) -
				 (geteuid() == 0 ? 0 : GUARD_JUDGED_OF_ROOT))) ||
	       (policy->net == GUARD_NET_PORTS &&
		is_among(name, guard_judged_port_calls, COUNT(guard_judged_port_calls)));
}

int guard_call_number(const char *name)
{
	if (bsearch(name, guard_call_names, COUNT(guard_call_names), sizeof(guard_call_names[0]),
		    compare) == NULL)
		return -ENOSYS;
	for (size_t i = 0; i < COUNT(guard_call_numbers); i++)
		if (strcmp(guard_call_numbers[i], name) == 0)
			return (int)i;
	return -ENOSYS;
}

const char *guard_call_name(int number)
{
	if (number < 0 || (size_t)number >= COUNT(guard_call_numbers) ||
	    guard_call_numbers[number][0] == '\0')
		return NULL;
	return guard_call_numbers[number];
}
