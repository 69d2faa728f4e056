/* Descendants, as /proc shows them, and signals to them. For fence/group: the
 * callers are child subreapers, so whatever comes from a command is below them,
 * and each process that loses its parent becomes their own child.
 *
 * Who may be signalled how: an unreaped child of ours by its pid, which nobody
 * else can have until we reap it; the process group of such a child by number,
 * since its membership keeps the number taken; anything deeper through a pidfd
 * that is opened first and whose parent is then looked at again. */
#ifndef FENCE_TREE_H
#define FENCE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fence_proc_stat {
	pid_t pid, parent, group, session;
	char state; /* proc_pid_stat(5): R S D T Z X ... */
	char name[16];
	uint64_t start_ticks; /* since boot */
	uint64_t cpu_ticks;   /* used, by it and by the children that it has waited for */
};

/* /proc/PID/stat. -ESRCH or -ENOENT: no such process. */
int fence_proc_stat(pid_t pid, struct fence_proc_stat *ret);
/* The same from text, which is changed. -EBADMSG: not such a line. */
int fence_proc_stat_parse(char *text, struct fence_proc_stat *ret);

/* Calls `visit` for each process that /proc shows, until it returns non-zero: that
 * answer, or -errno. */
int fence_proc_each(int (*visit)(const struct fence_proc_stat *proc, void *arg), void *arg);

/* Is there a /proc, and is it that of our own pid namespace? Without it nothing
 * here works. 0, -ENOENT, or -EXDEV for another namespace's. */
int fence_proc_probe(void);

struct fence_tree_node {
	pid_t pid, parent;
	bool calmed; /* fence_tree_signal_all's */
};

/* Zeroed is empty. fence_tree_drop frees. */
struct fence_tree {
	struct fence_tree_node *nodes; /* parents before their children */
	size_t count, capacity;
	/* Look for parents in every process's stat, as on kernels built without
	 * /proc/PID/task/TID/children. Found out when it is needed. */
	bool by_scan;
};

/* Lists all descendants of the calling process, zombies too. It is a look, not
 * a proof: who forks and exits meanwhile may be missed. What the caller itself
 * has for children is complete, as long as only it reaps them. */
int fence_tree_list(struct fence_tree *tree);
void fence_tree_drop(struct fence_tree *tree);

/* Which listed processes get a signal. */
typedef bool fence_tree_pick(const struct fence_proc_stat *proc, const void *arg);

/* Sends the `count` signals in turn to each listed process that `pick` (NULL:
 * all) picks. No process may have been reaped since
 * the list was made. Returns how many were signalled. */
unsigned int fence_tree_signal(const struct fence_tree *tree, const int *sigs, size_t count,
			       fence_tree_pick *pick, const void *arg);

/* Who is left out of fence_tree_signal_all; 0: nobody. */
struct fence_tree_except {
	pid_t pid;   /* this process */
	pid_t group; /* and the members of this process group */
};

/* The same to every descendant that lives, listing and signalling as it goes: our own
 * children first, at a few calls each, and then what is below them, of which most have gone
 * by the time that they are looked for. Who loses its parent meanwhile, as when a signal to
 * a process group has ended it, is looked for again; nobody is signalled twice. The list is
 * used up. */
unsigned int fence_tree_signal_all(struct fence_tree *tree, const int *sigs, size_t count,
				   const struct fence_tree_except *except);

struct fence_spare {
	const pid_t *pids; /* children that are none of this group's */
	size_t count;
	pid_t session; /* whose groups are others' too, as our own session's are; 0: none */
};

/* One round of ending: KILL to each child of ours and to its process group, the
 * spared ones and groups of our own or a spared session that the child did not make
 * excepted. What dies hands
 * its children to us, so rounds of this, with reaping between, end any tree. Returns how many
 * children there were, zombies included, or -errno. Needs no memory. */
int fence_tree_kill_children(const struct fence_spare *spare);

/* Calls `visit` for each child of ours until it returns non-zero. */
int fence_tree_children(int (*visit)(pid_t pid, void *arg), void *arg);

/* Who, other than us, holds the pipe of this descriptor open (or, when it is the master
 * of a pseudo-terminal, the other side of that): up to `size` pids;
 * returns how many were found. Processes of other users cannot be looked into. */
unsigned int fence_pipe_holders(int pipe_fd, pid_t *ret_pids, unsigned int size);

#endif
