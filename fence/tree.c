#include "fence/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/reap.h"
#include "fence/sys.h"

typedef int visit_pid(pid_t pid, void *arg);

/* A children file: decimal numbers, each followed by a space. It is read in
 * pieces, so that a thousand children need no memory of ours. */
static int read_children(const char *path, visit_pid *visit, void *arg)
{
	owned_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[4096];
	pid_t pid = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t got = fence_read_some(fd, buf, sizeof(buf));

		if (got <= 0)
			return (int)got;
		for (ssize_t i = 0; i < got; i++) {
			int rc;

			if (buf[i] >= '0' && buf[i] <= '9') {
				pid = pid * 10 + (buf[i] - '0');
				continue;
			}
			rc = pid > 0 ? visit(pid, arg) : 0;
			if (rc != 0)
				return rc;
			pid = 0;
		}
	}
}

int fence_proc_each(int (*visit)(const struct fence_proc_stat *proc, void *arg), void *arg)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int rc = 0;

	if (proc == NULL)
		return -errno;
	while (rc == 0 && (entry = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		struct fence_proc_stat stat;

		if (pid > 0 && fence_proc_stat(pid, &stat) == 0)
			rc = visit(&stat, arg);
	}
	(void)closedir(proc);
	return rc;
}

struct children_of {
	pid_t parent;
	visit_pid *visit;
	void *arg;
};

static int visit_child(const struct fence_proc_stat *proc, void *arg)
{
	const struct children_of *wanted = arg;

	return proc->parent == wanted->parent ? wanted->visit(proc->pid, wanted->arg) : 0;
}

/* Every process whose parent is `parent`, the slow way. */
static int scan_children(pid_t parent, visit_pid *visit, void *arg)
{
	struct children_of wanted = { .parent = parent, .visit = visit, .arg = arg };

	return fence_proc_each(visit_child, &wanted);
}

/* We have one thread, so one file holds all our children. */
int fence_tree_children(int (*visit)(pid_t pid, void *arg), void *arg)
{
	char path[64];
	int rc;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	rc = read_children(path, visit, arg);
	return rc == -ENOENT ? scan_children(getpid(), visit, arg) : rc;
}

/* --- the list --------------------------------------------------------------- */

static int append(struct fence_tree *tree, pid_t pid, pid_t parent)
{
	if (tree->count == tree->capacity) {
		size_t capacity = tree->capacity == 0 ? 64 : tree->capacity * 2;
		struct fence_tree_node *nodes =
			reallocarray(tree->nodes, capacity, sizeof(nodes[0]));

		if (nodes == NULL)
			return -ENOMEM;
		tree->nodes = nodes;
		tree->capacity = capacity;
	}
	tree->nodes[tree->count++] = (struct fence_tree_node){ .pid = pid, .parent = parent };
	return 0;
}

struct adding {
	struct fence_tree *tree;
	pid_t parent;
	size_t known; /* nodes in front, sorted by pid, that are not added again */
};

static int compare_pids(const void *a, const void *b)
{
	const struct fence_tree_node *one = a, *other = b;

	return (one->pid > other->pid) - (one->pid < other->pid);
}

static int add_child(pid_t pid, void *arg)
{
	const struct fence_tree_node wanted = { .pid = pid };
	struct adding *adding = arg;

	if (adding->known > 0 && bsearch(&wanted, adding->tree->nodes, adding->known,
					 sizeof(wanted), compare_pids) != NULL)
		return 0;
	return append(adding->tree, pid, adding->parent);
}

/* The children of all threads of a process. Nearly every process has one thread,
 * which the link count of its task folder tells for one call. */
