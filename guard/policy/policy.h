/* What a command may touch, as the command line says it: words that are not yet
 * looked up. confine/ turns it into mounts, filters and capabilities. */
#ifndef GUARD_POLICY_POLICY_H
#define GUARD_POLICY_POLICY_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fence/err.h"
#include "fence/spawn.h"
#include "guard/policy/ports.h"

enum guard_access {
	GUARD_RW,
	GUARD_RO,
	GUARD_TMPFS,
	GUARD_OVERLAY,
	GUARD_DENY,
	GUARD_PROTECT,
};

/* "rw", "ro", "tmpfs", "overlay", "deny", "protect": the option's name. */
const char *guard_access_word(enum guard_access access);

/* Where in a policy file; line 0: an option's word, or built in. */
struct guard_place {
	unsigned int line, column; /* both from 1 */
};

struct guard_rule {
	enum guard_access access;
	const char *path;   /* as given; relative to the working directory */
	const char *reason; /* a file's, for people; may be NULL */
	struct guard_place place;
};

/* A folder or file of the host that a command with a root of its own gets. */
struct guard_bind {
	char *source;		  /* on the host; relative to the working directory */
	const char *dest;	  /* absolute, as the command sees it; a rule's path as well */
	enum guard_access access; /* GUARD_RW or GUARD_RO */
	struct guard_place place;
};

enum guard_net {
	GUARD_NET_NONE, /* a network of its own, with nothing but lo */
	GUARD_NET_HOST,
	GUARD_NET_RULES, /* what the policy file's lists let through */
	GUARD_NET_PORTS, /* the host's, and of it some ports of TCP */
};

/* "none", "host", "rules", "ports". */
const char *guard_net_word(enum guard_net net);

enum guard_seccomp {
	GUARD_SECCOMP_DEFAULT, /* what policy/calls.h refuses */
	GUARD_SECCOMP_STRICT,  /* nothing but what a list allows */
};

/* "default", "strict". */
const char *guard_seccomp_word(enum guard_seccomp seccomp);

#define GUARD_ERRNO_MAX 133 /* EHWPOISON, the last that has a name */

/* A file's word about one system call, above what the filter says. */
struct guard_call_rule {
	int number;
	int error; /* 0: allowed */
	struct guard_place place;
};

/* What a command may use up. The first three are of all its processes together, the
 * rest are setrlimit(2)'s, of each. */
enum guard_limit {
	GUARD_LIMIT_MEMORY,  /* bytes */
	GUARD_LIMIT_PIDS,    /* processes and threads */
	GUARD_LIMIT_CPU,     /* thousandths of one processor */
	GUARD_LIMIT_NOFILE,  /* descriptors */
	GUARD_LIMIT_FSIZE,   /* bytes of one file */
	GUARD_LIMIT_CORE,    /* bytes of a core file */
	GUARD_LIMIT_CPUTIME, /* seconds */
	GUARD_LIMIT_COUNT,
};

#define GUARD_UNLIMITED UINT64_MAX

/* "memory", "pids", "cpu"...: a policy file's key. */
const char *guard_limit_word(enum guard_limit limit);

/* NULL: *ret is the value of that limit as `text` has it ("4GiB", "512", "1.5",
 * "30s"); else what is wrong, in words. */
const char *guard_limit_parse(enum guard_limit limit, const char *text, uint64_t *ret);

enum guard_net_list {
	GUARD_NET_ALLOW,
	GUARD_NET_DENY,
	GUARD_NET_EXPOSE, /* a browser's debugging port */
};

/* A file's rule about connections: checked, and kept as it is written. */
struct guard_net_line {
	enum guard_net_list list;
	const char *text; /* netrule.h parses it; EXPOSE: a port */
	struct guard_place place;
};

enum guard_verdict {
	GUARD_VERDICT_ALLOW,
	GUARD_VERDICT_OPAQUE, /* cannot be told */
	GUARD_VERDICT_ASK,
	GUARD_VERDICT_DENY, /* the strictest is the greatest */
};

