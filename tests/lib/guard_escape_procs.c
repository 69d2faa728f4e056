/* guard_escape_procs MODE root|user VICTIM PORT HIDDEN: attempts on processes, what they
 * share, sockets and privileges (see guard_escape.h). And what these are made on:
 *
 *   guard_escape_procs world FILE HIDDEN  is the VICTIM: a process outside with memory and
 *                                         queues that others may use, that listens on an
 *                                         abstract socket, on HIDDEN/socket and on a TCP
 *                                         port. Prints "PID PORT" into FILE, and stays
 *                                         until its standard input ends
 *   guard_escape_procs hold VICTIM COMMAND...  runs COMMAND with descriptors of VICTIM
 *                                         left open: 90 its pidfd, 91 a namespace, 92 the
 *                                         root folder, 93 a socket to it, 95 a file */
#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "tests/lib/guard_escape.h"

#define HELD_PIDFD  90
#define HELD_NS	    91
#define HELD_ROOT   92
#define HELD_SOCKET 93
#define HELD_FILE   95
#define ELSEWHERE   65533 /* a uid that nobody here has */

#ifndef MSG_FASTOPEN
#define MSG_FASTOPEN 0x20000000
#endif

static pid_t victim; /* these are set once, by main */
static in_port_t port;
static const char *hidden;

static int outcome(long result)
{
	return result < 0 ? -errno : 0;
}

/* --- names of what the victim has ---------------------------------------------------- */

struct name {
	char text[64];
};

static struct name name_of(pid_t pid)
{
	struct name name;

	(void)snprintf(name.text, sizeof(name.text), "/fence-escape-%d", (int)pid);
	return name;
}

static key_t key_of(pid_t pid)
{
	return 0x46000000 | pid;
}

static socklen_t abstract_of(pid_t pid, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	(void)snprintf(ret->sun_path + 1, sizeof(ret->sun_path) - 1, "fence-escape-%d", (int)pid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(ret->sun_path + 1));
}

static socklen_t named_in(const char *folder, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	(void)snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/socket", folder);
	return sizeof(*ret);
}

