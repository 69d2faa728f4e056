/* What a command may touch, as the command line says it: words that are not yet
 * looked up. confine/ turns it into mounts, filters and capabilities. */
#ifndef GUARD_POLICY_POLICY_H
#define GUARD_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fence/err.h"

enum guard_access {
	GUARD_RW,
	GUARD_RO,
	GUARD_TMPFS,
	GUARD_DENY,
	GUARD_PROTECT,
};

/* "rw", "ro", "tmpfs", "deny", "protect": the option's name. */
const char *guard_access_word(enum guard_access access);

struct guard_rule {
	enum guard_access access;
	const char *path; /* as given; relative to the working directory */
};

enum guard_net {
	GUARD_NET_NONE, /* a network of its own, with nothing but lo */
	GUARD_NET_HOST,
};

/* Built in; profile `none` confines neither files nor system calls. */
struct guard_profile {
	const char *name;
	bool confine; /* mounts, capabilities, no_new_privs, seccomp */
	enum guard_net net;
	bool allow_userns;
	uint64_t keep_caps; /* of those that we have */
};

/* NULL when there is none of that name. */
const struct guard_profile *guard_profile_find(const char *name);

#define GUARD_KEEP_FDS 64

struct guard_env_rule {
	const char *name;
	size_t name_length;
	const char *value; /* NULL: as the caller has it */
	bool unset;
};

struct guard_policy {
	const struct guard_profile *profile;
	struct guard_rule *rules;
	size_t rule_count;
	enum guard_net net;
	bool allow_userns;
	bool allow_hardlinks;
	uint64_t keep_caps;
	bool env_all;
	struct guard_env_rule *env;
	size_t env_count;
	int keep_fds[GUARD_KEEP_FDS]; /* ascending, each once */
	size_t keep_count;
	const char *cwd;	 /* NULL: as it is */
	int status_fd;		 /* -1: none */
	bool may_be_terminal[3]; /* of 0 to 2: a character device, and not /dev/null or its like */
};

void guard_policy_init(struct guard_policy *policy);
void guard_policy_free(struct guard_policy *policy);

/* Paths and values stay the caller's and must outlive the policy. */
int guard_policy_add_rule(struct guard_policy *policy, enum guard_access access, const char *path,
			  struct fence_err *err);
/* "NAME" or "NAME=VALUE"; with `unset`, "NAME". */
int guard_policy_add_env(struct guard_policy *policy, const char *text, bool unset,
			 struct fence_err *err);
int guard_policy_keep_fd(struct guard_policy *policy, int fd, struct fence_err *err);

/* Takes over what the profile says, for everything that was not said by option. */
int guard_policy_set_profile(struct guard_policy *policy, const char *name, struct fence_err *err);

/* What no command line can mean: rules for files in a profile that confines none. */
int guard_policy_check(const struct guard_policy *policy, struct fence_err *err);

struct guard_environ {
	char **list;   /* ends with NULL; its strings are those of the caller and the policy */
	char *few[32]; /* what `list` is while it fits: no memory is asked for */
};

/* The command's environment, made from `from` (the caller's), in *ret, which must stay
 * where it is. 0 or -ENOMEM. */
int guard_policy_environ(const struct guard_policy *policy, char *const *from,
			 struct guard_environ *ret);
void guard_environ_free(struct guard_environ *environment);

/* "CAP_SETUID", "setuid" or "SETUID": the capability's number, or -1. */
int guard_cap_number(const char *name);

/* Paths inside a writable root that are read-only all the same, and paths that are
 * masked; both end with NULL. See fence-guard(1). */
extern const char *const guard_protected_in_root[];
extern const char *const guard_protected_in_git[];
extern const char *const guard_protected_in_home[];
extern const char *const guard_masked_in_home[];
extern const char *const guard_masked[];
extern const char *const guard_masked_in_run[];	    /* below /run */
extern const char *const guard_masked_in_runtime[]; /* below /run/user/UID */

#endif
