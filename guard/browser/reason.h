/* Why a browser was not started, or how far its proof got: one closed word each
 * (fence-chromium(1)), with the remedy for people. A word that is not here is
 * never written. */
#ifndef GUARD_BROWSER_REASON_H
#define GUARD_BROWSER_REASON_H

enum reason {
	/* The states of a proof. */
	REASON_OK,
	REASON_PENDING,
	REASON_UNPROVEN,
	REASON_WEAKENED,
	/* The kernel, or what confines us, does not let Chromium's sandbox be. */
	REASON_RUNNING_AS_ROOT,
	REASON_NO_USABLE_SANDBOX,
	REASON_USERNS_DENIED_SECCOMP,
	REASON_USERNS_DENIED_APPARMOR,
	REASON_USERNS_DENIED_SYSCTL,
	REASON_USERNS_LIMIT,
	REASON_USERNS_DENIED_CHROOT,
	REASON_USERNS_UNMAPPED_ID,
	REASON_PID_OR_NET_NS_DENIED,
	REASON_CHROOT_DENIED,
	REASON_SECCOMP_BPF_MISSING,
	REASON_PROC_UNAVAILABLE,
	REASON_WEAKENING_FLAG,
	REASON_BAD_FLAG,
	/* Everything else. */
	REASON_PROFILE_NOT_WRITABLE,
	REASON_PROFILE_INVALID,
	REASON_TMP_NOT_WRITABLE,
	REASON_EXECUTABLE_MISSING,
	REASON_EXECUTABLE_DENIED,
	REASON_EXEC_FORMAT,
	REASON_INSTALL_UNREADABLE,
	REASON_WRAPPER_SNAP,
	REASON_WRAPPER_FLATPAK,
	REASON_UNKNOWN,
	REASON_COUNT,
};

/* Which words records and messages use. */
enum reason_vocabulary {
	REASON_VOCABULARY_FULL,
	/* `sandbox_unavailable` for every cause in the sandbox, `unknown` for the
	 * rest; the four states stay as they are. */
	REASON_VOCABULARY_TWO,
};

const char *reason_word(enum reason reason, enum reason_vocabulary vocabulary);

/* What a person can do about it; never NULL, empty for the states. */
const char *reason_remedy(enum reason reason);

#endif
