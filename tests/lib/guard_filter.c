/* guard_filter NAME COMMAND...: runs COMMAND as a host of that kind would let it run.
 *
 *   docker        what Docker's default seccomp profile refuses without CAP_SYS_ADMIN:
 *                 mounts, namespaces, keys are EPERM, clone3 is ENOSYS
 *   no-landlock   a kernel that was built without Landlock
 *   landlock-off  one that was started without it
 *   no-overlay    one that was built without overlayfs
 *   no-openat2    one before Linux 5.6, or a sandbox that has no such call
 *   apparmor      no process can write a uid_map (EACCES), as Ubuntu's restriction of
 *                 unprivileged user namespaces has it; this process stays and answers
 *
 * Exits as COMMAND does. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEW_NAMESPACES                                                                             \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | \
	 CLONE_NEWCGROUP)

struct refusal {
	unsigned int number;
	unsigned int answer;
	unsigned int flags; /* of argument 0, one of which must be set; 0: whatever it is */
};

#define ERRNO(error) (SECCOMP_RET_ERRNO | (error))

static const struct refusal docker[] = {
	{ SYS_clone, ERRNO(EPERM), NEW_NAMESPACES },
	{ SYS_clone3, ERRNO(ENOSYS), 0 },
	{ SYS_unshare, ERRNO(EPERM), 0 },
	{ SYS_setns, ERRNO(EPERM), 0 },
	{ SYS_mount, ERRNO(EPERM), 0 },
	{ SYS_umount2, ERRNO(EPERM), 0 },
	{ SYS_pivot_root, ERRNO(EPERM), 0 },
	{ SYS_open_tree, ERRNO(EPERM), 0 },
	{ SYS_move_mount, ERRNO(EPERM), 0 },
	{ SYS_fsopen, ERRNO(EPERM), 0 },
	{ SYS_fsmount, ERRNO(EPERM), 0 },
	{ SYS_mount_setattr, ERRNO(EPERM), 0 },
	{ SYS_keyctl, ERRNO(EPERM), 0 },
	{ SYS_bpf, ERRNO(EPERM), 0 },
	{ 0, 0, 0 },
};

static const struct refusal no_landlock[] = {
	{ SYS_landlock_create_ruleset, ERRNO(ENOSYS), 0 },
	{ SYS_landlock_add_rule, ERRNO(ENOSYS), 0 },
	{ SYS_landlock_restrict_self, ERRNO(ENOSYS), 0 },
	{ 0, 0, 0 },
};

static const struct refusal landlock_off[] = {
	{ SYS_landlock_create_ruleset, ERRNO(EOPNOTSUPP), 0 },
	{ 0, 0, 0 },
};

static const struct refusal no_overlay[] = {
	{ SYS_fsopen, ERRNO(ENODEV), 0 },
	{ 0, 0, 0 },
};

static const struct refusal no_openat2[] = {
	{ SYS_openat2, ERRNO(ENOSYS), 0 },
	{ 0, 0, 0 },
};

static const struct refusal apparmor[] = {
	{ SYS_write, SECCOMP_RET_USER_NOTIF, 0 },
	{ 0, 0, 0 },
};

static const struct {
	const char *name;
	const struct refusal *refusals;
	int listens;
} kinds[] = {
	{ "docker", docker, 0 },
	{ "no-landlock", no_landlock, 0 },
	{ "landlock-off", landlock_off, 0 },
	{ "no-overlay", no_overlay, 0 },
	{ "no-openat2", no_openat2, 0 },
	{ "apparmor", apparmor, 1 },
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* The listener's descriptor, or 0. */
static int install(const struct refusal *refusals, unsigned int flags)
{
	struct sock_filter lines[128];
	struct sock_fprog program = { .filter = lines };
	unsigned short at = 0;
	long fd;

	for (; refusals->answer != 0; refusals++) {
		lines[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							   offsetof(struct seccomp_data, nr));
		lines[at++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refusals->number, 0,
						     refusals->flags ? 3 : 1);
		if (refusals->flags != 0) {
			lines[at++] =
				(struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							     offsetof(struct seccomp_data, args));
			lines[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
								   refusals->flags, 0, 1);
		}
		lines[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, refusals->answer);
	}
	lines[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = at;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("no_new_privs");
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (fd < 0)
		die("seccomp");
	return (int)fd;
}

static int is_uid_map(unsigned int pid, uint64_t fd)
{
	char path[64];
	char target[256] = "";

	(void)snprintf(path, sizeof(path), "/proc/%u/fd/%d", pid, (int)fd);
	if (readlink(path, target, sizeof(target) - 1) < 0)
		return 0;
	return strstr(target, "/uid_map") != NULL;
}

static void answer_all(int listener)
{
	union {
		struct seccomp_notif notif;
		char room[512];
	} asked;
	struct pollfd event = { .fd = listener, .events = POLLIN };

	while (poll(&event, 1, -1) >= 0 && !(event.revents & POLLHUP)) {
		union {
			struct seccomp_notif_resp response;
			char room[512];
		} told = { .room = { 0 } };

		memset(&asked, 0, sizeof(asked));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
			continue;
		told.response.id = asked.notif.id;
		if (is_uid_map(asked.notif.pid, asked.notif.data.args[0]))
			told.response.error = -EACCES;
		else
			told.response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &told);
	}
}

/* In the child; the parent's descriptor of that number is taken while it waits. */
static void answer_for_parent(int from, int to)
{
	int fd = -1;
	int pidfd = (int)syscall(SYS_pidfd_open, getppid(), 0);

	if (read(from, &fd, sizeof(fd)) != sizeof(fd))
		_exit(2);
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (fd < 0)
		die("pidfd_getfd");
	(void)close(from);
	(void)close(to);
	(void)close(pidfd);
	/* Nobody who waits for the command's output waits for us. */
	for (int i = 0; i <= 2; i++)
		(void)close(i);
	answer_all(fd);
	_exit(0);
}

/* The answering process is the child: the command's is the one that is waited for. */
static void start_answering(const struct refusal *refusals)
{
	struct iovec part;
	int there[2];
	int back[2];
	int fd;

	if (pipe2(there, O_CLOEXEC) < 0 || pipe2(back, O_CLOEXEC) < 0)
		die("pipe");
	if (fork() == 0) {
		(void)close(there[1]);
		(void)close(back[0]);
		answer_for_parent(there[0], back[1]);
	}
	(void)close(back[1]);
	fd = install(refusals, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	part = (struct iovec){ &fd, sizeof(fd) };
	/* Not write(2): that one waits for its answer by now. */
	if (writev(there[1], &part, 1) != sizeof(fd) || read(back[0], &fd, 1) != 0)
		die("start to answer");
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 2 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[1]) != 0)
			continue;
		if (kinds[i].listens)
			start_answering(kinds[i].refusals);
		else
			(void)install(kinds[i].refusals, 0);
		(void)execvp(argv[2], argv + 2);
		die(argv[2]);
	}
	fprintf(stderr,
		"usage: guard_filter docker|no-landlock|landlock-off|apparmor COMMAND...\n");
	return 2;
}
