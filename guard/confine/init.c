#include "guard/confine/init.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "fence/loop.h"
#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "guard/confine/report.h"

#define NOTES_MAX 64 /* that many paths are told; the record is bounded */

struct init {
	int sock;
	const struct guard_command *command;
	struct fence_loop loop;
	struct fence_watch sock_watch;
	struct fence_watch signal_watch;
	pid_t pid; /* the command, and its process group */
};

void guard_relayed_signals(sigset_t *ret)
{
	static const int relayed[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT,
	};

	(void)sigemptyset(ret);
	for (size_t i = 0; i < sizeof(relayed) / sizeof(relayed[0]); i++)
		(void)sigaddset(ret, relayed[i]);
}

static void put_text(char *to, size_t size_bytes, const char *text)
{
	(void)snprintf(to, size_bytes, "%s", text);
}

__attribute__((noreturn)) static void fail(const struct init *init, const char *stage, int status,
					   const char *path, const struct fence_err *err)
{
	struct guard_report report = {
		.kind = GUARD_REPORT_FAILED,
		.status = status,
		.err = *err,
	};

	put_text(report.stage, sizeof(report.stage), stage);
	put_text(report.path, sizeof(report.path), path == NULL ? "" : path);
	(void)guard_report_send(init->sock, &report, -1);
	_exit(status);
}

/* --- life and death ------------------------------------------------------------------ */

/* The kernel kills us when the launcher dies. If it died before we could ask for
 * that, its end of the socket is closed already; later that end is watched, too:
 * the death signal alone would depend on the parent's thread. */
static void tie_to_launcher(const struct init *init)
{
	struct pollfd event = { .fd = init->sock };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		_exit(125);
	if (poll(&event, 1, 0) != 0)
		_exit(125);
	/* What is sent to the launcher's group reaches us through it, and once. */
	(void)setpgid(0, 0);
}

/* Whatever dies in here becomes ours in the end. The command's own death ends
 * everything: with pid 1 the kernel kills the whole namespace. */
static int reap_all(struct init *init)
{
	struct guard_report report = { .kind = GUARD_REPORT_ENDED };
	struct fence_exit how;

	while (fence_reap_look(&how) == 1) {
		(void)fence_reap_take(how.pid, &how, NULL);
		if (how.pid != init->pid)
			continue;
		report.how = how;
		if (init->command->tell_started)
			guard_leftover_look(&report.leftover);
		(void)guard_report_send(init->sock, &report, -1);
		_exit(fence_exit_status(&how));
	}
	if (fence_reap_stopped(init->pid, &report.status) == 1) {
		report.kind = GUARD_REPORT_STOPPED;
		(void)guard_report_send(init->sock, &report, -1);
	}
	return 0;
}

static void give_terminal(const struct init *init)
{
	for (int fd = 0; fd <= 2; fd++)
		if (tcsetpgrp(fd, init->pid) == 0)
			return;
}

static int on_socket(void *arg, uint32_t epoll_events)
{
	struct init *init = arg;
	char word = 0;

	(void)epoll_events;
	if (fence_read_some(init->sock, &word, sizeof(word)) != sizeof(word))
		_exit(125);
	if (word == GUARD_SAY_TERMINAL) {
		give_terminal(init);
		(void)kill(-init->pid, SIGCONT);
	}
	return 0;
}

