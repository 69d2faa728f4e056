/* The table of options, and what each of them sets. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence/clock.h"
#include "guard/bwrap/bwrap.h"
#include "guard/policy/policy.h"

#define OPS_MAX 65536

#define SELF(conf) ((struct bwrap *)(conf))

/* --- values ----------------------------------------------------------------------- */

static int fail_value(struct fence_err *err, const char *kind, const char *value)
{
	return fence_fail_why(err, -EINVAL, value, "Invalid %s", kind);
}

/* A descriptor of the caller's, which is ours from now on and not the command's. One
 * that is not open is told where it is used. */
static int take_fd(const char *value, int *ret, struct fence_err *err)
{
	int64_t number;

	if (fence_parse_number(value, 0, INT_MAX, &number) < 0)
		return fail_value(err, "fd", value);
	*ret = (int)number;
	(void)fcntl(*ret, F_SETFD, FD_CLOEXEC);
	return 0;
}

static int parse_octal(const char *value, int *ret)
{
	char *end;
	unsigned long mode;

	if (value[0] == '\0' || strspn(value, "01234567") != strlen(value))
		return -EINVAL;
	errno = 0;
	mode = strtoul(value, &end, 8);
	if (errno != 0 || mode > 07777)
		return -EINVAL;
	*ret = (int)mode;
	return 0;
}

static int set_id(const char *value, const char *kind, long long *ret, struct fence_err *err)
{
	int64_t number;

	/* The last one means "none" to the kernel. */
	if (fence_parse_number(value, 0, (int64_t)UINT32_MAX - 1, &number) < 0)
		return fail_value(err, kind, value);
	*ret = number;
	return 0;
}

/* --- operations ------------------------------------------------------------------- */

struct bwrap_op *bwrap_add_op(struct bwrap *bwrap, enum bwrap_op_kind kind, const char *dest,
			      struct fence_err *err)
{
	struct bwrap_op *op;

	if (bwrap->op_count == bwrap->op_room) {
		size_t room = bwrap->op_room == 0 ? 32 : 2 * bwrap->op_room;
		struct bwrap_op *more =
			room > OPS_MAX ? NULL : realloc(bwrap->ops, room * sizeof(*more));

		if (more == NULL) {
			fence_fail(err, room > OPS_MAX ? -E2BIG : -ENOMEM, "add an operation");
			return NULL;
		}
		bwrap->ops = more;
		bwrap->op_room = room;
	}
	op = &bwrap->ops[bwrap->op_count++];
	*op = (struct bwrap_op){ .kind = kind, .dest = dest, .fd = -1, .mode = -1, .tree_fd = -1 };
	return op;
}

/* Which options take what --perms or --size left; for all others it is an error. */
static int take_mode(struct bwrap *bwrap, struct bwrap_op *op)
{
	op->mode = bwrap->mode;
	bwrap->mode = -1;
	return 0;
}

static int add_bind(void *conf, bool read_only, bool devices, bool optional, struct fence_err *err)
{
	struct bwrap_op *op = bwrap_add_op(conf, BWRAP_BIND, SELF(conf)->words[1], err);

	if (op == NULL)
		return err->code;
	op->source = SELF(conf)->words[0];
	op->read_only = read_only;
	op->devices = devices;
	op->optional = optional;
	return 0;
}

#define BIND_ROW(name, ro, dev, try)                                                               \
	static int name(void *conf, const char *value, struct fence_err *err)                      \
	{                                                                                          \
		(void)value;                                                                       \
		return add_bind(conf, ro, dev, try, err);                                          \
	}
BIND_ROW(set_bind, false, false, false)
BIND_ROW(set_bind_try, false, false, true)
BIND_ROW(set_dev_bind, false, true, false)
BIND_ROW(set_dev_bind_try, false, true, true)
BIND_ROW(set_ro_bind, true, false, false)
BIND_ROW(set_ro_bind_try, true, false, true)

static int add_fd(void *conf, enum bwrap_op_kind kind, bool read_only, bool with_mode,
		  struct fence_err *err)
{
	struct bwrap *bwrap = conf;
	struct bwrap_op *op = bwrap_add_op(bwrap, kind, bwrap->words[1], err);

	if (op == NULL)
		return err->code;
	op->read_only = read_only;
	if (with_mode)
		(void)take_mode(bwrap, op);
	return take_fd(bwrap->words[0], &op->fd, err);
}

