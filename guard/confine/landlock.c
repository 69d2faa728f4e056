/* Landlock (landlock(7)) knows only what is allowed, below a folder: it cannot say
 * "but not this one in it", so masks and protections are the mounts' alone. What it
 * can say is that nothing is written elsewhere, whatever became of a mount's flags. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/confine/steps.h"

/* Not in the headers of Linux 6.1. */
#define ACCESS_TRUNCATE		   (UINT64_C(1) << 14) /* ABI 3, 6.2 */
#define ACCESS_IOCTL_DEV	   (UINT64_C(1) << 15) /* ABI 5, 6.10 */
#define SCOPE_ABSTRACT_UNIX_SOCKET UINT64_C(1)	       /* ABI 6, 6.12 */
#define NET_BIND_TCP		   (UINT64_C(1) << 0)  /* ABI 4, 6.7 */
#define NET_CONNECT_TCP		   (UINT64_C(1) << 1)
#define SCOPE_SIGNAL		   UINT64_C(2)

struct ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net; /* ABI 4 */
	uint64_t scoped;	     /* ABI 6 */
};

#define WRITING                                                                                    \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                           \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |                            \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |                              \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER)

/* Handled and nowhere allowed: device nodes. */
#define NEVER (LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)

/* A rule for a file takes no more than this. */
#define FILE_ONLY (LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE)

static bool is_writable(const struct guard_op *op)
{
	return !op->skip && op->tree_fd >= 0 &&
	       (op->kind == GUARD_OP_RW || op->kind == GUARD_OP_TMPFS ||
		op->kind == GUARD_OP_OVERLAY || op->kind == GUARD_OP_TMP ||
		op->kind == GUARD_OP_DEV);
}

static int allow_proc(int ruleset_fd, uint64_t access)
{
	int fd = openat(AT_FDCWD, "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fence_landlock_allow(ruleset_fd, fd, access);
}

static int allow_places(const struct guard_plan *plan, int ruleset_fd, uint64_t access,
			struct fence_err *err)
{
	int rc = plan->proc_read_only ? 0 : allow_proc(ruleset_fd, access);

	if (rc < 0)
		return fence_fail(err, rc, "allow writing to /proc");
	for (size_t i = 0; rc == 0 && i < plan->count; i++) {
		const struct guard_op *op = &plan->ops[i];

		if (!is_writable(op))
			continue;
		rc = fence_landlock_allow(ruleset_fd, op->tree_fd,
					  S_ISDIR(op->st.st_mode) ? access : access & FILE_ONLY);
		if (rc < 0)
			return fence_fail(err, rc, "allow writing to %s", op->path);
	}
	return rc;
}

/* What scripts call /dev/stdout and /dev/stderr is opened again through /proc, by way of
 * the host's own mount: a terminal, a log, /dev/null. Of what is open for writing that
 * gives nothing away: such a descriptor empties its file by ftruncate(2), and O_APPEND
 * is taken off by fcntl(2). */
static int allow_output(int ruleset_fd, int fd, uint64_t access)
{
	int flags = fcntl(fd, F_GETFL);
	int rc;

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return flags < 0 ? -errno : 0;
	rc = fence_landlock_allow(ruleset_fd, fd, access & FILE_ONLY);
	/* A file of no place: it is not minded at all. */
	return rc == -EBADFD ? 0 : rc;
}

static int allow_outputs(const struct guard_policy *policy, int ruleset_fd, uint64_t access,
			 struct fence_err *err)
{
	int rc = 0;
	int fd = 0;

	for (; rc == 0 && fd <= 2; fd++)
		if (policy->has_name[fd])
			rc = allow_output(ruleset_fd, fd, access);
	for (size_t i = 0; rc == 0 && i < policy->keep_count; i++) {
		fd = policy->keep_fds[i];
		rc = allow_output(ruleset_fd, fd, access);
	}
	return rc < 0 ? fence_fail(err, rc, "allow writing to descriptor %d", fd) : 0;
}

/* Where all of it is refused: what the kernel says that it knows. */
static int create_lesser(struct ruleset_attr *attr, int *ret_abi)
{
	int abi = fence_landlock_create(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	size_t size_bytes = abi < 4 ? 8 : abi < 6 ? 16 : 24;

	*ret_abi = abi;
	if (abi < 4 && attr->handled_access_net != 0)
		return abi < 0 ? abi : -EOPNOTSUPP;
	if (abi < 3)
		attr->handled_access_fs &= ~(uint64_t)ACCESS_TRUNCATE;
	if (abi < 6)
		attr->scoped = 0;
	return abi < 2 ? abi : fence_landlock_create(attr, size_bytes, 0);
}

/* --- alone ------------------------------------------------------------------------- */

/* What everybody writes to without a thought, and no more of /dev. */
static int allow_devices(int ruleset_fd, struct fence_err *err)
{
	static const char *const devices[] = { "/dev/null",   "/dev/zero",   "/dev/full",
					       "/dev/tty",    "/dev/ptmx",   "/dev/pts",
					       "/dev/random", "/dev/urandom" };

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		owned_fd fd = openat(AT_FDCWD, devices[i], O_PATH | O_CLOEXEC);
		int rc = fd == -1 ? -errno
				  : fence_landlock_allow(ruleset_fd, fd,
							 LANDLOCK_ACCESS_FS_WRITE_FILE |
								 ACCESS_IOCTL_DEV);

		if (rc < 0 && rc != -ENOENT)
			return fence_fail(err, rc, "allow writing to %s", devices[i]);
	}
	return 0;
}

/* Of the operations only what is writable counts; it is where it was. */
static int allow_writable(const struct guard_plan *plan, int ruleset_fd, uint64_t access,
			  struct fence_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < plan->count; i++) {
		const struct guard_op *op = &plan->ops[i];

		if (op->kind != GUARD_OP_RW || op->skip)
			continue;
		rc = fence_landlock_allow(ruleset_fd, op->object_fd,
					  S_ISDIR(op->st.st_mode)
						  ? access
						  : access & (FILE_ONLY | ACCESS_IOCTL_DEV));
		if (rc < 0)
			return fence_fail(err, rc, "allow writing to %s", op->path);
	}
	return rc;
}

