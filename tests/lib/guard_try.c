/* guard_try: does one thing that a confined command must not be able to do (or
 * must), and prints "ok" or the name of the error. Always exits with 0 then.
 *
 *   guard_try call NUMBER [ARG...]     a raw system call; numbers as in C
 *   guard_try int80                    getpid through the 32-bit entry (x86)
 *   guard_try clone FLAGS              a child in new namespaces
 *   guard_try thread                   a thread starts and ends
 *   guard_try lo                       a TCP connection over 127.0.0.1 and one over ::1
 *   guard_try connect ADDRESS PORT     IPv4
 *   guard_try unix PATH|@NAME          a stream socket connects; @: abstract
 *   guard_try pair                     a pair of UNIX sockets
 *   guard_try listen PATH|@NAME        listens until standard input ends
 *   guard_try setuid UID               all three uids
 *   guard_try securebits               prints the securebits of uid 0's exec
 *   guard_try inherit CAP              makes a capability inheritable
 *   guard_try setfcap PATH CAP         gives a file a capability, effective
 *   guard_try open PATH                for reading
 *   guard_try write PATH               opens for writing, creates nothing
 *   guard_try map PATH                 changes its first byte through a shared mapping
 *   guard_try rename FROM TO
 *   guard_try umount PATH              lazily
 *   guard_try discipline N             a new pseudo-terminal gets line discipline N
 *   guard_try foreground               are we the foreground group of our terminal */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static long number(const char *text)
{
	return (long)strtoull(text, NULL, 0);
}

static int try_call(char **args)
{
	long arg[6] = { 0 };
	long nr = number(args[0]);

	for (int i = 0; i < 6 && args[i + 1] != NULL; i++)
		arg[i] = number(args[i + 1]);
	return syscall(nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]) < 0 ? -errno : 0;
}

static int try_int80(char **args)
{
	(void)args;
#if defined(__x86_64__)
	int result = 20; /* getpid there */

	__asm__ volatile("int $0x80" : "+a"(result) : : "memory");
	return result < 0 ? result : 0;
#else
	return -ENOSYS;
#endif
}

static int try_clone(char **args)
{
	long pid = syscall(SYS_clone, number(args[0]) | SIGCHLD, NULL, NULL, NULL, 0);

	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(0);
	(void)waitpid((pid_t)pid, NULL, 0);
	return 0;
}

static void *nothing(void *arg)
{
	return arg;
}

static int try_thread(char **args)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, nothing, NULL);

	(void)args;
	return rc != 0 ? -rc : -pthread_join(thread, NULL);
}

static int meet(struct sockaddr *address, socklen_t size)
{
	int server = socket(address->sa_family, SOCK_STREAM, 0);
	int client = socket(address->sa_family, SOCK_STREAM, 0);

	if (server < 0 || client < 0 || bind(server, address, size) < 0 || listen(server, 1) < 0 ||
	    getsockname(server, address, &size) < 0 || connect(client, address, size) < 0)
		return -errno;
	return 0;
}

static int try_lo(char **args)
{
	struct sockaddr_in four = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = in6addr_loopback };
	int rc = meet((struct sockaddr *)&four, sizeof(four));

	(void)args;
	return rc < 0 ? rc : meet((struct sockaddr *)&six, sizeof(six));
}

static int try_connect(char **args)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((unsigned short)number(args[1])) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (inet_pton(AF_INET, args[0], &to.sin_addr) != 1)
		return -EINVAL;
	return fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ? -errno : 0;
}

static socklen_t unix_address(const char *name, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	(void)snprintf(ret->sun_path, sizeof(ret->sun_path), "%s", name);
	if (name[0] == '@')
		ret->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
}

static int try_unix(char **args)
{
	struct sockaddr_un to;
	socklen_t size = unix_address(args[0], &to);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	return fd < 0 || connect(fd, (struct sockaddr *)&to, size) < 0 ? -errno : 0;
}

static int try_pair(char **args)
{
	int pair[2];

	(void)args;
	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ? -errno : 0;
}

static int try_listen(char **args)
{
	struct sockaddr_un at;
	socklen_t size = unix_address(args[0], &at);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte;

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) < 0 || listen(fd, 5) < 0)
		return -errno;
	printf("listening\n");
	(void)fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}

static int try_setuid(char **args)
{
	uid_t uid = (uid_t)number(args[0]);

	return setresuid(uid, uid, uid) < 0 ? -errno : 0;
}

static int try_securebits(char **args)
{
	int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);

	(void)args;
	if (bits < 0)
		return -errno;
	printf("0x%x\n", (unsigned int)bits);
	exit(0);
}

static int try_inherit(char **args)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	data[0].inheritable |= 1U << number(args[0]);
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static int try_setfcap(char **args)
{
	/* struct vfs_cap_data of linux/capability.h, revision 2, little-endian. */
	unsigned int data[5] = { VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
				 1U << number(args[1]) };

	return setxattr(args[0], "security.capability", data, sizeof(data), 0) < 0 ? -errno : 0;
}

static int try_open(char **args)
{
	return open(args[0], O_RDONLY) < 0 ? -errno : 0;
}

static int try_write(char **args)
{
	return open(args[0], O_WRONLY) < 0 ? -errno : 0;
}

static int try_map(char **args)
{
	int fd = open(args[0], O_RDWR);
	char *first = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (first == MAP_FAILED)
		return -errno;
	*first = 'x';
	return msync(first, 1, MS_SYNC) < 0 ? -errno : 0;
}

static int try_rename(char **args)
{
	return rename(args[0], args[1]) < 0 ? -errno : 0;
}

static int try_umount(char **args)
{
	return umount2(args[0], MNT_DETACH) < 0 ? -errno : 0;
}

static int try_discipline(char **args)
{
	int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY);
	int discipline = (int)number(args[0]);

	return fd < 0 || ioctl(fd, TIOCSETD, &discipline) < 0 ? -errno : 0;
}

static int try_foreground(char **args)
{
	pid_t group;

	(void)args;
	group = tcgetpgrp(0);
	if (group < 0)
		return -errno;
	return group == getpgrp() ? 0 : -ESRCH;
}

static const struct {
	const char *name;
	int words;
	int (*run)(char **args);
} tries[] = {
	{ "call", 1, try_call },
	{ "int80", 0, try_int80 },
	{ "clone", 1, try_clone },
	{ "thread", 0, try_thread },
	{ "lo", 0, try_lo },
	{ "connect", 2, try_connect },
	{ "unix", 1, try_unix },
	{ "listen", 1, try_listen },
	{ "pair", 0, try_pair },
	{ "setuid", 1, try_setuid },
	{ "securebits", 0, try_securebits },
	{ "inherit", 1, try_inherit },
	{ "setfcap", 2, try_setfcap },
	{ "open", 1, try_open },
	{ "write", 1, try_write },
	{ "map", 1, try_map },
	{ "rename", 2, try_rename },
	{ "umount", 1, try_umount },
	{ "discipline", 1, try_discipline },
	{ "foreground", 0, try_foreground },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(tries) / sizeof(tries[0]); i++) {
		int rc;

		if (strcmp(argv[1], tries[i].name) != 0 || argc - 2 < tries[i].words)
			continue;
		rc = tries[i].run(argv + 2);
		printf("%s\n", rc == 0 ? "ok" : strerrorname_np(-rc));
		return 0;
	}
	fprintf(stderr, "usage: guard_try WHAT [ARG...]\n");
	return 2;
}
