#include "guard/confine/init.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "guard/confine/discard.h"
#include "guard/confine/limits.h"
#include "guard/confine/report.h"
#include "guard/confine/serve.h"

#define NOTES_MAX 64 /* that many paths are told; the record is bounded */

struct init {
	int sock;
	const struct guard_command *command;
	const struct guard_plan *plan;
	pid_t pid; /* the command, and its process group */
	bool wait_all;
	bool gone;	       /* the command has ended, and others are waited for */
	bool groupless;	       /* nor is anybody left in its group */
	struct fence_exit how; /* then: its end */
	struct guard_serving *serving;
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
	struct fence_err err = { 0 };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) {
		fence_fail(&err, -errno, "tie init to its launcher");
		fail(init, "init", 125, NULL, &err);
	}
	if (poll(&event, 1, 0) != 0)
		_exit(125);
	/* What is sent to the launcher's group reaches us through it, and once. */
	(void)setpgid(0, 0);
}

static void tell_discarded(const struct init *init)
{
	struct guard_report report = { .kind = GUARD_REPORT_DISCARDED };

	for (size_t i = 0; i < init->plan->private_count; i++) {
		const struct guard_private *copy = &init->plan->privates[i];

		if (copy->upper_fd < 0 || !guard_discard_matters(copy->upper_fd))
			continue;
		guard_discard_stash(copy->upper_fd, report.err.why, GUARD_STASH_BYTES);
		put_text(report.path, sizeof(report.path), copy->path);
		report.status = guard_report_send(init->sock, &report, copy->upper_fd);
		if (report.status < 0)
			(void)guard_report_send(init->sock, &report, -1);
		report.status = 0;
	}
}

/* The command's own death ends everything: with pid 1 the kernel kills the whole
 * namespace. Where nobody asked for the record, our own status says all of it. */
__attribute__((noreturn)) static void end(const struct init *init, const struct fence_exit *how)
{
	struct guard_report report = { .kind = GUARD_REPORT_ENDED, .how = *how };

	tell_discarded(init);
	if (init->command->tell_started) {
		/* Nobody is left after all were waited for, also where no /proc tells. */
		report.leftover.known = init->wait_all;
		if (!init->wait_all)
			guard_leftover_look(&report.leftover);
		(void)guard_report_send(init->sock, &report, -1);
	}
	_exit(fence_exit_status(how));
}

static void on_end(struct init *init, const struct fence_exit *how)
{
	if (!init->wait_all)
		end(init, how);
	init->gone = true;
	init->how = *how;
}

#define GROUP_TICK_MS 200

/* A terminal whose foreground is an empty group hands nobody its Ctrl-C: the launcher
 * takes it back. Nothing tells that the last member left by setsid(2) or died as another
 * one's child, so we look every now and then. */
static void check_group(struct init *init)
{
	struct guard_report report = { .kind = GUARD_REPORT_GROUPLESS };

	if (init->groupless || !init->command->on_terminal)
		return;
	init->groupless = kill(-init->pid, 0) < 0 && errno == ESRCH;
	init->serving->tick_ms = init->groupless ? 0 : GROUP_TICK_MS;
	if (init->groupless)
		(void)guard_report_send(init->sock, &report, -1);
}

static int on_tick(void *arg)
{
	check_group(arg);
	return 0;
}

static int reap_stops(const struct init *init)
{
	struct guard_report report = { .kind = GUARD_REPORT_STOPPED };
	int rc = init->gone ? fence_reap_stopped_in(init->pid, &report.status)
			    : fence_reap_stopped(init->pid, &report.status);

	return rc == 1 ? guard_report_send(init->sock, &report, -1) : 0;
}

/* Whatever dies in here becomes ours in the end; so when there is no child any more, there
 * is nobody. */