static int set_bind_fd(void *conf, const char *value, struct fence_err *err)
{
	(void)value;
	return add_fd(conf, BWRAP_BIND, false, false, err);
}

static int set_ro_bind_fd(void *conf, const char *value, struct fence_err *err)
{
	(void)value;
	return add_fd(conf, BWRAP_BIND, true, false, err);
}

static int set_file(void *conf, const char *value, struct fence_err *err)
{
	(void)value;
	return add_fd(conf, BWRAP_FILE, false, true, err);
}

static int set_bind_data(void *conf, const char *value, struct fence_err *err)
{
	(void)value;
	return add_fd(conf, BWRAP_BIND_DATA, false, true, err);
}

static int set_ro_bind_data(void *conf, const char *value, struct fence_err *err)
{
	(void)value;
	return add_fd(conf, BWRAP_BIND_DATA, true, true, err);
}

#define DEST_ROW(name, kind)                                                                       \
	static int name(void *conf, const char *value, struct fence_err *err)                      \
	{                                                                                          \
		return bwrap_add_op(conf, kind, value, err) == NULL ? err->code : 0;               \
	}
DEST_ROW(set_proc, BWRAP_PROC)
DEST_ROW(set_dev, BWRAP_DEV)
DEST_ROW(set_mqueue, BWRAP_MQUEUE)
DEST_ROW(set_remount_ro, BWRAP_REMOUNT_RO)

static int set_tmpfs(void *conf, const char *value, struct fence_err *err)
{
	struct bwrap *bwrap = conf;
	struct bwrap_op *op = bwrap_add_op(bwrap, BWRAP_TMPFS, value, err);

	if (op == NULL)
		return err->code;
	op->size_bytes = bwrap->size_bytes;
	bwrap->have_size = false;
	bwrap->size_bytes = 0;
	return take_mode(bwrap, op);
}

static int set_dir(void *conf, const char *value, struct fence_err *err)
{
	struct bwrap_op *op = bwrap_add_op(conf, BWRAP_DIR, value, err);

	return op == NULL ? err->code : take_mode(conf, op);
}

static int set_symlink(void *conf, const char *value, struct fence_err *err)
{
	struct bwrap_op *op = bwrap_add_op(conf, BWRAP_SYMLINK, SELF(conf)->words[1], err);

	if (op == NULL)
		return err->code;
	op->source = value;
	return 0;
}

static int set_chmod(void *conf, const char *value, struct fence_err *err)
{
	struct bwrap_op *op = bwrap_add_op(conf, BWRAP_CHMOD, SELF(conf)->words[1], err);

	if (op == NULL)
		return err->code;
	if (parse_octal(value, &op->mode) < 0)
		return fence_fail_why(err, -EINVAL, "takes an octal number of at most 07777",
				      "--chmod");
	return 0;
}

static int set_perms(void *conf, const char *value, struct fence_err *err)
{
	if (SELF(conf)->mode >= 0)
		return fence_fail_why(err, -EINVAL, "given twice for the same option", "--perms");
	if (parse_octal(value, &SELF(conf)->mode) < 0)
		return fence_fail_why(err, -EINVAL, "takes an octal number of at most 07777",
				      "--perms");
	return 0;
}

static int set_size(void *conf, const char *value, struct fence_err *err)
{
	int64_t number;

	if (SELF(conf)->have_size)
		return fence_fail_why(err, -EINVAL, "given twice for the same option", "--size");
	if (fence_parse_number(value, 1, INT64_MAX, &number) < 0)
		return fence_fail_why(err, -EINVAL, "takes a positive number of bytes", "--size %s",
				      value);
	SELF(conf)->have_size = true;
	SELF(conf)->size_bytes = (uint64_t)number;
	return 0;
}

/* --- namespaces and identity ------------------------------------------------------ */

#define FLAG_ROW(name, field, to)                                                                  \
	static int name(void *conf, const char *value, struct fence_err *err)                      \
	{                                                                                          \
		(void)value;                                                                       \
		(void)err;                                                                         \
		SELF(conf)->field = to;                                                            \
		return 0;                                                                          \
	}
FLAG_ROW(set_unshare_user, user, BWRAP_YES)
FLAG_ROW(set_unshare_ipc, ipc, true)
FLAG_ROW(set_unshare_pid, pid, true)
FLAG_ROW(set_unshare_net, net, true)
FLAG_ROW(set_unshare_uts, uts, true)
FLAG_ROW(set_unshare_cgroup, cgroup, BWRAP_YES)
FLAG_ROW(set_disable_userns, disable_userns, true)
FLAG_ROW(set_assert_userns, assert_userns_disabled, true)
FLAG_ROW(set_new_session, new_session, true)
FLAG_ROW(set_die_with_parent, die_with_parent, true)
FLAG_ROW(set_as_pid_1, as_pid_1, true)

