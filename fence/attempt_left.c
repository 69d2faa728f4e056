/* Finding what is left of an attempt. */
#include "fence/attempt_left.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "fence/tree.h"

const char *fence_left_proof_word(enum fence_left_proof proof)
{
	static const char *const words[] = {
		[FENCE_LEFT_GROUP] = "group",		[FENCE_LEFT_SESSION] = "session",
		[FENCE_LEFT_CGROUP] = "cgroup",		[FENCE_LEFT_STAMP] = "stamp",
		[FENCE_LEFT_DESCENDANT] = "descendant", [FENCE_LEFT_UNPROVEN] = "unproven",
	};

	return words[proof];
}

static void empty_list(struct fence_left_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		fence_close_fd(&list->items[i].pidfd);
	list->count = list->unproven = 0;
	list->has_self = list->is_partial = false;
}

void fence_left_list_drop(struct fence_left_list *list)
{
	empty_list(list);
	free(list->items);
	*list = (struct fence_left_list){ 0 };
}

/* --- traces ------------------------------------------------------------------------------ */

int fence_left_traces_open(const struct fence_marker *marker, struct fence_left_traces *ret,
			   struct fence_err *err)
{
	const struct fence_ident *supervisor = &marker->supervisor;
	bool is_bound = supervisor->boot_id[0] != '\0' && supervisor->pid_ns != 0;
	int rc = 0;

	*ret = (struct fence_left_traces){ .group = marker->group,
					   .group_pidfd = -1,
					   .cgroup_fd = -1 };
	if (is_bound && supervisor->start_ticks != 0)
		fence_attempt_stamp(supervisor, ret->stamp);
	/* By its id alone: a start time proves nothing (fence/ident.h). */
	if (is_bound && marker->group.pid != 0 && marker->group.id != 0)
		rc = fence_ident_open_group(&marker->group, &ret->group_pidfd);
	ret->group_gone = rc == -ESRCH;
	if (rc < 0 && rc != -ESRCH && rc != -ENODATA)
		return fence_fail(err, rc, "open group %d", marker->group.pid);
	if (is_bound && marker->group_cgroup != 0)
		rc = fence_cgroup_find(marker->group_cgroup, &ret->cgroup_fd, &ret->cgroup_path);
	if (rc == -ENOMEM)
		return fence_fail(err, rc, "find the cgroup");
	return 0;
}

void fence_left_traces_close(struct fence_left_traces *traces)
{
	fence_close_fd(&traces->group_pidfd);
	fence_close_fd(&traces->cgroup_fd);
	free(traces->cgroup_path);
	traces->cgroup_path = NULL;
}

/* Is the group's number still that group's, so that who has it is a member? */
static bool is_number_held(const struct fence_left_traces *traces)
{
	owned_fd again = -1;
	int rc;

	if (traces->group_pidfd < 0)
		return false;
	rc = fence_pidfd_signal(traces->group_pidfd, 0, 0);
	if (rc == 0 || rc == -EPERM) /* the leader is not reaped */
		return true;
	return fence_ident_open_group(&traces->group, &again) == 0;
}

/* --- stamps ------------------------------------------------------------------------------- */

/* An environment as it goes by: NAME=VALUE and a NUL each, and in the value of ours
 * stamps with a space between them. */
struct stamp_match {
	const char *stamp;
	size_t name_matched; /* of "FENCE_SUPERVISOR=" */
	size_t matched;	     /* of the stamp */
	bool is_other;	     /* so far another variable, or in ours another stamp */
};

/* True at the byte that ends the stamp. */
static bool match_byte(struct stamp_match *m, char byte)
{
	static const char name[] = FENCE_ATTEMPT_VARIABLE "=";
	bool in_value = m->name_matched == sizeof(name) - 1;

	if (byte == '\0' || (in_value && byte == ' ')) {
		bool found = in_value && !m->is_other && m->stamp[m->matched] == '\0';

		*m = (struct stamp_match){ .stamp = m->stamp,
					   .name_matched = byte == '\0' ? 0 : m->name_matched };
		return found;
	}
	if (m->is_other)
		return false;
	m->is_other = byte != (in_value ? m->stamp[m->matched] : name[m->name_matched]);
	if (in_value)
		m->matched += !m->is_other;
	else
		m->name_matched += !m->is_other;
	return false;
}

