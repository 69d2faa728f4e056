/* What is not in a folder, by listing it once: a dozen names that are mostly absent
 * then cost four system calls instead of one each. */
#ifndef GUARD_CONFINE_GLANCE_H
#define GUARD_CONFINE_GLANCE_H

#include <stdbool.h>
#include <stddef.h>

#define GUARD_GLANCE_BYTES 16384 /* some 400 names; a larger folder is not listed */

struct guard_glance {
	bool is_whole;	/* else nothing is known */
	bool is_absent; /* but that the folder does not exist */
	size_t length;
	char entries[GUARD_GLANCE_BYTES]; /* as getdents64(2) gives them */
};

/* Only of file systems that list all that they have: some make entries up when they
 * are looked for (autofs) or keep them back. Nothing is known of a folder that a link
 * leads to. Its descriptor stays open, as those of all steps do (steps.h). */
void guard_glance(const char *folder, struct guard_glance *ret);

/* The same without asking for the file system: for a folder that is the system's own. */
void guard_glance_system(const char *folder, struct guard_glance *ret);

/* Surely, `path` (relative to the folder) does not exist. Names are compared without
 * regard to case, since the folder may be one that has none (ext4's casefold). */
bool guard_glance_lacks(const struct guard_glance *glance, const char *path);

#endif
