/* guard_listener READY GO: makes READY, waits for GO, then listens to a filter of its own,
 * and has a child do what fence-guard's filter refuses (keyctl): the listener says that
 * the call may go on, which counts for every filter that asks. Prints what came of it: the
 * errno of the listener or of the call, or ok. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int listen_to_keyctl(void)
{
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_keyctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = lines };

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

/* Until the child has ended, whether it was asked about or not. */
static void let_it_go_on(int listener, pid_t pid)
{
	union {
		struct seccomp_notif notif;
		char room[512];
	} asked;
	struct seccomp_notif_resp response = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	struct pollfd events[] = {
		{ .fd = listener, .events = POLLIN },
		{ .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN },
	};

	memset(&asked, 0, sizeof(asked));
	if (poll(events, 2, -1) <= 0 || !(events[0].revents & POLLIN) ||
	    ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
		return;
	response.id = asked.notif.id;
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* At once: a sanitizer's look at the end needs calls that nobody may answer any more. */
static void say(int result)
{
	printf("%s\n", result < 0 ? strerrorname_np(-result) : "ok");
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	int listener;
	pid_t pid;

	if (argc != 3 || dprintf(creat(argv[1], 0600), "ready\n") < 0)
		return 2;
	for (int i = 0; access(argv[2], F_OK) < 0 && i < 2000; i++)
		(void)poll(NULL, 0, 5);
	listener = listen_to_keyctl();
	if (listener < 0) {
		say(-errno);
		return 0;
	}
	pid = fork();
	if (pid == 0) {
		say(syscall(SYS_keyctl, 0, -3, 0) < 0 ? -errno : 0);
		_exit(0);
	}
	let_it_go_on(listener, pid);
	(void)waitpid(pid, NULL, 0);
	return 0;
}
