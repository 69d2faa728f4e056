/* The one thing that must be known of a git index: at which paths other repositories are
 * registered (gitlinks, as of submodules). git runs itself in each of them, also for a
 * plain `git status` of the outer one, and with the settings that it finds there. The
 * format is that of gitformat-index(5), versions 2 to 4, SHA-1 and SHA-256. */
#ifndef GUARD_POLICY_GITINDEX_H
#define GUARD_POLICY_GITINDEX_H

#include <stddef.h>
#include <stdint.h>

/* Calls `link` for each gitlink, with its path, which is relative and without "..": 0, what
 * `link` returned when that is not 0, or -EBADMSG when git might read it otherwise than we
 * do. What does not begin as an index is none for git either, which stops there. Of a split
 * index (core.splitIndex), whose entries are in another file, it says -EOPNOTSUPP. */
int guard_git_index_links(const uint8_t *bytes, size_t length_bytes,
			  int (*link)(void *arg, const char *path), void *arg);

#endif
