/* guard_calls deniable|allowable: prints the names of the calls that a policy may deny, or
 * allow without more ado.
 * guard_calls default|strict: makes every system call from 0 to 600 that the filter of that
 * name refuses, each in a child, and compares the answer with policy/calls.h. Prints each
 * one that differs, and then how many were tried. Calls that are allowed, or whose
 * arguments decide, are not made. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard/policy/calls.h"
#include "guard_call_names.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define LAST	     600
#define PASSES	     0

static bool has(const char (*list)[24], size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

static bool is_among(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

static int error_of(const struct guard_call *calls, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].error;
	return PASSES;
}

/* x86_64's uretprobe (6.11) and uprobe (6.18), which the kernel puts into programs that are
 * probed: no filter is asked about them, and who makes them oneself gets an error or dies. */
static bool is_never_filtered(int number)
{
#ifdef __x86_64__
	return number == 335 || number == 336;
#else
	(void)number;
	return false;
#endif
}

static int wanted(int number, bool strict)
{
	const char *name = number <= GUARD_KNOWN_MAX ? guard_call_numbers[number] : "";
	int error = error_of(guard_calls, COUNT(guard_calls), name);

	if (is_never_filtered(number))
		return PASSES;
	if (name[0] == '\0')
		return number > GUARD_KNOWN_MAX || strict ? ENOSYS : PASSES;
	if (is_among(guard_judged_calls, COUNT(guard_judged_calls), name) ||
	    is_among(guard_judged_mode_calls, COUNT(guard_judged_mode_calls), name))
		return PASSES;
	if (!strict || error != PASSES)
		return error;
	if (has(guard_strict_calls, COUNT(guard_strict_calls), name))
		return PASSES;
	return error_of(guard_strict_refused, COUNT(guard_strict_refused), name);
}

/* The errno, or what ended the child, as 1000 and the number. */
static int answer_to(int number)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		exit(2);
	if (pid == 0)
		_exit(syscall(number, 0, 0, 0, 0, 0, 0) < 0 ? errno : 0);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			exit(2);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int print_deniable(void)
{
	for (size_t i = 0; i < COUNT(guard_call_names); i++)
		if (!has(guard_init_calls, COUNT(guard_init_calls), guard_call_names[i]))
			puts(guard_call_names[i]);
	return 0;
}

static bool is_kept(const char *name)
{
	for (size_t i = 0; i < COUNT(guard_kept_calls); i++)
		if (strcmp(guard_kept_calls[i].name, name) == 0)
			return true;
	for (size_t i = 0; i < COUNT(guard_calls); i++)
		if (strcmp(guard_calls[i].name, name) == 0 &&
		    (guard_calls[i].opened_by == GUARD_BY_USERNS ||
		     guard_calls[i].opened_by == GUARD_BY_SET_ID))
			return true;
	return is_among(guard_judged_calls, COUNT(guard_judged_calls), name) ||
	       is_among(guard_judged_mode_calls, COUNT(guard_judged_mode_calls), name) ||
	       is_among(guard_judged_port_calls, COUNT(guard_judged_port_calls), name) ||
	       has(guard_unseen_calls, COUNT(guard_unseen_calls), name);
}

static int print_allowable(void)
{
	for (size_t i = 0; i < COUNT(guard_call_names); i++)
		if (!is_kept(guard_call_names[i]))
			puts(guard_call_names[i]);
	return 0;
}

int main(int argc, char **argv)
{
	bool strict = argc == 2 && strcmp(argv[1], "strict") == 0;
	int tried = 0;

	if (argc == 2 && strcmp(argv[1], "deniable") == 0)
		return print_deniable();
	if (argc == 2 && strcmp(argv[1], "allowable") == 0)
		return print_allowable();
	if (!strict && (argc != 2 || strcmp(argv[1], "default") != 0)) {
		(void)fprintf(stderr, "usage: guard_calls deniable|allowable|default|strict\n");
		return 64;
	}
	for (int number = 0; number <= LAST; number++) {
		int error = wanted(number, strict);
		int got = error == PASSES ? PASSES : answer_to(number);

		tried += error != PASSES;
		if (got != error)
			printf("%d: %d, not %d\n", number, got, error);
	}
	printf("%d refused\n", tried);
	return 0;
}