static struct sockaddr_in host_of(in_port_t at_port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(at_port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* --- signals, and others' memory -------------------------------------------------------- */

/* CONT does nothing to a process that runs. */
static int signal_victim(const struct attempt *at)
{
	(void)at;
	return outcome(kill(victim, SIGCONT));
}

static int signal_group(const struct attempt *at)
{
	(void)at;
	return outcome(kill(-victim, SIGCONT));
}

static int signal_thread(const struct attempt *at)
{
	(void)at;
	return outcome(syscall(SYS_tgkill, victim, victim, SIGCONT));
}

static int queue_signal(const struct attempt *at)
{
	(void)at;
	return outcome(sigqueue(victim, SIGCONT, (union sigval){ 0 }));
}

static int open_pidfd(const struct attempt *at)
{
	(void)at;
	return outcome(syscall(SYS_pidfd_open, victim, 0));
}

static int signal_held(const struct attempt *at)
{
	(void)at;
	return outcome(syscall(SYS_pidfd_send_signal, HELD_PIDFD, SIGCONT, NULL, 0));
}

/* Init has no handler for it, and as pid 1 it is spared what it does not handle. */
static int kill_init(const struct attempt *at)
{
	(void)at;
	if (kill(1, SIGKILL) < 0)
		return -errno;
	(void)poll(NULL, 0, 100);
	return kill(1, 0) == 0 ? ESCAPE_NOTHING : 0;
}

static int stop_init(const struct attempt *at)
{
	char text[64] = "";
	int fd = open("/proc/1/stat", O_RDONLY | O_CLOEXEC);

	(void)at;
	if (fd < 0 || kill(1, SIGSTOP) < 0)
		return -errno;
	(void)poll(NULL, 0, 20);
	if (read(fd, text, sizeof(text) - 1) <= 0)
		return -errno;
	return strstr(text, ") T ") == NULL ? ESCAPE_NOTHING : 0;
}

static int trace(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return -errno;
	(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 0;
}

static int trace_victim(const struct attempt *at)
{
	(void)at;
	return trace(victim);
}

static int trace_init(const struct attempt *at)
{
	(void)at;
	return trace(1);
}

static int read_memory(const struct attempt *at)
{
	char byte;
	struct iovec here = { &byte, 1 };
	struct iovec there = { NULL, 1 };

	(void)at;
	return outcome(process_vm_readv(victim, &here, 1, &there, 1, 0));
}

static int slow_victim(const struct attempt *at)
{
	(void)at;
	return outcome(setpriority(PRIO_PROCESS, (id_t)victim, 19));
}

static int limit_victim(const struct attempt *at)
{
	struct rlimit limit;

	(void)at;
	return outcome(prlimit(victim, RLIMIT_NOFILE, NULL, &limit));
}

static int affine_victim(const struct attempt *at)
{
	cpu_set_t set;

	(void)at;
	return outcome(sched_getaffinity(victim, sizeof(set), &set));
}

/* --- shared memory and queues -------------------------------------------------------------- */

static int use_shm(const struct attempt *at)
{
	(void)at;
	return outcome(shmget(key_of(victim), 0, 0));
}

static int use_sem(const struct attempt *at)
{
	(void)at;
	return outcome(semget(key_of(victim), 0, 0));
}

static int use_msg(const struct attempt *at)
{
	(void)at;
	return outcome(msgget(key_of(victim), 0));
}

static int use_mq(const struct attempt *at)
{
	(void)at;
	return outcome(mq_open(name_of(victim).text, O_RDWR));
}

static int use_posix_shm(const struct attempt *at)
{
	(void)at;
	return outcome(shm_open(name_of(victim).text, O_RDWR, 0));
}

/* --- sockets ------------------------------------------------------------------------------ */

static int connect_to(const struct sockaddr *to, socklen_t size)
{
	int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : outcome(connect(fd, to, size));
}

static int abstract_socket(const struct attempt *at)
{
	struct sockaddr_un to;
	socklen_t size = abstract_of(victim, &to);

	(void)at;
	return connect_to((struct sockaddr *)&to, size);
}

static int named_socket(const struct attempt *at)
{
	struct sockaddr_un to;
	socklen_t size = named_in(hidden, &to);

	(void)at;
	return connect_to((struct sockaddr *)&to, size);
}

static int tcp(const struct attempt *at)
{
	struct sockaddr_in to = host_of(port);

	(void)at;
	return connect_to((struct sockaddr *)&to, sizeof(to));
}

static int fast_open(const struct attempt *at)
{
	struct sockaddr_in to = host_of(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)at;
	if (fd < 0)
		return -errno;
	return outcome(sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&to,
			      sizeof(to)));
}

/* An address that is nobody's (TEST-NET-1): a datagram to it is sent where there is a route. */
static int datagram_away(const struct attempt *at)
{
	struct sockaddr_in to = host_of(9);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)at;
	if (fd < 0 || inet_pton(AF_INET, "192.0.2.1", &to.sin_addr) != 1)
		return -errno;
	return outcome(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)));
}

/* A change of lo that changes nothing. */
static int change_network(const struct attempt *at)
{
	struct {
		unsigned int length;
		unsigned short type, flags;
		unsigned int sequence, pid;
		unsigned char family, unused;
		unsigned short device_type;
		int index;
		unsigned int device_flags, change;
	} request = { sizeof(request),
		      16 /* RTM_NEWLINK */,
		      1 | 4 /* REQUEST ACK */,
		      1,
		      0,
		      0,
		      0,
		      0,
		      1 /* lo */,
		      0,
		      0 };
	struct {
		unsigned char head[16];
		int error;
		unsigned char rest[256];
	} answer = { .error = -EIO };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);

	(void)at;
	if (fd < 0 || send(fd, &request, sizeof(request), 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < 0)
		return -errno;
	return answer.error;
}

/* --- descriptors --------------------------------------------------------------------------- */

static int enter_held_namespace(const struct attempt *at)
{
	(void)at;
	return outcome(setns(HELD_NS, 0));
}

static int look_from_held_root(const struct attempt *at)
{
	(void)at;
	return outcome(openat(HELD_ROOT, "etc/passwd", O_RDONLY | O_CLOEXEC));
}

static int leave_by_held_root(const struct attempt *at)
{
	(void)at;
	return outcome(fchdir(HELD_ROOT));
}

static int talk_on_held_socket(const struct attempt *at)
{
	(void)at;
	return outcome(send(HELD_SOCKET, "x", 1, MSG_NOSIGNAL));
}

static int hand_out_descriptor(const struct attempt *at)
{
	char byte = 'x';
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS } };
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int fd = 0;

	(void)at;
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return outcome(sendmsg(HELD_SOCKET, &message, MSG_NOSIGNAL));
}

