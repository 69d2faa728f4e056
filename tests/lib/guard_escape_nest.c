/* guard_escape_nest MODE root|user HOST: attempts of who may make namespaces of his own
 * (see guard_escape.h), in a folder that escapes.sh has made ready: `denied` and `denied.d`
 * are masked, `pinned/hooks` is protected, `plain` and `plain.d` may be written. HOST is a
 * folder outside that may be read.
 *
 * Inside, each attempt first makes a user and a mount namespace of its own and is root of
 * them. Its control, `own`, does the same to mounts that were made in the very namespaces
 * that it is root of, where nothing is locked.
 *
 *   guard_escape_nest copying-up root HOST   `capable`, a file of HOST's with a file
 *                                            capability and a set-id bit, is copied into
 *                                            `scratch` by an overlay: "ok" with both */
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "tests/lib/guard_escape.h"

static const char *host;     /* set once, by main */
static bool is_own, is_user; /* likewise */
static int old_folder = -1;  /* `.` as it was before the attempt's own namespaces */
static int old_mounts = -1;
static int old_users = -1;

#define HOOK "pinned/hooks/pre-commit"

static int outcome(long result)
{
	return result < 0 ? -errno : 0;
}

static int can_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : outcome(close(fd));
}

/* 0: what is behind the mask was read. */
static int shows(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char byte;
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, &byte, 1);
	(void)close(fd);
	return got < 0 ? -errno : got == 0 ? ESCAPE_NOTHING : 0;
}

/* --- namespaces of its own ---------------------------------------------------------- */

static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t length = (ssize_t)strlen(text);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, (size_t)length) != length)
		rc = -errno;
	(void)close(fd);
	return rc;
}

static int map_self(unsigned int uid, unsigned int gid)
{
	char map[64];
	int rc = put("/proc/self/setgroups", "deny");

	(void)snprintf(map, sizeof(map), "0 %u 1\n", uid);
	if (rc == 0)
		rc = put("/proc/self/uid_map", map);
	(void)snprintf(map, sizeof(map), "0 %u 1\n", gid);
	return rc < 0 ? rc : put("/proc/self/gid_map", map);
}

static int nest(int more)
{
	unsigned int uid = geteuid();
	unsigned int gid = getegid();

	if (is_own)
		return more == 0 ? 0 : outcome(unshare(more));
	old_folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	old_mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	old_users = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	if (old_folder < 0 || old_mounts < 0 || old_users < 0)
		return -errno;
	/* An errno of these is no attempt's answer. */
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 || map_self(uid, gid) < 0)
		exit(3);
	return more == 0 ? 0 : outcome(unshare(more));
}

static int own_mounts(void)
{
	static const char *const pins[] = { "pinned", "pinned/hooks" };

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("plain", "denied", NULL, MS_BIND, NULL) < 0)
		return -errno;
	for (size_t i = 0; i < 2; i++)
		if (mount(pins[i], pins[i], NULL, MS_BIND, NULL) < 0)
			return -errno;
	old_folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return outcome(mount(NULL, "pinned/hooks", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
}

/* What an attempt does once it is root of its own. */
#define NESTED(name)                                                                               \
	static int name##_nested(void);                                                            \
	static int name(const struct attempt *at)                                                  \
	{                                                                                          \
		int rc = nest(0);                                                                  \
                                                                                                   \
		(void)at;                                                                          \
		return rc < 0 ? rc : name##_nested();                                              \
	}                                                                                          \
	static int name##_nested(void)

/* --- masks and protections ------------------------------------------------------------ */

NESTED(read_mask)
{
	return shows("denied");
}

NESTED(umount_mask)
{
	return umount2("denied", 0) < 0 ? -errno : shows("denied");
}

NESTED(umount_mask_lazily)
{
	return umount2("denied", MNT_DETACH) < 0 ? -errno : shows("denied");
}

NESTED(umount_protected)
{
	return umount2("pinned/hooks", 0) < 0 ? -errno : can_open(HOOK, O_WRONLY);
}

NESTED(remount_root)
{
	return outcome(mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
}

NESTED(remount_protected)
{
	return outcome(mount(NULL, "pinned/hooks", NULL, MS_REMOUNT | MS_BIND, NULL));
}

NESTED(writable_protected)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_RDONLY };

	return outcome(
		syscall(SYS_mount_setattr, AT_FDCWD, "pinned/hooks", 0, &attr, sizeof(attr)));
}