static void wish(enum bwrap_wish *field)
{
	if (*field == BWRAP_NO)
		*field = BWRAP_TRY;
}

static int set_user_try(void *conf, const char *value, struct fence_err *err)
{
	(void)value;
	(void)err;
	wish(&SELF(conf)->user);
	return 0;
}

static int set_cgroup_try(void *conf, const char *value, struct fence_err *err)
{
	(void)value;
	(void)err;
	wish(&SELF(conf)->cgroup);
	return 0;
}

static int set_unshare_all(void *conf, const char *value, struct fence_err *err)
{
	struct bwrap *bwrap = conf;

	(void)value;
	(void)err;
	wish(&bwrap->user);
	wish(&bwrap->cgroup);
	bwrap->ipc = bwrap->pid = bwrap->net = bwrap->uts = true;
	return 0;
}

static int set_share_net(void *conf, const char *value, struct fence_err *err)
{
	(void)value;
	(void)err;
	SELF(conf)->net = false;
	return 0;
}

#define FD_ROW(name, field)                                                                        \
	static int name(void *conf, const char *value, struct fence_err *err)                      \
	{                                                                                          \
		return take_fd(value, &SELF(conf)->field, err);                                    \
	}
FD_ROW(set_userns, userns_fd)
FD_ROW(set_userns2, userns2_fd)
FD_ROW(set_pidns, pidns_fd)
FD_ROW(set_sync_fd, sync_fd)
FD_ROW(set_block_fd, block_fd)
FD_ROW(set_userns_block_fd, userns_block_fd)
FD_ROW(set_info_fd, info_fd)
FD_ROW(set_json_fd, json_fd)

static int set_uid(void *conf, const char *value, struct fence_err *err)
{
	return set_id(value, "uid", &SELF(conf)->uid, err);
}

static int set_gid(void *conf, const char *value, struct fence_err *err)
{
	return set_id(value, "gid", &SELF(conf)->gid, err);
}

#define TEXT_ROW(name, field)                                                                      \
	static int name(void *conf, const char *value, struct fence_err *err)                      \
	{                                                                                          \
		(void)err;                                                                         \
		SELF(conf)->field = value;                                                         \
		return 0;                                                                          \
	}
TEXT_ROW(set_hostname, hostname)
TEXT_ROW(set_chdir, dir)
TEXT_ROW(set_argv0, argv0)
TEXT_ROW(set_exec_label, exec_label)
TEXT_ROW(set_file_label, file_label)

/* --- environment, locks, capabilities, filters ------------------------------------ */

static int set_setenv(void *conf, const char *value, struct fence_err *err)
{
	if (setenv(value, SELF(conf)->words[1], 1) < 0)
		return fence_fail(err, -errno, "set variable %s", value);
	return 0;
}

static int set_unsetenv(void *conf, const char *value, struct fence_err *err)
{
	(void)conf;
	return unsetenv(value) < 0 ? fence_fail(err, -errno, "unset variable %s", value) : 0;
}

static int set_clearenv(void *conf, const char *value, struct fence_err *err)
{
	(void)conf;
	(void)value;
	return clearenv() != 0 ? fence_fail(err, -ENOMEM, "clear the environment") : 0;
}

static int set_lock_file(void *conf, const char *value, struct fence_err *err)
{
	struct bwrap *bwrap = conf;
	const char **more = realloc(bwrap->lock_files, (bwrap->lock_count + 1) * sizeof(*more));

	if (more == NULL)
		return fence_fail(err, -ENOMEM, "add a lock file");
	bwrap->lock_files = more;
	bwrap->lock_files[bwrap->lock_count++] = value;
	return 0;
}

/* bubblewrap wants names with their "cap_", as capabilities(7) has them. */
static int caps_of(const char *value, uint64_t *ret, struct fence_err *err)
{
	int number = strncasecmp(value, "cap_", 4) == 0 ? guard_cap_number(value) : -1;

	*ret = strcasecmp(value, "ALL") == 0 ? ~UINT64_C(0) : UINT64_C(1) << (number & 63);
	if (number >= 0 || *ret == ~UINT64_C(0))
		return 0;
	fence_fail_why(err, -EINVAL, "no such capability", "%s", value);
	(void)fence_hint(err, "write ALL or a name of capabilities(7), like CAP_NET_ADMIN");
	return -EINVAL;
}

