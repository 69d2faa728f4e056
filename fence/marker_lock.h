/* What the lock of a marker is for beside locking: the siblings that its writers make are
 * noted in it. For fence/marker_write.c. */
#ifndef FENCE_MARKER_LOCK_H
#define FENCE_MARKER_LOCK_H

#include <sys/stat.h>

#include "fence/marker.h"

#define FENCE_SIBLING_RANDOM_BYTES  ((size_t)8)
#define FENCE_SIBLING_RANDOM_DIGITS (2 * FENCE_SIBLING_RANDOM_BYTES)

/* Ours to read and write, whatever the umask is. */
int fence_marker_settle_mode(int fd, const struct stat *st);

/* Under the lock: whoever makes a sibling holds it, so all there are were left by writers
 * that died. There is at most the one that was noted last; only where no note of this boot
 * is (a lock that is new, a power cut that may have lost the note) the folder is listed,
 * which takes milliseconds where there are ten thousand files. */
int fence_marker_remove_stale(const struct fence_marker_writer *writer, struct fence_err *err);

/* Under the lock, before a sibling is made, whose name is then known to the next writer. */
int fence_marker_note_sibling(const struct fence_marker_writer *writer, const char *name,
			      struct fence_err *err);

#endif
