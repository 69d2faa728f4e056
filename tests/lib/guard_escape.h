/* What the programs guard_escape_*.c share: tables of attempts to get out of
 * fence-guard exec, or to weaken it, each run in a process of its own.
 *
 *   guard_escape_X list              NAME LAYER ANSWER, tab-separated: what the
 *                                    manual's table says (fence-escapes(7)); an
 *                                    answer to root and one to a user: A/B
 *   guard_escape_X inside|outside|own [ARG...]
 *                                    tries all, prints NAME GOT WANTED, one a line
 *
 * `outside` is the control: the same attempt without fence-guard. `own` is the
 * control of what only root may do to the machine's mounts: it is run as root of a
 * mount namespace made for it. GOT is "ok" (it worked), "nothing" (done, without
 * effect), an errno or the signal that it died of. WANTED is one of these, or
 *   other:E  the kernel's own answer to arguments that do no harm, not E. E is what
 *            fence-guard answers; so it did not come from the call itself
 *   refused  not ok: it is refused outside as well, so this row proves little
 *   either   depends on the machine (sysctls, what it is built with)
 *   untried  it would hurt the machine */
#ifndef TESTS_LIB_GUARD_ESCAPE_H
#define TESTS_LIB_GUARD_ESCAPE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ESCAPE_NOTHING 10000 /* done, without effect */
#define ESCAPE_SECONDS 10

struct attempt {
	const char *name;
	const char *layer;
	const char *inside[2];	/* to root, to a user; [1] NULL: the same */
	const char *control[2]; /* likewise */
	int (*run)(const struct attempt *attempt);
	long number; /* of a system call, for escape_call */
	long arg[6];
	int (*before)(void); /* the control is `own`; makes it ready */
	bool for_root;	     /* a user cannot set it up */
};

static inline const char *escape_of(const char *const pair[2], bool user)
{
	return user && pair[1] != NULL ? pair[1] : pair[0];
}

static inline int escape_call(const struct attempt *at)
{
	return syscall(at->number, at->arg[0], at->arg[1], at->arg[2], at->arg[3], at->arg[4],
		       at->arg[5]) < 0
		       ? -errno
		       : 0;
}

static inline void escape_print(const struct attempt *at, int status, int result,
				const char *wanted)
{
	printf("%s ", at->name);
	if (WIFSIGNALED(status))
		printf("SIG%s", sigabbrev_np(WTERMSIG(status)));
	else if (result > 0)
		printf("nothing");
	else
		printf("%s", result == 0 ? "ok" : strerrorname_np(-result));
	printf(" %s\n", wanted);
	(void)fflush(stdout);
}

static inline void escape_try(const struct attempt *at, bool own, const char *wanted)
{
	int pipe_fds[2];
	int result = -EIO;
	int status = 0;
	pid_t pid;

	if (pipe(pipe_fds) < 0)
		exit(2);
	pid = fork();
	if (pid < 0)
		exit(2);
	if (pid == 0) {
		(void)alarm(ESCAPE_SECONDS);
		result = own ? at->before() : 0;
		result = result < 0 ? result : at->run(at);
		_exit(write(pipe_fds[1], &result, sizeof(result)) != sizeof(result));
	}
	(void)close(pipe_fds[1]);
	if (read(pipe_fds[0], &result, sizeof(result)) != sizeof(result))
		result = -EIO;
	(void)close(pipe_fds[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	escape_print(at, status, result, wanted);
}

static inline void escape_list(const struct attempt *table, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *user = escape_of(table[i].inside, true);

		printf("%s\t%s\t%s", table[i].name, table[i].layer, table[i].inside[0]);
		if (strcmp(user, table[i].inside[0]) != 0)
			printf("/%s", user);
		printf("\n");
	}
}

static inline void escape_control(const struct attempt *at, bool own, bool user)
{
	const char *wanted = escape_of(at->control, user);
	char other[32];

	if (strcmp(wanted, "untried") == 0) {
		printf("%s untried untried\n", at->name);
		return;
	}
	if (strcmp(wanted, "other") == 0) {
		(void)snprintf(other, sizeof(other), "other:%s", escape_of(at->inside, user));
		wanted = other;
	}
	escape_try(at, own, wanted);
}

/* A user is who was one outside: in a user namespace of its own it calls itself root. */
static inline int escape_main(const struct attempt *table, size_t count, const char *mode,
			      bool user)
{
	bool own = strcmp(mode, "own") == 0;

	if (strcmp(mode, "list") == 0) {
		escape_list(table, count);
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		if (table[i].for_root && user)
			continue;
		if (strcmp(mode, "inside") == 0)
			escape_try(&table[i], false, escape_of(table[i].inside, user));
		else if ((table[i].before != NULL) == own)
			escape_control(&table[i], own, user);
	}
	return 0;
}

#endif
