/* A command that may mount does so as root of user and mount namespaces of its own. There
 * the kernel locks what came from outside: no mount of ours can be unmounted, moved or
 * remounted, and nothing shows what lies below one (mount_namespaces(7)). What it does not
 * hold is held here, mostly by a second filter:
 *
 * - A folder that is a mount point cannot be renamed or removed (EBUSY), but only by who is
 *   in a mount namespace that has this mount. pivot_root(2) and a lazy umount of the old
 *   root leave a namespace without any, and a descriptor from before still leads to the
 *   folder: what was pinned is moved, and what was protected is replaced. So both are
 *   refused where there is something to hold, and in any case what later kernels have to
 *   make a mount namespace that is no copy (unshare of one is, by the usual filter).
 * - A new cgroup namespace comes with the right to mount cgroups, whose files belong to
 *   whom they belonged on the host: uid 0 could change the limits of its group and kill who
 *   else is in it, and so could a user to whom the group was delegated.
 * - uid 0 without capabilities may map itself into a new user namespace only with
 *   CAP_SETFCAP (Linux 5.12), since there it can give files capabilities that hold on the
 *   host. So it keeps that one, and attributes of files cannot be set at all.
 * - The change of a file in an overlay copies it to the upper folder, as a call of nobody's:
 *   with its set-id bits and its capabilities, and what is in it can be changed afterwards
 *   through a mapping without their going. So what uid 0 may write must not be the host's.
 * - uid 0 owns the settings in /proc/sys: see mounts.c. */
#include "guard/confine/nesting.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"

/* --- what is to be held --------------------------------------------------------------- */

bool guard_plan_has_pins(const struct guard_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		if (plan->ops[i].skip)
			continue;
		for (int at = plan->ops[i].parent; at >= 0; at = plan->ops[at].parent)
			if (plan->ops[at].kind == GUARD_OP_RW ||
			    plan->ops[at].kind == GUARD_OP_OVERLAY)
				return true;
	}
	return false;
}

int guard_nesting_check(const struct guard_nesting *nesting, const struct guard_plan *plan,
			struct fence_err *err)
{
	if (!nesting->as_root || plan->policy->allow_set_id)
		return 0;
	for (size_t i = 0; i < plan->count; i++) {
		const struct guard_op *op = &plan->ops[i];

		if (op->skip || op->kind != GUARD_OP_RW || !S_ISDIR(op->st.st_mode))
			continue;
		fence_fail_why(err, -EPERM, "root could copy set-id files of the host into it",
			       "--allow-nesting while %s can be written", op->path);
		(void)fence_hint(err, "give it as --overlay, start it as a plain user, or add "
				      "--allow-set-id");
		return -EPERM;
	}
	return 0;
}

uint64_t guard_nesting_caps(const struct guard_nesting *nesting)
{
	return nesting->as_root ? UINT64_C(1) << CAP_SETFCAP : 0;
}

/* --- cgroups ---------------------------------------------------------------------------- */

#define TEXT_BYTES (1024 * 1024)

/* A controller is in one hierarchy: the first one's name says which mount is it. */
static bool has_word(const char *list, const char *words)
{
	size_t length = strcspn(words, ",");

	for (const char *at = list; at != NULL; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, words, length) == 0 && (at[length] == ',' || at[length] == '\0'))
			return true;
	}
	return false;
}

/* Version 2's line of /proc/self/cgroup names no controllers. */
static bool is_mount_of(const char *line, const char *controllers)
{
	const char *type = strstr(line, " - ");
	const char *options;

	if (type == NULL || strncmp(type, " - cgroup", 9) != 0)
		return false;
	if (controllers[0] == '\0')
		return type[9] == '2';
	options = strrchr(type, ' ');
	return type[9] == ' ' && has_word(options + 1, controllers);
}

static bool may_write(const char *point, const char *group)
{
	static const char *const files[] = { "", "/cgroup.procs", "/tasks" };
	char path[8192];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s%s%s", point,
			       strcmp(group, "/") == 0 ? "" : group, files[i]);
		if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 || errno == EROFS)
			return true;
		if (i == 0 && errno != EACCES && errno != EPERM)
			return true; /* not there: it cannot be told */
	}
	return false;
}

/* ID PARENT DEV ROOT POINT...: where a mount shows its root, or NULL for a part of it. */
static const char *point_of(char *line)
{
	char *words[5];

	for (int i = 0; i < 5; i++)
		words[i] = strsep(&line, " ");
	return words[4] != NULL && strcmp(words[3], "/") == 0 ? words[4] : NULL;
}