static int on_signal(void *arg, uint32_t epoll_events)
{
	struct init *init = arg;
	struct signalfd_siginfo info;

	(void)epoll_events;
	if (fence_read_some(init->signal_watch.fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (info.ssi_signo == SIGCHLD)
		return reap_all(init);
	(void)kill(-init->pid, (int)info.ssi_signo);
	return 0;
}

/* --- start ------------------------------------------------------------------------------ */

/* All that the set-up opened, and what the launcher had open; not the descriptors
 * that the command keeps. */
static int close_others(const struct init *init, const struct guard_policy *policy)
{
	unsigned int first = 3;
	size_t at = 0;
	int rc = 0;
	bool sock_done = false;

	while (rc == 0 && (at < policy->keep_count || !sock_done)) {
		bool sock_next = !sock_done &&
				 (at == policy->keep_count || init->sock < policy->keep_fds[at]);
		unsigned int kept = (unsigned int)(sock_next ? init->sock : policy->keep_fds[at]);

		if (sock_next)
			sock_done = true;
		else
			at++;
		if (kept > first)
			rc = fence_close_range(first, kept - 1, 0);
		if (kept >= first)
			first = kept + 1;
	}
	return rc < 0 ? rc : fence_close_range(first, ~0U, 0);
}

static void tell_names(const struct init *init, enum guard_report_kind kind,
		       const struct guard_names *names)
{
	struct guard_report report = { .kind = kind };

	for (size_t i = 0; i < names->count && i < NOTES_MAX; i++) {
		put_text(report.path, sizeof(report.path), names->items[i]);
		(void)guard_report_send(init->sock, &report, -1);
	}
}

static const char *path_of(char *const *envp)
{
	for (; *envp != NULL; envp++)
		if (strncmp(*envp, "PATH=", 5) == 0)
			return *envp + 5;
	return NULL;
}

/* The launcher reads the command's pid from the pidfd, which works until it is
 * reaped: so it answers with a byte when it has, and until then nothing is reaped. */
static void tell_started(const struct init *init, const struct guard_confine *confine, int pidfd)
{
	struct guard_report report = {
		.kind = GUARD_REPORT_STARTED,
		.proc_masked = confine->plan.proc_masked,
		.landlock = confine->plan.landlock,
	};
	char answer;

	if (guard_report_send(init->sock, &report, pidfd) < 0 ||
	    fence_read_some(init->sock, &answer, sizeof(answer)) != sizeof(answer))
		_exit(125); /* the launcher is gone */
}

static void start(struct init *init, const struct guard_confine *confine)
{
	const struct guard_command *command = init->command;
	struct fence_spawn_plan plan = {
		.argv = command->argv,
		.envp = command->envp,
		.session = FENCE_SPAWN_OWN_GROUP,
		.foreground = command->foreground,
		.stdio = { -1, -1, -1 },
		.umask = -1,
		.keep_fds = confine->policy->keep_fds,
		.keep_count = confine->policy->keep_count,
		.keep_signals = true,
		.mask = command->mask,
	};
	enum fence_spawn_step step = FENCE_SPAWN_STEP_EXEC;
	struct fence_err err = { 0 };
	char file[PATH_MAX];
	owned_fd pidfd = -1;
	int rc = fence_spawn_find(command->argv[0], path_of(command->envp), NULL, file,
				  sizeof(file));

	if (rc < 0) {
		fence_fail(&err, rc, "find %s", command->argv[0]);
		fail(init, "exec", rc == -ENOENT ? 127 : 126, command->argv[0], &err);
	}
	plan.file = file;
	rc = fence_spawn_exec(&plan, &init->pid, &pidfd, &step);
	if (rc < 0) {
		fence_fail(&err, rc, "%s %s", fence_spawn_step_name(step), file);
		if (rc == -ENOEXEC)
			(void)fence_hint(&err, "a script needs a first line such as #!/bin/sh");
		fail(init, "exec", step == FENCE_SPAWN_STEP_EXEC ? 126 : 125, file, &err);
	}
	if (command->tell_started)
		tell_started(init, confine, pidfd);
}

static int watch(struct init *init)
{
	sigset_t wanted;
	int fd;
	int rc;

	guard_relayed_signals(&wanted);
	(void)sigaddset(&wanted, SIGCHLD);
	fd = fence_signals_take(&wanted, NULL);
	if (fd < 0)
		return fd;
	rc = fence_loop_open(&init->loop);
	if (rc < 0)
		return rc;
	init->signal_watch = (struct fence_watch){ .ready = on_signal, .arg = init };
	init->sock_watch = (struct fence_watch){ .ready = on_socket, .arg = init };
	rc = fence_loop_add(&init->loop, &init->signal_watch, fd, EPOLLIN);
	return rc < 0 ? rc : fence_loop_add(&init->loop, &init->sock_watch, init->sock, EPOLLIN);
}

/* Every rule holds two descriptors while the view is made, and two for each folder
 * that is pinned for it; the soft limit is meant for the command, which gets it back. */
#define RULES_WITHIN_LIMIT 10

static int apply(struct guard_confine *confine, const char **stage, struct fence_err *err)
{
	struct rlimit limit;
	struct rlimit wide;
	int rc;

	if (confine->policy->rule_count <= RULES_WITHIN_LIMIT)
		return guard_confine_apply(confine, stage, err);
	*stage = "paths";
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return fence_fail(err, -errno, "read the limit of descriptors");
	wide = (struct rlimit){ .rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &wide) < 0)
		return fence_fail(err, -errno, "raise the limit of descriptors");
	rc = guard_confine_apply(confine, stage, err);
	if (rc == -EMFILE)
		(void)fence_hint(err, "raise the hard limit of descriptors (ulimit -Hn)");
	if (rc == 0 && setrlimit(RLIMIT_NOFILE, &limit) < 0)
		rc = fence_fail(err, -errno, "restore the limit of descriptors");
	return rc;
}

void guard_init_run(struct guard_confine *confine, const struct guard_command *command, int sock)
{
	struct init init = { .sock = sock, .command = command };
	struct fence_err err = { 0 };
	const char *stage = "";
	int rc;

	tie_to_launcher(&init);
	if (apply(confine, &stage, &err) < 0)
		fail(&init, stage, 125, confine->plan.current, &err);
	if (command->tell_started) {
		tell_names(&init, GUARD_REPORT_ABSENT, &confine->plan.absent_denied);
		tell_names(&init, GUARD_REPORT_READ_ONLY, &confine->plan.read_only_parents);
	}
	/* The command has our uid: it must not look into pid 1, nor trace it. */
	rc = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : close_others(&init, confine->policy);
	if (rc == 0)
		rc = watch(&init);
	if (rc < 0) {
		fence_fail(&err, rc, "set up init");
		fail(&init, "init", 125, NULL, &err);
	}
	start(&init, confine);
	for (size_t i = 0; i < confine->policy->keep_count; i++)
		(void)close(confine->policy->keep_fds[i]);
	(void)fence_loop_run(&init.loop);
	_exit(125);
}
