/* Order: what can be judged without doing anything (the command line, the
 * executable), then where evidence goes, then the profile, the probe (which makes the
 * private root), the monitor, and last this process becomes the browser. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "guard/browser/browser.h"
#include "guard/browser/environ.h"
#include "guard/browser/flags.h"
#include "guard/browser/locate.h"
#include "guard/browser/monitor.h"
#include "guard/browser/probe.h"

#define BROWSER_FDS 5 /* 0 to 4 are the browser's: standard ones and the pipe */

struct start {
	const struct browser_conf *conf;
	struct launch launch;
	struct flags_report flags;
	const char **word_memory;
	const char **words; /* what execve gets: program, profile, kept words */
	char **environment;
	char browser[PATH_MAX];
	char profile_word[PATH_MAX + 32];
	const char *profile; /* the named one; NULL: ours, in the private root */
	bool has_sink;
	struct probe_hold hold; /* of the private root */
};

/* --- evidence ------------------------------------------------------------------------ */

static int put_record(struct start *s, struct fence_err *err)
{
	owned_mem char *buf = malloc(EVIDENCE_MAX_BYTES);
	struct fence_jsonw w;
	int rc = buf == NULL ? -ENOMEM : 0;

	if (rc == 0) {
		fence_jsonw_init(&w, buf, EVIDENCE_MAX_BYTES);
		evidence_write(&s->launch.evidence, &w);
		rc = w.overflow ? -EOVERFLOW : 0;
	}
	if (rc == 0) {
		w.buf[w.length_bytes++] = '\n';
		rc = evidence_put(&s->launch.sink, w.buf, w.length_bytes, true);
	}
	return rc < 0 ? fence_fail(err, rc, "write evidence") : 0;
}

/* Puts the reason before the words that say what failed, and after them what to do. */
static int refuse(struct start *s, enum reason reason, struct fence_err *err)
{
	char what[sizeof(err->what)];
	struct fence_err ignored;

	s->launch.evidence.reason = reason;
	s->launch.evidence.state = PROOF_UNPROVEN;
	s->launch.evidence.is_final = true;
	s->launch.evidence.cleanup = EVIDENCE_CLEANUP_NONE;
	if (s->has_sink)
		(void)put_record(s, &ignored);
	memcpy(what, err->what, sizeof(what));
	(void)snprintf(err->what, sizeof(err->what), "refused (%s): %.400s",
		       reason_word(reason, s->conf->vocabulary), what);
	(void)fence_hint(err, "%s", reason_remedy(reason));
	return BROWSER_EXIT_REFUSED;
}

/* --- before anything is started --------------------------------------------------------- */

static int set_identity(struct start *s, struct fence_err *err)
{
	struct identity *identity = &s->launch.identity;
	long long uid = s->conf->uid;

	*identity = (struct identity){ .uid = geteuid(), .gid = getegid() };
	if (identity->uid == 0) {
		identity->drops = true;
		identity->uid = uid >= 0 ? (uid_t)uid : IDENTITY_DEFAULT_ID;
		identity->gid = (gid_t)identity->uid;
	} else if (uid >= 0 && (uid_t)uid != identity->uid) {
		fence_fail(err, -EPERM, "run the browser as uid %lld", uid);
		(void)fence_hint(err, "only root can name another uid");
		return BROWSER_EXIT_FAILED;
	}
	s->launch.evidence.has_dropped_uid = identity->drops;
	s->launch.evidence.uid = identity->uid;
	return 0;
}

/* The descriptor is ours from now on: the browser must not inherit it. */
static int open_sink(struct start *s, struct fence_err *err)
{
	int fd = s->conf->evidence_fd;

	if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return fence_fail(err, -errno, "evidence descriptor %d", fd), BROWSER_EXIT_FAILED;
	if (evidence_sink_open(s->conf->evidence, fd, &s->launch.sink, err) < 0)
		return BROWSER_EXIT_FAILED;
	s->has_sink = true;
	return 0;
}

static int filter(struct start *s, char *const *words, size_t count, struct fence_err *err)
{
	const struct flag *profile = &s->flags.user_data_dir;

	/* Two more: the program and a profile of ours. */
	s->word_memory = malloc((count + 3) * sizeof(*s->words));
	s->words = s->word_memory;
	if (s->words == NULL)
		return fence_fail(err, -ENOMEM, "read the command line"), BROWSER_EXIT_FAILED;
	flags_filter(words, count, s->conf->is_strict, s->words + 2, &s->flags);
	s->launch.evidence.flags_dropped = s->flags.dropped;
	s->launch.evidence.flags_risky = s->flags.risky;
	if (s->flags.reason != REASON_OK) {
		fence_fail_why(err, -EPERM, "an option that is not allowed", "--%.*s",
			       (int)s->flags.refused.name_length, s->flags.refused.name);
		return refuse(s, s->flags.reason, err);
	}
	if (profile->name == NULL || profile->value_length == 0)
		return 0;
	if (profile->value_length >= PATH_MAX) {
		fence_fail(err, -ENAMETOOLONG, "profile folder");
		return refuse(s, REASON_PROFILE_INVALID, err);
	}
	(void)snprintf(s->profile_word, sizeof(s->profile_word), "%.*s", (int)profile->value_length,
		       profile->value);
	s->profile = s->profile_word;
	return 0;
}

