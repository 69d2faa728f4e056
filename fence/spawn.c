#include "fence/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/reap.h"
#include "fence/sys.h"

#define CHILD_STACK_BYTES (256 * 1024) /* a gate has more to do than exec */
#define STANDARD_PATH	  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

const char *fence_spawn_step_name(enum fence_spawn_step step)
{
	static const char *const names[] = {
		[FENCE_SPAWN_STEP_FORK] = "fork",
		[FENCE_SPAWN_STEP_SESSION] = "start a session",
		[FENCE_SPAWN_STEP_CONTAIN] = "contain",
		[FENCE_SPAWN_STEP_GATE] = "pass the fence",
		[FENCE_SPAWN_STEP_STDIO] = "set up standard descriptors",
		[FENCE_SPAWN_STEP_DIR] = "change directory",
		[FENCE_SPAWN_STEP_FDS] = "close descriptors",
		[FENCE_SPAWN_STEP_NICE] = "set the nice value",
		[FENCE_SPAWN_STEP_LIMITS] = "set resource limits",
		[FENCE_SPAWN_STEP_SIGNALS] = "reset signals",
		[FENCE_SPAWN_STEP_EXEC] = "execute",
	};

	return names[step];
}

/* What the child half works on. It runs in the parent's memory while the parent is
 * suspended, so the outcome is simply written here: no pipe is needed. */
struct birth {
	const struct fence_spawn_plan *plan;
	bool joins;		    /* the cgroup, into which it could not be born */
	enum fence_spawn_step step; /* the one under way */
	int error;		    /* 0: exec was called, and did not return */
};

/* Done by the child itself, before exec: a command that reads its terminal at once
 * must not find itself in the background. SIGTTOU is blocked here. */
static void child_foreground(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (tcsetpgrp(fd, getpid()) == 0)
			return;
}

static int child_session(const struct fence_spawn_plan *plan)
{
	if (plan->session == FENCE_SPAWN_OWN_SESSION)
		return setsid() < 0 ? -errno : 0;
	if (plan->session != FENCE_SPAWN_OWN_GROUP)
		return 0;
	if (setpgid(0, 0) < 0)
		return -errno;
	if (plan->foreground)
		child_foreground();
	return 0;
}

static int child_contain(const struct fence_spawn_plan *plan)
{
	return plan->contain == NULL ? 0 : plan->contain(plan->contain_arg, plan->gate_err);
}

static int child_gate(const struct fence_spawn_plan *plan)
{
	return plan->gate == NULL ? 0 : plan->gate(plan->gate_arg, plan->cgroup_id, plan->gate_err);
}

static int child_contained(const struct fence_spawn_plan *plan)
{
	return plan->contained == NULL ? 0 : plan->contained(plan->contain_arg, plan->gate_err);
}

/* Moves the three descriptors into place. A source that is itself 0, 1 or 2 is
 * copied out of the way first, so that no order of the three can overwrite it. */
static int child_stdio(const struct fence_spawn_plan *plan)
{
	int source[3];

	for (int i = 0; i < 3; i++) {
		source[i] = plan->stdio[i];
		if (source[i] >= 0 && source[i] <= 2 && source[i] != i)
			source[i] = fcntl(source[i], F_DUPFD_CLOEXEC, 3);
		if (source[i] < 0 && plan->stdio[i] >= 0)
			return -errno;
	}
	for (int i = 0; i < 3; i++) {
		if (source[i] < 0)
			continue;
		if (source[i] == i ? fcntl(i, F_SETFD, 0) < 0 : dup2(source[i], i) < 0)
			return -errno;
	}
	if (plan->own_terminal && ioctl(0, TIOCSCTTY, 0) < 0)
		return -errno;
	return 0;
}

static int child_dir(const struct fence_spawn_plan *plan)
{
	if (plan->umask >= 0)
		(void)umask((mode_t)plan->umask);
	if (plan->dir != NULL && chdir(plan->dir) < 0)
		return -errno;
	return 0;
}

/* Closing through the close-on-exec flag keeps everything usable until exec. */
static int child_fds(const struct fence_spawn_plan *plan)
{
	unsigned int first = 3;

	if (plan->fds_are_set)
		return 0;
	for (size_t i = 0; i < plan->keep_count; i++) {
		unsigned int kept = (unsigned int)plan->keep_fds[i];
		int rc = 0;

		if (kept < first)
			continue;
		if (kept > first)
			rc = fence_close_range(first, kept - 1, CLOSE_RANGE_CLOEXEC);
		if (rc == 0 && fcntl((int)kept, F_SETFD, 0) < 0)
			rc = -errno;
		if (rc < 0)
			return rc;
		first = kept + 1;
	}
	return fence_close_range(first, ~0U, CLOSE_RANGE_CLOEXEC);
}