NESTED(set_id_in_protected)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_NOSUID };

	/* Set for the control. */
	if (is_own && mount(NULL, "denied", NULL, MS_REMOUNT | MS_BIND | MS_NOSUID, NULL) < 0)
		return -errno;
	return outcome(syscall(SYS_mount_setattr, AT_FDCWD, "denied", 0, &attr, sizeof(attr)));
}

NESTED(move_mask)
{
	return outcome(mount("denied", "plain", NULL, MS_MOVE, NULL));
}

NESTED(move_mask_by_tree)
{
	long fd = syscall(SYS_open_tree, AT_FDCWD, "denied", O_CLOEXEC);

	return fd < 0 ? -errno
		      : outcome(syscall(SYS_move_mount, fd, "", AT_FDCWD, "plain",
					MOVE_MOUNT_F_EMPTY_PATH));
}

NESTED(bind_folder)
{
	return mount(".", "plain.d", NULL, MS_BIND, NULL) < 0 ? -errno : shows("plain.d/denied");
}

NESTED(bind_old_folder)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", old_folder);
	return mount(path, "plain.d", NULL, MS_BIND | MS_REC, NULL) < 0 ? -errno : 0;
}

NESTED(clone_folder)
{
	return outcome(syscall(SYS_open_tree, AT_FDCWD, ".", OPEN_TREE_CLONE | O_CLOEXEC));
}

NESTED(umount_in_copy)
{
	if (mount(".", "plain.d", NULL, MS_BIND | MS_REC, NULL) < 0)
		return -errno;
	return umount2("plain.d/denied", 0) < 0 ? -errno : shows("plain.d/denied");
}

NESTED(move_in_copy)
{
	if (mount(".", "plain.d", NULL, MS_BIND | MS_REC, NULL) < 0)
		return -errno;
	return outcome(mount("plain.d/denied", "plain", NULL, MS_MOVE, NULL));
}

/* --- overlays --------------------------------------------------------------------------- */

static int overlay(const char *lower, const char *upper, const char *work)
{
	char options[3 * PATH_MAX];

	(void)snprintf(options, sizeof(options), "lowerdir=%s%s%s%s%s,userxattr", lower,
		       upper ? ",upperdir=" : "", upper ? upper : "", work ? ",workdir=" : "",
		       work ? work : "");
	return outcome(mount("overlay", "plain.d", "overlay", 0, options));
}

static const char *with_host(const char *folder)
{
	static char lower[2 * PATH_MAX];

	(void)snprintf(lower, sizeof(lower), "%s:%s", folder, host);
	return lower;
}

NESTED(overlay_folder)
{
	int rc = overlay(with_host("."), NULL, NULL);

	return rc < 0 ? rc : shows("plain.d/denied");
}

NESTED(overlay_above)
{
	char above[PATH_MAX];
	char layers[PATH_MAX + sizeof(":/usr")];
	int rc;

	if (getcwd(above, sizeof(above)) == NULL)
		return -errno;
	*strrchr(above, '/') = '\0';
	/* What is below twice is no good to an overlay: any other folder. */
	(void)snprintf(layers, sizeof(layers), "%s:/usr", above);
	rc = overlay(layers, NULL, NULL);
	return rc < 0 ? rc : shows("plain.d/work/denied");
}

