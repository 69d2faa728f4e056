/* A step is tried as exec does it, by the same functions where there are some, in a child
 * of its own, so that one that fails spoils no other. */
#include "guard/confine/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fence/cgroup.h"
#include "fence/kernel.h"
#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "guard/confine/overlay.h"
#include "guard/confine/steps.h"
#include "guard/confine/tree.h"

static int nothing(struct guard_finding *finding)
{
	(void)finding;
	return 0;
}

static int map(struct guard_finding *finding)
{
	struct fence_err err = { 0 };

	(void)finding;
	return guard_map_self((uid_t)getauxval(AT_EUID), (gid_t)getauxval(AT_EGID), &err);
}

/* The calls that a view of files is made with, on one folder that everybody has. */
static int try_mounts(struct guard_finding *finding)
{
	struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID };
	owned_fd tree = -1;
	int rc;

	(void)finding;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	tree = guard_tree_clone(AT_FDCWD, "/dev");
	if (tree < 0)
		return tree;
	if (mount("tmpfs", "/dev", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0)
		return -errno;
	rc = guard_tree_restrict(tree, MOUNT_ATTR_NOSUID, true);
	if (rc == 0)
		rc = fence_mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &read_only);
	return rc < 0 ? rc : guard_tree_attach(tree, AT_FDCWD, "/dev");
}

static int try_proc(struct guard_finding *finding)
{
	(void)finding;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return -errno;
	return 0;
}

/* Of the repository that is here; where there is none, of what surely can be. */
static int lay_over(void)
{
	struct guard_op op = { .object_fd = -1, .tree_fd = -1, .path = (char[]){ ".git" } };
	struct fence_err err = { 0 };

	op.object_fd = openat(AT_FDCWD, ".git", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0 ||
	    chdir("/proc") < 0)
		return -errno;
	if (op.object_fd < 0 && mkdir(".git", 0700) == 0)
		op.object_fd = openat(AT_FDCWD, ".git", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (op.object_fd < 0 || fstat(op.object_fd, &op.st) < 0)
		return -errno;
	return guard_overlay_make(&op, "copy", guard_is_privileged() && getauxval(AT_EUID) == 0,
				  &err);
}

static int try_overlay(struct guard_finding *finding)
{
	int rc = lay_over();

	(void)snprintf(finding->detail, sizeof(finding->detail), "in profile gate .git is %s",
		       rc == 0 ? "a private copy" : "read-only");
	return rc;
}

static int try_lo(struct guard_finding *finding)
{
	struct fence_err err = { 0 };

	(void)finding;
	return guard_lo_up(&err);
}

/* Refused by the filter, mount(2) says EPERM before it looks at anything. */
static int try_filter(struct guard_finding *finding)
{
	struct fence_err err = { 0 };
	int rc = guard_no_new_privs(&err);

	(void)finding;
	if (rc == 0)
		rc = guard_load_filter(&(struct guard_policy){ .net = GUARD_NET_NONE }, &err);
	if (rc < 0)
		return rc;
	return mount(NULL, NULL, NULL, 0, NULL) < 0 && errno == EPERM ? 0 : -EIO;
}

/* --- the notifier ---------------------------------------------------------------------- */

static int listen_to_getppid(void)
{
	static const struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = (struct sock_filter *)(uintptr_t)lines };

	return fence_seccomp(SECCOMP_SET_MODE_FILTER,
			     SECCOMP_FILTER_FLAG_NEW_LISTENER |
				     SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			     &program);
}

/* The kernel's structs may have grown: these have room. */
union notice {
	struct seccomp_notif notif;
	struct seccomp_notif_resp response;
	char room[512];
};

