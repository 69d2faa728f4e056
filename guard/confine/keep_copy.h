/* Copies what git wrote in a private copy of a repository into an empty folder, so that
 * nothing of it acts there: whoever wrote it may be hostile, and somebody will go there and
 * call git.
 *
 * What is taken is objects and names. Objects are files that are called as git calls them:
 * objects/xx/…, and packs with their indexes. Of references, logs and the states of a merge
 * or rebase only hashes are taken, one a line in a file `names` that is written here:
 *
 *     HASH NAME            a reference, as refs/heads/main, or HEAD, MERGE_HEAD, autostash
 *     HASH NAME@{N} WORDS  the entry N of its log, as refs/stash@{1}
 *
 * So there is no HEAD, no config, hooks, commondir, alternates, attributes, nor anything else
 * that git looks for, under whatever name: the folder is no repository, nor is one in it.
 * Submodules have the same at modules/NAME. */
#ifndef GUARD_CONFINE_KEEP_COPY_H
#define GUARD_CONFINE_KEEP_COPY_H

#include <stdint.h>

struct guard_keep_bounds {
	unsigned int depth; /* of folders */
	unsigned int names; /* that are looked at */
	uint64_t bytes;	    /* on the disk */
};

struct guard_keep_copy {
	struct guard_keep_bounds left; /* set before: what may still be taken */
	const char *title;	       /* what was copied, for a comment in `names` */
	int (*open_to)(void *arg);     /* makes the folder: its descriptor, which stays the
					* caller's, or -errno. Called once, when there is something
					* to put in */
	void *arg;
	uint64_t bytes;	 /* of what was put, on the disk */
	const char *why; /* words: why it is not all there was; NULL: it is */
};

/* 1: something was put; 0: there is nothing to take; or -errno: it could not be written, and
 * what is there is of no use. `from_fd` is read from where it stands. */
int guard_keep_copy(int from_fd, struct guard_keep_copy *copy);

#endif