NESTED(overlay_by_context)
{
	int fd = (int)syscall(SYS_fsopen, "overlay", 0);
	int rc = outcome(fd);

	if (rc == 0)
		rc = outcome(syscall(SYS_fsconfig, fd, FSCONFIG_SET_STRING, "lowerdir",
				     with_host("."), 0));
	return rc < 0 ? rc : outcome(syscall(SYS_fsconfig, fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0));
}

/* --- without the mounts that pin -------------------------------------------------------- */

static int unpin(void)
{
	return is_own && (umount2("pinned/hooks", 0) < 0 || umount2("pinned", 0) < 0) ? -errno : 0;
}

static int rename_and_back(void)
{
	if (renameat(old_folder, "pinned", old_folder, "moved") < 0)
		return -errno;
	return outcome(renameat(old_folder, "moved", old_folder, "pinned"));
}

NESTED(rename_ancestor)
{
	int rc = unpin();

	if (rc < 0 || rename("pinned", "moved") < 0)
		return rc < 0 ? rc : -errno;
	return outcome(rename("moved", "pinned"));
}

NESTED(rename_by_old_folder)
{
	int rc = unpin();

	return rc < 0 ? rc : rename_and_back();
}

NESTED(remove_by_old_folder)
{
	int rc = unpin();

	return rc < 0 ? rc : outcome(unlinkat(old_folder, HOOK, 0));
}

static int leave(void)
{
	if (mount("none", "/mnt", "tmpfs", 0, NULL) < 0 || mkdir("/mnt/old", 0700) < 0 ||
	    chdir("/mnt") < 0)
		return -errno;
	return outcome(syscall(SYS_pivot_root, ".", "old"));
}

NESTED(pivot_away)
{
	int rc = leave();

	if (rc == 0)
		rc = outcome(umount2("/old", MNT_DETACH));
	return rc < 0 ? rc : rename_and_back();
}

NESTED(umount_root)
{
	return umount2("/", MNT_DETACH) < 0 ? -errno : rename_and_back();
}

NESTED(umount_high_bits)
{
	return outcome(
		syscall(SYS_umount2, "denied", (UINT64_C(1) << 32) | MNT_DETACH | UMOUNT_NOFOLLOW));
}

NESTED(tree_as_namespace)
{
	return outcome(syscall(SYS_open_tree, AT_FDCWD, "plain.d", 2));
}

NESTED(mount_as_namespace)
{
	return outcome(syscall(SYS_fsmount, -1, 2, 0));
}

NESTED(empty_namespace)
{
	return outcome(unshare(CLONE_NEWNS | 0x00100000));
}

NESTED(time_namespace)
{
	return outcome(unshare(0x80));
}

/* --- back to where it came from ---------------------------------------------------------- */

NESTED(join_old_mounts)
{
	return outcome(setns(old_mounts, CLONE_NEWNS));
}

NESTED(join_old_users)
{
	return outcome(setns(old_users, CLONE_NEWUSER));
}

static int of_parent(const char *name)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)getppid(), name);
	return can_open(path, O_RDONLY);
}

NESTED(parent_root)
{
	return of_parent("root");
}

NESTED(parent_mounts)
{
	return of_parent("ns/mnt");
}

NESTED(trace_parent)
{
	return outcome(ptrace(PTRACE_SEIZE, getppid(), 0, 0));
}

NESTED(init_root)
{
	return can_open("/proc/1/root", O_RDONLY);
}

NESTED(kill_init)
{
	if (is_own)
		return 0;
	return kill(1, SIGKILL) < 0 ? -errno : kill(1, 0) < 0 ? 0 : ESCAPE_NOTHING;
}

NESTED(file_handle)
{
	struct {
		struct file_handle head;
		unsigned char body[128];
	} handle = { .head.handle_bytes = 128 };
	int id;

	if (name_to_handle_at(AT_FDCWD, "plain", &handle.head, &id, 0) < 0)
		return -errno;
	return outcome(open_by_handle_at(AT_FDCWD, &handle.head, O_RDONLY));
}

/* --- without namespaces of its own ------------------------------------------------------ */

