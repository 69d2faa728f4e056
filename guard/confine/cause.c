#include "guard/confine/cause.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/sys.h"
#include "guard/confine/nesting.h"
#include "guard/confine/steps.h"

/* What the rows below look at. */
struct case_at_hand {
	enum guard_step step;
	int rc;
	bool privileged; /* no user namespace is needed */
	bool filtered;
	char name[64]; /* what a row found, for its remedy */
};

/* --- the host's settings ------------------------------------------------------------ */

/* A number in a file of /proc; -1 when it is not there. */
static long read_setting(const char *path)
{
	char text[64];

	if (fence_read_file(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return -1;
	return strtol(text, NULL, 10);
}

bool guard_is_filtered(void)
{
	char text[8192];
	const char *line;

	if (fence_read_file(AT_FDCWD, "/proc/self/status", text, sizeof(text)) <= 0)
		return false;
	line = strstr(text, "\nSeccomp:");
	return line != NULL && strtol(line + strlen("\nSeccomp:"), NULL, 10) != 0;
}

/* Calls `visit` with each mount point of /proc/self/mountinfo until it says true: 1 it did,
 * 0, or -errno. Blanks in a path are \040 there. */
static int any_mount(bool (*visit)(const char *point, void *arg), void *arg)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size_bytes = 0;
	bool found = false;

	while (!found && file != NULL && getline(&line, &size_bytes, file) > 0) {
		char *at = line;

		/* id, parent, device, root, mount point */
		for (int field = 0; at != NULL && field < 4; field++)
			at = strchr(at, ' ') == NULL ? NULL : strchr(at, ' ') + 1;
		if (at == NULL)
			continue;
		at[strcspn(at, " ")] = '\0';
		found = visit(at, arg);
	}
	free(line);
	if (file == NULL)
		return -errno;
	(void)fclose(file);
	return found ? 1 : 0;
}

/* With blanks and backslashes as mountinfo has them, and a slash behind it. */
static void escape(const char *path, char *ret, size_t size_bytes)
{
	size_t used = 0;

	for (; *path != '\0' && used + 6 < size_bytes; path++)
		if (strchr(" \t\n\\", *path) == NULL)
			ret[used++] = *path;
		else
			used += (size_t)snprintf(ret + used, size_bytes - used, "\\%03o",
						 (unsigned char)*path);
	ret[used++] = '/';
	ret[used] = '\0';
}

static bool is_below(const char *point, void *arg)
{
	return strncmp(point, arg, strlen(arg)) == 0;
}

bool guard_mounts_below(const char *path)
{
	char prefix[4 * PATH_MAX + 8];

	escape(path, prefix, sizeof(prefix));
	return any_mount(is_below, prefix) != 0;
}

static bool is_root(const char *point, void *arg)
{
	(void)arg;
	return strcmp(point, "/") == 0;
}

static bool is_below_proc(const char *point, void *arg)
{
	if (strncmp(point, "/proc/", 6) != 0 || strcmp(point, "/proc/sys/fs/binfmt_misc") == 0)
		return false;
	(void)snprintf(arg, sizeof(((struct case_at_hand *)NULL)->name), "%s", point);
	return true;
}

/* --- rows: is it this ------------------------------------------------------------------ */

static bool is_refusal(const struct case_at_hand *at)
{
	return at->rc == -EPERM || at->rc == -EACCES;
}

/* Either the call itself, or, as on Ubuntu 24.04, everything in the new namespace that
 * needs a capability: the first is the map, whose EACCES nothing but a security module
 * gives to who could open the file. */
static bool is_apparmor(struct case_at_hand *at)
{
	static const char setting[] = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

	if (at->step > GUARD_STEP_PROC || at->privileged || !is_refusal(at))
		return false;
	return (at->step == GUARD_STEP_MAP && at->rc == -EACCES) || read_setting(setting) == 1;
}

static bool is_userns_clone(struct case_at_hand *at)
{
	return at->step == GUARD_STEP_NAMESPACES && at->rc == -EPERM &&
	       read_setting("/proc/sys/kernel/unprivileged_userns_clone") == 0;
}

static bool is_of_namespaces(const struct case_at_hand *at)
{
	return at->step == GUARD_STEP_NAMESPACES || at->step == GUARD_STEP_CGROUPNS;
}

static bool is_limit(const struct case_at_hand *at)
{
	return is_of_namespaces(at) && (at->rc == -ENOSPC || at->rc == -EUSERS);
}

/* A limit of 0 in the namespace that we are in; that of one further out cannot be seen. */
static bool is_max_zero(struct case_at_hand *at)
{
	static const char *const kinds[] = { "user", "mnt", "pid", "net", "ipc", "uts", "cgroup" };
	char path[128];

	for (size_t i = 0; is_limit(at) && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		(void)snprintf(path, sizeof(path), "/proc/sys/user/max_%s_namespaces", kinds[i]);
		(void)snprintf(at->name, sizeof(at->name), "user.max_%s_namespaces", kinds[i]);
		if (read_setting(path) == 0)
			return true;
	}
	return false;
}

static bool is_nested(struct case_at_hand *at)
{
	return is_limit(at);
}

/* The kernel gives a new /proc in a user namespace only while an old one is fully
 * visible: nothing mounted over parts of it, as container managers do to hide them. */
static bool is_masked_proc(struct case_at_hand *at)
{
	return at->step == GUARD_STEP_PROC && is_refusal(at) &&
	       any_mount(is_below_proc, at->name) == 1;
}

static bool is_filter(struct case_at_hand *at)
{
	return at->filtered && (is_refusal(at) || at->rc == -ENOSYS);
}

static bool is_no_nesting(struct case_at_hand *at)
{
	return is_filter(at) && at->step <= GUARD_STEP_PROC && guard_inside() == GUARD_INSIDE_GUARD;
}

/* What nesting.c and mounts.c keep from whoever may nest. */
static bool is_nesting(struct case_at_hand *at)
{
	return is_filter(at) &&
	       (at->step == GUARD_STEP_CGROUPNS ||
		(at->step == GUARD_STEP_PROC && geteuid() == 0)) &&
	       guard_inside() == GUARD_INSIDE_NESTING;
}

static bool is_filter_of_landlock(struct case_at_hand *at)
{
	return at->step == GUARD_STEP_LANDLOCK && is_filter(at);
}

/* No mount point is "/" as we see it; or pid 1, if we may look, has another root. */
static bool is_chroot(struct case_at_hand *at)
{
	struct stat ours;
	struct stat first;

	if (at->step == GUARD_STEP_MOUNTS ? at->rc != -EINVAL
					  : at->step != GUARD_STEP_NAMESPACES || at->rc != -EPERM)
		return false;
	if (any_mount(is_root, NULL) != 1)
		return true;
	return stat("/", &ours) == 0 && stat("/proc/1/root", &first) == 0 &&
	       (ours.st_dev != first.st_dev || ours.st_ino != first.st_ino);
}

static bool is_missing_capability(struct case_at_hand *at)
{
	return at->step <= GUARD_STEP_PROC && is_refusal(at) && geteuid() == 0 && !at->privileged;
}

/* The kernel says EINVAL to each of these, and tells the rest to its log. */
static bool is_no_lower(struct case_at_hand *at)
{
	return at->step == GUARD_STEP_OVERLAY && (at->rc == -EINVAL || at->rc == -EXDEV);
}

static bool is_no_overlay(struct case_at_hand *at)
{
	return at->step == GUARD_STEP_OVERLAY && at->rc == -ENODEV;
}

/* Nothing tells the two apart. */
static bool is_old_overlay(struct case_at_hand *at)
{
	return at->step == GUARD_STEP_OVERLAY && is_refusal(at) && !at->privileged;
}

static bool is_old_kernel(struct case_at_hand *at)
{
	return at->rc == -ENOSYS || (is_of_namespaces(at) && at->rc == -EINVAL);
}

static bool is_landlock_off(struct case_at_hand *at)
{
	return at->step == GUARD_STEP_LANDLOCK && at->rc == -EOPNOTSUPP;
}

/* A filter can have one listener, and so can all filters of a process together. */
static bool is_second_listener(struct case_at_hand *at)
{
	return at->step == GUARD_STEP_SECCOMP && at->rc == -EBUSY;
}

static bool is_no_delegation(struct case_at_hand *at)
{
	return at->step == GUARD_STEP_CGROUP;
}

static bool is_module(struct case_at_hand *at)
{
	char text[256];

	if (!is_refusal(at))
		return false;
	if (fence_read_file(AT_FDCWD, "/sys/kernel/security/lsm", text, sizeof(text)) <= 0)
		(void)snprintf(text, sizeof(text), "see /sys/kernel/security/lsm");
	text[strcspn(text, "\n")] = '\0';
	(void)snprintf(at->name, sizeof(at->name), "%.63s", text);
	return true;
}

static bool is_unknown(struct case_at_hand *at)
{
	(void)at;
	return true;
}

/* The first that is it. A remedy may name what the row found, once. */
static const struct {
	const char *word;
	bool (*is)(struct case_at_hand *at);
	const char *remedy;
} rows[] = {
	{ "landlock-off", is_landlock_off,
	  "Landlock is built in but switched off: add landlock to lsm= on the kernel's command "
	  "line" },
	{ "second-listener", is_second_listener,
	  "whoever started us already listens to our system calls, and there can be one "
	  "listener: start it from outside of that" },
	{ "max-namespaces", is_max_zero,
	  "%s is 0: set it to more, as with sysctl -w user.max_user_namespaces=15000" },
	{ "namespace-limit", is_nested,
	  "a limit in /proc/sys/user/max_*_namespaces is reached, here or further out, or "
	  "namespaces are nested too deep (32)" },
	{ "unprivileged-userns-clone", is_userns_clone,
	  "set sysctl kernel.unprivileged_userns_clone=1" },
	{ "apparmor", is_apparmor,
	  "AppArmor restricts user namespaces: add a profile with `userns,` for fence-guard to "
	  "/etc/apparmor.d, or set sysctl kernel.apparmor_restrict_unprivileged_userns=0" },
	{ "nesting", is_no_nesting,
	  "it is inside of fence-guard exec, whose filter refuses that: start that one with "
	  "--allow-nesting" },
	{ "nesting", is_nesting,
	  "fence-guard exec --allow-nesting, which it is inside of, refuses what would undo its "
	  "own rules" },
	{ "masked-proc", is_masked_proc,
	  "the host hides parts of /proc (%s is mounted over): run the container with "
	  "--security-opt systempaths=unconfined" },
	{ "no-delegation", is_no_delegation,
	  "have a cgroup of version 2 delegated, as with systemd-run --user --scope -p "
	  "Delegate=yes" },
	{ "seccomp-filter", is_filter_of_landlock,
	  "a seccomp filter, or a kernel before Linux 5.13, has no Landlock: let the container's "
	  "seccomp profile allow landlock_create_ruleset and its like" },
	{ "seccomp-filter", is_filter,
	  "a seccomp filter refuses it: in Docker, run the container with --security-opt "
	  "seccomp=PROFILE that allows clone, unshare, mount and the mount calls of Linux 5.12 "
	  "(mount_setattr), or with --cap-add SYS_ADMIN" },
	{ "no-overlay", is_no_overlay,
	  "this kernel has no overlayfs: modprobe overlay, or build it with "
	  "CONFIG_OVERLAY_FS" },
	{ "no-lower", is_no_lower,
	  "its file system cannot lie under an overlay (one on another overlay, which cannot be "
	  "deeper, or one without fixed names), or something is mounted in it" },
	{ "chroot", is_chroot,
	  "it is in a chroot, where user namespaces and changes of mounts are refused: run it "
	  "outside, or enter the folder by pivot_root, as root from a bind of it onto itself" },
	{ "missing-capability", is_missing_capability,
	  "uid 0 without CAP_SYS_ADMIN and CAP_SETFCAP cannot confine: give the container "
	  "--cap-add SYS_ADMIN" },
	{ "old-kernel", is_old_overlay,
	  "an overlay takes Linux 5.11 for a plain user, and no security module against it" },
	{ "security-module", is_module,
	  "a security module (%s) or a chroot forbids it: in Docker, use --security-opt "
	  "apparmor=unconfined" },
	{ "old-kernel", is_old_kernel,
	  "it takes a newer kernel: Linux 5.12 for the mounts (mount_setattr), 5.9 for a seccomp "
	  "notifier, 5.19 for Landlock, 6.12 for profile landlock" },
	{ "unknown", is_unknown, "" },
};

void guard_cause_find(enum guard_step step, int rc, struct guard_cause *ret)
{
	struct case_at_hand at = {
		.step = step,
		.rc = rc,
		.privileged = guard_is_privileged(),
		.filtered = guard_is_filtered(),
	};
	const char *hole;
	size_t i = 0;

	while (!rows[i].is(&at))
		i++;
	ret->word = rows[i].word;
	hole = strstr(rows[i].remedy, "%s");
	if (hole == NULL)
		(void)snprintf(ret->remedy, sizeof(ret->remedy), "%s", rows[i].remedy);
	else
		(void)snprintf(ret->remedy, sizeof(ret->remedy), "%.*s%s%s",
			       (int)(hole - rows[i].remedy), rows[i].remedy, at.name, hole + 2);
}

void guard_cause_hint(enum guard_step step, struct fence_err *err)
{
	struct guard_cause cause;

	if (err->code == 0 || err->hint[0] != '\0')
		return;
	guard_cause_find(step, err->code, &cause);
	if (cause.remedy[0] != '\0')
		(void)fence_hint(err, "%s", cause.remedy);
}

/* What a host's settings lead to; a file that is missing, say, is another matter. */
static bool is_of_the_host(int rc)
{
	return rc == -EPERM || rc == -EACCES || rc == -ENOSYS || rc == -ENOSPC || rc == -EUSERS ||
	       rc == -EINVAL || rc == -EOPNOTSUPP || rc == -EBUSY;
}

void guard_cause_hint_stage(const char *stage, struct fence_err *err)
{
	static const struct {
		const char *stage;
		enum guard_step step;
	} steps[] = {
		{ "namespaces", GUARD_STEP_NAMESPACES },
		{ "user namespace", GUARD_STEP_MAP },
		{ "network", GUARD_STEP_LO },
		{ "mounts", GUARD_STEP_MOUNTS },
		{ "landlock", GUARD_STEP_LANDLOCK },
		{ "seccomp", GUARD_STEP_SECCOMP },
	};

	/* The one mount that the kernel has its own rule for. */
	if (strcmp(err->what, "mount /proc") == 0)
		guard_cause_hint(GUARD_STEP_PROC, err);
	for (size_t i = 0; is_of_the_host(err->code) && i < sizeof(steps) / sizeof(steps[0]); i++)
		if (strcmp(stage, steps[i].stage) == 0 && err->why[0] == '\0')
			guard_cause_hint(steps[i].step, err);
}
