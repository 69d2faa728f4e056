/* Makes the list of all system calls of this machine at build time, so that a name which
 * is none can be told from one that is allowed: C text on standard output, by name. */
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard/policy/calls.h"

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *name_of(int number)
{
	for (size_t i = 0; i < sizeof(guard_new_calls) / sizeof(guard_new_calls[0]); i++)
		if (guard_new_calls[i].number == number)
			return guard_new_calls[i].name;
	return seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
}

int main(void)
{
	const char *names[GUARD_KNOWN_MAX + 1];
	size_t count = 0;

	printf("static const char guard_call_numbers[][32] = {\n");
	for (int number = 0; number <= GUARD_KNOWN_MAX; number++) {
		const char *name = name_of(number);

		if (name == NULL || strlen(name) >= 32)
			continue;
		printf("\t[%d] = \"%s\",\n", number, name);
		names[count++] = name;
	}
	printf("};\n");
	if (count == 0)
		return 1;
	qsort(names, count, sizeof(names[0]), compare);
	/* No pointers: each would have to be relocated at every start of fence-guard. */
	printf("static const char guard_call_names[][32] = {\n");
	for (size_t i = 0; i < count; i++)
		printf("\t\"%s\",\n", names[i]);
	printf("};\n");
	return ferror(stdout) || fflush(stdout) != 0;
}