static int mount_at_once(const struct attempt *at)
{
	(void)at;
	return outcome(mount("none", "plain.d", "tmpfs", 0, NULL));
}

static int umount_at_once(const struct attempt *at)
{
	(void)at;
	return outcome(umount2("denied", 0));
}

static int name_at_once(const struct attempt *at)
{
	(void)at;
	return outcome(sethostname("x", 1));
}

/* --- users ---------------------------------------------------------------------------------- */

static int map_others(const struct attempt *at)
{
	(void)at;
	if (is_own)
		return 0;
	if (unshare(CLONE_NEWUSER) < 0)
		exit(3);
	return put("/proc/self/uid_map", "0 0 65536\n");
}

NESTED(map_again)
{
	return is_own ? 0 : put("/proc/self/uid_map", "0 0 1\n");
}

static int limits_of_outer(const struct attempt *at)
{
	(void)at;
	return is_own ? 0 : put("/proc/sys/user/max_user_namespaces", "100000\n");
}

/* --- new file systems --------------------------------------------------------------------------
 */

/* In a pid namespace of its own, with a /proc mounted with `flags`. */
static int in_new_proc(unsigned long flags, const char *path)
{
	int result = nest(CLONE_NEWPID);
	int pipe_fds[2];
	pid_t pid;

	if (result < 0 || pipe(pipe_fds) < 0)
		return result < 0 ? result : -errno;
	pid = fork();
	if (pid == 0) {
		result = outcome(mount("proc", "plain.d", "proc", flags, NULL));
		if (result == 0)
			result = can_open(path, O_WRONLY);
		_exit(write(pipe_fds[1], &result, sizeof(result)) != sizeof(result));
	}
	(void)waitpid(pid, NULL, 0);
	(void)close(pipe_fds[1]);
	return read(pipe_fds[0], &result, sizeof(result)) == sizeof(result) ? result : -EIO;
}

static int new_proc_settings(const struct attempt *at)
{
	(void)at;
	return in_new_proc(MS_NOSUID | MS_NODEV | MS_NOEXEC, "plain.d/sys/kernel/core_pattern");
}

static int new_proc_read_only(const struct attempt *at)
{
	(void)at;
	return in_new_proc(MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY,
			   "plain.d/sys/kernel/core_pattern");
}

static int new_sysfs(const struct attempt *at)
{
	int rc = nest(CLONE_NEWNET);

	(void)at;
	if (rc < 0)
		return rc;
	if (mount("sysfs", "plain.d", "sysfs", 0, NULL) < 0)
		return -errno;
	return can_open("plain.d/kernel/profiling", O_WRONLY);
}

static int new_cgroups(const struct attempt *at)
{
	int rc = nest(CLONE_NEWCGROUP);

	(void)at;
	if (rc < 0)
		return rc;
	if (mount("cgroup2", "plain.d", "cgroup2", 0, NULL) < 0)
		return -errno;
	return can_open("plain.d/cgroup.procs", O_WRONLY);
}

NESTED(cgroups_of_outer)
{
	return outcome(mount("cgroup2", "plain.d", "cgroup2", 0, NULL));
}

NESTED(device)
{
	if (mount("none", "plain.d", "tmpfs", 0, NULL) < 0)
		return -errno;
	return outcome(mknod("plain.d/null", S_IFCHR | 0666, makedev(1, 3)));
}

NESTED(disk)
{
	return outcome(mount("/dev/loop0", "plain.d", "ext4", 0, NULL));
}

/* --- capabilities of files ------------------------------------------------------------------- */

/* struct vfs_cap_data of linux/capability.h, revision 2: CAP_SYS_ADMIN. */
static const unsigned int capability[5] = { 0x02000001, 1U << 21 };
#define NAME "security.capability"

static int without_namespaces(const struct attempt *at)
{
	(void)at;
	return outcome(setxattr("plain", NAME, capability, sizeof(capability), 0));
}

NESTED(by_path)
{
	return outcome(setxattr("plain", NAME, capability, sizeof(capability), 0));
}

