/* What is known of system calls by name; the filters themselves are made at build time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int guard_call_answer(const char *name, bool with_userns, bool with_ports)
{
	if (bsearch(name, guard_call_names, COUNT(guard_call_names), sizeof(guard_call_names[0]),
		    compare) == NULL)
		return -ENOSYS;
	for (size_t i = 0; i < COUNT(guard_judged_calls); i++)
		if (strcmp(guard_judged_calls[i], name) == 0)
			return -EAGAIN;
	for (size_t i = 0; with_ports && i < COUNT(guard_judged_port_calls); i++)
		if (strcmp(guard_judged_port_calls[i], name) == 0)
			return -EAGAIN;
	for (size_t i = 0; i < COUNT(guard_calls); i++)
		if (strcmp(guard_calls[i].name, name) == 0)
			return with_userns && guard_calls[i].with_userns ? 0 : guard_calls[i].error;
	return 0;
}

const char *guard_call_name(int number)
{
	if (number < 0 || (size_t)number >= COUNT(guard_call_numbers) ||
	    guard_call_numbers[number][0] == '\0')
		return NULL;
	return guard_call_numbers[number];
}
