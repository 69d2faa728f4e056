#include "guard/browser/reason.h"

#include <stdbool.h>
#include <stddef.h>

struct row {
	const char *word;
	bool is_sandbox; /* for the vocabulary of two */
	const char *remedy;
};

static const struct row rows[REASON_COUNT] = {
	[REASON_OK] = { "ok", false, "" },
	[REASON_PENDING] = { "pending", false, "" },
	[REASON_UNPROVEN] = { "unproven", false, "" },
	[REASON_WEAKENED] = { "weakened", false, "" },
	[REASON_RUNNING_AS_ROOT] = { "running_as_root", true,
				     "keep CAP_SETUID and CAP_SETGID, so that root can become the "
				     "browser's user" },
	[REASON_NO_USABLE_SANDBOX] = { "no_usable_sandbox", true,
				       "allow user namespaces for this user" },
	[REASON_USERNS_DENIED_SECCOMP] = { "userns_denied_seccomp", true,
					   "use a seccomp profile for the container that allows "
					   "clone, "
					   "unshare, setns and chroot" },
	[REASON_USERNS_DENIED_APPARMOR] = { "userns_denied_apparmor", true,
					    "give the browser an AppArmor profile with userns, or "
					    "set "
					    "kernel.apparmor_restrict_unprivileged_userns=0" },
	[REASON_USERNS_DENIED_SYSCTL] = { "userns_denied_sysctl", true,
					  "set kernel.unprivileged_userns_clone=1" },
	[REASON_USERNS_LIMIT] = { "userns_limit", true, "raise user.max_user_namespaces" },
	[REASON_USERNS_DENIED_CHROOT] = { "userns_denied_chroot", true,
					  "enter the tree by pivot_root or a mount namespace "
					  "instead of "
					  "chroot" },
	[REASON_USERNS_UNMAPPED_ID] = { "userns_unmapped_id", true,
					"map the uid and the gid into this user namespace, or name "
					"a "
					"mapped one with --fence-uid" },
	[REASON_PID_OR_NET_NS_DENIED] = { "pid_or_net_ns_denied", true,
					  "raise user.max_pid_namespaces and "
					  "user.max_net_namespaces, or "
					  "let the confinement allow both kinds" },
	[REASON_CHROOT_DENIED] = { "chroot_denied", true, "let the confinement allow chroot" },
	[REASON_SECCOMP_BPF_MISSING] = { "seccomp_bpf_missing", true,
					 "use a kernel with CONFIG_SECCOMP_FILTER" },
	[REASON_PROC_UNAVAILABLE] = { "proc_unavailable", true, "mount a writable /proc" },
	[REASON_WEAKENING_FLAG] = { "weakening_flag", true,
				    "take the option out: it weakens the browser's sandbox" },
	[REASON_BAD_FLAG] = { "bad_flag", true,
			      "take the option out: it does not start a browser" },
	[REASON_PROFILE_NOT_WRITABLE] = { "profile_not_writable", false,
					  "name a profile folder that is new, empty or the browser "
					  "user's own" },
	[REASON_PROFILE_INVALID] = { "profile_invalid", false, "name a folder" },
	[REASON_TMP_NOT_WRITABLE] = { "tmp_not_writable", false,
				      "make /tmp writable for the browser's user" },
	[REASON_EXECUTABLE_MISSING] = { "executable_missing", false,
					"install Chromium or name it with --fence-browser" },
	[REASON_EXECUTABLE_DENIED] = { "executable_denied", false,
				       "put the browser where its user may reach and execute it" },
	[REASON_EXEC_FORMAT] = { "exec_format", false,
				 "name the browser's own ELF file with --fence-browser" },
	[REASON_INSTALL_UNREADABLE] = { "install_unreadable", false,
					"make the browser's folder readable for its user" },
	[REASON_WRAPPER_SNAP] = { "wrapper_snap", false,
				  "install a Chromium that is not a snap and name it with "
				  "--fence-browser" },
	[REASON_WRAPPER_FLATPAK] = { "wrapper_flatpak", false,
				     "install a Chromium that is not a flatpak and name it with "
				     "--fence-browser" },
	[REASON_UNKNOWN] = { "unknown", false, "" },
};

const char *reason_word(enum reason reason, enum reason_vocabulary vocabulary)
{
	const struct row *row = &rows[reason];

	/* A state is no cause: it has no remedy, and one word in both. */
	if (vocabulary == REASON_VOCABULARY_FULL || row->remedy[0] == '\0')
		return row->word;
	return row->is_sandbox ? "sandbox_unavailable" : "unknown";
}

const char *reason_remedy(enum reason reason)
{
	return rows[reason].remedy;
}