/* Read in pieces: an environment may have megabytes. */
static bool environ_has(int dir_fd, const char *path, const char *stamp)
{
	owned_fd fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	struct stamp_match match = { .stamp = stamp };
	char buf[4096];

	if (fd < 0)
		return false;
	for (;;) {
		ssize_t got = fence_read_some(fd, buf, sizeof(buf));

		if (got <= 0)
			return false;
		for (ssize_t i = 0; i < got; i++)
			if (match_byte(&match, buf[i]))
				return true;
	}
}

static bool any_task_has(pid_t pid, const char *stamp)
{
	struct dirent *entry;
	char path[64];
	bool found = false;
	DIR *tasks;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks)) != NULL) {
		(void)snprintf(path, sizeof(path), "%.16s/environ", entry->d_name);
		found = entry->d_name[0] != '.' && environ_has(dirfd(tasks), path, stamp);
	}
	if (tasks)
		(void)closedir(tasks);
	return found;
}

/* A process whose first thread has ended shows its environment only through another. */
static bool has_stamp(const struct fence_proc_stat *proc, const char *stamp)
{
	char path[64];

	if (stamp[0] == '\0')
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)proc->pid);
	if (environ_has(AT_FDCWD, path, stamp))
		return true;
	return proc->state == 'Z' && any_task_has(proc->pid, stamp);
}

/* --- proofs -------------------------------------------------------------------------------- */

/* "0::/PATH\n", or below it. */
static bool is_in_cgroup(const struct fence_left_traces *traces, pid_t pid)
{
	char path[64], text[PATH_MAX + 16], *at;
	size_t length;

	if (traces->cgroup_fd < 0)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	if (fence_read_file(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	at = strstr(text, "0::");
	if (!at || (at != text && at[-1] != '\n'))
		return false;
	at += strlen("0::");
	length = strlen(traces->cgroup_path);
	if (strncmp(at, traces->cgroup_path, length) != 0 ||
	    (at[length] != '/' && at[length] != '\n'))
		return false;
	/* The folder that we hold has not been removed, so the path was its own. */
	return faccessat(traces->cgroup_fd, "cgroup.procs", F_OK, 0) == 0;
}

/* 1 with the proof; 0: nothing speaks for it. */
static int prove(const struct fence_left_traces *traces, const struct fence_proc_stat *proc,
		 enum fence_left_proof *ret)
{
	pid_t number = traces->group_gone ? 0 : traces->group.pid;
	bool has_number = number > 0 && (proc->group == number || proc->session == number);

	if (has_number && is_number_held(traces))
		*ret = proc->group == number ? FENCE_LEFT_GROUP : FENCE_LEFT_SESSION;
	else if (is_in_cgroup(traces, proc->pid))
		*ret = FENCE_LEFT_CGROUP;
	else if (has_stamp(proc, traces->stamp))
		*ret = FENCE_LEFT_STAMP;
	else if (has_number)
		*ret = FENCE_LEFT_UNPROVEN;
	else
		return 0;
	return 1;
}

/* --- one look ------------------------------------------------------------------------------- */

/* All processes as they were, for the look at whose child each is. */
struct scan {
	const struct fence_left_traces *traces;
	struct fence_left_list *list;
	struct fence_proc_stat *procs;
	size_t count, capacity;
};

static int append(struct fence_left_list *list, const struct fence_proc_stat *proc,
		  enum fence_left_proof proof, int *pidfd)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity == 0 ? 64 : list->capacity * 2;
		struct fence_left *items = reallocarray(list->items, capacity, sizeof(items[0]));

		if (!items)
			return -ENOMEM;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count] = (struct fence_left){ .pid = proc->pid,
							.proof = proof,
							.pidfd = fence_take_fd(pidfd) };
	memcpy(list->items[list->count].name, proc->name, sizeof(proc->name));
	list->count++;
	list->unproven += proof == FENCE_LEFT_UNPROVEN;
	return 0;
}