static int answer_one(int listener)
{
	struct pollfd event = { .fd = listener, .events = POLLIN };
	union notice asked = { .room = { 0 } };
	union notice told = { .room = { 0 } };
	int rc;

	if (poll(&event, 1, 2000) != 1)
		return -ETIMEDOUT;
	rc = fence_ioctl(listener, (unsigned int)SECCOMP_IOCTL_NOTIF_RECV, &asked);
	if (rc < 0)
		return rc;
	told.response.id = asked.notif.id;
	told.response.error = -EXDEV;
	rc = fence_ioctl(listener, (unsigned int)SECCOMP_IOCTL_NOTIF_SEND, &told);
	return rc < 0 ? rc : 0;
}

/* A process below the filter asks, we answer; 0 when it got just that. */
static int try_notifier(struct guard_finding *finding)
{
	struct fence_err err = { 0 };
	struct fence_exit how;
	owned_fd listener = -1;
	pid_t pid = 0;
	int rc = guard_no_new_privs(&err);

	(void)finding;
	if (rc == 0)
		rc = listener = listen_to_getppid();
	if (rc >= 0)
		rc = fence_spawn_fork(0, &pid, NULL);
	if (rc == 0)
		_exit(getppid() < 0 ? 0 : 1);
	if (rc < 0)
		return rc;
	rc = answer_one(listener);
	fence_close_fd(&listener); /* whoever still waits gets ENOSYS */
	if (fence_reap_wait(pid, &how, NULL) < 0 || rc < 0)
		return rc < 0 ? rc : -EIO;
	return how.signalled || how.number != 0 ? -EIO : 0;
}

/* --- Landlock -------------------------------------------------------------------------- */

#define QUERY_ERRATA (1U << 1) /* 6.15 */

static void describe_landlock(struct guard_finding *finding)
{
	static const struct {
		int abi;
		const char *what;
	} gains[] = {
		{ 1, "files" },	    { 2, "renames" },	    { 3, "truncation" },
		{ 4, "TCP ports" }, { 5, "device ioctls" }, { 6, "abstract sockets, signals" },
		{ 7, "audit" },
	};
	int errata = fence_landlock_create(NULL, 0, QUERY_ERRATA);
	size_t used = 0;

	for (size_t i = 0; i < sizeof(gains) / sizeof(gains[0]); i++)
		if (finding->number >= gains[i].abi)
			used += (size_t)snprintf(finding->detail + used,
						 sizeof(finding->detail) - used, "%s%s",
						 i == 0 ? "" : ", ", gains[i].what);
	if (errata > 0)
		(void)snprintf(finding->detail + used, sizeof(finding->detail) - used,
			       "; errata 0x%x", (unsigned int)errata);
}