NESTED(by_link)
{
	return outcome(lsetxattr("plain", NAME, capability, sizeof(capability), 0));
}

NESTED(by_descriptor)
{
	int fd = open("plain", O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : outcome(fsetxattr(fd, NAME, capability, sizeof(capability), 0));
}

NESTED(by_new_call)
{
	return outcome(syscall(463, AT_FDCWD, "plain", 0, NAME, capability, 0));
}

static int has_capability(const char *path)
{
	char value[64];

	return getxattr(path, NAME, value, sizeof(value)) < 0 ? ESCAPE_NOTHING : 0;
}

/* A file of the host's is copied with all that it has, when it is changed in an overlay. */
NESTED(by_copying_up)
{
	struct stat st;
	int rc;

	if ((mkdir("scratch/upper", 0755) < 0 || mkdir("scratch/work", 0755) < 0) &&
	    errno != EEXIST)
		return -errno;
	rc = overlay(host, "scratch/upper", "scratch/work");
	if (rc == 0)
		rc = outcome(utimensat(AT_FDCWD, "plain.d/capable", NULL, 0));
	if (rc == 0)
		rc = outcome(stat("scratch/upper/capable", &st));
	if (rc == 0 && !(st.st_mode & S_ISUID))
		return ESCAPE_NOTHING;
	return rc < 0 ? rc : has_capability("scratch/upper/capable");
}

/* clang-format off */
#define ATTEMPT(title, layer_, root, user, control_root, control_user, function, ...) \
	{ .name = "nested-" title, .layer = layer_, .inside = { root, user }, \
	  .control = { control_root, control_user }, .run = function, .before = own_mounts, __VA_ARGS__ }
#define LOCKED(title, answer, function) \
	ATTEMPT(title, "mounts", answer, NULL, "ok", NULL, function, .number = 0)
#define FILTERED(title, answer, control_root, control_user, function) \
	ATTEMPT(title, "seccomp", answer, NULL, control_root, control_user, function, .number = 0)
#define FOREIGN(title, answer, function) \
	ATTEMPT(title, "namespaces", answer, NULL, "either", NULL, function, .number = 0)
#define CAPABILITY(title, answer, function) \
	ATTEMPT(title, "seccomp", answer, NULL, "ok", NULL, function, .for_root = true)

static const struct attempt attempts[] = {
	ATTEMPT("not-mount", "privileges", "EPERM", NULL, "ok", NULL, mount_at_once, .number = 0),
	ATTEMPT("not-umount", "privileges", "EPERM", NULL, "ok", NULL, umount_at_once, .number = 0),
	ATTEMPT("not-hostname", "privileges", "EPERM", NULL, "untried", NULL, name_at_once, .number = 0),
	ATTEMPT("read-mask", "mounts", "nothing", NULL, "ok", NULL, read_mask, .number = 0),
	LOCKED("umount-mask", "EINVAL", umount_mask),
	FILTERED("umount-mask-lazily", "EPERM", "ok", NULL, umount_mask_lazily),
	FILTERED("umount-high-bits", "EPERM", "ok", NULL, umount_high_bits),
	LOCKED("umount-protected", "EINVAL", umount_protected),
	LOCKED("remount-root", "EPERM", remount_root),
	LOCKED("remount-protected", "EPERM", remount_protected),
	LOCKED("writable-protected", "EPERM", writable_protected),
	LOCKED("set-id-in-mask", "EPERM", set_id_in_protected),
	LOCKED("move-mask", "EINVAL", move_mask),
	LOCKED("move-mask-by-tree", "EINVAL", move_mask_by_tree),
	LOCKED("bind-folder", "EINVAL", bind_folder),
	LOCKED("bind-old-folder", "EINVAL", bind_old_folder),
	LOCKED("clone-folder", "EINVAL", clone_folder),
	LOCKED("umount-in-copy", "EINVAL", umount_in_copy),
	LOCKED("move-in-copy", "EINVAL", move_in_copy),
	LOCKED("overlay-folder", "EINVAL", overlay_folder),
	LOCKED("overlay-above", "EINVAL", overlay_above),
	LOCKED("overlay-by-context", "EINVAL", overlay_by_context),
	LOCKED("rename-ancestor", "EBUSY", rename_ancestor),
	LOCKED("rename-by-old-folder", "EBUSY", rename_by_old_folder),
	LOCKED("remove-by-old-folder", "EROFS", remove_by_old_folder),
	FILTERED("pivot-away", "EPERM", "ok", NULL, pivot_away),
	FILTERED("umount-root", "EPERM", "either", NULL, umount_root),
	FILTERED("tree-as-namespace", "EINVAL", "either", NULL, tree_as_namespace),
	FILTERED("mount-as-namespace", "EINVAL", "either", NULL, mount_as_namespace),
	FILTERED("empty-namespace", "EINVAL", "either", NULL, empty_namespace),
	FILTERED("time-namespace", "EPERM", "ok", NULL, time_namespace),
	FILTERED("file-handle", "EPERM", "either", NULL, file_handle),
	FOREIGN("join-old-mounts", "EPERM", join_old_mounts),
	FOREIGN("join-old-users", "EPERM", join_old_users),
	FOREIGN("parent-root", "EACCES", parent_root),
	FOREIGN("parent-mounts", "EACCES", parent_mounts),
	FOREIGN("trace-parent", "EPERM", trace_parent),
	FOREIGN("init-root", "EACCES", init_root),
	FOREIGN("kill-init", "nothing", kill_init),
	ATTEMPT("map-others", "privileges", "EPERM", NULL, "either", NULL, map_others, .number = 0),
	ATTEMPT("map-again", "privileges", "EPERM", NULL, "either", NULL, map_again, .number = 0),
	ATTEMPT("limits-of-outer", "privileges", "EACCES", NULL, "either", NULL, limits_of_outer, .number = 0),
	ATTEMPT("new-proc-settings", "mounts", "EPERM", "EACCES", "ok", "either", new_proc_settings, .number = 0),
	ATTEMPT("new-proc-read-only", "mounts", "EROFS", NULL, "EROFS", "either", new_proc_read_only, .number = 0),
	ATTEMPT("new-sysfs", "mounts", "EPERM", NULL, "ok", "either", new_sysfs, .number = 0),
	ATTEMPT("new-cgroups", "seccomp", "EPERM", "EACCES", "ok", "either", new_cgroups, .number = 0),
	ATTEMPT("cgroups-of-outer", "privileges", "EPERM", NULL, "either", NULL, cgroups_of_outer, .number = 0),
	ATTEMPT("device", "privileges", "EPERM", NULL, "ok", "refused", device, .number = 0),
	CAPABILITY("capability-at-once", "EOPNOTSUPP", without_namespaces),
	CAPABILITY("capability-by-path", "EOPNOTSUPP", by_path),
	CAPABILITY("capability-by-link", "EOPNOTSUPP", by_link),
	CAPABILITY("capability-by-descriptor", "EOPNOTSUPP", by_descriptor),
	ATTEMPT("capability-by-new-call", "seccomp", "ENOSYS", NULL, "either", NULL, by_new_call, .for_root = true),
	ATTEMPT("disk", "privileges", "EPERM", NULL, "either", NULL, disk, .number = 0),
};
/* clang-format on */

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	host = argc > 3 ? argv[3] : "/nonexistent";
	is_own = strcmp(argv[1], "own") == 0;
	is_user = argc > 2 && strcmp(argv[2], "user") == 0;
	if (strcmp(argv[1], "copying-up") == 0) {
		const struct attempt at = { .name = argv[1], .run = by_copying_up };

		escape_try(&at, false, "ok");
		return 0;
	}
	return escape_main(attempts, sizeof(attempts) / sizeof(attempts[0]), argv[1], is_user);
}