static int reap_all(struct init *init)
{
	struct fence_exit how;
	int rc;

	if (!init->gone && fence_reap_take(init->pid, &how, NULL) == 0)
		on_end(init, &how);
	while ((rc = fence_reap_look(&how)) == 1) {
		(void)fence_reap_take(how.pid, &how, NULL);
		if (how.pid == init->pid && !init->gone)
			on_end(init, &how);
	}
	if (init->gone && rc == -ECHILD)
		end(init, &init->how);
	if (init->gone)
		check_group(init);
	(void)reap_stops(init);
	return 0;
}

/* To the command's process group; once the command has ended, to all that is left. */
static void relay(const struct init *init, int sig)
{
	(void)kill(init->gone ? -1 : -init->pid, sig);
}

static void give_terminal(const struct init *init)
{
	for (int fd = 0; fd <= 2; fd++)
		if (tcsetpgrp(fd, init->pid) == 0)
			return;
}

static int on_socket(void *arg)
{
	struct init *init = arg;
	char word = 0;

	if (fence_read_some(init->sock, &word, sizeof(word)) != sizeof(word))
		_exit(125);
	if (word == GUARD_SAY_TERMINAL) {
		give_terminal(init);
		relay(init, SIGCONT);
	}
	return 0;
}

static int on_signal(void *arg, const struct signalfd_siginfo *info)
{
	struct init *init = arg;

	if (info->ssi_signo == SIGCHLD)
		return reap_all(init);
	/* Of the signals that are there the kernel hands out the lowest first: the command may
	 * have ended before this one came. */
	if (init->wait_all)
		(void)reap_all(init);
	relay(init, (int)info->ssi_signo);
	return 0;
}

/* --- start ------------------------------------------------------------------------------ */

/* The lowest of `fds` that is not below `first`, if it is below `best`. */
static unsigned int next_kept(unsigned int first, const int *fds, size_t count, unsigned int best)
{
	for (size_t i = 0; i < count; i++)
		if ((unsigned int)fds[i] >= first && (unsigned int)fds[i] < best)
			best = (unsigned int)fds[i];
	return best;
}

static unsigned int next_private(unsigned int first, const struct guard_plan *plan,
				 unsigned int best)
{
	for (size_t i = 0; i < plan->private_count; i++)
		best = next_kept(first, &plan->privates[i].upper_fd, 1, best);
	return best;
}

/* All that the set-up opened, and what the launcher had open; not the descriptors
 * that the command keeps. */
