#include "guard/confine/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/loop.h"
#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "guard/confine/aside.h"
#include "guard/confine/cause.h"
#include "guard/confine/explainer.h"
#include "guard/confine/init.h"
#include "guard/confine/placeholder.h"
#include "guard/confine/record.h"
#include "guard/confine/report.h"
#include "guard/confine/serve.h"
#include "guard/confine/steps.h"

struct launch {
	const struct guard_policy *policy;
	struct guard_confine confine;
	struct guard_command command;
	struct fence_err *err;
	struct guard_serving serving; /* its socket is the launcher's */
	int init_pidfd;
	pid_t init_pid;
	pid_t explainer_pid; /* 0: none */
	int terminal_fd;     /* our controlling terminal; -1: none */
	int64_t start_ms;
	struct guard_exec_record record;
	struct guard_aside *aside;
	struct fence_exit how; /* the command's end */
	bool ended;
	int status;    /* to exit with; -1: not known yet */
	sigset_t mask; /* that we were started with, for the command */
};

/* A record that cannot be written does not change what happened; it is said. */
static void check_record(struct launch *launch, int rc)
{
	if (rc < 0 && launch->err->code == 0)
		fence_fail(launch->err, rc, "write the status record to descriptor %d",
			   launch->policy->status_fd);
}

/* --- what init says -------------------------------------------------------------------- */