static int add_children_of(struct fence_tree *tree, pid_t parent, size_t known)
{
	struct adding adding = { .tree = tree, .parent = parent, .known = known };
	char path[64];
	struct stat st;
	struct dirent *entry;
	DIR *tasks;
	int rc = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)parent);
	if (stat(path, &st) < 0)
		return -errno;
	if (st.st_nlink <= 3) {
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent,
			       (int)parent);
		return read_children(path, add_child, &adding);
	}
	tasks = opendir(path);
	if (tasks == NULL)
		return -errno;
	while (rc != -ENOMEM && (entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)parent,
			       entry->d_name);
		rc = read_children(path, add_child, &adding);
	}
	(void)closedir(tasks);
	return rc == -ENOMEM ? rc : 0;
}

static int append_process(const struct fence_proc_stat *proc, void *arg)
{
	return append(arg, proc->pid, proc->parent);
}

/* All processes once, then each found one's children among them. */
static int list_by_scan(struct fence_tree *tree, pid_t root)
{
	struct fence_tree all = { 0 };
	int rc = fence_proc_each(append_process, &all);

	for (size_t at = 0; rc == 0 && at <= tree->count; at++) {
		pid_t parent = at == 0 ? root : tree->nodes[at - 1].pid;

		for (size_t i = 0; rc == 0 && i < all.count; i++)
			if (all.nodes[i].parent == parent)
				rc = append(tree, all.nodes[i].pid, parent);
	}
	fence_tree_drop(&all);
	return rc;
}

int fence_tree_list(struct fence_tree *tree)
{
	pid_t self = getpid();
	int rc;

	tree->count = 0;
	if (tree->by_scan)
		return list_by_scan(tree, self);
	rc = add_children_of(tree, self, 0);
	if (rc == -ENOENT) {
		tree->by_scan = true;
		return list_by_scan(tree, self);
	}
	for (size_t at = 0; rc == 0 && at < tree->count; at++) {
		rc = add_children_of(tree, tree->nodes[at].pid, 0);
		if (rc != -ENOMEM)
			rc = 0; /* it has gone; its children are others' by now */
	}
	return rc;
}

void fence_tree_drop(struct fence_tree *tree)
{
	free(tree->nodes);
	*tree = (struct fence_tree){ .by_scan = tree->by_scan };
}

/* --- signals ---------------------------------------------------------------- */

static bool send_all(int pidfd, pid_t pid, const int *sigs, size_t count)
{
	bool sent = false;

	for (size_t i = 0; i < count; i++) {
		if (pidfd < 0)
			sent |= kill(pid, sigs[i]) == 0;
		else
			sent |= fence_pidfd_signal(pidfd, sigs[i], 0) == 0;
	}
	return sent;
}

struct sending {
	const int *sigs;
	size_t count;
	fence_tree_pick *pick;
	const void *arg;
	pid_t self, init; /* init: of a pid namespace, to which its orphans go; 0: none */
	unsigned int signalled;
};

static bool signal_node(const struct fence_tree_node *node, const struct sending *sending)
{
	pid_t self = sending->self;
	struct fence_proc_stat stat;
	owned_fd pidfd = -1;

	if (node->parent == self && sending->pick == NULL)
		return send_all(-1, node->pid, sending->sigs, sending->count);
	if (node->parent != self) {
		pidfd = fence_pidfd_open(node->pid, 0);
		if (pidfd < 0)
			return false;
	}
	if (fence_proc_stat(node->pid, &stat) < 0)
		return false;
	/* A stranger with this pid has another parent; an orphan has us, or its init. */
	if (stat.parent != node->parent && stat.parent != self &&
	    (sending->init == 0 || stat.parent != sending->init))
		return false;
	if (sending->pick != NULL && !sending->pick(&stat, sending->arg))
		return false;
	return send_all(pidfd, node->pid, sending->sigs, sending->count);
}

unsigned int fence_tree_signal(const struct fence_tree *tree, const int *sigs, size_t count,
			       fence_tree_pick *pick, const void *arg)
{
	struct sending sending = {
		.sigs = sigs, .count = count, .pick = pick, .arg = arg, .self = getpid()
	};

	for (size_t i = 0; i < tree->count; i++)
		sending.signalled += signal_node(&tree->nodes[i], &sending);
	return sending.signalled;
}

