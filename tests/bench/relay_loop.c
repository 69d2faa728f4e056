/* relay_loop: the plain way to relay a command's output, to measure another against.
 *
 *   relay_loop write BYTES            writes so many bytes to standard output, 64 KiB a time
 *   relay_loop relay COMMAND [ARG...] reads COMMAND's output from a pipe, 64 KiB a time, and
 *                                     writes it to standard output */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fence/sys.h"

#define CHUNK_BYTES (64 * 1024)

static char chunk[CHUNK_BYTES];

static int write_bytes(long long left)
{
	memset(chunk, 'x', sizeof(chunk));
	while (left > 0) {
		size_t size = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;

		if (fence_write_full(1, chunk, size) < 0)
			return 1;
		left -= (long long)size;
	}
	return 0;
}

static int relay(char **argv)
{
	int ends[2];
	int status;
	ssize_t got;
	pid_t pid;

	if (pipe(ends) < 0)
		return 125;
	pid = fork();
	if (pid == 0) {
		(void)dup2(ends[1], 1);
		(void)close(ends[0]);
		(void)close(ends[1]);
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	(void)close(ends[1]);
	while ((got = fence_read_some(ends[0], chunk, sizeof(chunk))) > 0)
		if (fence_write_full(1, chunk, (size_t)got) < 0)
			return 1;
	if (pid < 0 || got < 0 || waitpid(pid, &status, 0) < 0)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "write") == 0)
		return write_bytes(strtoll(argv[2], NULL, 10));
	if (argc > 2 && strcmp(argv[1], "relay") == 0)
		return relay(argv + 2);
	fprintf(stderr, "usage: relay_loop write BYTES | relay COMMAND [ARG...]\n");
	return 2;
}
