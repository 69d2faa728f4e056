/* guard_escape_files MODE root|user HOST HIDDEN VICTIM: attempts on files (see
 * guard_escape.h), in a folder that escapes.sh has made ready: `denied` and `denied.d`
 * are masked, `pinned/hooks` is protected, `plain` may be written. HOST is a folder
 * outside that may be read, HIDDEN a file outside that is not shown, VICTIM a process
 * outside, of the same user, that works in HIDDEN's folder. Standard input is HOST's
 * file, open for reading. What worked outside is undone. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/xattr.h>

#include "tests/lib/guard_escape.h"

static const char *host, *hidden, *victim; /* set once, by main */

struct path {
	char text[PATH_MAX];
};

static struct path path_of(const char *first, const char *second, const char *third)
{
	struct path path;

	(void)snprintf(path.text, sizeof(path.text), "%s%s%s", first, second, third);
	return path;
}

static int outcome(int result)
{
	return result < 0 ? -errno : 0;
}

static int can_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);

	if (fd < 0)
		return -errno;
	(void)close(fd);
	return 0;
}

/* A mask that is opened, as who has capabilities over it can, is empty. */
static int can_read(const char *path)
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

/* --- what is masked ------------------------------------------------------------- */

static int read_denied(const struct attempt *at)
{
	(void)at;
	return can_read("denied");
}

static int list_denied(const struct attempt *at)
{
	DIR *dir = opendir("denied.d");
	int count = 0;

	(void)at;
	if (dir == NULL)
		return -errno;
	while (readdir(dir) != NULL)
		count++;
	(void)closedir(dir);
	return count <= 2 ? ESCAPE_NOTHING : 0;
}

static int read_below_denied(const struct attempt *at)
{
	(void)at;
	return can_read("denied.d/name");
}

static int by_symlink(const struct attempt *at)
{
	int rc;

	(void)at;
	if (symlink("denied", "a-link") < 0)
		return -errno;
	rc = can_read("a-link");
	(void)unlink("a-link");
	return rc;
}

static int by_hard_link(const struct attempt *at)
{
	(void)at;
	if (link("denied", "a-name") < 0)
		return -errno;
	return outcome(unlink("a-name"));
}

static int by_own_root(const struct attempt *at)
{
	char here[PATH_MAX / 2];

	(void)at;
	if (getcwd(here, sizeof(here)) == NULL)
		return -errno;
	return can_read(path_of("/proc/self/root", here, "/denied").text);
}

static int by_own_cwd(const struct attempt *at)
{
	(void)at;
	return can_read("/proc/self/cwd/denied");
}

static int rename_denied(const struct attempt *at)
{
	(void)at;
	if (rename("denied", "moved") < 0)
		return -errno;
	return outcome(rename("moved", "denied"));
}

static int remove_denied(const struct attempt *at)
{
	(void)at;
	if (unlink("denied") < 0)
		return -errno;
	return can_open("denied", O_WRONLY | O_CREAT);
}

static int open_up_mask(const struct attempt *at)
{
	(void)at;
	return outcome(chmod("denied", 0644));
}

static int by_handle(const struct attempt *at)
{
	struct {
		struct file_handle head;
		unsigned char body[128];
	} handle = { .head.handle_bytes = 128 };
	int mount_id;
	int fd;

	(void)at;
	if (name_to_handle_at(AT_FDCWD, "plain", &handle.head, &mount_id, 0) < 0)
		return -errno;
	fd = open_by_handle_at(AT_FDCWD, &handle.head, O_RDONLY);
	return fd < 0 ? -errno : outcome(close(fd));
}

/* --- what is protected ------------------------------------------------------------ */

#define HOOK "pinned/hooks/pre-commit"

static int write_protected(const struct attempt *at)
{
	(void)at;
	return can_open(HOOK, O_WRONLY);
}

static int add_to_protected(const struct attempt *at)
{
	int rc = can_open("pinned/hooks/new", O_WRONLY | O_CREAT);

	(void)at;
	return rc < 0 ? rc : outcome(unlink("pinned/hooks/new"));
}

static int rename_protected(const struct attempt *at)
{
	(void)at;
	if (rename("pinned/hooks", "pinned/moved") < 0)
		return -errno;
	return outcome(rename("pinned/moved", "pinned/hooks"));
}

static int rename_ancestor(const struct attempt *at)
{
	(void)at;
	if (rename("pinned", "moved") < 0)
		return -errno;
	return outcome(rename("moved", "pinned"));
}