static int set_cap_add(void *conf, const char *value, struct fence_err *err)
{
	uint64_t caps;
	int rc = caps_of(value, &caps, err);

	if (rc < 0)
		return rc;
	SELF(conf)->caps_named = true;
	SELF(conf)->caps |= caps;
	return 0;
}

static int set_cap_drop(void *conf, const char *value, struct fence_err *err)
{
	uint64_t caps;
	int rc = caps_of(value, &caps, err);

	if (rc < 0)
		return rc;
	SELF(conf)->caps_named = true;
	SELF(conf)->caps &= ~caps;
	return 0;
}

static int add_filter(void *conf, const char *value, bool stack, struct fence_err *err)
{
	struct bwrap *bwrap = conf;
	int fd = -1;
	int rc;

	if (stack ? bwrap->one_filter : bwrap->stacked)
		return fence_fail_why(err, -EINVAL,
				      stack ? "--add-seccomp-fd cannot be combined with --seccomp"
					    : "--seccomp cannot be combined with --add-seccomp-fd",
				      "filters");
	bwrap->stacked |= stack;
	bwrap->one_filter |= !stack;
	rc = take_fd(value, &fd, err);
	return rc < 0 ? rc : bwrap_read_filter(bwrap, fd, stack, err);
}

static int set_seccomp(void *conf, const char *value, struct fence_err *err)
{
	return add_filter(conf, value, false, err);
}

static int set_add_seccomp(void *conf, const char *value, struct fence_err *err)
{
	return add_filter(conf, value, true, err);
}

static int set_args(void *conf, const char *value, struct fence_err *err)
{
	int fd = -1;
	int rc = take_fd(value, &fd, err);

	return rc < 0 ? rc : bwrap_parse_from(conf, fd, err);
}

/* --- the table -------------------------------------------------------------------- */

