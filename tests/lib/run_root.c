/* run_root COMMAND...: made setuid root by a test, it becomes root altogether, as
 * sudo does, so that whoever started it may no longer signal it, and runs COMMAND. */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2 || setresuid(0, 0, 0) < 0) {
		perror("run_root");
		return 126;
	}
	(void)execvp(argv[1], argv + 1);
	perror("run_root");
	return 127;
}