static int exchange_ancestor(const struct attempt *at)
{
	(void)at;
	if (renameat2(AT_FDCWD, "pinned", AT_FDCWD, "plain.d", RENAME_EXCHANGE) < 0)
		return -errno;
	return outcome(renameat2(AT_FDCWD, "pinned", AT_FDCWD, "plain.d", RENAME_EXCHANGE));
}

static int link_temporary(const struct attempt *at)
{
	int fd = open(".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0700);

	(void)at;
	if (fd < 0)
		return -errno;
	if (linkat(AT_FDCWD, path_of("/proc/self/fd/", "", (char[]){ (char)('0' + fd), '\0' }).text,
		   AT_FDCWD, "pinned/hooks/new", AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	return outcome(unlink("pinned/hooks/new"));
}

static int link_to_protected(const struct attempt *at)
{
	(void)at;
	if (link(HOOK, "a-name") < 0)
		return -errno;
	return outcome(unlink("a-name"));
}

/* --- the host's other files --------------------------------------------------------- */

static int write_host(const struct attempt *at)
{
	(void)at;
	return can_open(path_of(host, "/file", "").text, O_WRONLY);
}

static int create_in_host(const struct attempt *at)
{
	struct path path = path_of(host, "/new", "");
	int rc = can_open(path.text, O_WRONLY | O_CREAT);

	(void)at;
	return rc < 0 ? rc : outcome(unlink(path.text));
}

static int truncate_host(const struct attempt *at)
{
	struct stat st;
	struct path path = path_of(host, "/file", "");

	(void)at;
	if (stat(path.text, &st) < 0)
		return -errno;
	return outcome(truncate(path.text, st.st_size));
}

static int chmod_host(const struct attempt *at)
{
	(void)at;
	return outcome(chmod(path_of(host, "/file", "").text, 0644));
}

static int chown_host(const struct attempt *at)
{
	(void)at;
	return outcome(chown(path_of(host, "/file", "").text, (uid_t)-1, getegid()));
}

static int touch_host(const struct attempt *at)
{
	(void)at;
	return outcome(utimes(path_of(host, "/file", "").text, NULL));
}

static int temporary_in_host(const struct attempt *at)
{
	(void)at;
	return can_open(host, O_TMPFILE | O_WRONLY);
}

static int link_from_host(const struct attempt *at)
{
	(void)at;
	if (link(path_of(host, "/file", "").text, "a-name") < 0)
		return -errno;
	return outcome(unlink("a-name"));
}

static int rename_into_host(const struct attempt *at)
{
	struct path path = path_of(host, "/moved", "");

	(void)at;
	if (rename("plain.d", path.text) < 0)
		return -errno;
	return outcome(rename(path.text, "plain.d"));
}

static int symlink_in_host(const struct attempt *at)
{
	struct path path = path_of(host, "/a-link", "");

	(void)at;
	if (symlink("x", path.text) < 0)
		return -errno;
	return outcome(unlink(path.text));
}

static int reopen_input(const struct attempt *at)
{
	(void)at;
	return can_open("/proc/self/fd/0", O_WRONLY);
}

static int reopen_dev_stdin(const struct attempt *at)
{
	(void)at;
	return can_open("/dev/stdin", O_WRONLY);
}

static int read_hidden(const struct attempt *at)
{
	(void)at;
	return can_open(hidden, O_RDONLY);
}

static int write_var_tmp(const struct attempt *at)
{
	int rc = can_open("/var/tmp/fence-escape", O_WRONLY | O_CREAT);

	(void)at;
	return rc < 0 ? rc : outcome(unlink("/var/tmp/fence-escape"));
}

/* --- through /proc ------------------------------------------------------------------ */

static int by_victims(const char *entry)
{
	return can_open(path_of("/proc/", victim, entry).text, O_RDONLY);
}

static int victim_root(const struct attempt *at)
{
	struct path root = path_of("/proc/", victim, "/root");

	(void)at;
	return can_open(path_of(root.text, hidden, "").text, O_RDONLY);
}

static int victim_cwd(const struct attempt *at)
{
	(void)at;
	return by_victims("/cwd/hidden");
}

static int victim_fd(const struct attempt *at)
{
	(void)at;
	return by_victims("/fd/9");
}

static int victim_mem(const struct attempt *at)
{
	(void)at;
	return by_victims("/mem");
}

static int victim_environ(const struct attempt *at)
{
	(void)at;
	return by_victims("/environ");
}

static int victim_namespace(const struct attempt *at)
{
	(void)at;
	return by_victims("/ns/mnt");
}

/* arg[0]: a path, one of several that machines have. */
static int open_first(const char *const *paths, int flags)
{
	int rc = -ENOENT;

	for (; *paths != NULL && rc == -ENOENT; paths++)
		rc = can_open(*paths, flags);
	return rc;
}

#define OPENS(function, flags, ...)                                                                \
	static int function(const struct attempt *at)                                              \
	{                                                                                          \
		static const char *const paths[] = { __VA_ARGS__, NULL };                          \
                                                                                                   \
		(void)at;                                                                          \
		return open_first(paths, flags);                                                   \
	}

OPENS(init_root, O_RDONLY, "/proc/1/root/etc/passwd")
OPENS(init_cwd, O_RDONLY, "/proc/1/cwd/plain")
OPENS(init_fd, O_RDONLY, "/proc/1/fd/0")
OPENS(init_mem, O_RDONLY, "/proc/1/mem")
OPENS(init_environ, O_RDONLY, "/proc/1/environ")
OPENS(init_namespace, O_RDONLY, "/proc/1/ns/mnt")
OPENS(core_pattern, O_WRONLY, "/proc/sys/kernel/core_pattern")
OPENS(modprobe_path, O_WRONLY, "/proc/sys/kernel/modprobe", "/proc/sys/kernel/poweroff_cmd")
OPENS(host_name, O_WRONLY, "/proc/sys/kernel/hostname")
OPENS(drop_caches, O_WRONLY, "/proc/sys/vm/drop_caches")
OPENS(sysrq, O_WRONLY, "/proc/sysrq-trigger")
OPENS(kcore, O_RDONLY, "/proc/kcore")
OPENS(kernel_log, O_RDONLY, "/dev/kmsg")
OPENS(memory_device, O_RDONLY, "/dev/mem", "/dev/port")
OPENS(disk_device, O_RDONLY, "/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0", "/dev/fuse")
OPENS(kvm_device, O_RDWR, "/dev/kvm", "/dev/net/tun")
OPENS(sys_write, O_WRONLY, "/sys/kernel/mm/ksm/run", "/sys/kernel/mm/transparent_hugepage/enabled",
      "/sys/power/state", "/sys/kernel/profiling")
OPENS(cgroup_write, O_WRONLY, "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs",
      "/sys/fs/cgroup/pids/cgroup.procs")

static int less_likely_killed(const struct attempt *at)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	(void)at;
	return fd < 0 ? -errno : outcome(write(fd, "-999", 4) == 4 ? 0 : -1);
}

/* --- mounts ------------------------------------------------------------------------------ */

static int mask_in_own_mounts(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	return outcome(mount("plain", "denied", NULL, MS_BIND, NULL));
}

static int mount_tmpfs(const struct attempt *at)
{
	(void)at;
	return outcome(mount("none", "plain.d", "tmpfs", 0, NULL));
}

static int mount_proc(const struct attempt *at)
{
	(void)at;
	return outcome(mount("proc", "plain.d", "proc", 0, NULL));
}

static int remount_root(const struct attempt *at)
{
	(void)at;
	return outcome(mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL));
}

static int remount_mask(const struct attempt *at)
{
	(void)at;
	return outcome(mount(NULL, "denied", NULL, MS_REMOUNT | MS_BIND, NULL));
}

static int bind_over(const struct attempt *at)
{
	(void)at;
	return outcome(mount("plain", HOOK, NULL, MS_BIND, NULL));
}

static int bind_aside(const struct attempt *at)
{
	(void)at;
	return outcome(mount(".", "plain.d", NULL, MS_BIND, NULL));
}

static int move_mask(const struct attempt *at)
{
	(void)at;
	return outcome(mount("denied", "plain", NULL, MS_MOVE, NULL));
}

static int share_mounts(const struct attempt *at)
{
	(void)at;
	return outcome(mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL));
}