/* "allow", "opaque", "ask", "deny". */
const char *guard_verdict_word(enum guard_verdict verdict);
/* Its number, or -1. */
int guard_verdict_find(const char *word);

/* How a command would run that cannot be judged. */
enum guard_session {
	GUARD_SANDBOXED,
	GUARD_UNSANDBOXED,
	GUARD_HEADLESS, /* nobody is there to be asked */
	GUARD_SESSION_COUNT,
};

/* "sandboxed", "unsandboxed", "headless". */
const char *guard_session_word(enum guard_session session);

/* A file's advice about commands; the kernel knows nothing of it. */
struct guard_advice {
	enum guard_verdict verdict;
	const char *reason; /* may be NULL */
	const char **words; /* what its argv begins with */
	size_t count;
	struct guard_place place;
};

/* Built in; profile `none` confines neither files nor system calls. */
struct guard_profile {
	const char *name;
	bool confine;	    /* mounts, capabilities, no_new_privs, seccomp */
	bool narrow;	    /* neither namespaces nor mounts: Landlock and seccomp alone */
	bool read_only_cwd; /* and TMPDIR=/tmp, the one place to write */
	bool private_git;   /* of a repository a private copy; else it is read-only */
	enum guard_net net;
	bool allow_userns;
	uint64_t keep_caps; /* of those that we have */
};

/* NULL when there is none of that name. */
const struct guard_profile *guard_profile_find(const char *name);

/* The names of all, at most GUARD_PROFILES_MAX of them; returns how many. */
#define GUARD_PROFILES_MAX 8
size_t guard_profile_names(const char *ret[GUARD_PROFILES_MAX]);

#define GUARD_KEEP_FDS	  64
#define GUARD_RLIMITS_MAX 24

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
	const char *root; /* what the command has as /; NULL: the host's */
	struct guard_place root_place;
	struct guard_bind *binds; /* in the root, in this order */
	size_t bind_count;
	enum guard_net net;
	bool allow_userns;
	bool allow_nesting; /* then allow_userns as well, once it is settled */
	bool allow_hardlinks;
	bool allow_set_id;
	bool wait_all;	  /* until what the command left has ended, too */
	bool new_session; /* a session of its own, without the terminal */
	uint64_t keep_caps;
	bool env_all;
	struct guard_env_rule *env;
	size_t env_count;
	struct guard_ports ports;			     /* of GUARD_NET_PORTS */
	struct fence_spawn_limit rlimits[GUARD_RLIMITS_MAX]; /* of --limit, and then the file's */
	size_t rlimit_count;
	int keep_fds[GUARD_KEEP_FDS]; /* ascending, each once */
	size_t keep_count;
	const char *cwd;	 /* NULL: as it is */
	int status_fd;		 /* -1: none */
	int explain_fd;		 /* where refusals are told of; -1: nowhere */
	bool may_be_terminal[3]; /* of 0 to 2: a character device, and not /dev/null or its like */
	bool has_name[3];	 /* likewise: a file or a character device; 2 not once more as 1 */

	/* From a policy file; see load.h. */
	const char *file;	  /* as named; NULL: none */
	const char *file_path;	  /* the same, absolute: links are still links */
	const char *profile_name; /* the file's; NULL: the built-in one */
	struct guard_place profile_place;
	struct guard_place net_place;	    /* of the mode */
	bool env_keep_only;		    /* nothing passes that no rule names */
	uint64_t limits[GUARD_LIMIT_COUNT]; /* GUARD_UNLIMITED: none */
	struct guard_place limit_places[GUARD_LIMIT_COUNT];
	enum guard_seccomp seccomp;
	struct guard_place seccomp_place;
	struct guard_call_rule *calls; /* each call once */
	size_t call_count;
	struct sock_filter *own_filter; /* made of them: confine/own.h; NULL: the built-in one */
	size_t own_filter_count;
	struct guard_net_line *net_lines;
	size_t net_line_count;
	struct guard_advice *commands;
	size_t command_count;
	enum guard_verdict opaque[GUARD_SESSION_COUNT]; /* OPAQUE: the file does not say */
	char *bytes;					/* what the file's words are in */
};

