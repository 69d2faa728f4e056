#include "guard/browser/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "guard/browser/proc.h"

static const char *const step_names[PROBE_STEPS] = {
	[PROBE_BECOME] = "become the browser's user",
	[PROBE_USERNS] = "make a user namespace",
	[PROBE_SETGROUPS] = "deny setgroups in a user namespace",
	[PROBE_UID_MAP] = "map the uid into a user namespace",
	[PROBE_GID_MAP] = "map the gid into a user namespace",
	[PROBE_CAPS] = "drop capabilities in a user namespace",
	[PROBE_NESTED] = "make a user namespace inside another",
	[PROBE_NAMESPACES] = "make a pid and a net namespace",
	[PROBE_CHROOT] = "chroot to /proc/self/fdinfo",
	[PROBE_SECCOMP] = "install a seccomp filter",
	[PROBE_EXECUTABLE] = "read and execute the browser",
	[PROBE_INSTALL] = "read the browser's folder",
	[PROBE_PROFILE] = "write the profile folder",
	[PROBE_ROOT] = "make a private folder",
};

/* --- classifying ----------------------------------------------------------------- */

static enum reason why_no_userns(int code, const struct probe_surroundings *s)
{
	switch (code) {
	case -ENOSPC:
	case -EUSERS:
		return REASON_USERNS_LIMIT;
	case -EPERM:
	case -EACCES:
		break;
	case -ENOSYS:
		return s->seccomp_mode != 0 ? REASON_USERNS_DENIED_SECCOMP
					    : REASON_NO_USABLE_SANDBOX;
	default:
		return REASON_NO_USABLE_SANDBOX;
	}
	if (s->unprivileged_userns_clone == 0)
		return REASON_USERNS_DENIED_SYSCTL;
	if (s->is_chrooted)
		return REASON_USERNS_DENIED_CHROOT;
	if (s->seccomp_mode != 0)
		return REASON_USERNS_DENIED_SECCOMP;
	if (s->apparmor_restricts_userns > 0 || code == -EACCES)
		return REASON_USERNS_DENIED_APPARMOR;
	/* What is left of the kernel's own checks: an id without a mapping. */
	return REASON_USERNS_UNMAPPED_ID;
}

/* Ubuntu's AppArmor lets the namespace be made and denies what needs a capability
 * in it. */
static enum reason why_no_map(int code, const struct probe_surroundings *s)
{
	if (code == -ENOENT || code == -EROFS)
		return REASON_PROC_UNAVAILABLE;
	if (s->apparmor_restricts_userns > 0)
		return REASON_USERNS_DENIED_APPARMOR;
	return code == -EPERM ? REASON_USERNS_UNMAPPED_ID : REASON_NO_USABLE_SANDBOX;
}

enum reason probe_classify(enum probe_step step, int code,
			   const struct probe_surroundings *surroundings)
{
	switch (step) {
	case PROBE_BECOME:
		return code == -EINVAL ? REASON_USERNS_UNMAPPED_ID : REASON_RUNNING_AS_ROOT;
	case PROBE_USERNS:
	case PROBE_NESTED:
		return why_no_userns(code, surroundings);
	case PROBE_SETGROUPS:
	case PROBE_UID_MAP:
	case PROBE_GID_MAP:
		return why_no_map(code, surroundings);
	case PROBE_NAMESPACES:
		return REASON_PID_OR_NET_NS_DENIED;
	case PROBE_CHROOT:
		return code == -ENOENT ? REASON_PROC_UNAVAILABLE : REASON_CHROOT_DENIED;
	case PROBE_SECCOMP:
		return REASON_SECCOMP_BPF_MISSING;
	case PROBE_EXECUTABLE:
		return REASON_EXECUTABLE_DENIED;
	case PROBE_INSTALL:
		return REASON_INSTALL_UNREADABLE;
	case PROBE_PROFILE:
		return code == -ENOTDIR ? REASON_PROFILE_INVALID : REASON_PROFILE_NOT_WRITABLE;
	case PROBE_ROOT:
		return REASON_TMP_NOT_WRITABLE;
	case PROBE_CAPS:
	case PROBE_STEPS:
		break;
	}
	return REASON_NO_USABLE_SANDBOX;
}

static int read_sysctl(const char *path)
{
	char text[32];

	return fence_read_file(AT_FDCWD, path, text, sizeof(text)) > 0 ? (int)strtol(text, NULL, 10)
								       : -1;
}