static int close_others(const struct init *init, const struct guard_confine *confine)
{
	const struct guard_policy *policy = confine->policy;
	const int own[] = { init->command->signal_fd, init->sock };
	const struct guard_plan *plan = &confine->plan;
	unsigned int first = 3;
	int rc = 0;

	for (;;) {
		unsigned int kept = next_kept(first, own, 2, ~0U);

		kept = next_kept(first, policy->keep_fds, policy->keep_count, kept);
		kept = next_kept(first, plan->locks, plan->lock_count, kept);
		kept = next_private(first, plan, kept);
		if (rc == 0 && kept > first)
			rc = fence_close_range(first, kept == ~0U ? kept : kept - 1, 0);
		if (rc < 0 || kept == ~0U)
			return rc;
		first = kept + 1;
	}
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

static void tell_copies(const struct init *init)
{
	struct guard_report report = { .kind = GUARD_REPORT_GIT };

	for (size_t i = 0; i < init->plan->private_count; i++) {
		report.status = init->plan->privates[i].rc;
		put_text(report.path, sizeof(report.path), init->plan->privates[i].path);
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

/* Where the command is. A name with a slash is tried as it is: only when that fails is
 * the reason looked for. */
static int find(const struct guard_command *command, char *ret_file, size_t size_bytes)
{
	const char *name = command->argv[0];

	if (strchr(name, '/') == NULL || strlen(name) >= size_bytes)
		return fence_spawn_find(name, path_of(command->envp), NULL, ret_file, size_bytes);
	memcpy(ret_file, name, strlen(name) + 1);
	return 0;
}

__attribute__((noreturn)) static void fail_find(const struct init *init, int rc)
{
	struct fence_err err = { 0 };

	fence_fail(&err, rc, "find %s", init->command->argv[0]);
	fail(init, "exec", rc == -ENOENT ? 127 : 126, init->command->argv[0], &err);
}

static void start(struct init *init, const struct guard_confine *confine)
{
	const struct guard_command *command = init->command;
	struct fence_spawn_limit limits[GUARD_LIMITS_OF_EACH];
	struct fence_spawn_plan plan = {
		.argv = command->argv,
		.envp = command->envp,
		.session = confine->policy->new_session ? FENCE_SPAWN_OWN_SESSION
							: FENCE_SPAWN_OWN_GROUP,
		.foreground = command->foreground,
		.stdio = { -1, -1, -1 },
		.umask = -1,
		.keep_fds = confine->policy->keep_fds,
		.keep_count = confine->policy->keep_count,
		.fds_are_set = confine->policy->keep_count == 0, /* close_others */
		.keep_signals = true,
		.mask = command->mask,
		.limits = limits,
		.limit_count = guard_limits_of_each(&confine->limits, limits),
	};
	enum fence_spawn_step step = FENCE_SPAWN_STEP_EXEC;
	struct fence_err err = { 0 };
	char file[PATH_MAX];
	owned_fd pidfd = -1;
	int rc = find(command, file, sizeof(file));

	if (rc < 0)
		fail_find(init, rc);
	plan.file = file;
	rc = fence_spawn_exec(&plan, &init->pid, command->tell_started ? &pidfd : NULL, &step);
	if (rc < 0) {
		char unwanted[PATH_MAX];
		int why = fence_spawn_find(command->argv[0], path_of(command->envp), NULL, unwanted,
					   sizeof(unwanted));

		if (step == FENCE_SPAWN_STEP_EXEC && why < 0)
			fail_find(init, why);
		fence_fail(&err, rc, "%s %s", fence_spawn_step_name(step), file);
		if (step == FENCE_SPAWN_STEP_LIMITS)
			(void)guard_limits_explain(confine->policy, rc, &err);
		if (rc == -ENOEXEC)
			(void)fence_hint(&err, "a script needs a first line such as #!/bin/sh");
		fail(init, "exec", step == FENCE_SPAWN_STEP_EXEC ? 126 : 125, file, &err);
	}
	if (command->tell_started)
		tell_started(init, confine, pidfd);
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
	struct init init = {
		.sock = sock,
		.command = command,
		.plan = &confine->plan,
		.wait_all = confine->policy->wait_all,
	};
	struct guard_serving serving = {
		.signal_fd = command->signal_fd,
		.sock = sock,
		.on_signal = on_signal,
		.on_socket = on_socket,
		.on_tick = on_tick,
		.arg = &init,
	};
	struct fence_err err = { 0 };
	const char *stage = "";
	int rc;

	init.serving = &serving;
	tie_to_launcher(&init);
	if (apply(confine, &stage, &err) < 0)
		fail(&init, stage, 125, confine->plan.current, &err);
	if (command->tell_started) {
		tell_names(&init, GUARD_REPORT_ABSENT, &confine->plan.absent_denied);
		tell_copies(&init);
	}
	tell_names(&init, GUARD_REPORT_PLACEHOLDER, &confine->plan.placeholders);
	/* The command has our uid: it must not look into pid 1, nor trace it. */
	rc = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : close_others(&init, confine);
	if (rc < 0) {
		fence_fail(&err, rc, "set up init");
		fail(&init, "init", 125, NULL, &err);
	}
	start(&init, confine);
	for (size_t i = 0; i < confine->policy->keep_count; i++)
		(void)close(confine->policy->keep_fds[i]);
	fence_fail(&err, guard_serve(&serving), "wait for the command");
	fail(&init, "init", 125, NULL, &err);
}
