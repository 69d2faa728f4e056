/* Facts about processes, read from /proc: what kind of Chromium process it is, and
 * which layers of a sandbox it is in. Everything here is what the kernel says; a
 * process's own words (its command line) decide only what it is called. */
#ifndef GUARD_BROWSER_PROC_H
#define GUARD_BROWSER_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum proc_type {
	PROC_OTHER,  /* no Chromium child, or one that is named as harmless */
	PROC_ZYGOTE, /* also a child of it that has not yet been told what it is */
	PROC_GPU,
	PROC_UTILITY,
	PROC_RENDERER, /* and every type that we do not know: it has to prove itself too */
	PROC_TYPES,
};
const char *proc_type_word(enum proc_type type);

/* From the bytes of a command line: NUL-separated, or joined by spaces and cut,
 * which is what a process forked from the zygote shows. */
enum proc_type proc_parse_type(const char *bytes, size_t length);

struct proc_stat {
	pid_t ppid;
	char state;
	uint64_t cpu_ticks;
	uint64_t start_ticks;
};
/* The text of /proc/PID/stat. -EBADMSG. */
int proc_parse_stat(const char *text, struct proc_stat *ret);

enum proc_root {
	PROC_ROOT_UNKNOWN, /* we may not look */
	PROC_ROOT_EMPTY,   /* the fdinfo folder of a process that is no more */
	PROC_ROOT_OTHER,
};

struct proc_layers {
	int seccomp_mode;    /* -1: not told */
	int seccomp_filters; /* -1: not told */
	unsigned int pid_depth;
	uint64_t cap_eff;
	uint64_t pid_ns, net_ns, user_ns; /* inode numbers; 0: we may not look */
	enum proc_root root;
};
/* The text of /proc/PID/status; leaves what is not in it alone. -EBADMSG. */
int proc_parse_status(const char *text, struct proc_layers *ret);

/* A process's folder in /proc, bound to this process: once it is gone, reading
 * through it gives -ESRCH, whoever has its number then. A descriptor or -errno. */
int proc_open(int proc_fd, pid_t pid);

int proc_read_stat(int dir_fd, struct proc_stat *ret);
int proc_read_type(int dir_fd, enum proc_type *ret);
int proc_read_layers(int dir_fd, struct proc_layers *ret);

/* The layers of Chromium's sandbox that a renderer must be in. */
enum layer {
	LAYER_SECCOMP = 1 << 0,
	LAYER_USER_NS = 1 << 1,
	LAYER_PID_NS = 1 << 2,
	LAYER_NET_NS = 1 << 3,
	LAYER_ROOT = 1 << 4,
	LAYER_CAPS = 1 << 5,
	LAYER_ANCESTRY = 1 << 6,
	LAYER_ALL = (1 << 7) - 1,
};
const char *layer_word(enum layer layer);

/* Compares a renderer with its browser. `ret_missing` are layers that it is seen
 * not to be in, `ret_unknown` those that could not be read; both 0: proven. The
 * ancestry is the caller's to judge. */
void layers_judge(const struct proc_layers *browser, const struct proc_layers *renderer,
		  unsigned int *ret_missing, unsigned int *ret_unknown);

/* The children of one process, of its main thread or of all its threads: the
 * count (at most `room`), or -errno; -EFBIG: more than can be read (some 2000). */
ssize_t proc_children(int proc_fd, pid_t pid, bool all_threads, pid_t *ret, size_t room);

/* All descendants, nearest first. As above. */
ssize_t proc_descendants(int proc_fd, pid_t pid, pid_t *ret, size_t room);

#endif
