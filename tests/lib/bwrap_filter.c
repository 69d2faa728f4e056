/* bwrap_filter CALL ERRNO: writes a compiled seccomp filter to standard output that
 * answers the system call with that errno and lets all others through. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static const struct {
	const char *name;
	unsigned int number;
} calls[] = {
	{ "sethostname", SYS_sethostname },
	{ "sync", SYS_sync },
	{ "prctl", SYS_prctl },
	{ "getpriority", SYS_getpriority },
};

static unsigned int number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	fprintf(stderr, "bwrap_filter: %s: unknown call\n", name);
	exit(64);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 64;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number_of(argv[1]), 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 SECCOMP_RET_ERRNO | (unsigned int)strtoul(argv[2], NULL, 10)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return fwrite(filter, sizeof(filter), 1, stdout) == 1 && fflush(stdout) == 0 ? 0 : 1;
}