static int take_mask_off(const struct attempt *at)
{
	(void)at;
	return outcome(umount2("denied", MNT_DETACH));
}

static int change_root(const struct attempt *at)
{
	(void)at;
	return outcome(chroot("."));
}

/* --- device nodes, set-id bits, attributes ---------------------------------------------------- */

static int make_device(const struct attempt *at)
{
	(void)at;
	if (mknod("a-device", S_IFCHR | 0666, makedev(1, 3)) < 0)
		return -errno;
	return outcome(unlink("a-device"));
}

static int open_device(const struct attempt *at)
{
	(void)at;
	return can_open("node", O_RDWR);
}

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* 6.6 */
#endif

#define PROGRAM "a-program"

/* Gives PROGRAM, or makes it with, the mode arg[0], by call `number`. */
static long give_mode(long number, long mode)
{
	struct open_how how = { .flags = O_CREAT | O_WRONLY, .mode = (unsigned long)mode };

	switch (number) {
	case SYS_fchmod:
		return syscall(number, open(PROGRAM, O_RDONLY), mode);
	case SYS_fchmodat:
	case SYS_fchmodat2:
		return syscall(number, AT_FDCWD, PROGRAM, mode, 0);
#ifdef SYS_open
	case SYS_chmod:
		return syscall(number, PROGRAM, mode);
	case SYS_open:
		return unlink(PROGRAM) < 0 ? -1
					   : syscall(number, PROGRAM, O_CREAT | O_WRONLY, mode);
	case SYS_creat:
		return unlink(PROGRAM) < 0 ? -1 : syscall(number, PROGRAM, mode);
	case SYS_mknod:
		return unlink(PROGRAM) < 0 ? -1 : syscall(number, PROGRAM, S_IFREG | mode, 0);
#endif
	case SYS_openat:
		return unlink(PROGRAM) < 0
			       ? -1
			       : syscall(number, AT_FDCWD, PROGRAM, O_CREAT | O_WRONLY, mode);
	case SYS_mknodat:
		return unlink(PROGRAM) < 0 ? -1
					   : syscall(number, AT_FDCWD, PROGRAM, S_IFREG | mode, 0);
	case SYS_openat2:
		return unlink(PROGRAM) < 0 ? -1
					   : syscall(number, AT_FDCWD, PROGRAM, &how, sizeof(how));
	default:
		errno = ENOTSUP;
		return -1;
	}
}

