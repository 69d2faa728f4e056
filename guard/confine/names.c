#include "guard/confine/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int guard_names_add(struct guard_names *names, const char *name)
{
	char **more = reallocarray(names->items, names->count + 1, sizeof(*more));

	if (more == NULL)
		return -ENOMEM;
	names->items = more;
	more[names->count] = strdup(name);
	if (more[names->count] == NULL)
		return -ENOMEM;
	names->count++;
	return 0;
}

void guard_names_free(struct guard_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct guard_names){ 0 };
}