/* A process that a signal wakes may preempt us, and with a thousand of them each dies
 * before we get to the next, on one processor: a thousand daemons take 120 ms instead of
 * 35. A batch process does not. Only who has the ordinary policy may go back to it without
 * a privilege. And it is set only once: Linux takes it for a change even of a batch process
 * (6.12 and later compare its slice, too) and puts it at the end of its queue, so that one
 * that is to die, looked at again each millisecond on a busy machine, was still there
 * after a second. */
static bool calm(pid_t pid)
{
	return fence_sched_policy(pid) == SCHED_OTHER &&
	       fence_sched_set_policy(pid, SCHED_BATCH) == 0;
}

/* Each look finds at least those whose parents died during the one before; who forks and
 * exits without end is left to KILL. */
#define LOOKS_MAX 64

static bool is_wanted(const struct fence_proc_stat *proc, const void *arg)
{
	const struct fence_tree_except *except = arg;

	return proc->pid != except->pid && proc->state != 'Z' && proc->state != 'X' &&
	       (except->group == 0 || proc->group != except->group);
}

/* An unreaped child of ours, so its number is its own. */
static bool signal_child(struct fence_tree_node *node, const struct sending *sending)
{
	const struct fence_tree_except *except = sending->arg;
	pid_t pid = node->pid;

	if (pid == except->pid || fence_reap_is_dead(pid) ||
	    (except->group != 0 && getpgid(pid) == except->group))
		return false;
	node->calmed = calm(pid);
	return send_all(-1, pid, sending->sigs, sending->count);
}

static void signal_children(struct fence_tree *tree, size_t from, struct sending *sending)
{
	for (size_t at = from; at < tree->count; at++)
		sending->signalled += signal_child(&tree->nodes[at], sending);
	for (size_t at = from; at < tree->count; at++)
		if (tree->nodes[at].calmed)
			(void)fence_sched_set_policy(tree->nodes[at].pid, SCHED_OTHER);
}

/* Adds and signals the children of `parent`, which is not ourselves. */
static int signal_below(struct fence_tree *tree, pid_t parent, size_t known,
			struct sending *sending)
{
	size_t from = tree->count;
	int rc = add_children_of(tree, parent, known);

	for (size_t at = from; at < tree->count; at++)
		sending->signalled += signal_node(&tree->nodes[at], sending);
	return rc;
}

static bool has_died(const struct fence_tree_node *node, pid_t self)
{
	struct fence_proc_stat stat;

	if (node->parent == self)
		return fence_reap_is_dead(node->pid);
	return fence_proc_stat(node->pid, &stat) < 0 || stat.state == 'Z' || stat.state == 'X';
}

/* One look, for those not known yet. `ret_orphans`: one of them was dead once its children
 * had been looked for (the kernel makes it a zombie and gives them away in one step), so
 * they may be ours, or their init's, since after those were looked for. */
static int signal_new(struct fence_tree *tree, struct sending *sending, bool *ret_orphans)
{
	size_t known = tree->count, children;
	int rc;

	*ret_orphans = false;
	if (known > 0)
		qsort(tree->nodes, known, sizeof(tree->nodes[0]), compare_pids);
	rc = add_children_of(tree, sending->self, known);
	if (rc < 0)
		return rc;
	children = tree->count;
	signal_children(tree, known, sending);
	if (known > 0 && sending->init > 0)
		(void)signal_below(tree, sending->init, known, sending);
	for (size_t at = known; rc != -ENOMEM && at < tree->count; at++) {
		bool dead = at < children && fence_reap_is_dead(tree->nodes[at].pid);

		if (!dead)
			rc = signal_below(tree, tree->nodes[at].pid, 0, sending);
		*ret_orphans |= dead || has_died(&tree->nodes[at], sending->self);
	}
	return rc == -ENOMEM ? rc : 0;
}

