#include "guard/confine/judging.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "guard/confine/asking.h"
#include "guard/confine/plan_build.h"
#include "guard/confine/resolve.h"
#include "guard/confine/steps.h"
#include "guard/confine/tracee.h"

/* What a call does to a path. */
enum deed {
	OPENS,	 /* as its flags say */
	OPENS_2, /* flags in a struct open_how */
	MAKES,	 /* a new entry */
	REMOVES, /* or renames it away: the entry itself */
	CHANGES, /* contents or attributes of what is there */
	EXECUTES,
	CONNECTS,
	SIGNALS,
};

struct watched {
	int number;
	enum deed deed;
	signed char dir_arg;   /* -1: the working directory */
	signed char path_arg;  /* CONNECTS: the address; SIGNALS: the process */
	signed char flags_arg; /* -1: none */
	bool follows;	       /* a link at its end */
};

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* 6.6 */
#endif

static const struct watched table[] = {
	{ SYS_openat, OPENS, 0, 1, 2, true },	    { SYS_openat2, OPENS_2, 0, 1, 2, true },
	{ SYS_mkdirat, MAKES, 0, 1, -1, false },    { SYS_mknodat, MAKES, 0, 1, -1, false },
	{ SYS_symlinkat, MAKES, 1, 2, -1, false },  { SYS_linkat, MAKES, 2, 3, -1, false },
	{ SYS_unlinkat, REMOVES, 0, 1, -1, false }, { SYS_renameat2, REMOVES, 0, 1, -1, false },
	{ SYS_renameat2, MAKES, 2, 3, -1, false },  { SYS_truncate, CHANGES, -1, 0, -1, true },
	{ SYS_fchmodat, CHANGES, 0, 1, -1, true },  { SYS_fchmodat2, CHANGES, 0, 1, -1, true },
	{ SYS_fchownat, CHANGES, 0, 1, -1, true },  { SYS_utimensat, CHANGES, 0, 1, -1, true },
	{ SYS_setxattr, CHANGES, -1, 0, -1, true }, { SYS_execve, EXECUTES, -1, 0, -1, true },
#ifdef SYS_open /* the older forms, which newer machines never had */
	{ SYS_open, OPENS, -1, 0, 1, true },	    { SYS_creat, CHANGES, -1, 0, -1, true },
	{ SYS_mkdir, MAKES, -1, 0, -1, false },	    { SYS_mknod, MAKES, -1, 0, -1, false },
	{ SYS_symlink, MAKES, -1, 1, -1, false },   { SYS_link, MAKES, -1, 1, -1, false },
	{ SYS_unlink, REMOVES, -1, 0, -1, false },  { SYS_rmdir, REMOVES, -1, 0, -1, false },
	{ SYS_rename, REMOVES, -1, 0, -1, false },  { SYS_rename, MAKES, -1, 1, -1, false },
	{ SYS_chmod, CHANGES, -1, 0, -1, true },    { SYS_chown, CHANGES, -1, 0, -1, true },
	{ SYS_lchown, CHANGES, -1, 0, -1, false },  { SYS_utime, CHANGES, -1, 0, -1, true },
	{ SYS_utimes, CHANGES, -1, 0, -1, true },
#endif
#ifdef SYS_renameat
	{ SYS_renameat, REMOVES, 0, 1, -1, false }, { SYS_renameat, MAKES, 2, 3, -1, false },
#endif
	{ SYS_connect, CONNECTS, -1, 1, 2, false }, { SYS_sendto, CONNECTS, -1, 4, 5, false },
	{ SYS_kill, SIGNALS, -1, 0, -1, false },    { SYS_tkill, SIGNALS, -1, 0, -1, false },
	{ SYS_tgkill, SIGNALS, -1, 0, -1, false },
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

size_t guard_watched_calls(int ret[GUARD_WATCHED_MAX])
{
	size_t count = 0;

	_Static_assert(COUNT(table) <= GUARD_WATCHED_MAX, "room");
	for (size_t i = 0; i < COUNT(table); i++)
		if (count == 0 || ret[count - 1] != table[i].number)
			ret[count++] = table[i].number;
	return count;
}

/* --- words ---------------------------------------------------------------------------- */

static void put_safe(struct fence_text *text, const char *words)
{
	fence_text_add_safe(text, words, strlen(words));
}

static void put_call(struct fence_text *text, int number)
{
	const char *name = guard_call_name(number);

	if (name == NULL)
		fence_text_add(text, "call %d", number);
	else
		fence_text_add(text, "%s", name);
}

static void put_answer(struct fence_text *text, int error, const char *enforcer)
{
	const char *name = fence_errno_name(error);

	fence_text_add(text, ": %s by %s: ", name == NULL ? "?" : name, enforcer);
}

/* --- paths ---------------------------------------------------------------------------- */

static void put_rule(struct fence_text *text, const struct guard_op *op)
{
	static const char *const words[] = {
		[GUARD_OP_PIN] = "pinned, for what is protected below it",
		[GUARD_OP_DEV] = "/dev is a small one",
		[GUARD_OP_PROC] = "root's /proc is read-only",
		[GUARD_OP_RO] = "protected unnamed",
		[GUARD_OP_MASK] = "masked unnamed",
		[GUARD_OP_RW] = "a mount of its own",
		[GUARD_OP_TMP] = "a mount of its own",
		[GUARD_OP_TMPFS] = "a mount of its own",
		[GUARD_OP_OVERLAY] = "a mount of its own",
	};
	const char *option = op->kind == GUARD_OP_MASK		   ? "deny"
			     : op->kind == GUARD_OP_RO && op->shut ? "protect"
			     : op->kind == GUARD_OP_RO		   ? "ro"
								   : NULL;

	if (!op->named || option == NULL || op->origin == NULL) {
		fence_text_add(text, "%s", words[op->kind]);
		return;
	}
	fence_text_add(text, "--%s ", option);
	put_safe(text, op->origin);
}

struct question {
	const struct guard_plan *plan;
	pid_t pid;
	const struct seccomp_data *data;
	const struct watched *call;
	uint64_t flags;
	struct fence_text *text;
};

static bool tell(const struct question *question, const char *object, int error,
		 const struct guard_op *op)
{
	put_call(question->text, question->call->number);
	fence_text_add(question->text, " ");
	put_safe(question->text, object);
	put_answer(question->text, error, "mount");
	if (op == NULL)
		fence_text_add(question->text, "in no writable folder");
	else
		put_rule(question->text, op);
	return true;
}

/* Does it want to write there, so that a read-only mount is in its way? What does not
 * exist and is not to be made is not refused, it is not there. */
static bool wants_to_write(const struct question *question, const struct guard_tracee_path *path)
{
	const uint64_t writing = O_WRONLY | O_RDWR | O_TRUNC;

	switch (question->call->deed) {
	case OPENS:
	case OPENS_2:
		if (question->flags & O_PATH)
			return false;
		if (!path->exists)
			return (question->flags & O_CREAT) && path->has_folder;
		return !path->is_special && (question->flags & writing);
	case MAKES:
		/* renameat(2) may replace what is there */
		return path->has_folder && (!path->exists || question->call[-1].deed == REMOVES);
	case REMOVES:
	case CHANGES:
		return path->exists;
	default:
		return false;
	}
}

static bool is_writable(const struct guard_plan *plan, const struct guard_op *op,
			const struct guard_tracee_path *path)
{
	if (op == NULL)
		return false;
	switch (op->kind) {
	case GUARD_OP_RW:
	case GUARD_OP_TMP:
	case GUARD_OP_TMPFS:
	case GUARD_OP_OVERLAY:
		return true;
	case GUARD_OP_DEV:
		return path->is_special || guard_path_within(path->text, "/dev/shm") ||
		       guard_path_within(path->text, "/dev/pts");
	case GUARD_OP_PROC:
		return getauxval(AT_EUID) != 0 || plan->policy->allow_userns;
	default:
		return false;
	}
}

/* What is mounted there, if something is: it can be neither renamed nor removed. */
static const struct guard_op *mounted_on(const struct guard_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->count; i++)
		if (!plan->ops[i].skip && strcmp(plan->ops[i].path, path) == 0)
			return &plan->ops[i];
	return NULL;
}