/* "ID:CONTROLLERS:GROUP" */
static bool owns_group(char *entry, const char *mounts)
{
	char *controllers;
	owned_mem char *copy = strdup(mounts);
	char *rest = copy;
	char *line;

	(void)strsep(&entry, ":");
	controllers = strsep(&entry, ":");
	if (copy == NULL || entry == NULL)
		return true;
	while ((line = strsep(&rest, "\n")) != NULL) {
		const char *point = is_mount_of(line, controllers) ? point_of(line) : NULL;

		if (point != NULL)
			return may_write(point, entry);
	}
	return true; /* it cannot be told */
}

bool guard_owns_cgroup(void)
{
	owned_mem char *mounts = malloc(TEXT_BYTES);
	owned_mem char *groups = malloc(TEXT_BYTES);
	char *rest = groups;
	char *line;

	if (mounts == NULL || groups == NULL ||
	    fence_read_file(AT_FDCWD, "/proc/self/mountinfo", mounts, TEXT_BYTES) <= 0 ||
	    fence_read_file(AT_FDCWD, "/proc/self/cgroup", groups, TEXT_BYTES) <= 0)
		return true;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0' && owns_group(line, mounts))
			return true;
	return false;
}

/* --- the filter --------------------------------------------------------------------------- */

#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))
#define KNOWN_OF_OPEN_TREE                                                                         \
	(OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_RECURSIVE |    \
	 AT_SYMLINK_NOFOLLOW)

struct refusal {
	int number;
	unsigned int argument; /* whose low half is looked at */
	unsigned int bits;     /* any of which is refused; 0: the call is */
	int error;
};

static size_t add_refusal(struct sock_filter *line, const struct refusal *refusal)
{
	size_t offset = offsetof(struct seccomp_data, args) + 8 * refusal->argument;
	unsigned int answer = REFUSE((unsigned int)refusal->error);

	line[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
					       (unsigned int)refusal->number, 0,
					       refusal->bits == 0 ? 1 : 4);
	if (refusal->bits == 0) {
		line[1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
		return 2;
	}
	line[1] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned int)offset);
	line[2] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, refusal->bits, 0, 1);
	line[3] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer);
	line[4] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, nr));
	return 5;
}

size_t guard_nesting_filter(const struct guard_nesting *nesting,
			    struct sock_filter ret[GUARD_NESTING_LINES])
{
	const struct {
		bool wanted;
		struct refusal refusal;
	} refusals[] = {
		/* A kernel that has these flags does not answer so, older ones do. */
		{ true, { SYS_open_tree, 2, ~(unsigned int)KNOWN_OF_OPEN_TREE, EINVAL } },
		{ true, { SYS_fsmount, 1, ~(unsigned int)FSMOUNT_CLOEXEC, EINVAL } },
		{ nesting->has_pins, { SYS_umount2, 1, MNT_DETACH, EPERM } },
		{ nesting->has_pins, { SYS_pivot_root, 0, 0, EPERM } },
		{ nesting->owns_cgroup, { SYS_clone, 0, CLONE_NEWCGROUP, EPERM } },
		{ nesting->owns_cgroup, { SYS_unshare, 0, CLONE_NEWCGROUP, EPERM } },
		{ nesting->as_root, { SYS_setxattr, 0, 0, EOPNOTSUPP } },
		{ nesting->as_root, { SYS_lsetxattr, 0, 0, EOPNOTSUPP } },
		{ nesting->as_root, { SYS_fsetxattr, 0, 0, EOPNOTSUPP } },
	};
	size_t count = 0;

	/* The usual filter has judged the architecture and x32's numbers. */
	ret[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (refusals[i].wanted)
			count += add_refusal(ret + count, &refusals[i].refusal);
	ret[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return count;
}

int guard_nesting_load(const struct guard_nesting *nesting, struct fence_err *err)
{
	struct sock_filter lines[GUARD_NESTING_LINES];
	struct sock_fprog program = { .filter = lines };

	program.len = (unsigned short)guard_nesting_filter(nesting, lines);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return fence_fail(err, -errno, "install the seccomp filter of --allow-nesting");
	return 0;
}

/* --- from inside -------------------------------------------------------------------------- */

/* Who else would refuse the snapshot of a file that is not open? */
enum guard_inside guard_inside(void)
{
	if (fence_ioctl(-1, BTRFS_IOC_SNAP_CREATE, NULL) != -EPERM)
		return GUARD_INSIDE_NOTHING;
	return fence_open_tree(-1, "", 0) == -ENOSYS ? GUARD_INSIDE_GUARD : GUARD_INSIDE_NESTING;
}
