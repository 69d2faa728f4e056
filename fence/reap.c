#include "fence/reap.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "fence/sys.h"

static void read_exit(const siginfo_t *info, struct fence_exit *ret)
{
	*ret = (struct fence_exit){
		.pid = info->si_pid,
		.signalled = info->si_code != CLD_EXITED,
		.core = info->si_code == CLD_DUMPED,
		.number = info->si_status,
	};
}

int fence_reap_look(struct fence_exit *ret)
{
	siginfo_t info;
	int rc = fence_waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT, NULL);

	if (rc == 1)
		read_exit(&info, ret);
	return rc;
}

int fence_reap_next(struct fence_exit *ret, struct rusage *usage)
{
	siginfo_t info;
	int rc = fence_waitid(P_ALL, 0, &info, WEXITED | WNOHANG, usage);

	if (rc == 1)
		read_exit(&info, ret);
	return rc;
}

bool fence_reap_is_dead(pid_t pid)
{
	siginfo_t info;

	return fence_waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT, NULL) == 1;
}

static int take(pid_t pid, int options, struct fence_exit *ret, struct rusage *usage)
{
	siginfo_t info;
	int rc = fence_waitid(P_PID, (id_t)pid, &info, WEXITED | options, usage);

	if (rc < 0)
		return rc;
	if (rc == 0)
		return -EAGAIN;
	read_exit(&info, ret);
	return 0;
}

int fence_reap_take(pid_t pid, struct fence_exit *ret, struct rusage *usage)
{
	return take(pid, WNOHANG, ret, usage);
}

int fence_reap_wait(pid_t pid, struct fence_exit *ret, struct rusage *usage)
{
	return take(pid, 0, ret, usage);
}

int fence_reap_any(struct fence_exit *ret)
{
	siginfo_t info;
	int rc = fence_waitid(P_ALL, 0, &info, WEXITED, NULL);

	if (rc < 0)
		return rc;
	read_exit(&info, ret);
	return 0;
}

static int take_job(int whose, pid_t pid, int options, int *ret_signal)
{
	siginfo_t info;
	int rc = fence_waitid(whose, (id_t)pid, &info, options | WNOHANG, NULL);

	if (rc == 1)
		*ret_signal = info.si_status;
	return rc;
}

int fence_reap_stopped(pid_t pid, int *ret_signal)
{
	return take_job(P_PID, pid, WSTOPPED, ret_signal);
}

int fence_reap_stopped_in(pid_t group, int *ret_signal)
{
	return take_job(P_PGID, group, WSTOPPED, ret_signal);
}

int fence_reap_job(pid_t pid, int *ret_signal)
{
	return take_job(P_PID, pid, WSTOPPED | WCONTINUED, ret_signal);
}

int fence_exit_status(const struct fence_exit *how)
{
	return how->signalled ? 128 + how->number : how->number;
}