static bool judge_path(const struct question *question)
{
	const struct watched *call = question->call;
	const __u64 *args = question->data->args;
	bool follow = call->follows && !(question->flags & O_NOFOLLOW);
	char written[PATH_MAX];
	struct guard_tracee_path path;
	const struct guard_op *op;
	const struct guard_op *mounted;

	if (!guard_tracee_string(question->pid, args[call->path_arg], written, sizeof(written)) ||
	    !guard_tracee_path(question->pid,
			       call->dir_arg < 0 ? AT_FDCWD : (int)args[call->dir_arg], written,
			       follow, &path))
		return false;
	op = guard_plan_nearest(question->plan, path.text);
	if (op != NULL && op->kind == GUARD_OP_MASK) {
		/* Making or removing it is its folder's matter. */
		if (op->length < strlen(path.text) || call->deed == OPENS ||
		    call->deed == OPENS_2 || call->deed == EXECUTES)
			return !(question->flags & O_PATH) &&
			       tell(question, path.text, -EACCES, op);
	}
	if (!path.is_whole || !wants_to_write(question, &path))
		return false;
	mounted = call->deed == REMOVES || (call->deed == MAKES && path.exists)
			  ? mounted_on(question->plan, path.text)
			  : NULL;
	if (mounted != NULL && mounted->parent >= 0)
		return tell(question, path.text, -EBUSY, mounted);
	return !is_writable(question->plan, op, &path) && tell(question, path.text, -EROFS, op);
}