static int write_record(const struct attempt *at)
{
	(void)at;
	return outcome(write(HELD_FILE, "", 0));
}

/* Whatever is open above the standard ones, the pipe to our parent aside. */
static int find_descriptor(const struct attempt *at)
{
	(void)at;
	for (int fd = 10; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return 0;
	return -EBADF;
}

/* --- privileges ------------------------------------------------------------------------------ */

static int become_other(const struct attempt *at)
{
	(void)at;
	return outcome(setresuid(ELSEWHERE, ELSEWHERE, ELSEWHERE));
}

static int become_root(const struct attempt *at)
{
	(void)at;
	if (geteuid() == 0)
		return ESCAPE_NOTHING;
	return outcome(setresuid(0, 0, 0));
}

static int become_other_group(const struct attempt *at)
{
	(void)at;
	return outcome(setresgid(ELSEWHERE, ELSEWHERE, ELSEWHERE));
}

static int join_groups(const struct attempt *at)
{
	gid_t group = ELSEWHERE;

	(void)at;
	return outcome(setgroups(1, &group));
}

static int take_capabilities(const struct attempt *at)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 1U << CAP_CHOWN, 1U << CAP_CHOWN, 0 } };

	(void)at;
	return outcome(syscall(SYS_capset, &header, data));
}

static int raise_ambient(const struct attempt *at)
{
	(void)at;
	return outcome(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_CHOWN, 0, 0));
}