static int locate(struct start *s, struct fence_err *err)
{
	enum reason reason;

	if (locate_browser(s->conf->browser, getenv("PATH"), s->browser, sizeof(s->browser),
			   &reason, err) == 0)
		return 0;
	refuse(s, reason, err);
	return reason == REASON_EXECUTABLE_MISSING ? BROWSER_EXIT_MISSING
	       : reason == REASON_EXECUTABLE_DENIED || reason == REASON_EXEC_FORMAT
		       ? BROWSER_EXIT_DENIED
		       : BROWSER_EXIT_REFUSED;
}

static int hand_profile_over(struct start *s, struct fence_err *err)
{
	int rc = s->profile == NULL ? 0 : folder_hand_over(s->profile, &s->launch.identity);

	if (rc == 0)
		return 0;
	if (rc == -EPERM)
		fence_fail_why(err, rc, "it has, or is reached through, what is somebody else's",
			       "profile folder %s", s->profile);
	else if (rc == -EXDEV)
		fence_fail_why(err, rc, "something is mounted in it", "profile folder %s",
			       s->profile);
	else
		fence_fail(err, rc, "profile folder %s", s->profile);
	return refuse(s, rc == -ENOTDIR ? REASON_PROFILE_INVALID : REASON_PROFILE_NOT_WRITABLE,
		      err);
}

static int probe(struct start *s, struct fence_err *err)
{
	const struct probe_plan plan = { .identity = s->launch.identity,
					 .browser = s->browser,
					 .profile = s->profile,
					 .tmp = getenv("TMPDIR") };
	int64_t from_us = fence_now_us();
	enum reason reason = REASON_UNKNOWN;
	int rc = probe_run(&plan, s->launch.root, &s->hold, &reason, err);

	s->launch.evidence.probe_us = fence_now_us() - from_us;
	if (rc == -EACCES)
		return refuse(s, reason, err);
	return rc < 0 ? BROWSER_EXIT_FAILED : 0;
}

/* --- becoming the browser ---------------------------------------------------------------- */

/* A fresh profile of our own when the client named none. Chromium's default place
 * would be as private, but it does not open a debugging port for the default one. */
static void complete_words(struct start *s)
{
	if (s->profile == NULL) {
		(void)snprintf(s->profile_word, sizeof(s->profile_word),
			       "--user-data-dir=%s/profile", s->launch.root);
		s->words[1] = s->profile_word;
	} else {
		s->words++; /* no place in front is needed */
	}
	s->words[0] = s->browser;
}

static int exec_status(int code)
{
	return code == ENOENT ? BROWSER_EXIT_MISSING : BROWSER_EXIT_DENIED;
}

/* From here on the monitor sees to everything when this process ends. */
static int become_browser(struct start *s, int stderr_fd, int exec_fd, const sigset_t *mask,
			  struct fence_err *err)
{
	int rc = identity_become(&s->launch.identity);

	if (rc < 0)
		return fence_fail(err, rc, "become the browser's user"), BROWSER_EXIT_FAILED;
	if (dup2(stderr_fd, 2) < 0)
		return fence_fail(err, -errno, "set standard error"), BROWSER_EXIT_FAILED;
	rc = fence_close_range(BROWSER_FDS, ~0U, CLOSE_RANGE_CLOEXEC);
	if (rc < 0)
		return fence_fail(err, rc, "close descriptors"), BROWSER_EXIT_FAILED;
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	(void)execve(s->browser, (char *const *)(uintptr_t)s->words, s->environment);
	rc = errno;
	(void)fence_write_full(exec_fd, &rc, sizeof(rc));
	fence_fail(err, -rc, "execute %s", s->browser);
	return exec_status(rc);
}

static int launch(struct start *s, const sigset_t *mask, struct fence_err *err)
{
	owned_fd stderr_fd = -1, exec_fd = -1;

	complete_words(s);
	if (environ_build(environ, s->launch.root, &s->environment,
			  &s->launch.evidence.environment_dropped) < 0 ||
	    put_record(s, err) < 0 || monitor_start(&s->launch, &stderr_fd, &exec_fd, err) < 0)
		return BROWSER_EXIT_FAILED;
	probe_release(&s->hold, true);
	return become_browser(s, stderr_fd, exec_fd, mask, err);
}

int browser_start(const struct browser_conf *conf, char *const *words, size_t count,
		  const sigset_t *mask, struct fence_err *err)
{
	struct start s = { .conf = conf };
	int status;

	s.launch.started_ms = fence_now_ms();
	s.launch.evidence = (struct evidence){ .state = PROOF_PENDING,
					       .reason = REASON_PENDING,
					       .vocabulary = conf->vocabulary,
					       .command_line = -1,
					       .probe_us = -1,
					       .first_renderer_ms = -1,
					       .proven_ms = -1,
					       .total_ms = -1 };
	status = set_identity(&s, err);
	if (status == 0)
		status = open_sink(&s, err);
	if (status == 0)
		status = filter(&s, words, count, err);
	if (status == 0)
		status = locate(&s, err);
	if (status == 0)
		status = hand_profile_over(&s, err);
	if (status == 0)
		status = probe(&s, err);
	if (status == 0)
		status = launch(&s, mask, err);
	/* Only a failure gets here. */
	probe_release(&s.hold, false);
	fence_drop_mem(&s.word_memory);
	fence_drop_mem(&s.environment);
	if (s.has_sink)
		fence_close_fd(&s.launch.sink.dir_fd);
	return status;
}
