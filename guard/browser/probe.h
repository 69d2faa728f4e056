/* Tries what Chromium's sandbox will need, before the browser is started: most
 * failures of a current Chromium carry no usable text, and one message of it stands
 * for seven causes. A child that is the browser's user takes Chromium's own steps;
 * the errno of the first that fails decides the reason. */
#ifndef GUARD_BROWSER_PROBE_H
#define GUARD_BROWSER_PROBE_H

#include <stdbool.h>
#include <sys/types.h>

#include "fence/err.h"
#include "guard/browser/folder.h"
#include "guard/browser/identity.h"
#include "guard/browser/reason.h"

enum probe_step {
	PROBE_BECOME,	 /* the browser's user */
	PROBE_USERNS,	 /* a user namespace */
	PROBE_SETGROUPS, /* deny setgroups in it */
	PROBE_UID_MAP,
	PROBE_GID_MAP,
	PROBE_CAPS,	  /* drop all capabilities */
	PROBE_NESTED,	  /* a user namespace inside, now without any */
	PROBE_NAMESPACES, /* user, pid and net namespace at once */
	PROBE_CHROOT,	  /* to /proc/self/fdinfo */
	PROBE_SECCOMP,	  /* a filter that allows everything */
	PROBE_EXECUTABLE, /* read and execute the browser's file */
	PROBE_INSTALL,	  /* read the browser's folder */
	PROBE_PROFILE,	  /* write the profile, if it is there */
	PROBE_ROOT,	  /* make the private root */
	PROBE_STEPS,
};

/* What tells apart the causes that the kernel gives one errno. */
struct probe_surroundings {
	int seccomp_mode;	       /* ours */
	int unprivileged_userns_clone; /* Debian's sysctl; -1: there is none */
	int apparmor_restricts_userns; /* Ubuntu's sysctl; -1: there is none */
	bool is_chrooted;
};

/* Pure. `code` is the step's -errno. */
enum reason probe_classify(enum probe_step step, int code,
			   const struct probe_surroundings *surroundings);

struct probe_plan {
	struct identity identity;
	const char *browser; /* the ELF */
	const char *profile; /* NULL: none named */
	const char *tmp;     /* TMPDIR or NULL */
};

/* A process that removes the root when we end, or release it so, before anybody else
 * sees to that. */
struct probe_hold {
	pid_t pid; /* 0: none */
	int fd;
};

/* 0: all of it works, and the private root was made: its path is in `ret_root`, and
 * `ret_hold` is the caller's to release. -EACCES: refused, for `ret_reason`, with words
 * in `err`. Other -errno: the probe itself failed. */
int probe_run(const struct probe_plan *plan, char ret_root[FOLDER_ROOT_MAX],
	      struct probe_hold *ret_hold, enum reason *ret_reason, struct fence_err *err);

/* `is_kept`: the root stays, for somebody else sees to it; else it is gone on return.
 * Nothing is done the second time. */
void probe_release(struct probe_hold *hold, bool is_kept);

#endif