static int has_set_id(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	return st.st_mode & (S_ISUID | S_ISGID) ? 0 : ESCAPE_NOTHING;
}

static int set_id(const struct attempt *at)
{
	int result = 0;
	int fd = open(PROGRAM, O_CREAT | O_WRONLY, 0700);

	if (fd < 0 || give_mode(at->number, at->arg[0]) < 0)
		result = -errno;
	(void)close(fd);
	result = result < 0 ? result : has_set_id(PROGRAM);
	(void)unlink(PROGRAM);
	return result;
}

/* A file without a name gets one later. */
static int set_id_unnamed(const struct attempt *at)
{
	int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, (mode_t)at->arg[0]);
	char path[64];
	int result;

	if (fd < 0)
		return -errno;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	result = linkat(AT_FDCWD, path, AT_FDCWD, PROGRAM, AT_SYMLINK_FOLLOW) < 0
			 ? -errno
			 : has_set_id(PROGRAM);
	(void)unlink(PROGRAM);
	(void)close(fd);
	return result;
}

/* By the name that a descriptor has, of a file that has no other. */
static int set_id_by_descriptor(const struct attempt *at)
{
	int fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);
	char path[64];
	int result;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	result = fd < 0 || chmod(path, (mode_t)at->arg[0]) < 0 ? -errno : has_set_id(path);
	(void)close(fd);
	return result;
}

static int set_attribute(const char *name)
{
	/* struct vfs_cap_data of linux/capability.h, revision 2: CAP_SYS_ADMIN. */
	static const unsigned int value[5] = { 0x02000001, 1U << 21 };

	if (setxattr("plain", name, value, sizeof(value), 0) < 0)
		return -errno;
	return outcome(removexattr("plain", name));
}

static int file_capability(const struct attempt *at)
{
	(void)at;
	return set_attribute("security.capability");
}

static int trusted_attribute(const struct attempt *at)
{
	(void)at;
	return set_attribute("trusted.overlay.opaque");
}

static int give_away(const struct attempt *at)
{
	(void)at;
	return outcome(chown("plain.d", 1, 1));
}

/* clang-format off */
#define ATTEMPT(title, layer_, root, user, control_root, control_user, function, ...) \
	{ .name = title, .layer = layer_, .inside = { root, user }, \
	  .control = { control_root, control_user }, .run = function, __VA_ARGS__ }
