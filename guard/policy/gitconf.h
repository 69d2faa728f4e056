/* The one thing that must be known of a git configuration: where its hooks are. The
 * format is that of git-config(1), "Syntax"; includes are not followed. */
#ifndef GUARD_POLICY_GITCONF_H
#define GUARD_POLICY_GITCONF_H

#include <stdbool.h>
#include <stddef.h>

/* What a tab inside of an unquoted value is: itself since git 2.45, a space before. */
enum guard_git_blanks {
	GUARD_GIT_BLANKS_KEPT,
	GUARD_GIT_BLANKS_SPACES,
};

/* The last value of core.hooksPath in `text`, as it is written there but for quotes
 * and escapes. False: none, or one that does not fit into `size_bytes`. Where git
 * would stop for bad syntax, so do we, with what came before. */
bool guard_git_hooks_path(const char *text, size_t length_bytes, enum guard_git_blanks blanks,
			  char *ret, size_t size_bytes);

#endif
