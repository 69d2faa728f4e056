/* The bwrap personality: bubblewrap's command line and its model, a root that is empty
 * until each thing in it is named, carried out by descriptors. See fence-bwrap(1). */
#ifndef GUARD_BWRAP_BWRAP_H
#define GUARD_BWRAP_BWRAP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fence/err.h"
#include "fence/opts.h"

enum bwrap_op_kind {
	BWRAP_BIND,
	BWRAP_BIND_DATA,
	BWRAP_PROC,
	BWRAP_DEV,
	BWRAP_TMPFS,
	BWRAP_MQUEUE,
	BWRAP_DIR,
	BWRAP_FILE,
	BWRAP_SYMLINK,
	BWRAP_REMOUNT_RO,
	BWRAP_CHMOD,
};

/* One operation on the new root. They are carried out in the order they were given. */
struct bwrap_op {
	enum bwrap_op_kind kind;
	bool read_only;
	bool devices;	     /* device nodes work in it */
	bool optional;	     /* a source that is not there is no error */
	const char *source;  /* BIND: of the host; SYMLINK: the target; NULL with `fd` */
	const char *dest;    /* in the new root */
	int fd;		     /* where data or a source comes from; -1 */
	int mode;	     /* --perms or --chmod; -1: the operation's own default */
	uint64_t size_bytes; /* TMPFS; 0: the kernel's default */
	int tree_fd;	     /* BIND: a detached copy of the source */
	bool is_dir;	     /* BIND: the source is */
};

/* A flag that a -try option asks for is dropped when the kernel refuses it. */
enum bwrap_wish {
	BWRAP_NO,
	BWRAP_TRY,
	BWRAP_YES,
};

struct bwrap {
	struct bwrap_op *ops;
	size_t op_count;
	size_t op_room;
	int mode; /* --perms and --size, which wait for the operation they are for */
	bool have_size;
	uint64_t size_bytes;

	enum bwrap_wish user, cgroup;
	bool ipc, pid, net, uts;
	bool share_net;
	int userns_fd, userns2_fd, pidns_fd;
	bool disable_userns, assert_userns_disabled;
	long long uid, gid; /* in the sandbox; -1: the caller's own */
	const char *hostname;
	const char *dir;
	const char *argv0;

	const char **lock_files;
	size_t lock_count;
	int sync_fd, block_fd, userns_block_fd, info_fd, json_fd;
	bool new_session, die_with_parent, as_pid_1;

	bool caps_named; /* --cap-add or --cap-drop was given */
	uint64_t caps;	 /* to keep; the caller's own when it is uid 0, else none */

	struct sock_fprog *filters; /* in the order they are loaded */
	size_t filter_count;
	bool one_filter; /* --seccomp, the last one of which counts */
	bool stacked;	 /* --add-seccomp-fd */
	const char *exec_label, *file_label;

	/* Facts of the start. */
	const char *name;    /* as it was called */
	const char *program; /* as messages name it */
	bool real_root;	     /* uid 0 */
	uid_t caller_uid;    /* before any namespace */
	gid_t caller_gid;
	char cwd[4096]; /* "" when there is none */
	char **texts;	/* what --args read, kept while words of it are in use */
	size_t text_count;

	/* For the option under way: its words, the first of which is the row's value. */
	char *const *words;
	int depth; /* of --args in --args */
};

extern const struct fence_cli guard_bwrap_cli;

/* Options and what they exclude. An enum fence_opts_answer or -errno; the command
 * begins at argv[*ret_rest]. Environment options change this process's environment. */
int bwrap_parse(struct bwrap *bwrap, int argc, char *const *argv, int *ret_rest,
		struct fence_text *text, struct fence_err *err);
/* The same for the words behind `fd`, all of which must be options. */
int bwrap_parse_from(struct bwrap *bwrap, int fd, struct fence_err *err);
void bwrap_free(struct bwrap *bwrap);

/* Appends one operation that takes what --perms and --size left; NULL with words. */
struct bwrap_op *bwrap_add_op(struct bwrap *bwrap, enum bwrap_op_kind kind, const char *dest,
			      struct fence_err *err);

/* A compiled filter from `fd`, appended or, with --seccomp, in place of the last. */
int bwrap_read_filter(struct bwrap *bwrap, int fd, bool stack, struct fence_err *err);
int bwrap_load_filters(const struct bwrap *bwrap, struct fence_err *err);

/* All of the file behind `fd`, which is closed: owned memory, NUL-terminated. */
#define BWRAP_DATA_MAX (16U << 20)
int bwrap_read_all(int fd, char **ret_text, size_t *ret_bytes, struct fence_err *err);

/* What goes into each set: see caps.c. */
uint64_t bwrap_own_caps(void);
int bwrap_set_caps(const struct bwrap *bwrap, bool in_userns, struct fence_err *err);

/* What the processes of the sandbox tell the one that waits outside, over a socket that
 * closes by itself when the command is executed. Bytes of GO go the other way. */
struct bwrap_note {
	char kind; /* BWRAP_NOTE_* */
	int status;
};
#define BWRAP_NOTE_FAILED 'f' /* the command was not started; the words are said */
#define BWRAP_NOTE_ENDED  'e' /* it ended with `status`; others may go on */
#define BWRAP_GO	  'g'

/* The first process of the sandbox: sets up everything and becomes the command, or init
 * with the command as its child. `sock` may be -1. */
__attribute__((noreturn)) void bwrap_child(struct bwrap *bwrap, char *const *argv, bool in_userns,
					   int sock);
bool bwrap_needs_init(const struct bwrap *bwrap);

/* --info-fd and --json-status-fd: the sandbox's first process and its namespaces. */
int bwrap_tell_start(const struct bwrap *bwrap, pid_t pid, uint64_t namespaces,
		     struct fence_err *err);
int bwrap_tell_end(int fd, int status, struct fence_err *err);

/* Runs the command in the sandbox: the exit status; 1 with words when we failed. */
int bwrap_launch(struct bwrap *bwrap, char *const *argv, struct fence_err *err);

/* One line on standard error. */
void bwrap_complain(const struct bwrap *bwrap, const struct fence_err *err);

/* The whole program. */
int guard_bwrap_main(int argc, char *const *argv);

#endif
