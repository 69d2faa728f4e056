#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "guard/browser/browser.h"
#include "guard/browser/evidence.h"
#include "guard/browser/identity.h"

#define WAIT_MS 2000 /* for a first renderer */

/* As root we become the browser's user, which is what may look into its children
 * even where root has not all its capabilities. */
static int become_owner(pid_t pid, struct evidence *evidence, struct fence_err *err)
{
	struct identity identity = { .drops = false };
	char path[32], text[4096];
	const char *uids, *gids;
	int rc;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	rc = (int)fence_read_file(AT_FDCWD, path, text, sizeof(text));
	if (rc < 0)
		return fence_fail(err, rc == -ENOENT ? -ESRCH : rc, "look at process %d", pid);
	uids = strstr(text, "\nUid:");
	gids = strstr(text, "\nGid:");
	if (uids == NULL || gids == NULL)
		return fence_fail(err, -EBADMSG, "read %s", path);
	identity.uid = (uid_t)strtoul(uids + 5, NULL, 10);
	identity.gid = (gid_t)strtoul(gids + 5, NULL, 10);
	identity.drops = geteuid() == 0 && identity.uid != 0;
	evidence->uid = identity.uid;
	rc = identity_become(&identity);
	return rc < 0 ? fence_fail(err, rc, "become uid %u", identity.uid) : 0;
}

/* Until every renderer that was seen is judged, or none came. */
static int watch(struct proof *proof, struct evidence *evidence)
{
	int64_t from_ms = fence_now_ms();

	for (;;) {
		int64_t now_ms = fence_now_ms();
		int rc = proof_look(proof, now_ms);

		if (rc < 0)
			return rc;
		proof_command_line(proof, rc == 1, &evidence->command_line);
		if (!proof_has_pending(proof) &&
		    (proof_state(proof) != PROOF_PENDING || now_ms - from_ms > WAIT_MS))
			return 0;
		(void)poll(NULL, 0, (int)(proof_next_ms(proof, now_ms) - now_ms));
	}
}

int browser_prove(const struct browser_conf *conf, struct fence_jsonw *ret_record,
		  struct fence_err *err)
{
	struct proof *proof = calloc(1, sizeof(*proof));
	struct evidence evidence = { .vocabulary = conf->vocabulary,
				     .is_final = true,
				     .browser_pid = conf->prove_pid,
				     .command_line = -1,
				     .cleanup = EVIDENCE_CLEANUP_NONE,
				     .probe_us = -1,
				     .first_renderer_ms = -1,
				     .proven_ms = -1,
				     .total_ms = -1 };
	int64_t from_ms = fence_now_ms();
	int rc = proof == NULL ? fence_fail(err, -ENOMEM, "prove")
			       : become_owner(conf->prove_pid, &evidence, err);

	if (rc == 0) {
		rc = proof_open(proof, conf->prove_pid, 0);
		if (rc == 0)
			rc = watch(proof, &evidence);
		if (rc < 0)
			fence_fail(err, rc, "look at process %d", conf->prove_pid);
	}
	if (rc == 0) {
		evidence.proof = proof;
		evidence.state = proof_state(proof);
		if (evidence.command_line != 1 && evidence.state == PROOF_SANDBOXED)
			evidence.state =
				evidence.command_line == 0 ? PROOF_WEAKENED : PROOF_UNPROVEN;
		evidence.reason = evidence_reason(evidence.state);
		evidence.total_ms = fence_now_ms() - from_ms;
		evidence_write(&evidence, ret_record);
		proof_close(proof);
	}
	free(proof);
	return rc == 0 && evidence.state == PROOF_SANDBOXED ? 0 : 1;
}