static int undo_no_new_privs(const struct attempt *at)
{
	(void)at;
	return outcome(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

static int undo_securebits(const struct attempt *at)
{
	(void)at;
	return outcome(prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
}

static int move_executable(const struct attempt *at)
{
	(void)at;
	return outcome(prctl(PR_SET_MM, PR_SET_MM_BRK, 1, 0, 0));
}

/* Executes `set-id`, a copy of id(1) that belongs to somebody else and is setuid. */
static int run_setuid(const struct attempt *at)
{
	char text[16] = "";
	int fds[2];
	pid_t pid;

	(void)at;
	if (pipe(fds) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		(void)dup2(fds[1], 1);
		(void)execl("./set-id", "set-id", "-u", NULL);
		_exit(127);
	}
	(void)close(fds[1]);
	if (pid < 0 || read(fds[0], text, sizeof(text) - 1) <= 0)
		return -EIO;
	(void)waitpid(pid, NULL, 0);
	return (uid_t)strtoul(text, NULL, 10) == geteuid() ? ESCAPE_NOTHING : 0;
}

static int raise_limit(const struct attempt *at)
{
	struct rlimit limit;

	(void)at;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	limit.rlim_max++;
	return outcome(setrlimit(RLIMIT_NOFILE, &limit));
}

static int hurry(const struct attempt *at)
{
	(void)at;
	return outcome(setpriority(PRIO_PROCESS, 0, -5));
}

static int real_time(const struct attempt *at)
{
	struct sched_param param = { .sched_priority = 1 };

	(void)at;
	return outcome(sched_setscheduler(0, SCHED_FIFO, &param));
}

static int real_time_disk(const struct attempt *at)
{
	(void)at;
	return outcome(syscall(SYS_ioprio_set, 1, 0, 1 << 13));
}

static int lock_memory(const struct attempt *at)
{
	struct rlimit limit;

	(void)at;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return -errno;
	limit.rlim_max = RLIM_INFINITY;
	return limit.rlim_cur == RLIM_INFINITY ? -EPERM
					       : outcome(setrlimit(RLIMIT_MEMLOCK, &limit));
}

/* --- environment -------------------------------------------------------------------------------
 */

static int find_variable(const struct attempt *at)
{
	return getenv(at->name + strlen("env-")) == NULL ? ESCAPE_NOTHING : 0;
}

/* clang-format off */
#define ATTEMPT(title, layer_, root, user, control_root, control_user, function) \
	{ .name = title, .layer = layer_, .inside = { root, user }, \
	  .control = { control_root, control_user }, .run = function }
#define PROCESS(title, function) \
	ATTEMPT(title, "namespaces", "ESRCH", NULL, "ok", NULL, function)
#define SHARED(title, function) \
	ATTEMPT(title, "namespaces", "ENOENT", NULL, "ok", NULL, function)
#define HELD(title, answer, function) \
	ATTEMPT(title, "hand-over", answer, NULL, "ok", NULL, function)
#define PRIVILEGE(title, answer, function) \
	ATTEMPT(title, "privileges", answer, NULL, "ok", "refused", function)
#define VARIABLE(title) \
	ATTEMPT("env-" title, "hand-over", "nothing", NULL, "ok", NULL, find_variable)

static const struct attempt attempts[] = {
	PROCESS("signal-host", signal_victim),
	PROCESS("signal-host-group", signal_group),
	PROCESS("signal-host-thread", signal_thread),
	PROCESS("queue-signal-to-host", queue_signal),
	PROCESS("pidfd-of-host", open_pidfd),
	PROCESS("priority-of-host", slow_victim),
	PROCESS("limits-of-host", limit_victim),
	PROCESS("affinity-of-host", affine_victim),
	ATTEMPT("trace-host", "namespaces", "ESRCH", NULL, "ok", "either", trace_victim),
	ATTEMPT("read-memory-of-host", "seccomp", "EPERM", NULL, "other", "either", read_memory),
	ATTEMPT("trace-init", "namespaces", "EPERM", NULL, "untried", NULL, trace_init),
	ATTEMPT("kill-init", "namespaces", "nothing", NULL, "untried", NULL, kill_init),
	ATTEMPT("stop-init", "namespaces", "nothing", NULL, "untried", NULL, stop_init),
	SHARED("sysv-shm", use_shm),
	SHARED("sysv-sem", use_sem),
	SHARED("sysv-msg", use_msg),
	SHARED("posix-mq", use_mq),
	ATTEMPT("posix-shm", "mounts", "ENOENT", NULL, "ok", NULL, use_posix_shm),
	ATTEMPT("abstract-socket", "namespaces", "ECONNREFUSED", NULL, "ok", NULL, abstract_socket),
	ATTEMPT("socket-in-tmp", "mounts", "ENOENT", NULL, "ok", NULL, named_socket),
	ATTEMPT("tcp-to-host", "namespaces", "ECONNREFUSED", NULL, "ok", NULL, tcp),
	ATTEMPT("tcp-fast-open", "namespaces", "ECONNREFUSED", NULL, "ok", NULL, fast_open),
	ATTEMPT("datagram-away", "namespaces", "ENETUNREACH", NULL, "either", NULL, datagram_away),
	ATTEMPT("change-network", "privileges", "EPERM", NULL, "ok", "refused", change_network),
	HELD("inherited-pidfd", "EBADF", signal_held),
	ATTEMPT("inherited-namespace", "seccomp", "EPERM", NULL, "either", "refused", enter_held_namespace),
	HELD("inherited-folder", "EBADF", look_from_held_root),
	HELD("fchdir-to-inherited", "EBADF", leave_by_held_root),
	HELD("inherited-socket", "EBADF", talk_on_held_socket),
	HELD("hand-descriptor-out", "EBADF", hand_out_descriptor),
	HELD("write-record", "EBADF", write_record),
	HELD("any-descriptor", "EBADF", find_descriptor),
	ATTEMPT("setuid-other", "privileges", "EPERM", "EINVAL", "ok", "refused", become_other),
	ATTEMPT("setuid-root", "privileges", "nothing", "EINVAL", "either", "refused", become_root),
	ATTEMPT("setgid-other", "privileges", "EPERM", "EINVAL", "ok", "refused", become_other_group),
	PRIVILEGE("setgroups", "EPERM", join_groups),
	PRIVILEGE("capset", "EPERM", take_capabilities),
	ATTEMPT("ambient-capability", "privileges", "EPERM", NULL, "either", "refused", raise_ambient),
	ATTEMPT("no-new-privs-off", "privileges", "EINVAL", NULL, "refused", NULL, undo_no_new_privs),
	PRIVILEGE("securebits-off", "EPERM", undo_securebits),
	ATTEMPT("set-mm", "privileges", "EPERM", NULL, "either", NULL, move_executable),
	{ .name = "setuid-program", .layer = "privileges", .inside = { "nothing" },
	  .control = { "ok" }, .run = run_setuid, .for_root = true },
	ATTEMPT("raise-limit", "privileges", "EPERM", NULL, "either", "refused", raise_limit),
	ATTEMPT("lock-memory", "privileges", "EPERM", NULL, "either", "refused", lock_memory),
	ATTEMPT("negative-nice", "privileges", "EACCES", NULL, "either", "refused", hurry),
	ATTEMPT("real-time", "privileges", "EPERM", NULL, "either", "refused", real_time),
	ATTEMPT("real-time-disk", "privileges", "EPERM", NULL, "either", "refused", real_time_disk),
	VARIABLE("LD_PRELOAD"),
	VARIABLE("LD_AUDIT"),
	VARIABLE("BASH_ENV"),
	VARIABLE("ENV"),
	VARIABLE("GIT_SSH_COMMAND"),
	VARIABLE("GIT_CONFIG_GLOBAL"),
	VARIABLE("NODE_OPTIONS"),
	VARIABLE("PYTHONSTARTUP"),
	VARIABLE("PERL5OPT"),
	VARIABLE("SSH_AUTH_SOCK"),
	VARIABLE("DBUS_SESSION_BUS_ADDRESS"),
	VARIABLE("TERMINFO"),
};
/* clang-format on */

/* --- the world outside
 * ---------------------------------------------------------------------------- */

static int listen_at(const struct sockaddr *address, socklen_t size)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, address, size) < 0 || listen(fd, 50) < 0) {
		perror("listen");
		exit(2);
	}
	return fd;
}

