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

bool guard_call_is_foreign(const char *name)
{
	return bsearch(name, guard_foreign_names, COUNT(guard_foreign_names),
		       sizeof(guard_foreign_names[0]), compare) != NULL;
}

static bool is_listed(const char *name, const char (*list)[24], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

static const char *opener_of(const char *name)
{
	static const char *const words[] = {
		[GUARD_BY_NOTHING] = NULL,
		[GUARD_BY_USERNS] = "allowUserns is what allows it",
		[GUARD_BY_SET_ID] = "allowSetId is what allows it",
		[GUARD_BY_NESTING] = NULL,
	};

	for (size_t i = 0; i < COUNT(guard_calls); i++)
		if (strcmp(guard_calls[i].name, name) == 0)
			return words[guard_calls[i].opened_by];
	return NULL;
}

const char *guard_call_kept(const char *name)
{
	static const char *const words[] = {
		[GUARD_KEPT_FOR_FILES] = "what is masked and protected rests on its refusal",
		[GUARD_KEPT_FOR_NAMESPACES] = "it leads into other namespaces",
		[GUARD_KEPT_FOR_KERNEL] = "it changes the kernel, which all else rests on",
	};

	for (size_t i = 0; i < COUNT(guard_kept_calls); i++)
		if (strcmp(guard_kept_calls[i].name, name) == 0)
			return words[guard_kept_calls[i].keeper];
	if (is_among(name, guard_judged_calls, COUNT(guard_judged_calls)) ||
	    is_among(name, guard_judged_mode_calls, COUNT(guard_judged_mode_calls)) ||
	    is_among(name, guard_judged_port_calls, COUNT(guard_judged_port_calls)))
		return "its arguments decide, and what they may be has options of its own";
	return opener_of(name);
}

bool guard_call_is_unseen(const char *name)
{
	return is_listed(name, guard_unseen_calls, COUNT(guard_unseen_calls));
}

bool guard_call_is_ours(const char *name)
{
	return is_listed(name, guard_init_calls, COUNT(guard_init_calls));
}

const char *guard_call_name(int number)
{
	if (number < 0 || (size_t)number >= COUNT(guard_call_numbers) ||
	    guard_call_numbers[number][0] == '\0')
		return NULL;
	return guard_call_numbers[number];
}
