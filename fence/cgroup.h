/* Control groups, version 2, as containment: a group of our own below the one that we
 * are in, into which a command is born; everything in it can be ended by one write, and
 * the kernel says when it is empty. A group may only be made where that was delegated:
 * to root, or to whoever owns the folder and its cgroup.procs. */
#ifndef FENCE_CGROUP_H
#define FENCE_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fence/err.h"

/* What the name of a group that was made for one command begins with. */
#define FENCE_CGROUP_PREFIX "fence."

/* The folder of the cgroup that this process is in, from /proc/self/cgroup and
 * /proc/self/mountinfo. -ENOENT with words: there is no hierarchy of version 2 here, or
 * none that shows our group. */
int fence_cgroup_here(char *ret_path, size_t size_bytes, struct fence_err *err);

/* The same from text, for which no kernel is needed: `mounts` and `groups` are those two
 * files; both are changed. -ENOENT. */
int fence_cgroup_place(char *mounts, char *groups, char *ret_path, size_t size_bytes);

struct fence_cgroup {
	int dir_fd;    /* -1: none */
	int events_fd; /* POLLPRI when `populated` changes */
	int kill_fd;
	uint64_t id; /* the inode of the folder: unique while the machine is up */
};

/* Makes the group `path`. It must be one that can be killed as a whole (Linux 5.14).
 * -errno with words and with what to do; then nothing is left of it. */
int fence_cgroup_make(const char *path, struct fence_cgroup *ret, struct fence_err *err);
void fence_cgroup_close(struct fence_cgroup *cgroup);

/* KILL to every process in it and below, at once, frozen ones and other users' too. */
int fence_cgroup_kill(const struct fence_cgroup *cgroup);

/* 1: a process lives in it or below; 0: none (a zombie does not live); -errno. */
int fence_cgroup_populated(const struct fence_cgroup *cgroup);

/* The memory controller's counters, where it is there: processes that it killed in this
 * group and below, and the most memory of all of them together. -ENOENT: not there. */
int fence_cgroup_memory_kills(int dir_fd, uint64_t *ret);
int fence_cgroup_memory_peak(int dir_fd, uint64_t *ret_bytes);

/* Ends what is in the group `path`: for whom the descriptors are gone. */
int fence_cgroup_kill_path(const char *path);

/* Removes the group and all groups that were made below it, however many, however deep.
 * -ENOENT: there was none; -EBUSY: processes live there. */
int fence_cgroup_remove(const char *path);

#endif
