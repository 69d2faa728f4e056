#include "guard/confine/aside.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "fence/err.h"
#include "fence/own.h"
#include "guard/confine/discard.h"
#include "guard/confine/keep.h"

struct guard_aside {
	struct guard_aside *next;
	int fd; /* of what was written; -1 */
	int rc; /* -errno: why there is none */
	char path[sizeof(((struct guard_report *)0)->path)];
	char stash[GUARD_STASH_BYTES];
};

int guard_aside_add(struct guard_aside **list, const struct guard_report *report, int *fd)
{
	struct guard_aside *aside = calloc(1, sizeof(*aside));

	if (aside == NULL)
		return -ENOMEM;
	memcpy(aside->path, report->path, sizeof(aside->path));
	memcpy(aside->stash, report->err.why, sizeof(aside->stash) - 1);
	/* A descriptor that is too many for us is left out of what we get. */
	aside->rc = report->status < 0 ? report->status : *fd < 0 ? -EMFILE : 0;
	aside->fd = fence_take_fd(fd);
	while (*list != NULL)
		list = &(*list)->next;
	*list = aside;
	return 0;
}

static int keep(const struct guard_aside *aside, struct guard_keep_bounds *left,
		struct guard_exec_record *record)
{
	struct guard_kept kept = { .folder = "" };
	int rc;

	if (aside->rc < 0)
		kept.why = fence_errno_words(aside->rc);
	else
		(void)guard_keep(aside->fd, aside->path, left, &kept);
	guard_discard_tell(aside->path, aside->stash, &kept);
	rc = guard_names_add(&record->discarded, aside->path);
	if (rc == 0)
		rc = guard_names_add(&record->kept, kept.folder);
	return rc < 0 ? rc : guard_names_add(&record->kept_why, kept.why == NULL ? "" : kept.why);
}

int guard_aside_keep(struct guard_aside **list, struct guard_exec_record *record)
{
	struct guard_keep_bounds left = GUARD_KEEP_BOUNDS;
	sigset_t too_large;
	int rc = 0;

	/* A limit on the size of files is an error here, and not our end. */
	(void)sigemptyset(&too_large);
	(void)sigaddset(&too_large, SIGXFSZ);
	if (*list != NULL)
		(void)sigprocmask(SIG_BLOCK, &too_large, NULL);
	while (*list != NULL) {
		struct guard_aside *aside = *list;

		*list = aside->next;
		if (rc == 0)
			rc = keep(aside, &left, record);
		fence_drop_fd(&aside->fd);
		free(aside);
	}
	return rc;
}
