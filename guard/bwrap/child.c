/* Inside. The order:
 *  1. user namespace     needed for all that follows
 *  2. go                 who watches has been told of us
 *  3. network, host name
 *  4. root               the mounts, and the root changes
 *  5. working directory  in the new root
 *  6. user namespaces    the ones for the command, once ours has made the mounts
 *  7. session
 *  8. capabilities       nothing below needs any
 *  9. init               if there is one: it starts the command as its child
 * 10. seccomp            last before exec: it may forbid everything above */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "guard/bwrap/root.h"
#include "guard/confine/cause.h"
#include "guard/confine/steps.h"

struct child {
	struct bwrap *bwrap;
	char *const *argv;
	bool in_userns; /* one that was made for us */
	int sock;
	int proc_fd; /* the host's /proc; -1 */
};

__attribute__((noreturn)) static void fail(const struct child *child, const struct fence_err *err)
{
	const struct bwrap_note note = { .kind = BWRAP_NOTE_FAILED, .status = 1 };

	bwrap_complain(child->bwrap, err);
	if (child->sock >= 0)
		(void)send(child->sock, &note, sizeof(note), MSG_NOSIGNAL);
	_exit(1);
}

/* --- life and death --------------------------------------------------------------- */

/* The kernel forgets it at a fork, and when this process gains capabilities. */
static int tie_to_parent(struct child *child, struct fence_err *err)
{
	if (child->bwrap->die_with_parent && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return fence_fail(err, -errno, "ask to die with the parent");
	return 0;
}

/* It may have died before we asked: then its end of the socket is closed. */
static int check_parent(struct child *child, struct fence_err *err)
{
	struct pollfd event = { .fd = child->sock };
	int rc = tie_to_parent(child, err);

	if (rc == 0 && child->bwrap->die_with_parent && child->sock >= 0 &&
	    poll(&event, 1, 0) > 0 && (event.revents & POLLHUP) != 0)
		_exit(1);
	return rc;
}

/* --- user namespaces -------------------------------------------------------------- */

static int write_proc(const struct child *child, const char *path, const char *text)
{
	owned_fd fd = openat(child->proc_fd, path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fence_write_full(fd, text, strlen(text));
}

static int write_map(const struct child *child, const char *path, uint64_t inside, uint64_t outside)
{
	char map[64];

	(void)snprintf(map, sizeof(map), "%llu %llu 1\n", (unsigned long long)inside,
		       (unsigned long long)outside);
	return write_proc(child, path, map);
}

static int map_ids(const struct child *child, uint64_t uid, uint64_t outer_uid, uint64_t gid,
		   uint64_t outer_gid, struct fence_err *err)
{
	int rc = write_proc(child, "self/setgroups", "deny");

	if (rc == 0)
		rc = write_map(child, "self/uid_map", uid, outer_uid);
	if (rc == 0)
		rc = write_map(child, "self/gid_map", gid, outer_gid);
	if (rc == 0)
		return 0;
	fence_fail(err, rc, "map uid %llu into a user namespace", (unsigned long long)outer_uid);
	guard_cause_hint(GUARD_STEP_MAP, err);
	return rc;
}

static uint64_t uid_inside(const struct bwrap *bwrap)
{
	return bwrap->uid >= 0 ? (uint64_t)bwrap->uid : bwrap->caller_uid;
}

static uint64_t gid_inside(const struct bwrap *bwrap)
{
	return bwrap->gid >= 0 ? (uint64_t)bwrap->gid : bwrap->caller_gid;
}

static int wait_for(int fd, const char *option, struct fence_err *err)
{
	char byte;
	ssize_t got = fence_read_some(fd, &byte, 1);

	return got < 0 ? fence_fail(err, (int)got, "wait for %s %d", option, fd) : 0;
}

static int map_user(struct child *child, struct fence_err *err)
{
	const struct bwrap *bwrap = child->bwrap;

	if (!child->in_userns)
		return 0;
	if (bwrap->userns_block_fd >= 0)
		return wait_for(bwrap->userns_block_fd, "--userns-block-fd", err);
	return map_ids(child, uid_inside(bwrap), bwrap->caller_uid, gid_inside(bwrap),
		       bwrap->caller_gid, err);
}

static int await_go(struct child *child, struct fence_err *err)
{
	char go;

	if (child->bwrap->info_fd < 0 && child->bwrap->json_fd < 0)
		return 0;
	if (fence_read_some(child->sock, &go, 1) == 1)
		return 0;
	return fence_fail_why(err, -EPIPE, "whoever waits for it is gone", "start");
}

/* A gain of capabilities hides a process from its own user in /proc. */
static int stay_visible(struct fence_err *err)
{
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return fence_fail(err, -errno, "stay visible in /proc");
	return 0;
}

/* The limit of the namespace that owns the mounts; the command gets one below it, from
 * which that limit cannot be raised. */
static int disable_userns(const struct child *child, struct fence_err *err)
{
	uint64_t uid = uid_inside(child->bwrap);
	uint64_t gid = gid_inside(child->bwrap);
	int rc = write_proc(child, "sys/user/max_user_namespaces", "1");

	if (rc < 0)
		return fence_fail(err, rc, "limit user namespaces to one");
	if (unshare(CLONE_NEWUSER) < 0)
		return fence_fail(err, -errno, "make the last user namespace");
	rc = stay_visible(err);
	return rc < 0 ? rc : map_ids(child, uid, uid, gid, gid, err);
}

static int enter_last_userns(struct child *child, struct fence_err *err)
{
	const struct bwrap *bwrap = child->bwrap;

	if (bwrap->disable_userns)
		return disable_userns(child, err);
	if (bwrap->userns2_fd < 0)
		return 0;
	if (setns(bwrap->userns2_fd, CLONE_NEWUSER) < 0)
		return fence_fail(err, -errno, "join user namespace --userns2 %d",
				  bwrap->userns2_fd);
	return stay_visible(err);
}

/* In a namespace that somebody else mapped the ids are taken, not given. */
static int take_ids(struct child *child, struct fence_err *err)
{
	const struct bwrap *bwrap = child->bwrap;

	if (bwrap->userns_fd < 0 && bwrap->userns_block_fd < 0)
		return 0;
	if (bwrap->gid >= 0 && setresgid((gid_t)bwrap->gid, (gid_t)bwrap->gid, (gid_t)bwrap->gid))
		return fence_fail(err, -errno, "become gid %lld", bwrap->gid);
	if (bwrap->uid < 0)
		return 0;
	/* The capabilities are needed a little longer. */
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 ||
	    setresuid((uid_t)bwrap->uid, (uid_t)bwrap->uid, (uid_t)bwrap->uid) < 0)
		return fence_fail(err, -errno, "become uid %lld", bwrap->uid);
	return stay_visible(err);
}

static int assert_disabled(struct child *child, struct fence_err *err)
{
	struct fence_exit how;
	pid_t pid;
	int rc;

	if (!child->bwrap->assert_userns_disabled)
		return 0;
	rc = fence_spawn_fork(CLONE_NEWUSER, &pid, NULL);
	if (rc == 0)
		_exit(0);
	if (rc < 0)
		return 0;
	(void)fence_reap_wait(pid, &how, NULL);
	return fence_fail_why(err, -EPERM, "they can be made",
			      "assert that user namespaces are disabled");
}

/* --- the rest --------------------------------------------------------------------- */

static int set_net(struct child *child, struct fence_err *err)
{
	return child->bwrap->net ? guard_lo_up(err) : 0;
}

static int set_hostname(struct child *child, struct fence_err *err)
{
	const char *name = child->bwrap->hostname;

	if (name != NULL && sethostname(name, strlen(name)) < 0)
		return fence_fail(err, -errno, "set the host name to %s", name);
	return 0;
}

static int set_labels(struct child *child, struct fence_err *err)
{
	const struct bwrap *bwrap = child->bwrap;
	int rc = 0;

	if (bwrap->exec_label != NULL)
		rc = write_proc(child, "self/attr/exec", bwrap->exec_label);
	if (rc == 0 && bwrap->file_label != NULL)
		rc = write_proc(child, "self/attr/fscreate", bwrap->file_label);
	return rc < 0 ? fence_fail(err, rc, "set SELinux labels") : 0;
}

static int make_root(struct child *child, struct fence_err *err)
{
	struct bwrap_root root = {
		.base_fd = -1,
		.fd = -1,
		.proc_fd = child->proc_fd,
		.fresh_proc = child->bwrap->pid || child->bwrap->pidns_fd >= 0,
		.file_label = child->bwrap->file_label,
	};

	return bwrap_root_make(&root, child->bwrap, err);
}

/* As asked; else where we were started, else HOME, else the root: a folder that is not
 * there inside is no error then. */
static int enter_dir(struct child *child, struct fence_err *err)
{
	const struct bwrap *bwrap = child->bwrap;
	const char *home = getenv("HOME");
	char now[PATH_MAX];

	if (bwrap->dir != NULL) {
		if (chdir(bwrap->dir) < 0)
			return fence_fail(err, -errno, "Can't chdir to %s", bwrap->dir);
	} else if ((bwrap->cwd[0] == '\0' || chdir(bwrap->cwd) < 0) &&
		   (home == NULL || home[0] == '\0' || chdir(home) < 0) && chdir("/") < 0) {
		return fence_fail(err, -errno, "enter /");
	}
	if (getcwd(now, sizeof(now)) == NULL || setenv("PWD", now, 1) < 0)
		return fence_fail(err, -errno, "set PWD");
	return 0;
}

static int start_session(struct child *child, struct fence_err *err)
{
	if (child->bwrap->new_session && setsid() < 0)
		return fence_fail(err, -errno, "start a session");
	return 0;
}

static int set_caps(struct child *child, struct fence_err *err)
{
	int rc =
		bwrap_set_caps(child->bwrap, child->in_userns || child->bwrap->userns_fd >= 0, err);

	return rc < 0 ? rc : tie_to_parent(child, err);
}

/* --- the command ------------------------------------------------------------------ */

/* As execvp(3) does it: a script without a first line that names its interpreter is
 * the shell's. */
static int execute(const char *file, char *const *argv, struct fence_err *err)
{
	size_t count = 0;
	owned_mem char **words = NULL;

	(void)execve(file, argv, environ);
	if (errno != ENOEXEC) {
		fence_fail(err, -errno, "execute %s", argv[0]);
		/* It was found. */
		if (err->code == -ENOENT)
			(void)fence_hint(err, "its loader or interpreter is not in the new root: "
					      "it may need /lib, /lib64 or what its first line "
					      "names");
		return err->code;
	}
	while (argv[count] != NULL)
		count++;
	words = calloc(count + 2, sizeof(*words));
	if (words == NULL)
		return fence_fail(err, -ENOMEM, "execute %s", argv[0]);
	words[0] = (char *)(uintptr_t) "sh";
	words[1] = (char *)(uintptr_t)file;
	for (size_t i = 1; i < count; i++)
		words[i + 1] = argv[i];
	(void)execve("/bin/sh", words, environ);
	return fence_fail(err, -errno, "execute %s with /bin/sh", argv[0]);
}

__attribute__((noreturn)) static void become_command(struct child *child)
{
	const struct bwrap *bwrap = child->bwrap;
	struct fence_err err = { 0 };
	char file[PATH_MAX];
	char **argv = (char **)(uintptr_t)child->argv;
	int rc = tie_to_parent(child, &err);

	/* A descriptor that is not open is as good as one that can be read: so it is there. */
	if (rc == 0 && bwrap->block_fd >= 0)
		(void)wait_for(bwrap->block_fd, "--block-fd", &err);
	if (rc == 0) {
		rc = fence_spawn_find(argv[0], getenv("PATH"), NULL, file, sizeof(file));
		if (rc < 0)
			fence_fail(&err, rc, "find %s", argv[0]);
	}
	if (rc == 0 && bwrap->argv0 != NULL)
		argv[0] = (char *)(uintptr_t)bwrap->argv0;
	if (rc == 0)
		rc = bwrap_load_filters(bwrap, &err);
	if (rc == 0)
		(void)execute(file, argv, &err);
	fail(child, &err);
}

/* --- init ------------------------------------------------------------------------- */

bool bwrap_needs_init(const struct bwrap *bwrap)
{
	if (bwrap->as_pid_1)
		return false;
	return bwrap->pid || bwrap->lock_count > 0 || bwrap->sync_fd >= 0;
}

static int take_lock(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_SETLK, &lock) < 0 ? -errno : 0;
}

