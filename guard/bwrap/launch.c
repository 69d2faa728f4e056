/* Outside: makes the namespaces, tells of them, and waits for the command's end. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "guard/bwrap/bwrap.h"
#include "guard/confine/cause.h"
#include "guard/confine/steps.h"

void bwrap_complain(const struct bwrap *bwrap, const struct fence_err *err)
{
	char line[1200];
	size_t length = fence_err_line(err, bwrap->program, line, sizeof(line));

	(void)fence_write_full(2, line, length);
}

/* --- before the birth ------------------------------------------------------------- */

static int tie_to_parent(const struct bwrap *bwrap, pid_t parent, struct fence_err *err)
{
	if (!bwrap->die_with_parent)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return fence_fail(err, -errno, "ask to die with the parent");
	if (getppid() != parent)
		return fence_fail_why(err, -ESRCH, "it is gone", "die with the parent");
	return 0;
}

/* With a gain of capabilities come a process that its own user cannot look at, and one
 * that the kernel does not end with its parent. */
static int join_namespaces(const struct bwrap *bwrap, pid_t parent, struct fence_err *err)
{
	if (bwrap->userns_fd >= 0) {
		if (setns(bwrap->userns_fd, CLONE_NEWUSER) < 0)
			return fence_fail(err, -errno, "join user namespace --userns %d",
					  bwrap->userns_fd);
		if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
			return fence_fail(err, -errno, "stay visible in /proc");
	}
	if (bwrap->pidns_fd >= 0 && setns(bwrap->pidns_fd, CLONE_NEWPID) < 0)
		return fence_fail(err, -errno, "join pid namespace --pidns %d", bwrap->pidns_fd);
	return tie_to_parent(bwrap, parent, err);
}

static uint64_t namespaces_of(const struct bwrap *bwrap)
{
	uint64_t flags = CLONE_NEWNS;

	flags |= bwrap->user != BWRAP_NO ? (uint64_t)CLONE_NEWUSER : 0U;
	flags |= bwrap->cgroup != BWRAP_NO ? (uint64_t)CLONE_NEWCGROUP : 0U;
	flags |= bwrap->ipc ? (uint64_t)CLONE_NEWIPC : 0U;
	flags |= bwrap->pid ? (uint64_t)CLONE_NEWPID : 0U;
	flags |= bwrap->net ? (uint64_t)CLONE_NEWNET : 0U;
	flags |= bwrap->uts ? (uint64_t)CLONE_NEWUTS : 0U;
	return flags;
}

/* Which of the wishes is refused the kernel does not say: each is left out in turn,
 * then both. */
static int give_birth(const struct bwrap *bwrap, uint64_t *flags, pid_t *ret_pid)
{
	const uint64_t all = *flags;
	const uint64_t cgroup = bwrap->cgroup == BWRAP_TRY ? (uint64_t)CLONE_NEWCGROUP : 0U;
	const uint64_t user = bwrap->user == BWRAP_TRY ? (uint64_t)CLONE_NEWUSER : 0U;
	const uint64_t without[] = { 0, cgroup, user, cgroup | user };
	int rc = -EINVAL;

	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		if (i > 0 && without[i] == 0)
			continue;
		*flags = all & ~without[i];
		rc = fence_spawn_fork(*flags, ret_pid, NULL);
		if (rc >= 0)
			return rc;
	}
	return rc;
}

/* --- while it runs ---------------------------------------------------------------- */

/* What the command has open and we need not is the command's alone. */
static int close_others(int sock, int json_fd)
{
	int low = sock < json_fd ? sock : json_fd;
	int high = sock < json_fd ? json_fd : sock;
	unsigned int first = 3;
	int rc = 0;

	for (int i = 0; rc == 0 && i < 2; i++) {
		int kept = i == 0 ? low : high;

		if (kept < (int)first)
			continue;
		if (kept > (int)first)
			rc = fence_close_range(first, (unsigned int)kept - 1, 0);
		first = (unsigned int)kept + 1;
	}
	return rc < 0 ? rc : fence_close_range(first, ~0U, 0);
}

