/* call_cost [ROUNDS]: what a getppid(2) and what an open(2) with its close(2) cost in this
 * process, in nanoseconds: the least of ten measurements of ROUNDS each, so that what the
 * machine does beside is left out. Prints "getppid N open+close N". */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void call_getppid(void)
{
	(void)syscall(SYS_getppid);
}

static void call_open(void)
{
	(void)close(open("/usr", O_RDONLY | O_DIRECTORY));
}

static double least_ns(void (*call)(void), long rounds)
{
	int64_t least = INT64_MAX;

	for (int i = 0; i < 10; i++) {
		int64_t start = now_ns();

		for (long j = 0; j < rounds; j++)
			call();
		start = now_ns() - start;
		least = start < least ? start : least;
	}
	return (double)least / (double)rounds;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;

	printf("getppid %.0f open+close %.0f\n", least_ns(call_getppid, rounds),
	       least_ns(call_open, rounds));
	return 0;
}