/* In a chroot to a plain folder no mount is seen at "/". */
static bool has_no_root_mount(void)
{
	const size_t size_bytes = 1 << 20;
	owned_mem char *text = malloc(size_bytes);

	if (text == NULL ||
	    fence_read_file(AT_FDCWD, "/proc/self/mountinfo", text, size_bytes) <= 0)
		return false;
	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		int end = 0;

		line += *line == '\n';
		/* number, parent, device, folder in the device: then where it is */
		(void)sscanf(line, "%*s %*s %*s %*s %n", &end);
		if (end > 0 && strncmp(line + end, "/ ", 2) == 0)
			return false;
	}
	return true;
}

static struct probe_surroundings read_surroundings(void)
{
	struct proc_layers us = { 0 };
	char text[4096];

	if (fence_read_file(AT_FDCWD, "/proc/self/status", text, sizeof(text)) > 0)
		(void)proc_parse_status(text, &us);
	return (struct probe_surroundings){
		.seccomp_mode = us.seccomp_mode,
		.unprivileged_userns_clone =
			read_sysctl("/proc/sys/kernel/unprivileged_userns_clone"),
		.apparmor_restricts_userns =
			read_sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
		.is_chrooted = has_no_root_mount(),
	};
}

/* --- the children -------------------------------------------------------------------- */

/* What comes back through the pipe: a failed step, or the root. Smaller than
 * PIPE_BUF, so each arrives whole. */
struct report {
	enum probe_step step; /* PROBE_STEPS: all done */
	int code;
	char root[FOLDER_ROOT_MAX];
};

static int write_proc(const char *path, const char *text)
{
	owned_fd fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fence_write_full(fd, text, strlen(text));
}

static int write_map(const char *path, unsigned int id)
{
	char text[48];

	(void)snprintf(text, sizeof(text), "%u %u 1\n", id, id);
	return write_proc(path, text);
}

struct child {
	int report_fd;
	uid_t uid;
	gid_t gid;
};

static void report(const struct child *child, enum probe_step step, int code)
{
	struct report it = { .step = step, .code = code };

	(void)fence_write_full(child->report_fd, &it, sizeof(it));
}

/* Runs a step in a grandchild; the first failure ends it. */
static void must(const struct child *child, enum probe_step step, int rc)
{
	if (rc >= 0)
		return;
	report(child, step, rc);
	_exit(1);
}

static void map_ids(const struct child *child)
{
	must(child, PROBE_SETGROUPS, write_proc("/proc/self/setgroups", "deny"));
	must(child, PROBE_UID_MAP, write_map("/proc/self/uid_map", child->uid));
	must(child, PROBE_GID_MAP, write_map("/proc/self/gid_map", child->gid));
}

static void try_nested(const struct child *child)
{
	map_ids(child);
	must(child, PROBE_CAPS, fence_capset_none());
	must(child, PROBE_NESTED, unshare(CLONE_NEWUSER) < 0 ? -errno : 0);
}

static int install_empty_filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { .len = 1, .filter = &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}

static void try_layers(const struct child *child)
{
	map_ids(child);
	must(child, PROBE_CHROOT, chroot("/proc/self/fdinfo") < 0 ? -errno : 0);
	must(child, PROBE_SECCOMP, install_empty_filter());
}

/* True: the grandchild did all of it. */
static bool run_steps(const struct child *child, uint64_t namespaces, enum probe_step birth,
		      void (*steps)(const struct child *))
{
	struct fence_exit how;
	pid_t pid;
	int rc = fence_spawn_fork(namespaces, &pid, NULL);

	if (rc == 0) {
		steps(child);
		_exit(0);
	}
	if (rc < 0) {
		report(child, birth, rc);
		return false;
	}
	if (fence_reap_wait(pid, &how, NULL) < 0)
		return false;
	/* Killed (a filter that kills): the step that it died in is not known. */
	if (how.signalled)
		report(child, birth, -EPERM);
	return fence_exit_status(&how) == 0;
}

static int check_profile(const char *profile)
{
	if (profile == NULL)
		return 0;
	if (faccessat(AT_FDCWD, profile, W_OK | X_OK, AT_EACCESS) == 0)
		return open(profile, O_PATH | O_DIRECTORY | O_CLOEXEC) < 0 ? -errno : 0;
	/* Missing: Chromium makes it, or says so. */
	return errno == ENOENT ? 0 : -errno;
}