void guard_policy_init(struct guard_policy *policy);
void guard_policy_free(struct guard_policy *policy);

/* Paths and values stay the caller's and must outlive the policy. */
int guard_policy_add_rule(struct guard_policy *policy, enum guard_access access, const char *path,
			  struct fence_err *err);
/* Is it one that guard_policy_add_bind takes? */
bool guard_bind_is_good(const char *text);

/* "SOURCE:DEST", and the rule for DEST: GUARD_RW or GUARD_RO. */
int guard_policy_add_bind(struct guard_policy *policy, enum guard_access access, const char *text,
			  struct fence_err *err);
/* "NAME" or "NAME=VALUE"; with `unset`, "NAME". */
int guard_policy_add_env(struct guard_policy *policy, const char *text, bool unset,
			 struct fence_err *err);
int guard_policy_keep_fd(struct guard_policy *policy, int fd, struct fence_err *err);

/* Takes over what the profile says, for everything that was not said by option. */
int guard_policy_set_profile(struct guard_policy *policy, const char *name, struct fence_err *err);

/* What the profile means for what was not named: evaluator's TMPDIR. Once the options
 * and the file are there. */
int guard_policy_settle(struct guard_policy *policy, struct fence_err *err);

/* `error`: what the call is refused with; 0: it is allowed. -EINVAL: no policy may say
 * that, or it was said already. */
int guard_policy_add_call(struct guard_policy *policy, const char *name, int error,
			  struct guard_place place);

/* The file's rule about the call, or NULL. */
const struct guard_call_rule *guard_policy_call(const struct guard_policy *policy, int number);

/* One more limit of setrlimit(2), as fence/limit.h has it. */
int guard_policy_add_rlimit(struct guard_policy *policy, const char *text, struct fence_err *err);

/* What no command line can mean: rules for files in a profile that confines none; and
 * what a file asks for that exec does not enforce. */
int guard_policy_check(const struct guard_policy *policy, struct fence_err *err);

/* The policy's own pointer for a path of a rule, a bind's source or the root; NULL: none. */
const char *guard_policy_word(const struct guard_policy *policy, const char *path);

/* Puts "file:line:column: " before the words, when the path under way (the rule's own
 * pointer; may be NULL) is a rule's of the file. */
void guard_policy_place(const struct guard_policy *policy, const char *path, struct fence_err *err);

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

/* The system call's number, or -ENOSYS: no call of this machine has that name. */
int guard_call_number(const char *name);

/* The policy's filter looks at its arguments. */
bool guard_call_is_judged(const struct guard_policy *policy, const char *name);

/* Other machines have a call of that name, this one has none. */
bool guard_call_is_foreign(const char *name);

/* Why no policy may allow the call, in words; NULL: one may. */
const char *guard_call_kept(const char *name);

/* No filter sees what it does: with it allowed, arguments are judged in vain. */
bool guard_call_is_unseen(const char *name);

/* fence-guard makes it itself below the filter: no policy may refuse it. */
bool guard_call_is_ours(const char *name);

/* The system call that was probably meant, or NULL. */
const char *guard_call_nearest(const char *name);

/* Of this machine's calls; NULL: none has that number. */
const char *guard_call_name(int number);

/* Paths inside a writable root that are read-only all the same, and paths that are
 * masked; both end with NULL. See fence-guard(1). */
extern const char *const guard_protected_in_root[];
extern const char *const guard_protected_in_git[];
extern const char *const guard_protected_in_home[];
extern const char *const guard_masked_in_home[];
extern const char *const guard_masked_secrets[]; /* of the system; nobody but root needs them */
extern const char *const guard_masked[];
extern const char *const guard_masked_in_run[];	    /* below /run */
extern const char *const guard_masked_in_runtime[]; /* below /run/user/UID */

#endif
