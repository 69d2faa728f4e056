/* guard_refuse NUMBER ERRNO COMMAND...: runs COMMAND under a seccomp filter that
 * answers one system call with an error, as a host would that forbids it. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = lines };

	if (argc < 4) {
		fprintf(stderr, "usage: guard_refuse NUMBER ERRNO COMMAND...\n");
		return 2;
	}
	lines[1].k = (unsigned int)strtoul(argv[1], NULL, 0);
	lines[2].k |= (unsigned int)strtoul(argv[2], NULL, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0) {
		perror("guard_refuse");
		return 2;
	}
	(void)execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 2;
}