static in_port_t listen_all(const char *folder)
{
	struct sockaddr_un name;
	struct sockaddr_in any = host_of(0);
	socklen_t size = abstract_of(getpid(), &name);
	int fd;

	(void)listen_at((struct sockaddr *)&name, size);
	size = named_in(folder, &name);
	(void)listen_at((struct sockaddr *)&name, size);
	fd = listen_at((struct sockaddr *)&any, sizeof(any));
	size = sizeof(any);
	(void)getsockname(fd, (struct sockaddr *)&any, &size);
	return ntohs(any.sin_port);
}

static int be_world(const char *file, const char *folder)
{
	struct name name = name_of(getpid());
	key_t key = key_of(getpid());
	int shm = shmget(key, 4096, IPC_CREAT | 0600);
	int sem = semget(key, 1, IPC_CREAT | 0600);
	int msg = msgget(key, IPC_CREAT | 0600);
	in_port_t at_port;
	char byte;
	FILE *out;

	if (shm < 0 || sem < 0 || msg < 0 || mq_open(name.text, O_CREAT | O_RDWR, 0600, NULL) < 0 ||
	    shm_open(name.text, O_CREAT | O_RDWR, 0600) < 0 || setpgid(0, 0) < 0) {
		perror("make what is shared");
		return 2;
	}
	at_port = listen_all(folder);
	out = fopen(file, "we");
	if (out == NULL || fprintf(out, "%d %d\n", (int)getpid(), (int)at_port) < 0 ||
	    fclose(out) != 0)
		return 2;
	while (read(0, &byte, 1) > 0)
		;
	(void)shmctl(shm, IPC_RMID, NULL);
	(void)semctl(sem, 0, IPC_RMID);
	(void)msgctl(msg, IPC_RMID, NULL);
	(void)mq_unlink(name.text);
	(void)shm_unlink(name.text);
	return 0;
}

static void keep_as(int fd, int wanted)
{
	if (fd < 0 || dup2(fd, wanted) < 0) {
		perror("hold");
		exit(2);
	}
	(void)close(fd);
}

static int hold(char **argv)
{
	struct sockaddr_un to;
	socklen_t size;
	char path[64];
	int fd;

	victim = (pid_t)strtol(argv[0], NULL, 10);
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/uts", (int)victim);
	keep_as((int)syscall(SYS_pidfd_open, victim, 0), HELD_PIDFD);
	keep_as(open(path, O_RDONLY), HELD_NS);
	keep_as(open("/", O_PATH | O_DIRECTORY), HELD_ROOT);
	keep_as(open("/dev/null", O_WRONLY), HELD_FILE);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	size = abstract_of(victim, &to);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, size) < 0) {
		perror("connect to the victim");
		return 2;
	}
	keep_as(fd, HELD_SOCKET);
	(void)execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 2;
}

int main(int argc, char **argv)
{
	if (argc > 3 && strcmp(argv[1], "world") == 0)
		return be_world(argv[2], argv[3]);
	if (argc > 3 && strcmp(argv[1], "hold") == 0)
		return hold(argv + 2);
	if (argc < 2)
		return 2;
	victim = argc > 3 ? (pid_t)strtol(argv[3], NULL, 10) : 0;
	port = argc > 4 ? (in_port_t)strtol(argv[4], NULL, 10) : 0;
	hidden = argc > 5 ? argv[5] : "/nonexistent";
	return escape_main(attempts, sizeof(attempts) / sizeof(attempts[0]), argv[1],
			   argc > 2 && strcmp(argv[2], "user") == 0);
}