static int take_locks(const struct bwrap *bwrap, int *fds, struct fence_err *err)
{
	for (size_t i = 0; i < bwrap->lock_count; i++) {
		const char *path = bwrap->lock_files[i];
		int rc;

		fds[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (fds[i] < 0)
			return fence_fail(err, -errno, "open lock file %s", path);
		rc = take_lock(fds[i]);
		if (rc < 0)
			return fence_fail(err, rc, "lock %s", path);
	}
	return 0;
}

static int by_number(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

/* What the command got is none of init's business: a pipe that it closes is closed. */
static int close_others(int *kept, size_t count)
{
	unsigned int first = 3;
	int rc = 0;

	qsort(kept, count, sizeof(*kept), by_number);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		if (kept[i] < (int)first)
			continue;
		if (kept[i] > (int)first)
			rc = fence_close_range(first, (unsigned int)kept[i] - 1, 0);
		first = (unsigned int)kept[i] + 1;
	}
	return rc < 0 ? rc : fence_close_range(first, ~0U, 0);
}

/* The end of the command is told at once; what it left goes on, and so does init. */
__attribute__((noreturn)) static void reap_all(const struct child *child, pid_t command)
{
	struct bwrap_note note = { .kind = BWRAP_NOTE_ENDED, .status = 1 };
	struct fence_exit how;

	while (fence_reap_any(&how) == 0) {
		if (how.pid != command)
			continue;
		note.status = fence_exit_status(&how);
		(void)send(child->sock, &note, sizeof(note), MSG_NOSIGNAL);
		(void)close(child->sock);
	}
	_exit(note.status);
}

__attribute__((noreturn)) static void become_init(struct child *child)
{
	const struct bwrap *bwrap = child->bwrap;
	size_t count = bwrap->lock_count;
	int *kept = calloc(count + 2, sizeof(*kept));
	struct fence_err err = { 0 };
	pid_t command = -1;
	int rc;

	if (kept == NULL) {
		fence_fail(&err, -ENOMEM, "start init");
		fail(child, &err);
	}
	if (take_locks(bwrap, kept, &err) < 0)
		fail(child, &err);
	rc = fence_spawn_fork(0, &command, NULL);
	if (rc == 0)
		become_command(child);
	if (rc < 0) {
		fence_fail(&err, rc, "fork");
		fail(child, &err);
	}
	kept[count] = child->sock;
	kept[count + 1] = bwrap->sync_fd;
	rc = close_others(kept, count + 2);
	/* To close any other descriptor of the same file has unlocked it. */
	for (size_t i = 0; rc == 0 && i < count + 2; i++)
		if (kept[i] >= 0 && kept[i] != child->sock && kept[i] != bwrap->sync_fd)
			rc = take_lock(kept[i]);
	if (rc < 0) {
		fence_fail(&err, rc, "set up init");
		(void)kill(command, SIGKILL);
		fail(child, &err);
	}
	reap_all(child, command);
}

/* --- all of it -------------------------------------------------------------------- */

void bwrap_child(struct bwrap *bwrap, char *const *argv, bool in_userns, int sock)
{
	static int (*const steps[])(struct child *, struct fence_err *) = {
		check_parent,	 map_user,	await_go,  set_net,	      set_hostname,
		set_labels,	 make_root,	enter_dir, enter_last_userns, take_ids,
		assert_disabled, start_session, set_caps,
	};
	struct child child = {
		.bwrap = bwrap,
		.argv = argv,
		.in_userns = in_userns,
		.sock = sock,
		.proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC),
	};
	struct fence_err err = { 0 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i](&child, &err) < 0)
			fail(&child, &err);
	if (bwrap_needs_init(bwrap))
		become_init(&child);
	/* Nobody but the command is left to hold it. */
	if (bwrap->sync_fd >= 0)
		(void)fcntl(bwrap->sync_fd, F_SETFD, 0);
	become_command(&child);
}
