/* The policy as an ordered list of operations on the view of files. Building it
 * only looks, but for placeholders: every path is resolved once, to a descriptor and a
 * link-free name. */
#ifndef GUARD_CONFINE_PLAN_H
#define GUARD_CONFINE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "fence/err.h"
#include "guard/confine/names.h"
#include "guard/policy/policy.h"

/* How much of a layer the host lets us have. */
enum guard_layer {
	GUARD_LAYER_OFF,
	GUARD_LAYER_DEGRADED,
	GUARD_LAYER_ENFORCED,
};

#define GUARD_PLACEHOLDERS_MAX 64
#define GUARD_PRIVATES_MAX     32

enum guard_op_kind {
	GUARD_OP_PIN,	  /* bound onto itself, so that it cannot be renamed or removed */
	GUARD_OP_DEV,	  /* the small /dev */
	GUARD_OP_PROC,	  /* a fresh /proc */
	GUARD_OP_TMP,	  /* the private /tmp */
	GUARD_OP_TMPFS,	  /* an empty folder in memory */
	GUARD_OP_OVERLAY, /* the host's, with what is written in memory */
	GUARD_OP_RW,	  /* as it is on the host */
	GUARD_OP_RO,	  /* readable, never changed */
	GUARD_OP_MASK,	  /* neither */
};

struct guard_op {
	enum guard_op_kind kind;
	bool named;	    /* by an option; else by a default, which yields */
	bool shut;	    /* a mask or a protection: a second name of the file evades it */
	bool is_private;    /* an overlay that nobody asked for; read-only where there is none */
	int no_copy;	    /* -errno: is_private, and known to be none; else 0 */
	bool may_vanish;    /* a mask that nobody misses when what it is for has gone meanwhile */
	const char *origin; /* the rule's own path; NULL: nobody named it */
	char *path;	    /* link-free; the plan's to free (guard_plan_drop) */
	size_t length;	    /* of it, in bytes */
	int object_fd;	    /* O_PATH, as it was before any change */
	struct stat st;
	int tree_fd; /* the mount that goes there, once there is one; -1 */
	int parent;  /* the nearest operation above this one, or -1 */
	bool skip;   /* what is above makes it needless */
};

/* A repository that the command gets a copy of, which is forgotten afterwards. */
struct guard_private {
	const char *path; /* the operation's */
	int upper_fd;	  /* what the command changed in it; -1 */
	int rc;		  /* -errno: there is no copy, it is read-only */
};

#define GUARD_MADE_UP_MAX 8

/* A root of the command's own, once it is entered (root.h). */
struct guard_inner {
	bool is_set;
	int fd;				    /* the root */
	int host_fd;			    /* the host's */
	struct guard_names sources, dests;  /* what of the host is where; the root first */
	struct guard_names protects, masks; /* of the host's, where they are seen */
	struct guard_names registries;	    /* of placeholders, likewise */
	struct guard_names made_up_paths;   /* folders in memory that lacked a place */
	dev_t made_up[GUARD_MADE_UP_MAX];
	size_t made_up_count;
};

struct guard_plan {
	const struct guard_policy *policy;
	bool look_only; /* nothing is made on the host; explain's, set before */
	bool real_root; /* no user namespace is needed; set before */
	bool keeps;	/* the registry has what other commands did; set before */
	struct guard_inner inner;
	char cwd[4096]; /* link-free */
	struct stat cwd_st;
	const char *home;     /* of the command; NULL: none known */
	const char *tmp_dir;  /* the command's TMPDIR; may be NULL */
	struct guard_op *ops; /* parents before children */
	size_t count;
	size_t room;
	struct guard_op few[48]; /* what `ops` is until they are more: no memory is asked for */
	char paths[4096];	 /* of the first of them */
	size_t paths_length;
	char pinned_dir[4096];		   /* everything above it is pinned; the last that was */
	struct guard_names links;	   /* on the way to what is shown by name */
	struct guard_names link_rules;	   /* for each of them, the path as named */
	struct guard_names absent_denied;  /* as named */
	struct guard_names placeholders;   /* made for a protected path that is missing */
	int locks[GUARD_PLACEHOLDERS_MAX]; /* what they are held by, for as long as we are */
	size_t lock_count;
	struct guard_private privates[GUARD_PRIVATES_MAX]; /* once the mounts are made */
	size_t private_count;
	size_t planned_privates;
	const char *current; /* the path under way: a failure's */
	enum guard_layer landlock;
	bool proc_masked;    /* the host forbids a fresh /proc */
	bool proc_read_only; /* all of it */
};

/* Fill `home`, `tmp_dir` and `real_root` first; the policy must outlive the plan. */
int guard_plan_build(struct guard_plan *plan, const struct guard_policy *policy,
		     struct fence_err *err);
void guard_plan_free(struct guard_plan *plan);
/* What one operation holds. */
void guard_plan_drop(const struct guard_plan *plan, struct guard_op *op);

#endif