/* With nothing allowed, opening for writing must fail. */
static int try_landlock(struct guard_finding *finding)
{
	uint64_t handled = LANDLOCK_ACCESS_FS_WRITE_FILE;
	struct fence_err err = { 0 };
	owned_fd ruleset = -1;
	owned_fd file = -1;
	int rc = guard_no_new_privs(&err);

	if (rc == 0)
		rc = finding->number =
			fence_landlock_create(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (rc >= 0)
		rc = ruleset = fence_landlock_create(&handled, sizeof(handled), 0);
	if (rc >= 0)
		rc = fence_landlock_restrict(ruleset);
	if (rc < 0)
		return rc;
	describe_landlock(finding);
	file = openat(AT_FDCWD, "/dev/null", O_WRONLY | O_CLOEXEC);
	return file < 0 && errno == EACCES ? 0 : -EIO;
}

/* --- cgroups, browsers ------------------------------------------------------------------ */

static int try_cgroup(struct guard_finding *finding)
{
	char here[3000];
	char path[3100];
	char controllers[200];
	struct fence_cgroup group = { -1, -1, -1, 0 };
	struct fence_err err = { 0 };
	int rc = fence_cgroup_here(here, sizeof(here), &err);

	if (rc < 0)
		return rc;
	(void)snprintf(path, sizeof(path), "%s/" FENCE_CGROUP_PREFIX "doctor-%d", here,
		       (int)getpid());
	rc = fence_cgroup_make(path, &group, &err);
	if (rc < 0)
		return rc;
	if (fence_read_file(group.dir_fd, "cgroup.controllers", controllers, sizeof(controllers)) <
	    0)
		controllers[0] = '\0';
	controllers[strcspn(controllers, "\n")] = '\0';
	(void)snprintf(finding->detail, sizeof(finding->detail), "controllers: %s",
		       controllers[0] == '\0' ? "none" : controllers);
	fence_cgroup_close(&group);
	return fence_cgroup_remove(path);
}

static bool is_setuid_helper(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == 0 &&
	       (st.st_mode & (S_ISUID | S_IXOTH)) == (S_ISUID | S_IXOTH);
}

/* Chromium's own sandbox: namespaces that it makes itself, inside of the filter that
 * lets it. Without them it has a setuid helper, which works outside of ours alone:
 * under no_new_privs it gains nothing. */
static int try_browser(struct guard_finding *finding)
{
	static const char *const helpers[] = {
		"/usr/lib/chromium/chrome-sandbox",
		"/usr/lib/chromium-browser/chrome-sandbox",
		"/opt/google/chrome/chrome-sandbox",
		"/opt/chromium.org/chromium/chrome-sandbox",
	};
	struct fence_err err = { 0 };
	struct fence_exit how;
	pid_t pid = 0;
	int rc = guard_no_new_privs(&err);

	if (rc == 0)
		rc = guard_load_filter(&(struct guard_policy){ .allow_userns = true }, &err);
	if (rc == 0)
		rc = fence_spawn_fork(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET, &pid, NULL);
	if (rc == 0)
		_exit(map(finding) < 0);
	if (rc > 0 && fence_reap_wait(pid, &how, NULL) == 0)
		rc = how.signalled || how.number != 0 ? -EACCES : 0;
	for (size_t i = 0; rc < 0 && i < sizeof(helpers) / sizeof(helpers[0]); i++)
		if (is_setuid_helper(helpers[i]))
			(void)snprintf(finding->detail, sizeof(finding->detail),
				       "outside of fence-guard %s does it", helpers[i]);
	return rc;
}

/* --- the table --------------------------------------------------------------------------- */

static const struct {
	const char *word;
	const char *sentence;
	enum guard_step step;
	bool in_userns; /* of its own, unless we are privileged */
	uint64_t flags;
	int (*run)(struct guard_finding *finding);
} trials[] = {
	[GUARD_TRIAL_USERNS] = { "user-namespace", "make a user namespace", GUARD_STEP_NAMESPACES,
				 false, CLONE_NEWUSER, nothing },
	[GUARD_TRIAL_MAP] = { "id-map", "map our user into it", GUARD_STEP_MAP, false,
			      CLONE_NEWUSER, map },
	[GUARD_TRIAL_PIDNS] = { "pid-namespace", "make a pid namespace", GUARD_STEP_NAMESPACES,
				true, CLONE_NEWPID, nothing },
	[GUARD_TRIAL_MOUNTNS] = { "mount-namespace", "make a mount namespace",
				  GUARD_STEP_NAMESPACES, true, CLONE_NEWNS, nothing },
	[GUARD_TRIAL_MOUNTS] = { "mounts", "change the view of files", GUARD_STEP_MOUNTS, true,
				 CLONE_NEWNS, try_mounts },
	[GUARD_TRIAL_PROC] = { "proc", "mount a fresh /proc", GUARD_STEP_PROC, true,
			       CLONE_NEWNS | CLONE_NEWPID, try_proc },
	[GUARD_TRIAL_OVERLAY] = { "overlay", "copy a repository for git", GUARD_STEP_OVERLAY, true,
				  CLONE_NEWNS, try_overlay },
	[GUARD_TRIAL_NETNS] = { "network-namespace", "make a network namespace",
				GUARD_STEP_NAMESPACES, true, CLONE_NEWNET, nothing },
	[GUARD_TRIAL_LO] = { "lo", "bring lo up in it", GUARD_STEP_LO, true, CLONE_NEWNET, try_lo },
	[GUARD_TRIAL_OTHERNS] = { "other-namespaces", "make IPC and UTS namespaces",
				  GUARD_STEP_NAMESPACES, true, CLONE_NEWIPC | CLONE_NEWUTS,
				  nothing },
	[GUARD_TRIAL_CGROUPNS] = { "cgroup-namespace", "make a cgroup namespace",
				   GUARD_STEP_CGROUPNS, true, CLONE_NEWCGROUP, nothing },
	[GUARD_TRIAL_FILTER] = { "seccomp-filter", "refuse system calls", GUARD_STEP_SECCOMP, false,
				 0, try_filter },
	[GUARD_TRIAL_NOTIFIER] = { "seccomp-notifier", "be asked about system calls",
				   GUARD_STEP_SECCOMP, false, 0, try_notifier },
	[GUARD_TRIAL_LANDLOCK] = { "landlock", "restrict files by Landlock", GUARD_STEP_LANDLOCK,
				   false, 0, try_landlock },
	[GUARD_TRIAL_CGROUP] = { "cgroup", "make a cgroup", GUARD_STEP_CGROUP, false, 0,
				 try_cgroup },
	[GUARD_TRIAL_BROWSER] = { "browser-sandbox", "let Chromium confine itself inside",
				  GUARD_STEP_NAMESPACES, false, 0, try_browser },
};

const char *guard_trial_word(enum guard_trial trial)
{
	return trials[trial].word;
}

const char *guard_trial_sentence(enum guard_trial trial)
{
	return trials[trial].sentence;
}

__attribute__((noreturn)) static void try_in_child(enum guard_trial trial, bool unmapped, int fd)
{
	struct guard_finding finding = { 0 };

	if (unmapped)
		finding.rc = map(&finding);
	if (finding.rc == 0)
		finding.rc = trials[trial].run(&finding);
	_exit(fence_write_full(fd, &finding, sizeof(finding)) < 0);
}

static int try_one(enum guard_trial trial, bool privileged, struct guard_finding *ret)
{
	bool unmapped = trials[trial].in_userns && !privileged;
	struct fence_exit how;
	pid_t pid = 0;
	int pipe_fds[2];
	int rc;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	rc = fence_spawn_fork(trials[trial].flags | (unmapped ? CLONE_NEWUSER : 0), &pid, NULL);
	if (rc == 0)
		try_in_child(trial, unmapped, pipe_fds[1]);
	(void)close(pipe_fds[1]);
	if (rc < 0)
		*ret = (struct guard_finding){ .rc = rc };
	else if (fence_read_full(pipe_fds[0], ret, sizeof(*ret)) < 0)
		*ret = (struct guard_finding){ .rc = -EIO }; /* killed by a filter, say */
	(void)close(pipe_fds[0]);
	if (rc > 0)
		rc = fence_reap_wait(pid, &how, NULL);
	return ret->rc == 0 && rc < 0 ? rc : 0;
}

int guard_trial_all(struct guard_finding ret[GUARD_TRIAL_COUNT], struct fence_err *err)
{
	bool privileged = guard_is_privileged();

	for (int i = 0; i < GUARD_TRIAL_COUNT; i++) {
		int rc = try_one((enum guard_trial)i, privileged, &ret[i]);

		if (rc < 0)
			return fence_fail(err, rc, "try to %s", trials[i].sentence);
		if (ret[i].rc == 0)
			continue;
		/* A step in a namespace that could not be had has that one's cause. */
		if (trials[i].in_userns && !privileged && ret[GUARD_TRIAL_MAP].rc != 0) {
			ret[i].rc = ret[GUARD_TRIAL_MAP].rc;
			ret[i].cause = ret[GUARD_TRIAL_MAP].cause;
			continue;
		}
		if (i == GUARD_TRIAL_MAP && ret[GUARD_TRIAL_USERNS].rc != 0)
			ret[i].cause = ret[GUARD_TRIAL_USERNS].cause;
		else
			guard_cause_find(trials[i].step, ret[i].rc, &ret[i].cause);
	}
	return 0;
}