static const struct fence_opt options[] = {
	{ 0, "args", "FD", "read options from FD, a NUL after each word", .set = set_args },
	{ 0, "argv0", "VALUE", "the command's own argument 0", .set = set_argv0 },
	{ 0, "unshare-all", NULL, "every namespace that can be had", .set = set_unshare_all },
	{ 0, "share-net", NULL, "keep the network after all", .set = set_share_net },
	{ 0, "unshare-user", NULL, "a user namespace (implied unless started by uid 0)",
	  .set = set_unshare_user },
	{ 0, "unshare-user-try", NULL, "the same where it can be had", .set = set_user_try },
	{ 0, "unshare-ipc", NULL, "an IPC namespace", .set = set_unshare_ipc },
	{ 0, "unshare-pid", NULL, "a pid namespace", .set = set_unshare_pid },
	{ 0, "unshare-net", NULL, "a network namespace with lo alone", .set = set_unshare_net },
	{ 0, "unshare-uts", NULL, "a UTS namespace", .set = set_unshare_uts },
	{ 0, "unshare-cgroup", NULL, "a cgroup namespace", .set = set_unshare_cgroup },
	{ 0, "unshare-cgroup-try", NULL, "the same where it can be had", .set = set_cgroup_try },
	{ 0, "userns", "FD", "join this user namespace", .set = set_userns },
	{ 0, "userns2", "FD", "and go on into this one once all is set up", .set = set_userns2 },
	{ 0, "disable-userns", NULL, "no user namespaces inside", .set = set_disable_userns },
	{ 0, "assert-userns-disabled", NULL, "fail if user namespaces can be made inside",
	  .set = set_assert_userns },
	{ 0, "pidns", "FD", "join this pid namespace", .set = set_pidns },
	{ 0, "uid", "UID", "the uid inside (with a user namespace)", .set = set_uid },
	{ 0, "gid", "GID", "the gid inside (with a user namespace)", .set = set_gid },
	{ 0, "hostname", "NAME", "the host name inside (with --unshare-uts)", .set = set_hostname },
	{ 0, "chdir", "DIR", "the working directory inside", .set = set_chdir },
	{ 0, "setenv", "NAME VALUE", "set a variable", .set = set_setenv },
	{ 0, "unsetenv", "NAME", "unset a variable", .set = set_unsetenv },
	{ 0, "clearenv", NULL, "unset every variable", .set = set_clearenv },
	{ 0, "lock-file", "DEST", "hold a read lock on DEST while the sandbox runs",
	  .set = set_lock_file },
	{ 0, "sync-fd", "FD", "hold FD open while the sandbox runs", .set = set_sync_fd },
	{ 0, "bind", "SRC DEST", "show SRC of the host at DEST", .set = set_bind },
	{ 0, "bind-try", "SRC DEST", "the same if SRC is there", .set = set_bind_try },
	{ 0, "dev-bind", "SRC DEST", "show SRC with working device nodes", .set = set_dev_bind },
	{ 0, "dev-bind-try", "SRC DEST", "the same if SRC is there", .set = set_dev_bind_try },
	{ 0, "ro-bind", "SRC DEST", "show SRC read-only", .set = set_ro_bind },
	{ 0, "ro-bind-try", "SRC DEST", "the same if SRC is there", .set = set_ro_bind_try },
	{ 0, "bind-fd", "FD DEST", "show the open file or folder FD", .set = set_bind_fd },
	{ 0, "ro-bind-fd", "FD DEST", "the same, read-only", .set = set_ro_bind_fd },
	{ 0, "remount-ro", "DEST", "make the mount at DEST read-only", .set = set_remount_ro },
	{ 0, "exec-label", "LABEL", "the command's SELinux label", .set = set_exec_label },
	{ 0, "file-label", "LABEL", "the SELinux label of what is made", .set = set_file_label },
	{ 0, "proc", "DEST", "proc of the sandbox's pid namespace", .set = set_proc },
	{ 0, "dev", "DEST", "a small /dev", .set = set_dev },
	{ 0, "tmpfs", "DEST", "a tmpfs", .set = set_tmpfs },
	{ 0, "mqueue", "DEST", "an mqueue (with --unshare-ipc)", .set = set_mqueue },
	{ 0, "dir", "DEST", "a folder", .set = set_dir },
	{ 0, "file", "FD DEST", "a file with what is read from FD", .set = set_file },
	{ 0, "bind-data", "FD DEST", "the same in a mount of its own", .set = set_bind_data },
	{ 0, "ro-bind-data", "FD DEST", "the same, read-only", .set = set_ro_bind_data },
	{ 0, "symlink", "TARGET DEST", "a symbolic link", .set = set_symlink },
	{ 0, "perms", "OCTAL", "the mode of what the next option makes", .set = set_perms },
	{ 0, "size", "BYTES", "the size of the next tmpfs", .set = set_size },
	{ 0, "chmod", "OCTAL PATH", "change the mode of PATH", .set = set_chmod },
	{ 0, "seccomp", "FD", "load a compiled seccomp filter from FD", .set = set_seccomp },
	{ 0, "add-seccomp-fd", "FD", "the same, one after another", .set = set_add_seccomp },
	{ 0, "block-fd", "FD", "start the command once FD can be read", .set = set_block_fd },
	{ 0, "userns-block-fd", "FD",
	  "let somebody else map the user namespace until FD can be "
	  "read",
	  .set = set_userns_block_fd },
	{ 0, "info-fd", "FD", "write the sandbox's pid and namespaces to FD", .set = set_info_fd },
	{ 0, "json-status-fd", "FD", "the same and the exit status, as JSON lines",
	  .set = set_json_fd },
	{ 0, "new-session", NULL, "a session of its own, without a terminal",
	  .set = set_new_session },
	{ 0, "die-with-parent", NULL, "end everything when our parent is gone",
	  .set = set_die_with_parent },
	{ 0, "as-pid-1", NULL, "no init: the command is pid 1 itself", .set = set_as_pid_1 },
	{ 0, "cap-add", "CAP", "a capability to have (ALL: all of them)", .set = set_cap_add },
	{ 0, "cap-drop", "CAP", "a capability not to have", .set = set_cap_drop },
};

const struct fence_cli guard_bwrap_cli = {
	.program = "fence-bwrap",
	.summary = "run a command in a root made of what is named, with bubblewrap's options",
	.operands = "[--] COMMAND [ARG...]",
	.opts = options,
	.count = sizeof(options) / sizeof(options[0]),
	.notes = "Operations on files are carried out in the order they are given.\n"
		 "\n"
		 "Exit status: the command's, 128+n if it died of signal n; 1 if it could not\n"
		 "be started.\n"
		 "\n"
		 "Example:\n"
		 "  fence-bwrap --ro-bind / / --tmpfs /tmp --dev /dev --proc /proc \\\n"
		 "    --unshare-all -- make test\n",
};