static int await_end(pid_t pid, int sock, int *ret_status, bool *ret_failed, struct fence_err *err)
{
	struct bwrap_note note;
	struct fence_exit how;
	int rc;

	while (sock >= 0 && fence_read_some(sock, &note, sizeof(note)) == sizeof(note)) {
		*ret_status = note.status;
		if (note.kind == BWRAP_NOTE_ENDED)
			return 0;
		*ret_failed = true;
	}
	rc = fence_reap_wait(pid, &how, NULL);
	if (rc < 0)
		return fence_fail(err, rc, "wait for the sandbox");
	*ret_status = fence_exit_status(&how);
	return 0;
}

static int stand_by(const struct bwrap *bwrap, pid_t pid, uint64_t flags, int sock,
		    struct fence_err *err)
{
	const char go = BWRAP_GO;
	bool tells = bwrap->info_fd >= 0 || bwrap->json_fd >= 0;
	bool failed = false;
	int status = 1;
	int rc = 0;

	if (tells) {
		rc = bwrap_tell_start(bwrap, pid, flags, err);
		/* If it failed meanwhile, it said so. */
		(void)send(sock, &go, 1, MSG_NOSIGNAL);
	}
	if (rc == 0)
		rc = close_others(sock, bwrap->json_fd);
	if (rc == 0)
		rc = fence_capset_none();
	if (rc < 0) {
		(void)kill(pid, SIGKILL);
		return err->code != 0 ? err->code : fence_fail(err, rc, "watch the sandbox");
	}
	rc = await_end(pid, sock, &status, &failed, err);
	if (rc == 0 && bwrap->json_fd >= 0 && !failed)
		rc = bwrap_tell_end(bwrap->json_fd, status, err);
	return rc < 0 ? rc : status;
}

/* --- all of it -------------------------------------------------------------------- */

static int launch(struct bwrap *bwrap, char *const *argv, struct fence_err *err)
{
	uint64_t flags = namespaces_of(bwrap);
	owned_fd sock = -1;
	int pair[2] = { -1, -1 };
	pid_t pid = -1;
	int rc;

	/* Without anything to tell, the exit status alone says it all. */
	if ((bwrap_needs_init(bwrap) || bwrap->info_fd >= 0 || bwrap->json_fd >= 0 ||
	     bwrap->die_with_parent) &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fence_fail(err, -errno, "make a socket pair");
	rc = give_birth(bwrap, &flags, &pid);
	if (rc == 0) {
		if (pair[0] >= 0)
			(void)close(pair[0]);
		bwrap_child(bwrap, argv, (flags & CLONE_NEWUSER) != 0, pair[1]);
	}
	if (pair[1] >= 0)
		(void)close(pair[1]);
	sock = pair[0];
	if (rc > 0)
		return stand_by(bwrap, pid, flags, sock, err);
	fence_fail(err, rc, "create namespaces");
	guard_cause_hint(GUARD_STEP_NAMESPACES, err);
	return rc;
}

/* A pid namespace inside one that was joined can only be made by a process in it. */
static int launch_within(struct bwrap *bwrap, char *const *argv, struct fence_err *err)
{
	struct fence_exit how;
	pid_t pid = -1;
	int rc = fence_spawn_fork(0, &pid, NULL);

	if (rc < 0)
		return fence_fail(err, rc, "fork");
	if (rc > 0) {
		rc = fence_reap_wait(pid, &how, NULL);
		return rc < 0 ? fence_fail(err, rc, "wait") : fence_exit_status(&how);
	}
	if (bwrap->die_with_parent)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	rc = launch(bwrap, argv, err);
	if (err->code != 0)
		bwrap_complain(bwrap, err);
	_exit(rc < 0 ? 1 : rc);
}

int bwrap_launch(struct bwrap *bwrap, char *const *argv, struct fence_err *err)
{
	pid_t parent = getppid();
	int rc = tie_to_parent(bwrap, parent, err);

	if (getcwd(bwrap->cwd, sizeof(bwrap->cwd)) == NULL)
		bwrap->cwd[0] = '\0';
	if (rc == 0)
		rc = guard_no_new_privs(err);
	if (rc == 0)
		rc = join_namespaces(bwrap, parent, err);
	if (rc == 0)
		rc = bwrap->pid && bwrap->pidns_fd >= 0 ? launch_within(bwrap, argv, err)
							: launch(bwrap, argv, err);
	return rc < 0 ? 1 : rc;
}
