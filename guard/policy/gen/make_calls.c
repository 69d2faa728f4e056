/* Makes the list of all system calls of this machine at build time, so that a name which
 * is none can be told from one that is allowed: C text on standard output, by name. */
#include <seccomp.h>
#include <stdint.h>
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

/* --- names that only other machines have ------------------------------------------- */

#define FOREIGN_MAX 512

struct foreign {
	char *names[FOREIGN_MAX];
	size_t count;
};

static void add_foreign(struct foreign *foreign, uint32_t arch, int number)
{
	char *name = seccomp_syscall_resolve_num_arch(arch, number);

	if (name == NULL || strlen(name) >= 32 || seccomp_syscall_resolve_name(name) >= 0)
		return;
	for (size_t i = 0; i < foreign->count; i++)
		if (strcmp(foreign->names[i], name) == 0)
			return;
	if (foreign->count < FOREIGN_MAX)
		foreign->names[foreign->count++] = name;
}

static void print_foreign(void)
{
	static const uint32_t arches[] = {
		SCMP_ARCH_X86,	    SCMP_ARCH_X86_64,  SCMP_ARCH_X32,	SCMP_ARCH_ARM,
		SCMP_ARCH_AARCH64,  SCMP_ARCH_MIPS,    SCMP_ARCH_PPC64, SCMP_ARCH_S390X,
		SCMP_ARCH_PARISC64, SCMP_ARCH_RISCV64,
	};
	static struct foreign foreign;

	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++) {
		for (int number = 0; number < 1000; number++)
			add_foreign(&foreign, arches[i], number);
		/* MIPS counts from 4000 on, ARM has some of its own. */
		for (int number = 4000; number < 5000; number++)
			add_foreign(&foreign, arches[i], number);
		for (int number = 0x0f0000; number < 0x0f0010; number++)
			add_foreign(&foreign, arches[i], number);
	}
	qsort(foreign.names, foreign.count, sizeof(foreign.names[0]), compare);
	printf("static const char guard_foreign_names[][32] = {\n");
	for (size_t i = 0; i < foreign.count; i++)
		printf("\t\"%s\",\n", foreign.names[i]);
	printf("};\n");
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
	print_foreign();
	return ferror(stdout) || fflush(stdout) != 0;
}