unsigned int fence_tree_signal_all(struct fence_tree *tree, const int *sigs, size_t count,
				   const struct fence_tree_except *except)
{
	struct sending sending = { .sigs = sigs,
				   .count = count,
				   .pick = is_wanted,
				   .arg = except,
				   .self = getpid(),
				   .init = except->pid };
	bool orphans = true;
	int rc = tree->by_scan ? -ENOENT : 0;

	tree->count = 0;
	for (int looks = 0; rc == 0 && orphans && looks < LOOKS_MAX; looks++)
		rc = signal_new(tree, &sending, &orphans);
	if (rc != -ENOENT)
		return sending.signalled;
	return fence_tree_list(tree) < 0 ? 0
					 : fence_tree_signal(tree, sigs, count, is_wanted, except);
}

/* Listing and killing are kept apart: both want the kernel's one lock on the list
 * of all processes, and so does everyone who is dying. */
#define BATCH_SIZE  4096
#define GROUPS_KEPT 16

struct killing {
	const struct fence_spare *spare;
	pid_t own_group, own_session;
	/* Those killed last, so that a group whose members do not come in a row is not gone
	 * through once for each of them: 500 of them between 500 others took 600 ms. */
	pid_t groups[GROUPS_KEPT];
	unsigned int groups_next;
	int count;
	size_t batch_count;
	pid_t batch[BATCH_SIZE];
};

static bool is_spared(const struct fence_spare *spare, pid_t pid)
{
	for (size_t i = 0; spare != NULL && i < spare->count; i++)
		if (spare->pids[i] == pid)
			return true;
	return false;
}

static bool was_killed(const struct killing *killing, pid_t group)
{
	for (size_t i = 0; i < GROUPS_KEPT; i++)
		if (killing->groups[i] == group)
			return true;
	return false;
}

static bool is_common(const struct killing *killing, pid_t session)
{
	return session == killing->own_session ||
	       (killing->spare != NULL && session == killing->spare->session);
}

/* A whole group at once where that is possible: it is atomic against fork, which a
 * kill of single processes is not. The kernel lets no fork of a member finish while
 * its group has the signal pending. */
static void kill_one(struct killing *killing, pid_t pid)
{
	pid_t group = getpgid(pid);

	(void)calm(pid);
	if (group > 1 && was_killed(killing, group))
		return;
	/* In a session that is others' too the group may be the caller's, or a job of its
	 * shell, unless this child made it. */
	if (group <= 1 || group == killing->own_group || group == killing->own_session ||
	    (group != pid && is_common(killing, getsid(pid))) || is_spared(killing->spare, group)) {
		(void)kill(pid, SIGKILL);
		return;
	}
	(void)kill(-group, SIGKILL);
	/* One of a single member, its leader, is not met again. */
	if (group != pid)
		killing->groups[killing->groups_next++ % GROUPS_KEPT] = group;
}

static void kill_batch(struct killing *killing)
{
	for (size_t i = 0; i < killing->batch_count; i++)
		kill_one(killing, killing->batch[i]);
	killing->batch_count = 0;
}

static int note_child(pid_t pid, void *arg)
{
	struct killing *killing = arg;

	if (is_spared(killing->spare, pid))
		return 0;
	if (killing->batch_count == BATCH_SIZE)
		kill_batch(killing);
	killing->batch[killing->batch_count++] = pid;
	killing->count++;
	return 0;
}

int fence_tree_kill_children(const struct fence_spare *spare)
{
	struct killing killing;
	int rc;

	killing.spare = spare;
	killing.own_group = getpgrp();
	killing.own_session = getsid(0);
	memset(killing.groups, 0, sizeof(killing.groups));
	killing.groups_next = 0;
	killing.count = 0;
	killing.batch_count = 0;
	rc = fence_tree_children(note_child, &killing);
	kill_batch(&killing);
	return rc < 0 ? rc : killing.count;
}