static int child_nice(const struct fence_spawn_plan *plan)
{
	int now;

	if (plan->nice == 0)
		return 0;
	errno = 0;
	now = getpriority(PRIO_PROCESS, 0);
	if (now == -1 && errno != 0)
		return -errno;
	return setpriority(PRIO_PROCESS, 0, now + plan->nice) < 0 ? -errno : 0;
}

static int child_limits(const struct fence_spawn_plan *plan)
{
	for (size_t i = 0; i < plan->limit_count; i++) {
		const struct fence_spawn_limit *limit = &plan->limits[i];
		int rc = fence_set_limit(limit->resource, limit->soft, limit->hard);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* exec(2) resets handlers but keeps what is ignored. KILL and STOP cannot be set:
 * those two fail, harmlessly. */
static int child_signals(const struct fence_spawn_plan *plan)
{
	sigset_t none;

	(void)sigemptyset(&none);
	if (plan->keep_signals)
		return sigprocmask(SIG_SETMASK, plan->mask, NULL) < 0 ? -errno : 0;
	for (int sig = 1; sig <= FENCE_SIGNAL_MAX; sig++)
		(void)fence_signal_default(sig);
	return sigprocmask(SIG_SETMASK, &none, NULL) < 0 ? -errno : 0;
}

static int child_exec(const struct fence_spawn_plan *plan)
{
	(void)execve(plan->file, plan->argv, plan->envp);
	return -errno;
}

static int child_join(const struct fence_spawn_plan *plan)
{
	owned_fd fd = openat(plan->cgroup_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fence_write_full(fd, "0", 1);
}

static int child_main(void *arg)
{
	static const struct {
		enum fence_spawn_step step;
		int (*run)(const struct fence_spawn_plan *plan);
	} steps[] = {
		{ FENCE_SPAWN_STEP_SESSION, child_session },
		{ FENCE_SPAWN_STEP_CONTAIN, child_contain },
		{ FENCE_SPAWN_STEP_GATE, child_gate },
		{ FENCE_SPAWN_STEP_CONTAIN, child_contained },
		{ FENCE_SPAWN_STEP_STDIO, child_stdio },
		{ FENCE_SPAWN_STEP_DIR, child_dir },
		{ FENCE_SPAWN_STEP_FDS, child_fds },
		{ FENCE_SPAWN_STEP_NICE, child_nice },
		{ FENCE_SPAWN_STEP_LIMITS, child_limits },
		{ FENCE_SPAWN_STEP_SIGNALS, child_signals },
		{ FENCE_SPAWN_STEP_EXEC, child_exec },
	};
	struct birth *birth = arg;
	int rc = 0;

	birth->step = FENCE_SPAWN_STEP_CONTAIN;
	if (birth->joins)
		rc = child_join(birth->plan);
	for (size_t i = 0; rc >= 0 && i < sizeof(steps) / sizeof(steps[0]); i++) {
		birth->step = steps[i].step;
		if (birth->step == FENCE_SPAWN_STEP_EXEC)
			birth->error = 0;
		rc = steps[i].run(birth->plan);
	}
	birth->error = rc;
	return 127;
}

/* The stack is mapped, not an array of the caller's frame: there the compiler's
 * stack-clash probes touch every page of it (16 page faults, 40 of the 1,500 us that
 * a launch of /bin/true takes); here the child touches the one or two it needs. */
static pid_t clone_onto_new_stack(struct birth *birth, int *ret_pidfd)
{
	char *stack = mmap(NULL, CHILD_STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pid_t pid;

	if (stack == MAP_FAILED)
		return -errno;
	pid = clone(child_main, stack + CHILD_STACK_BYTES,
		    CLONE_VM | CLONE_VFORK | SIGCHLD | (ret_pidfd == NULL ? 0 : CLONE_PIDFD), birth,
		    ret_pidfd);
	if (pid < 0)
		pid = -errno;
	(void)munmap(stack, CHILD_STACK_BYTES);
	return pid;
}

/* Where nobody wants a pidfd and there is no gate: the parent's own stack, below what is in
 * use of it, is deep enough for what is left to do.
 *
 * What analysers hold against vfork(2) is what every birth here is like: the child works in
 * the memory of a parent that stands still. It calls functions, which only write below this
 * frame, and writes to *birth, which is what it is for; it never returns from here. */
static pid_t clone_onto_own_stack(struct birth *birth)
{
	pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */

	if (pid == 0)
		_exit(child_main(birth)); /* NOLINT(clang-analyzer-unix.Vfork) */
	return pid < 0 ? -errno : pid;
}

/* Only clone3(2) can name a cgroup, and the C libraries have no function for it that
 * gives the child a stack of its own: so the child gets a copy of our memory, as from
 * fork(2), and the outcome a page that both have. Moving a child that was born here
 * into the group instead would wait for a lock over all processes of the machine. */
static pid_t clone_into_cgroup(struct birth *birth, int *ret_pidfd)
{
	struct birth *common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (common == MAP_FAILED)
		return -errno;
	*common = *birth;
	pid = fence_raw_clone_into(CLONE_VFORK, birth->plan->cgroup_fd, ret_pidfd);
	if (pid == 0)
		_exit(child_main(common));
	*birth = *common;
	(void)munmap(common, sizeof(*common));
	return pid;
}

int fence_spawn_exec(const struct fence_spawn_plan *plan, pid_t *ret_pid, int *ret_pidfd,
		     enum fence_spawn_step *ret_step)
{
	/* Killed before it came to exec, a child says nothing else. */
	struct birth birth = { .plan = plan, .step = FENCE_SPAWN_STEP_FORK, .error = -ECANCELED };
	struct fence_exit how;
	owned_fd pidfd = -1;
	pid_t pid = plan->cgroup_fd > 0 ? clone_into_cgroup(&birth, &pidfd) : -ENOSYS;

	/* System call filters of containers let no clone3(2) through, since they cannot see
	 * what it is asked for. */
	if (pid == -ENOSYS) {
		birth.joins = plan->cgroup_fd > 0;
		pid = ret_pidfd == NULL && plan->gate == NULL
			      ? clone_onto_own_stack(&birth)
			      : clone_onto_new_stack(&birth, ret_pidfd == NULL ? NULL : &pidfd);
	}
	if (pid < 0) {
		*ret_step = FENCE_SPAWN_STEP_FORK;
		return (int)pid;
	}
	/* The child is either past exec or dead. */
	if (birth.error < 0) {
		(void)fence_reap_wait(pid, &how, NULL);
		*ret_step = birth.step;
		return birth.error;
	}
	*ret_pid = pid;
	if (ret_pidfd != NULL)
		*ret_pidfd = fence_take_fd(&pidfd);
	return 0;
}

/* 0: a regular file that we may execute. */
static int try_file(int dir_fd, const char *path)
{
	struct stat st;

	if (fstatat(dir_fd, path, &st, 0) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(dir_fd, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

static int join(char *path, size_t size_bytes, const char *dir, size_t dir_length, const char *name)
{
	/* An empty element of PATH is the current directory (execvp does so too). */
	int length = dir_length == 0
			     ? snprintf(path, size_bytes, "./%s", name)
			     : snprintf(path, size_bytes, "%.*s/%s", (int)dir_length, dir, name);

	return length < 0 || (size_t)length >= size_bytes ? -ENAMETOOLONG : 0;
}

int fence_spawn_find(const char *name, const char *search, const char *dir, char *ret_path,
		     size_t size_bytes)
{
	owned_fd dir_fd = -1;
	int worst = -ENOENT;
	int base = AT_FDCWD;
	int rc;

	if (name[0] == '\0')
		return -ENOENT;
	if (dir != NULL) {
		dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir_fd < 0)
			return -errno;
		base = dir_fd;
	}
	if (strchr(name, '/') != NULL) {
		if ((size_t)snprintf(ret_path, size_bytes, "%s", name) >= size_bytes)
			return -ENAMETOOLONG;
		return try_file(base, name);
	}
	if (search == NULL || search[0] == '\0')
		search = STANDARD_PATH;
	for (;;) {
		size_t length = strcspn(search, ":");

		rc = join(ret_path, size_bytes, search, length, name);
		if (rc == 0)
			rc = try_file(base, ret_path);
		if (rc == 0)
			return 0;
		/* Only a file that is there counts; a folder that we may not even look
		 * into says nothing. */
		if (rc == -EACCES && faccessat(base, ret_path, F_OK, AT_EACCESS) == 0)
			worst = rc;
		if (search[length] == '\0')
			return worst;
		search += length + 1;
	}
}

int fence_spawn_fork(uint64_t clone_flags, pid_t *ret_pid, int *ret_pidfd)
{
	owned_fd pidfd = -1;
	pid_t pid = clone_flags == 0 ? fork()
				     : fence_raw_clone(clone_flags | SIGCHLD,
						       ret_pidfd == NULL ? NULL : &pidfd);

	if (pid < 0)
		return clone_flags == 0 ? -errno : (int)pid;
	if (pid == 0)
		return 0;
	/* Our unreaped child: its pid is its own until we reap it. */
	if (ret_pidfd != NULL && pidfd < 0)
		pidfd = fence_pidfd_open(pid, 0);
	if (ret_pidfd != NULL && pidfd < 0)
		return pidfd;
	if (ret_pidfd != NULL)
		*ret_pidfd = fence_take_fd(&pidfd);
	*ret_pid = pid;
	return 1;
}
