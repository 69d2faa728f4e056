/* The containment ladder: what holds a command beyond the two subreapers. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/group_priv.h"
#include "fence/own.h"
#include "fence/reap.h"
#include "fence/sys.h"

#define LEAVE_MS      1000
#define LEAVE_LOOK_MS 5

void fence_contain_init(struct fence_containment *contain, struct fence_group_shared *shared)
{
	*contain = (struct fence_containment){
		.shared = shared,
		.proc_fd = -1,
		.init_fd = -1,
		.cgroup = { .dir_fd = -1, .events_fd = -1, .kill_fd = -1 },
	};
}

/* --- why not -------------------------------------------------------------------------- */

static bool sysctl_is(const char *path, int value)
{
	char text[32];

	return fence_read_file(AT_FDCWD, path, text, sizeof(text)) > 0 && text[0] == value &&
	       text[1] == '\n';
}

static const struct {
	int code, value;
	const char *path; /* of a switch, which when it has this value is the reason */
	const char *why;
	const char *hint;
} reasons[] = {
	{ -ENOSPC, '0', "/proc/sys/user/max_user_namespaces", "user.max_user_namespaces is 0",
	  "raise it with sysctl(8), or use --contain cgroup or subreaper" },
	{ -ENOSPC, '0', "/proc/sys/user/max_pid_namespaces", "user.max_pid_namespaces is 0",
	  "raise it with sysctl(8), or use --contain cgroup or subreaper" },
	{ -ENOSPC, 0, NULL, "there are as many namespaces as are allowed (user.max_*_namespaces)",
	  "raise that with sysctl(8), or use --contain cgroup or subreaper" },
	{ -EPERM, '0', "/proc/sys/kernel/unprivileged_userns_clone",
	  "kernel.unprivileged_userns_clone is 0",
	  "set it with sysctl(8), or use --contain cgroup or subreaper" },
	{ -EPERM, '1', "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
	  "AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns)",
	  "give fence-run a profile that allows userns, or use --contain cgroup or subreaper" },
	{ -EPERM, 0, NULL, "a chroot, a system call filter or a security module forbids it",
	  "run outside of that, or use --contain cgroup or subreaper" },
	{ -EINVAL, 0, NULL, "this kernel has no user and pid namespaces",
	  "use --contain cgroup or subreaper" },
};

static int explain_namespaces(int rc, struct fence_err *err)
{
	if (rc == -EPERM && geteuid() == 0) {
		(void)fence_fail_why(err, rc, "we are root without CAP_SYS_ADMIN",
				     "make a pid namespace");
		(void)fence_hint(err, "keep that capability, or use --contain cgroup or subreaper");
		return rc;
	}
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (reasons[i].code != rc ||
		    (reasons[i].path != NULL && !sysctl_is(reasons[i].path, reasons[i].value)))
			continue;
		(void)fence_fail_why(err, rc, reasons[i].why, "make a pid namespace");
		(void)fence_hint(err, "%s", reasons[i].hint);
		return rc;
	}
	(void)fence_fail(err, rc, "make a pid namespace");
	(void)fence_hint(err, "use --contain cgroup or subreaper");
	return rc;
}

static int explain_proc(int rc, struct fence_err *err)
{
	if (rc == -EPERM) {
		(void)fence_fail_why(err, rc, "parts of ours are covered, as containers do it",
				     "mount a /proc of the command's own");
		(void)fence_hint(err,
				 "uncover /proc (docker: --security-opt systempaths=unconfined)"
				 ", or use --contain cgroup or subreaper");
		return rc;
	}
	(void)fence_fail(err, rc, "mount a /proc of the command's own");
	(void)fence_hint(err, "use --contain cgroup or subreaper");
	return rc;
}

/* --- a pid namespace --------------------------------------------------------------------- */

static int write_text(const char *path, const char *text)
{
	owned_fd fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fence_write_full(fd, text, strlen(text));
}

static int write_map(const char *path, unsigned int id)
{
	char line[48];

	(void)snprintf(line, sizeof(line), "%u %u 1", id, id);
	return write_text(path, line);
}

/* Our next children are born in a pid namespace of their own. Who may not make one alone
 * may make one within a user namespace, in which the user stays the same. Our own pid, and
 * what we see, do not change. */