#define MASKED(title, answer, function) \
	ATTEMPT(title, "mounts", answer, NULL, "ok", NULL, function, .number = 0)
#define OF_INIT(title, function) \
	ATTEMPT(title, "namespaces", "EACCES", NULL, "either", NULL, function, .number = 0)
#define OF_HOST(title, function) \
	ATTEMPT(title, "namespaces", "ENOENT", NULL, "ok", NULL, function, .number = 0)
#define SETTING(title, control_root, function) \
	ATTEMPT(title, "mounts", "EROFS", "EACCES", control_root, "refused", function, .number = 0)
#define MOUNT(title, function) \
	ATTEMPT(title, "seccomp", "EPERM", NULL, "ok", NULL, function, .before = mask_in_own_mounts)

#define SET_ID(title, answer, control_, call, mode) \
	ATTEMPT(title, "seccomp", answer, NULL, control_, NULL, set_id, .number = SYS_##call, .arg = { mode })

static const struct attempt attempts[] = {
	MASKED("read-masked", "EACCES", read_denied),
	MASKED("list-masked", "EACCES", list_denied),
	MASKED("read-below-masked", "EACCES", read_below_denied),
	MASKED("masked-by-symlink", "EACCES", by_symlink),
	MASKED("masked-by-hard-link", "EXDEV", by_hard_link),
	MASKED("masked-by-proc-self-root", "EACCES", by_own_root),
	MASKED("masked-by-proc-self-cwd", "EACCES", by_own_cwd),
	MASKED("rename-masked", "EBUSY", rename_denied),
	MASKED("remove-masked", "EBUSY", remove_denied),
	MASKED("chmod-mask", "EROFS", open_up_mask),
	ATTEMPT("file-handle", "seccomp", "EPERM", NULL, "either", NULL, by_handle, .number = 0),
	MASKED("write-protected", "EROFS", write_protected),
	MASKED("add-to-protected", "EROFS", add_to_protected),
	MASKED("rename-protected", "EBUSY", rename_protected),
	MASKED("rename-ancestor", "EBUSY", rename_ancestor),
	MASKED("exchange-ancestor", "EBUSY", exchange_ancestor),
	MASKED("tmpfile-into-protected", "EROFS", link_temporary),
	MASKED("hard-link-to-protected", "EXDEV", link_to_protected),
	MASKED("write-outside", "EROFS", write_host),
	MASKED("create-outside", "EROFS", create_in_host),
	MASKED("truncate-outside", "EROFS", truncate_host),
	MASKED("chmod-outside", "EROFS", chmod_host),
	MASKED("chown-outside", "EROFS", chown_host),
	MASKED("utimes-outside", "EROFS", touch_host),
	MASKED("tmpfile-outside", "EROFS", temporary_in_host),
	MASKED("symlink-outside", "EROFS", symlink_in_host),
	MASKED("hard-link-from-outside", "EXDEV", link_from_host),
	MASKED("rename-to-outside", "EXDEV", rename_into_host),
	MASKED("write-var-tmp", "EROFS", write_var_tmp),
	MASKED("read-host-tmp", "ENOENT", read_hidden),
	ATTEMPT("reopen-descriptor", "landlock", "EACCES", NULL, "ok", NULL, reopen_input, .number = 0),
	ATTEMPT("reopen-dev-stdin", "landlock", "EACCES", NULL, "ok", NULL, reopen_dev_stdin, .number = 0),
	OF_HOST("proc-host-root", victim_root),
	OF_HOST("proc-host-cwd", victim_cwd),
	OF_HOST("proc-host-fd", victim_fd),
	ATTEMPT("proc-host-mem", "namespaces", "ENOENT", NULL, "ok", "either", victim_mem, .number = 0),
	OF_HOST("proc-host-environ", victim_environ),
	OF_HOST("proc-host-namespace", victim_namespace),
	OF_INIT("proc-init-root", init_root),
	OF_INIT("proc-init-cwd", init_cwd),
	OF_INIT("proc-init-fd", init_fd),
	OF_INIT("proc-init-mem", init_mem),
	OF_INIT("proc-init-environ", init_environ),
	OF_INIT("proc-init-namespace", init_namespace),
	SETTING("core-pattern", "ok", core_pattern),
	SETTING("modprobe-path", "ok", modprobe_path),
	SETTING("hostname", "ok", host_name),
	SETTING("drop-caches", "ok", drop_caches),
	SETTING("sysrq-trigger", "either", sysrq),
	SETTING("sys-write", "either", sys_write),
	SETTING("cgroup-write", "either", cgroup_write),
	ATTEMPT("oom-score", "mounts", "EROFS", "EACCES", "either", "refused", less_likely_killed, .number = 0),
	ATTEMPT("kcore", "privileges", "EPERM", "EACCES", "either", "refused", kcore, .number = 0),
	ATTEMPT("dev-kmsg", "mounts", "ENOENT", NULL, "either", NULL, kernel_log, .number = 0),
	ATTEMPT("dev-mem", "mounts", "ENOENT", NULL, "either", NULL, memory_device, .number = 0),
	ATTEMPT("dev-disk", "mounts", "ENOENT", NULL, "either", NULL, disk_device, .number = 0),
	ATTEMPT("dev-kvm", "mounts", "ENOENT", NULL, "either", NULL, kvm_device, .number = 0),
	ATTEMPT("make-device", "landlock", "EACCES", NULL, "ok", "refused", make_device, .number = 0),
	ATTEMPT("open-device", "mounts", "EACCES", NULL, "ok", NULL, open_device, .for_root = true),
#ifdef SYS_open /* newer machines have not all of them */
	SET_ID("set-id-chmod", "EPERM", "ok", chmod, 04755),
	SET_ID("set-id-chmod-group", "EPERM", "ok", chmod, 02755),
	SET_ID("set-id-chmod-not-executable", "EPERM", "ok", chmod, 02644),
	SET_ID("set-id-chmod-high-bits", "EPERM", "ok", chmod, 0x7fff0000L << 16 | 0x10000 | 04755),
	SET_ID("set-id-open", "EPERM", "ok", open, 04755),
	SET_ID("set-id-creat", "EPERM", "ok", creat, 04755),
	SET_ID("set-id-mknod", "EPERM", "ok", mknod, 04755),
#endif
	SET_ID("set-id-fchmod", "EPERM", "ok", fchmod, 04755),
	SET_ID("set-id-fchmodat", "EPERM", "ok", fchmodat, 04755),
	SET_ID("set-id-fchmodat2", "EPERM", "either", fchmodat2, 04755),
	SET_ID("set-id-openat", "EPERM", "ok", openat, 04755),
	SET_ID("set-id-openat-group", "EPERM", "ok", openat, 02755),
	SET_ID("set-id-openat2", "ENOSYS", "ok", openat2, 04755),
	SET_ID("set-id-mknodat", "EPERM", "ok", mknodat, 04755),
	ATTEMPT("set-id-tmpfile", "seccomp", "EPERM", NULL, "ok", NULL, set_id_unnamed, .arg = { 04755 }),
	ATTEMPT("set-id-by-descriptor", "seccomp", "EPERM", NULL, "ok", NULL, set_id_by_descriptor, .arg = { 04755 }),
	ATTEMPT("file-capability", "privileges", "EPERM", NULL, "ok", "refused", file_capability, .number = 0),
	ATTEMPT("trusted-attribute", "privileges", "EPERM", NULL, "either", "refused", trusted_attribute, .number = 0),
	ATTEMPT("chown-away", "privileges", "EPERM", "EINVAL", "ok", "refused", give_away, .number = 0),
	ATTEMPT("chroot", "seccomp", "EPERM", NULL, "ok", "refused", change_root, .number = 0),
	MOUNT("mount-tmpfs", mount_tmpfs),
	ATTEMPT("mount-proc", "seccomp", "EPERM", NULL, "ok", "either", mount_proc,
		.before = mask_in_own_mounts),
	MOUNT("remount-root-writable", remount_root),
	MOUNT("remount-mask", remount_mask),
	MOUNT("bind-over-protected", bind_over),
	MOUNT("bind-aside", bind_aside),
	MOUNT("move-mask", move_mask),
	MOUNT("share-mounts", share_mounts),
	MOUNT("umount-mask", take_mask_off),
};
/* clang-format on */

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	host = argc > 3 ? argv[3] : "/nonexistent";
	hidden = argc > 4 ? argv[4] : "/nonexistent";
	victim = argc > 5 ? argv[5] : "0";
	return escape_main(attempts, sizeof(attempts) / sizeof(attempts[0]), argv[1],
			   argc > 2 && strcmp(argv[2], "user") == 0);
}