/* --- addresses ---------------------------------------------------------------------------- */

static bool is_own_address(const struct sockaddr_storage *address)
{
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;
	uint32_t host = ntohl(four->sin_addr.s_addr);

	if (address->ss_family == AF_INET)
		return host == 0 || host >> 24 == 127;
	if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
		return six->sin6_addr.s6_addr[12] == 127;
	return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) || IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
}

/* 0: nothing that we know of refuses it. */
static int refusal_of(const struct guard_policy *policy, const struct sockaddr_storage *address,
		      uint16_t port)
{
	if (policy->net == GUARD_NET_NONE)
		return is_own_address(address) ? 0 : -ENETUNREACH;
	if (policy->net == GUARD_NET_PORTS)
		return guard_ports_have(&policy->ports.connect, port) ? 0 : -EACCES;
	return 0;
}

static bool judge_inet(const struct question *question, const struct sockaddr_storage *address)
{
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;
	bool is_six = address->ss_family == AF_INET6;
	char host[INET6_ADDRSTRLEN] = "?";
	uint16_t port = ntohs(is_six ? six->sin6_port : four->sin_port);
	int refusal = refusal_of(question->plan->policy, address, port);

	if (refusal == 0)
		return false;
	(void)inet_ntop(address->ss_family,
			is_six ? (const void *)&six->sin6_addr : (const void *)&four->sin_addr,
			host, sizeof(host));
	put_call(question->text, question->call->number);
	fence_text_add(question->text, is_six ? " [%s]:%u" : " %s:%u", host, port);
	put_answer(question->text, refusal, refusal == -EACCES ? "landlock" : "netns");
	fence_text_add(question->text, "network %s", guard_net_word(question->plan->policy->net));
	return true;
}

static bool judge_unix(const struct question *question, const struct sockaddr_un *address)
{
	struct guard_tracee_path path;
	const struct guard_op *op;

	if (address->sun_path[0] == '\0' ||
	    !guard_tracee_path(question->pid, AT_FDCWD, address->sun_path, true, &path))
		return false;
	op = guard_plan_nearest(question->plan, path.text);
	if (op == NULL || op->kind != GUARD_OP_MASK)
		return false;
	return tell(question, path.text, op->length < strlen(path.text) ? -EACCES : -ECONNREFUSED,
		    op);
}

static bool judge_address(const struct question *question)
{
	const __u64 *args = question->data->args;
	union {
		struct sockaddr_storage any;
		struct sockaddr_un un;
	} address;
	uint64_t size = args[question->call->flags_arg];

	memset(&address, 0, sizeof(address));
	if (args[question->call->path_arg] == 0 || size > sizeof(address.un) ||
	    guard_tracee_read(question->pid, args[question->call->path_arg], &address, size) < size)
		return false;
	if (address.any.ss_family == AF_INET || address.any.ss_family == AF_INET6)
		return judge_inet(question, &address.any);
	if (address.any.ss_family != AF_UNIX)
		return false;
	address.un.sun_path[sizeof(address.un.sun_path) - 1] = '\0';
	return judge_unix(question, &address.un);
}

/* --- processes ------------------------------------------------------------------------------ */

static bool judge_signal(const struct question *question)
{
	int target = (int)question->data->args[0];

	if (target <= 0 || guard_tracee_sees(question->pid, target) != 0)
		return false;
	put_call(question->text, question->call->number);
	fence_text_add(question->text, " %d", target);
	put_answer(question->text, -ESRCH, "pidns");
	fence_text_add(question->text, "no process inside has that number");
	return true;
}

/* --- a call --------------------------------------------------------------------------------- */

static uint64_t flags_of(const struct question *question)
{
	const struct watched *call = question->call;
	uint64_t flags = 0;

	if (call->deed == OPENS)
		return question->data->args[call->flags_arg];
	if (call->deed == OPENS_2)
		(void)guard_tracee_read(question->pid, question->data->args[call->flags_arg],
					&flags, sizeof(flags));
	return flags;
}

static bool judge_watched(const struct guard_plan *plan, pid_t pid, const struct seccomp_data *data,
			  struct fence_text *text)
{
	for (size_t i = 0; i < COUNT(table); i++) {
		struct question question = { plan, pid, data, &table[i], 0, text };
		bool told;

		if (table[i].number != data->nr)
			continue;
		question.flags = flags_of(&question);
		told = table[i].deed == CONNECTS  ? judge_address(&question)
		       : table[i].deed == SIGNALS ? judge_signal(&question)
						  : judge_path(&question);
		if (told)
			return true;
	}
	return false;
}