static int unshare_pids(bool *ret_in_user_ns)
{
	unsigned int user = geteuid(), group = getegid();
	int rc;

	*ret_in_user_ns = false;
	if (unshare(CLONE_NEWPID) == 0)
		return 0;
	/* Root in a user namespace would keep its name and lose its power over everything
	 * outside, which is another command than the one that was asked for. */
	if (errno != EPERM || user == 0)
		return -errno;
	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
		return -errno;
	*ret_in_user_ns = true;
	rc = write_text("/proc/self/setgroups", "deny");
	if (rc == 0)
		rc = write_map("/proc/self/uid_map", user);
	if (rc == 0)
		rc = write_map("/proc/self/gid_map", group);
	return rc == -EACCES ? -EPERM : rc; /* a security module's word for it */
}

/* In the namespace's first child, or in the command before it is that: a /proc that shows
 * the namespace, in a mount tree of its own. Ready, but not yet in place. */
static int make_proc(int *ret_fd)
{
	owned_fd fs = -1;
	int rc = 0;

	if (unshare(CLONE_NEWNS) < 0)
		return -errno;
	/* Nothing that is mounted here may reach anybody else. The root of a chroot is no
	 * mount; then the one that is covered must do. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 &&
	    (errno != EINVAL || mount(NULL, "/proc", NULL, MS_SLAVE, NULL) < 0))
		return -errno;
	fs = fence_fsopen("proc", FSOPEN_CLOEXEC);
	if (fs < 0)
		return fs;
	rc = fence_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL);
	if (rc < 0)
		return rc;
	rc = fence_fsmount(fs, FSMOUNT_CLOEXEC,
			   MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (rc < 0)
		return rc;
	*ret_fd = rc;
	return 0;
}

/* Before the gate, so that what can fail has failed before anything is published. */
static int child_make_proc(void *arg, struct fence_err *err)
{
	struct fence_containment *contain = arg;
	int rc = make_proc(&contain->proc_fd);

	return rc < 0 ? explain_proc(rc, err) : 0;
}

/* After it: a gate says who we are out there, for which it reads the /proc out there. */
static int child_cover_proc(void *arg, struct fence_err *err)
{
	const struct fence_containment *contain = arg;
	int rc = fence_move_mount(contain->proc_fd, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH);

	return rc < 0 ? explain_proc(rc, err) : 0;
}

static int fork_init(struct fence_containment *contain)
{
	int ends[2];
	int rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	rc = fence_spawn_fork(0, &contain->init, NULL);
	if (rc == 0)
		fence_group_init_main(ends[1], &contain->shared->init_reaped);
	(void)close(ends[1]);
	contain->init_fd = ends[0];
	contain->shared->init = contain->init;
	return rc < 0 ? rc : 0;
}

static int enter_pidns(struct fence_containment *contain, struct fence_spawn_plan *spawn,
		       struct fence_err *err)
{
	int rc = unshare_pids(&contain->in_user_ns);

	if (rc < 0)
		return explain_namespaces(rc, err);
	rc = fork_init(contain);
	if (rc < 0)
		return fence_fail(err, rc, "start the first process of a pid namespace");
	contain->shared->contain = FENCE_CONTAIN_PIDNS;
	spawn->contain = child_make_proc;
	spawn->contained = child_cover_proc;
	spawn->contain_arg = contain;
	return 0;
}

/* A user namespace cannot be left again, so who has a choice tries first, in processes
 * that are not needed any more. */
static void __attribute__((noreturn)) try_pidns(void)
{
	struct fence_exit how = { .number = 1 };
	bool in_user_ns;
	int proc_fd = -1;
	pid_t pid = 0;
	int rc = unshare_pids(&in_user_ns);

	if (rc == 0)
		rc = fence_spawn_fork(0, &pid, NULL);
	if (rc == 0 && pid == 0)
		_exit(make_proc(&proc_fd) < 0 || fence_move_mount(proc_fd, "", AT_FDCWD, "/proc",
								  MOVE_MOUNT_F_EMPTY_PATH) < 0);
	if (rc == 1)
		(void)fence_reap_wait(pid, &how, NULL);
	_exit(how.number != 0);
}

static bool pidns_works(void)
{
	struct fence_exit how = { .number = 1 };
	pid_t pid;
	int rc = fence_spawn_fork(0, &pid, NULL);

	if (rc == 0)
		try_pidns();
	return rc == 1 && fence_reap_wait(pid, &how, NULL) == 0 && how.number == 0;
}

static void say(const struct fence_containment *contain, char word)
{
	if (contain->init_fd >= 0)
		(void)send(contain->init_fd, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void fence_contain_command_gone(struct fence_containment *contain)
{
	say(contain, FENCE_INIT_COMMAND_GONE);
	contain->init_told = true;
}

int fence_contain_hear(struct fence_containment *contain)
{
	char word;
	ssize_t got = recv(contain->init_fd, &word, 1, MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0)
		return -EPIPE;
	contain->init_decided |= word == FENCE_INIT_OTHERS_LIVE;
	return 0;
}

/* --- a cgroup ----------------------------------------------------------------------------- */

static int enter_cgroup(struct fence_containment *contain, struct fence_spawn_plan *spawn,
			struct fence_err *err)
{
	char *path = contain->shared->cgroup_path;
	char here[PATH_MAX];
	int length;
	int rc = fence_cgroup_here(here, sizeof(here), err);

	if (rc < 0)
		return rc;
	/* The name is known to the launcher before there is a group of that name. */
	length = snprintf(path, PATH_MAX, "%s/" FENCE_CGROUP_PREFIX "%d.%llx", here, (int)getpid(),
			  (unsigned long long)fence_now_us());
	rc = length < 0 || length >= PATH_MAX
		     ? fence_fail(err, -ENAMETOOLONG, "make a cgroup in %s", here)
		     : fence_cgroup_make(path, &contain->cgroup, err);
	if (rc < 0) {
		path[0] = '\0';
		return rc;
	}
	contain->shared->contain = FENCE_CONTAIN_CGROUP;
	spawn->cgroup_fd = contain->cgroup.dir_fd;
	spawn->cgroup_id = contain->cgroup.id;
	return 0;
}

static void read_memory(struct fence_containment *contain)
{
	struct fence_group_result *result = &contain->shared->result;
	int dir_fd = contain->cgroup.dir_fd;

	result->memory_known = fence_cgroup_memory_kills(dir_fd, &result->memory_kills) == 0;
	if (fence_cgroup_memory_peak(dir_fd, &result->memory_peak_bytes) < 0)
		result->memory_peak_bytes = 0;
}

/* --- the ladder --------------------------------------------------------------------------- */

int fence_contain_enter(struct fence_containment *contain, enum fence_group_contain wish,
			struct fence_spawn_plan *spawn, struct fence_err *err)
{
	switch (wish) {
	case FENCE_GROUP_SUBREAPER:
		return 0;
	case FENCE_GROUP_PIDNS:
		return enter_pidns(contain, spawn, err);
	case FENCE_GROUP_CGROUP:
		return enter_cgroup(contain, spawn, err);
	case FENCE_GROUP_BEST:
		break;
	}
	if (pidns_works())
		return enter_pidns(contain, spawn, err);
	(void)enter_cgroup(contain, spawn, NULL);
	return 0;
}

void fence_contain_kill(struct fence_containment *contain)
{
	if (contain->init_fd >= 0 && !contain->kill_asked)
		say(contain, FENCE_INIT_KILL);
	contain->kill_asked = true;
	if (contain->cgroup.kill_fd >= 0)
		(void)fence_cgroup_kill(&contain->cgroup);
}

bool fence_contain_is_empty(const struct fence_containment *contain)
{
	return contain->cgroup.events_fd < 0 || fence_cgroup_populated(&contain->cgroup) != 1;
}

/* Who was reaped has left the group, but kernels differ in whether that is so at once. */
static void remove_cgroup(const struct fence_containment *contain)
{
	struct pollfd event = { .fd = contain->cgroup.events_fd, .events = POLLPRI };
	int64_t stop_at_ms = fence_now_ms() + LEAVE_MS;

	while (fence_cgroup_remove(contain->shared->cgroup_path) == -EBUSY &&
	       contain->shared->result.survivor_count == 0 && fence_now_ms() < stop_at_ms) {
		(void)fence_cgroup_populated(&contain->cgroup);
		(void)poll(&event, 1, LEAVE_LOOK_MS);
	}
}

void fence_contain_leave(struct fence_containment *contain)
{
	if (contain->cgroup.dir_fd >= 0) {
		read_memory(contain);
		remove_cgroup(contain);
		fence_cgroup_close(&contain->cgroup);
	}
	fence_close_fd(&contain->init_fd);
}
