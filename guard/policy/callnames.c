/* What is known of system calls by name; the filters themselves are made at build time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guard/policy/calls.h"
#include "guard/policy/policy.h"
#include "guard_call_names.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static int compare(const void *name, const void *row)
{
	return strcmp(name, *(const char *const *)row);
}

const char *const *guard_call_all(size_t *ret_count)
{
	*ret_count = COUNT(guard_call_names);
	return guard_call_names;
}

int guard_call_answer(const char *name, bool with_userns)
{
	if (bsearch(name, guard_call_names, COUNT(guard_call_names), sizeof(guard_call_names[0]),
		    compare) == NULL)
		return -ENOSYS;
	for (size_t i = 0; i < COUNT(guard_judged_calls); i++)
		if (strcmp(guard_judged_calls[i], name) == 0)
			return -EAGAIN;
	for (size_t i = 0; i < COUNT(guard_calls); i++)
		if (strcmp(guard_calls[i].name, name) == 0)
			return with_userns && guard_calls[i].with_userns ? 0 : guard_calls[i].error;
	return 0;
}