/* Which arguments of a refused call say what it is about; -1: none. */
static const struct telling {
	int number;
	signed char path, mode;
} tellings[] = {
	{ SYS_mount, 1, -1 },	  { SYS_umount2, 0, -1 }, { SYS_pivot_root, 0, -1 },
	{ SYS_chroot, 0, -1 },	  { SYS_swapon, 0, -1 },  { SYS_acct, 0, -1 },
	{ SYS_open_tree, 1, -1 }, { SYS_fspick, 1, -1 },  { SYS_mount_setattr, 1, -1 },
	{ SYS_quotactl, 1, -1 },  { SYS_fchmod, -1, 1 },  { SYS_fchmodat, 1, 2 },
	{ SYS_fchmodat2, 1, 2 },  { SYS_openat, 1, 3 },	  { SYS_openat2, 1, -1 },
	{ SYS_mknodat, 1, 2 },
#ifdef SYS_open
	{ SYS_chmod, 0, 1 },	  { SYS_open, 0, 2 },	  { SYS_creat, 0, 1 },
	{ SYS_mknod, 0, 1 },
#endif
};

static const struct telling *telling_of(int number)
{
	for (size_t i = 0; i < COUNT(tellings); i++)
		if (tellings[i].number == number)
			return &tellings[i];
	return NULL;
}

static void put_telling(const struct telling *telling, pid_t pid, const struct seccomp_data *data,
			struct fence_text *text)
{
	char path[PATH_MAX];

	if (telling->path >= 0 &&
	    guard_tracee_string(pid, data->args[telling->path], path, sizeof(path))) {
		fence_text_add(text, " ");
		put_safe(text, path);
	}
	if (telling->mode >= 0)
		fence_text_add(text, " mode 0%o", (unsigned int)data->args[telling->mode] & 07777);
}

static void put_refused(pid_t pid, const struct seccomp_data *data, struct fence_text *text)
{
	const struct telling *telling = telling_of(data->nr);

	put_call(text, data->nr);
	if (telling != NULL) {
		put_telling(telling, pid, data, text);
	} else if (data->nr == SYS_socket || data->nr == SYS_socketpair) {
		fence_text_add(text, " family %d, type %d, protocol %d", (int)data->args[0],
			       (int)data->args[1], (int)data->args[2]);
	} else if (data->nr == SYS_ioctl) {
		fence_text_add(text, " request 0x%x", (unsigned int)data->args[1]);
	} else if (data->nr == SYS_clone || data->nr == SYS_unshare) {
		fence_text_add(text, " flags 0x%llx", (unsigned long long)data->args[0]);
	}
}

static bool filter_allows(const struct guard_policy *policy, const struct seccomp_data *data)
{
	struct sock_fprog filter = guard_filter(policy);

	return guard_asking_answer(&filter, data) == SECCOMP_RET_ALLOW;
}

/* What --strict refuses and the usual filter would not is its rule; and likewise. */
static const char *filter_rule(const struct guard_policy *policy, const struct seccomp_data *data)
{
	struct guard_policy usual = *policy;

	usual.own_filter = NULL;
	usual.seccomp = GUARD_SECCOMP_DEFAULT;
	if (policy->seccomp == GUARD_SECCOMP_STRICT && filter_allows(&usual, data))
		return "seccomp: strict";
	usual.allow_set_id = true;
	if (!policy->allow_set_id && filter_allows(&usual, data))
		return "without --allow-set-id";
	usual.net = GUARD_NET_NONE;
	if (policy->net == GUARD_NET_PORTS && filter_allows(&usual, data))
		return "network ports";
	if (policy->allow_nesting)
		return "the filter with --allow-nesting";
	return policy->allow_userns ? "the filter with --allow-userns" : "the default filter";
}

static void put_filter_rule(const struct guard_policy *policy, const struct seccomp_data *data,
			    struct fence_text *text)
{
	const struct guard_call_rule *own = guard_policy_call(policy, data->nr);

	if (own == NULL) {
		fence_text_add(text, "%s", filter_rule(policy, data));
		return;
	}
	fence_text_add(text, "the policy's own filter (");
	put_safe(text, policy->file);
	fence_text_add(text, ":%u:%u)", own->place.line, own->place.column);
}

bool guard_judge_call(const struct guard_plan *plan, pid_t pid, const struct seccomp_data *data,
		      int error, struct fence_text *text)
{
	if (error == 0)
		return judge_watched(plan, pid, data, text);
	put_refused(pid, data, text);
	put_answer(text, -error, "seccomp");
	put_filter_rule(plan->policy, data, text);
	return true;
}