static int check_install(const char *browser)
{
	char folder[4096];
	const char *slash = strrchr(browser, '/');
	int length = snprintf(folder, sizeof(folder), "%.*s/", slash ? (int)(slash - browser) : 1,
			      slash ? browser : ".");

	if (length < 0 || (size_t)length >= sizeof(folder))
		return -ENAMETOOLONG;
	return faccessat(AT_FDCWD, folder, R_OK | X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

static void check_files(const struct child *child, const struct probe_plan *plan)
{
	int rc = faccessat(AT_FDCWD, plan->browser, R_OK | X_OK, AT_EACCESS);

	must(child, PROBE_EXECUTABLE, rc < 0 ? -errno : 0);
	must(child, PROBE_INSTALL, check_install(plan->browser));
	must(child, PROBE_PROFILE, check_profile(plan->profile));
}

/* Tells of the root, and keeps it until somebody else does: a parent that is killed
 * before the monitor runs must not leave it behind. */
static void make_and_hold_root(const struct child *child, const struct probe_plan *plan,
			       int hold_fd)
{
	struct report done = { .step = PROBE_STEPS };
	char byte;

	(void)umask(077); /* one without our own bits would leave a root that cannot be entered */
	must(child, PROBE_ROOT, folder_make_root(plan->tmp, done.root));
	if (fence_write_full(child->report_fd, &done, sizeof(done)) < 0 ||
	    fence_read_full(hold_fd, &byte, 1) < 0)
		(void)folder_remove(done.root);
}

static void run_child(int report_fd, int hold_fd, const struct probe_plan *plan)
{
	struct child child = { .report_fd = report_fd };

	(void)setsid(); /* who kills the parent's whole group must not get the root's keeper */
	must(&child, PROBE_BECOME, identity_become(&plan->identity));
	/* A process that changed its uid belongs to root in /proc, and could not write
	 * its own maps; the browser, which executes after the change, can. */
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	child.uid = geteuid();
	child.gid = getegid();
	if (!run_steps(&child, CLONE_NEWUSER, PROBE_USERNS, try_nested) ||
	    !run_steps(&child, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET, PROBE_NAMESPACES,
		       try_layers))
		_exit(1);
	check_files(&child, plan);
	make_and_hold_root(&child, plan, hold_fd);
	_exit(0);
}

/* --- the parent ---------------------------------------------------------------------- */

static int refuse(const struct report *report, enum reason *ret_reason, struct fence_err *err)
{
	struct probe_surroundings surroundings = read_surroundings();

	*ret_reason = probe_classify(report->step, report->code, &surroundings);
	(void)fence_fail(err, report->code, "%s", step_names[report->step]);
	return -EACCES;
}

static int make_pipe(int *ret_read_fd, int *ret_write_fd)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	*ret_read_fd = fds[0];
	*ret_write_fd = fds[1];
	return 0;
}

int probe_run(const struct probe_plan *plan, char ret_root[FOLDER_ROOT_MAX],
	      struct probe_hold *ret_hold, enum reason *ret_reason, struct fence_err *err)
{
	owned_fd read_fd = -1, write_fd = -1, hold_read_fd = -1, hold_fd = -1;
	struct report report;
	pid_t pid;
	int rc = make_pipe(&read_fd, &write_fd);

	if (rc == 0)
		rc = make_pipe(&hold_read_fd, &hold_fd);
	if (rc < 0)
		return fence_fail(err, rc, "make a pipe");
	rc = fence_spawn_fork(0, &pid, NULL);
	if (rc == 0) {
		fence_close_fd(&hold_fd);
		fence_close_fd(&read_fd);
		run_child(write_fd, hold_read_fd, plan);
	}
	if (rc < 0)
		return fence_fail(err, rc, "fork the probe");
	fence_close_fd(&write_fd);
	rc = fence_read_full(read_fd, &report, sizeof(report));
	*ret_hold = (struct probe_hold){ .pid = pid, .fd = fence_take_fd(&hold_fd) };
	if (rc >= 0 && report.step == PROBE_STEPS) {
		memcpy(ret_root, report.root, FOLDER_ROOT_MAX);
		return 0;
	}
	probe_release(ret_hold, false);
	if (rc < 0)
		return fence_fail_why(err, -EIO, "ended without an answer", "probe the sandbox");
	return refuse(&report, ret_reason, err);
}

void probe_release(struct probe_hold *hold, bool is_kept)
{
	struct fence_exit how;

	if (hold->pid == 0)
		return;
	if (is_kept)
		(void)fence_write_full(hold->fd, "k", 1);
	fence_close_fd(&hold->fd);
	(void)fence_reap_wait(hold->pid, &how, NULL);
	hold->pid = 0;
}