/* What was listed for its number alone is known better now. */
static bool upgrade(struct fence_left_list *list, pid_t pid, enum fence_left_proof proof)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].pid != pid || list->items[i].proof != FENCE_LEFT_UNPROVEN)
			continue;
		list->items[i].proof = proof;
		list->unproven--;
		return true;
	}
	return false;
}

/* Has it ended, reaped or not? */
static bool has_ended(int pidfd)
{
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };
	int rc;

	do {
		rc = poll(&ended, 1, 0);
	} while (rc < 0 && errno == EINTR);
	return rc != 0;
}

/* Opens it, then reads the proof again: `parent` is the one that must still be its
 * parent, or NULL. */
static int add(struct scan *scan, const struct fence_proc_stat *seen,
	       const struct fence_left *parent)
{
	enum fence_left_proof proof = FENCE_LEFT_DESCENDANT;
	struct fence_proc_stat now;
	owned_fd pidfd = -1;

	pidfd = fence_pidfd_open(seen->pid, 0);
	if (pidfd == -EMFILE || pidfd == -ENFILE) {
		scan->list->is_partial = true;
		return 0;
	}
	if (pidfd < 0 || fence_proc_stat(seen->pid, &now) < 0)
		return 0;
	if (parent ? now.parent != parent->pid || has_ended(parent->pidfd)
		   : prove(scan->traces, &now, &proof) == 0)
		return 0;
	/* It runs even now, so all that was read of the number was read of it. */
	if (has_ended(pidfd))
		return 0;
	if (now.pid == getpid()) {
		scan->list->has_self |= proof != FENCE_LEFT_UNPROVEN;
		return 0;
	}
	if (parent && upgrade(scan->list, now.pid, proof))
		return 0;
	return append(scan->list, &now, proof, &pidfd);
}

static int visit(const struct fence_proc_stat *proc, void *arg)
{
	enum fence_left_proof proof;
	struct scan *scan = arg;

	if (scan->count == scan->capacity) {
		size_t capacity = scan->capacity == 0 ? 256 : scan->capacity * 2;
		struct fence_proc_stat *procs =
			reallocarray(scan->procs, capacity, sizeof(procs[0]));

		if (!procs)
			return -ENOMEM;
		scan->procs = procs;
		scan->capacity = capacity;
	}
	scan->procs[scan->count++] = *proc;
	return prove(scan->traces, proc, &proof) > 0 ? add(scan, proc, NULL) : 0;
}

static bool is_listed(const struct fence_left_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].pid == pid && list->items[i].proof != FENCE_LEFT_UNPROVEN)
			return true;
	return false;
}

/* The list grows while it is walked, so that it ends with children's children. */
static int add_descendants(struct scan *scan)
{
	struct fence_left_list *list = scan->list;
	int rc = 0;

	for (size_t at = 0; rc == 0 && at < list->count; at++) {
		if (list->items[at].proof == FENCE_LEFT_UNPROVEN)
			continue;
		for (size_t i = 0; rc == 0 && i < scan->count; i++) {
			const struct fence_left parent = list->items[at]; /* it may move */

			if (scan->procs[i].parent == parent.pid &&
			    !is_listed(list, scan->procs[i].pid))
				rc = add(scan, &scan->procs[i], &parent);
		}
	}
	return rc;
}

int fence_left_find(const struct fence_left_traces *traces, struct fence_left_list *list,
		    struct fence_err *err)
{
	struct scan scan = { .traces = traces, .list = list };
	int rc;

	empty_list(list);
	rc = fence_proc_each(visit, &scan);
	if (rc == 0)
		rc = add_descendants(&scan);
	free(scan.procs);
	return rc < 0 ? fence_fail(err, rc, "look for what is left") : 0;
}