/* The number behind a pidfd, as our /proc counts. */
static pid_t pid_behind(int pidfd)
{
	char path[64];
	char text[1024];
	const char *line;
	pid_t pid;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	if (pidfd < 0 || fence_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
		return 0;
	line = strstr(text, "\nPid:");
	pid = line == NULL ? 0 : (pid_t)strtol(line + strlen("\nPid:"), NULL, 10);
	return pid < 0 ? 0 : pid;
}

static bool have_terminal(const struct launch *launch)
{
	return launch->terminal_fd >= 0 && tcgetpgrp(launch->terminal_fd) == getpgrp();
}

/* A shell script that goes on after us must be able to read its terminal. When the
 * foreground is a group that lives, somebody has taken it since: it is theirs. */
static void take_terminal_back(const struct launch *launch)
{
	pid_t group = launch->terminal_fd < 0 ? -1 : tcgetpgrp(launch->terminal_fd);

	if (group >= 0 && (group == 0 || (kill(-group, 0) < 0 && errno == ESRCH)))
		(void)tcsetpgrp(launch->terminal_fd, getpgrp());
}

static void say(const struct launch *launch, char word)
{
	(void)fence_write_full(launch->serving.sock, &word, 1); /* if init is gone, so be it */
}

static void on_failed(struct launch *launch, const struct guard_report *report)
{
	struct guard_report hinted = *report;

	/* Here, since init may have no /proc left to look into. */
	guard_cause_hint_stage(report->stage, &hinted.err);
	*launch->err = hinted.err;
	launch->status = report->status;
	if (launch->policy->status_fd >= 0)
		(void)guard_record_failure(launch->policy->status_fd, &hinted);
}

static void on_started(struct launch *launch, const struct guard_report *report, int pidfd)
{
	launch->record.pid = pid_behind(pidfd);
	say(launch, GUARD_SAY_GO_ON);
	launch->record.init_pid = launch->init_pid;
	launch->record.proc_masked = report->proc_masked;
	launch->record.landlock = report->landlock;
	check_record(launch, guard_record_exec(launch->policy->status_fd, &launch->confine,
					       &launch->record));
}

/* A command that did not get the terminal at its start is stopped when it asks for
 * it, and gets it then if it is ours to give. In every other case we stop with the
 * command, and whoever watches us sees it. */
static void on_stopped(const struct launch *launch, int sig)
{
	if ((sig == SIGTTIN || sig == SIGTTOU) && have_terminal(launch))
		say(launch, GUARD_SAY_TERMINAL);
	else
		(void)kill(getpid(), SIGSTOP);
}

static void on_report(struct launch *launch, const struct guard_report *report, int *fd)
{
	switch (report->kind) {
	case GUARD_REPORT_FAILED:
		on_failed(launch, report);
		break;
	case GUARD_REPORT_ABSENT:
		check_record(launch, guard_names_add(&launch->record.absent_denied, report->path));
		break;
	case GUARD_REPORT_PLACEHOLDER:
		check_record(launch, guard_names_add(&launch->record.placeholders, report->path));
		break;
	case GUARD_REPORT_GIT:
		if (launch->record.git.count < GUARD_PRIVATES_MAX)
			launch->record.git_rcs[launch->record.git.count] = report->status;
		check_record(launch, guard_names_add(&launch->record.git, report->path));
		break;
	case GUARD_REPORT_DISCARDED:
		check_record(launch, guard_aside_add(&launch->aside, report, fd));
		break;
	case GUARD_REPORT_STARTED:
		on_started(launch, report, *fd);
		break;
	case GUARD_REPORT_STOPPED:
		on_stopped(launch, report->status);
		break;
	case GUARD_REPORT_GROUPLESS:
		take_terminal_back(launch);
		break;
	case GUARD_REPORT_ENDED:
		launch->how = report->how;
		launch->record.leftover = report->leftover;
		launch->ended = true;
		break;
	}
}

static int take_reports(struct launch *launch)
{
	struct guard_report report;

	for (;;) {
		owned_fd fd = -1;
		int rc = guard_report_take(launch->serving.sock, &report, &fd);

		if (rc <= 0)
			return rc;
		on_report(launch, &report, &fd);
	}
}

/* --- the end --------------------------------------------------------------------------- */

static void conclude(struct launch *launch, const struct fence_exit *init_how,
		     const struct rusage *usage)
{
	/* With init all inside is dead. */
	check_record(launch, guard_aside_keep(&launch->aside, &launch->record));
	if (launch->status >= 0)
		return;
	if (!launch->ended)
		launch->how = *init_how; /* which is the command's status, unless */
	if (!launch->ended && (init_how->signalled || launch->policy->status_fd >= 0)) {
		/* its death took the command along. */
		fence_fail_why(launch->err, -ECHILD, "somebody killed it",
			       "init ended before the command (%s %d)",
			       init_how->signalled ? "signal" : "status", init_how->number);
	}
	launch->status = fence_exit_status(&launch->how);
	if (launch->policy->status_fd >= 0)
		check_record(launch, guard_record_exit(launch->policy->status_fd, &launch->how,
						       &launch->confine.limits, &launch->record,
						       usage, fence_now_ms() - launch->start_ms));
}

static int on_socket(void *arg)
{
	struct launch *launch = arg;
	struct fence_exit how;
	struct rusage usage;

	if (take_reports(launch) == 0)
		return 0;
	/* Init holds its end for as long as it lives. */
	if (fence_reap_wait(launch->init_pid, &how, &usage) < 0)
		return -ECHILD;
	conclude(launch, &how, &usage);
	return 1;
}

/* It ends by itself when the command has; before that, what it was asked is answered with
 * ENOSYS, and nothing can go on as if it were the host's answer. */
static void on_explainer(struct launch *launch, const struct fence_exit *how)
{
	launch->explainer_pid = 0;
	if (!how->signalled && how->number == 0)
		return;
	fence_fail_why(launch->err, -ECHILD, "somebody killed it",
		       "the explaining process ended before the command");
	launch->status = 125;
	(void)fence_pidfd_signal(launch->init_pidfd, SIGKILL, 0);
}

/* When init can be reaped, nothing of the namespace is left. */
static int on_child(struct launch *launch)
{
	struct fence_exit how;
	struct rusage usage;

	if (fence_reap_take(launch->init_pid, &how, &usage) == 0) {
		(void)take_reports(launch);
		conclude(launch, &how, &usage);
		return 1;
	}
	/* Children that whoever became us by exec(2) had before. */
	while (fence_reap_look(&how) == 1 && how.pid != launch->init_pid) {
		(void)fence_reap_take(how.pid, &how, NULL);
		if (how.pid == launch->explainer_pid)
			on_explainer(launch, &how);
	}
	return 0;
}

static int on_signal(void *arg, const struct signalfd_siginfo *info)
{
	struct launch *launch = arg;

	if (info->ssi_signo == SIGCHLD)
		return on_child(launch);
	/* Continued in the foreground (fg), or in the background (bg). */
	if (info->ssi_signo == SIGCONT && have_terminal(launch))
		say(launch, GUARD_SAY_TERMINAL);
	else
		(void)fence_pidfd_signal(launch->init_pidfd, (int)info->ssi_signo, 0);
	return 0;
}

/* --- the birth ------------------------------------------------------------------------- */

/* Our controlling terminal among the standard descriptors, or -1. */
static int find_terminal(const struct guard_policy *policy)
{
	for (int fd = 0; fd <= 2; fd++)
		if (policy->may_be_terminal[fd] && tcgetpgrp(fd) >= 0)
			return fd;
	return -1;
}

/* In a pipeline the terminal is for all of it: the command gets it when it asks. */
static bool starts_in_foreground(const struct launch *launch)
{
	return !launch->policy->new_session && have_terminal(launch) && isatty(STDIN_FILENO) &&
	       isatty(STDOUT_FILENO);
}

static const char *value_of(char *const *envp, const char *name)
{
	size_t length = strlen(name);

	for (; *envp != NULL; envp++)
		if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
			return *envp + length + 1;
	return NULL;
}

/* Before there is an init that could tell of it. */
static int fail_early(struct launch *launch, const char *stage, const struct fence_err *err)
{
	struct guard_report failed = { .kind = GUARD_REPORT_FAILED, .status = 125, .err = *err };

	(void)snprintf(failed.stage, sizeof(failed.stage), "%s", stage);
	on_failed(launch, &failed);
	return err->code;
}

static int give_birth(struct launch *launch)
{
	uint64_t flags = guard_confine_namespaces(&launch->confine);
	struct fence_err err = { 0 };
	int pair[2];
	int rc = guard_limits_prepare(&launch->confine.limits, launch->policy,
				      launch->confine.real_root, &err);

	if (rc < 0)
		return fail_early(launch, "limits", &err);

	if (launch->policy->allow_nesting)
		launch->confine.nesting = (struct guard_nesting){
			.as_root = launch->confine.uid == 0,
			.owns_cgroup = launch->confine.uid == 0 ||
				       launch->confine.limits.group != NULL || guard_owns_cgroup(),
		};
	if (launch->policy->explain_fd >= 0) {
		rc = guard_explainer_start(&launch->confine.plan, launch->policy,
					   &launch->explainer_pid, &launch->confine.explainer_sock,
					   launch->err);
		if (rc < 0)
			return rc;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fence_fail(launch->err, -errno, "make a socket pair");
	rc = fence_spawn_fork(flags, &launch->init_pid, &launch->init_pidfd);
	/* All that a cgroup namespace holds is the name of the group; see nesting.c for who
	 * cannot have one. */
	if (rc == -EPERM && (flags & CLONE_NEWCGROUP) && guard_is_filtered()) {
		launch->confine.shares_cgroup_names = true;
		rc = fence_spawn_fork(flags & ~(uint64_t)CLONE_NEWCGROUP, &launch->init_pid,
				      &launch->init_pidfd);
	}
	if (rc == 0) {
		(void)close(pair[1]);
		guard_init_run(&launch->confine, &launch->command, pair[0]);
	}
	(void)close(pair[0]);
	fence_close_fd(&launch->confine.explainer_sock);
	launch->serving.sock = pair[1];
	if (rc > 0)
		return 0;
	fence_fail(&err, rc, "create namespaces");
	return fail_early(launch, "namespaces", &err);
}

/* What the command keeps is not ours to hold: a pipe must end when it ends it. */
static void drop_kept(const struct guard_policy *policy)
{
	for (size_t i = 0; i < policy->keep_count; i++)
		if (policy->keep_fds[i] != policy->status_fd)
			(void)close(policy->keep_fds[i]);
}

static void clean_up(struct launch *launch)
{
	/* Descriptors go with the process, which ends now. */
	take_terminal_back(launch);
	guard_limits_end(&launch->confine.limits);
	guard_names_free(&launch->record.absent_denied);
	guard_names_free(&launch->record.placeholders);
	guard_names_free(&launch->record.git);
	guard_names_free(&launch->record.discarded);
	guard_names_free(&launch->record.kept);
	guard_names_free(&launch->record.kept_why);
}

/* Its last lines come before our end. */
static void await_explainer(struct launch *launch)
{
	struct fence_exit how;

	if (launch->explainer_pid > 0)
		(void)fence_reap_wait(launch->explainer_pid, &how, NULL);
}

static int run(struct launch *launch)
{
	sigset_t wanted;
	int rc;

	/* An inherited "ignore" would reap our child behind our back. */
	rc = fence_signal_default(SIGCHLD);
	if (rc < 0)
		return fence_fail(launch->err, rc, "listen for the end of the command");
	guard_relayed_signals(&wanted);
	(void)sigaddset(&wanted, SIGCHLD);
	rc = fence_signals_take(&wanted, &launch->mask);
	if (rc < 0)
		return fence_fail(launch->err, rc, "take signals over");
	launch->serving.signal_fd = rc;
	launch->command.signal_fd = rc;
	launch->command.mask = &launch->mask;
	rc = give_birth(launch);
	if (rc < 0)
		return rc;
	drop_kept(launch->policy);
	rc = guard_serve(&launch->serving);
	await_explainer(launch);
	return rc < 0 ? fence_fail(launch->err, rc, "watch the command") : 0;
}

/* Was told of placeholders; or init may have made one that it could not tell of any more. */
static bool needs_sweep(const struct launch *launch)
{
	return launch->policy->profile->confine &&
	       (launch->record.placeholders.count > 0 || launch->err->code != 0);
}

int guard_launch(const struct guard_policy *policy, char *const *argv, char *const *envp,
		 struct fence_err *err)
{
	struct launch launch = {
		.policy = policy,
		.confine = {
			.policy = policy,
			.plan = { .home = value_of(envp, "HOME"), .tmp_dir = value_of(envp, "TMPDIR") },
			.real_root = guard_is_privileged(),
			.explainer_sock = -1,
			.uid = (uid_t)getauxval(AT_EUID),
			.gid = (gid_t)getauxval(AT_EGID),
		},
		.command = {
			.argv = argv,
			.envp = envp,
			.tell_started = policy->status_fd >= 0,
		},
		.err = err,
		.init_pidfd = -1,
		.terminal_fd = find_terminal(policy),
		.start_ms = fence_now_ms(),
		.status = -1,
	};
	int rc;

	launch.serving = (struct guard_serving){
		.signal_fd = -1,
		.sock = -1,
		.on_signal = on_signal,
		.on_socket = on_socket,
		.arg = &launch,
	};
	if (policy->profile->confine)
		launch.confine.plan.keeps = guard_placeholder_sweep();
	launch.command.on_terminal = launch.terminal_fd >= 0 && !policy->new_session;
	launch.command.foreground = starts_in_foreground(&launch);
	rc = run(&launch);
	if (needs_sweep(&launch))
		(void)guard_placeholder_sweep();
	clean_up(&launch);
	return rc < 0 ? 125 : launch.status;
}