int guard_landlock_alone(struct guard_plan *plan, struct fence_err *err)
{
	struct ruleset_attr attr = {
		.handled_access_fs = WRITING | NEVER | ACCESS_TRUNCATE | ACCESS_IOCTL_DEV,
		.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL,
	};
	owned_fd ruleset_fd = fence_landlock_create(&attr, sizeof(attr), 0);
	int rc = ruleset_fd;

	/* E2BIG, EINVAL: a version that does not know all of it. */
	if (rc == -E2BIG || rc == -EINVAL)
		rc = -ENOSYS;
	if (rc < 0)
		return fence_fail(err, rc, "make a Landlock ruleset of version 6");
	rc = allow_devices(ruleset_fd, err);
	if (rc == 0)
		rc = allow_writable(plan, ruleset_fd, attr.handled_access_fs & ~(uint64_t)NEVER,
				    err);
	if (rc < 0)
		return rc;
	rc = fence_landlock_restrict(ruleset_fd);
	if (rc < 0)
		return fence_fail(err, rc, "enter the Landlock ruleset");
	plan->landlock = GUARD_LAYER_ENFORCED;
	return 0;
}

/* --- ports ------------------------------------------------------------------------ */

static int allow_ports(int ruleset_fd, const struct guard_port_list *list, uint64_t access,
		       struct fence_err *err)
{
	for (size_t i = 0; i < list->count; i++) {
		for (unsigned int port = list->ranges[i].first; port <= list->ranges[i].last;
		     port++) {
			int rc = fence_landlock_allow_port(ruleset_fd, port, access);

			if (rc < 0)
				return fence_fail(err, rc, "allow TCP port %u", port);
		}
	}
	return 0;
}

static int allow_net(const struct guard_policy *policy, int ruleset_fd, struct fence_err *err)
{
	int rc;

	if (policy->net != GUARD_NET_PORTS)
		return 0;
	rc = allow_ports(ruleset_fd, &policy->ports.connect, NET_CONNECT_TCP, err);
	return rc < 0 ? rc : allow_ports(ruleset_fd, &policy->ports.bind, NET_BIND_TCP, err);
}

/* Without it the mounts still hold; nothing else holds ports. */
static int refuse_ports(int rc, int abi, struct fence_err *err)
{
	if (rc != -EOPNOTSUPP || abi < 0)
		return fence_fail(err, rc, "limit TCP ports with Landlock");
	fence_fail_why(err, rc, "the kernel's Landlock has no ports", "--net ports (version %d)",
		       abi);
	(void)fence_hint(err, "version 4 has them (Linux 6.7); use --net none or host");
	return rc;
}

int guard_landlock(const struct guard_policy *policy, struct guard_plan *plan,
		   struct fence_err *err)
{
	struct ruleset_attr attr = {
		.handled_access_fs = WRITING | NEVER | ACCESS_TRUNCATE,
		.scoped = SCOPE_ABSTRACT_UNIX_SOCKET,
	};
	int ruleset_fd;
	uint64_t access;
	int abi = 6;
	int rc;

	/* Whoever is bound by a right to files may not mount anything. And whoever is bound by
	 * any rules may not rename between folders (EXDEV) once an inner ruleset has rights to
	 * files: where the network is its own no abstract socket of others is there to be held. */
	if (policy->allow_nesting && policy->net == GUARD_NET_NONE)
		return 0;
	if (policy->allow_nesting)
		attr.handled_access_fs = 0;
	if (policy->net == GUARD_NET_PORTS)
		attr.handled_access_net = NET_BIND_TCP | NET_CONNECT_TCP;
	ruleset_fd = fence_landlock_create(&attr, sizeof(attr), 0);
	if (ruleset_fd < 0)
		ruleset_fd = create_lesser(&attr, &abi);
	if (ruleset_fd < 0 && attr.handled_access_net != 0)
		return refuse_ports(ruleset_fd, abi, err);
	/* The first version has no way to allow renames between folders; what handles no files
	 * is nothing below the fourth, or, without ports, the sixth. */
	if (abi < 2 || (policy->allow_nesting && abi < 6 && attr.handled_access_net == 0))
		return 0;
	if (ruleset_fd < 0)
		return fence_fail(err, ruleset_fd, "make a Landlock ruleset");
	access = attr.handled_access_fs & ~(uint64_t)NEVER;
	rc = policy->allow_nesting ? 0 : allow_places(plan, ruleset_fd, access, err);
	if (rc == 0 && !policy->allow_nesting)
		rc = allow_outputs(policy, ruleset_fd, access, err);
	if (rc < 0)
		return rc;
	rc = allow_net(policy, ruleset_fd, err);
	if (rc < 0)
		return rc;
	rc = fence_landlock_restrict(ruleset_fd);
	if (rc < 0)
		return fence_fail(err, rc, "enter the Landlock ruleset");
	plan->landlock =
		abi >= 6 && !policy->allow_nesting ? GUARD_LAYER_ENFORCED : GUARD_LAYER_DEGRADED;
	return 0;
}
