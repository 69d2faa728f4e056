/* openat2(2) with RESOLVE_IN_ROOT and RESOLVE_NO_MAGICLINKS, without openat2. */
#ifndef GUARD_BWRAP_WALK_H
#define GUARD_BWRAP_WALK_H

/* What `path` names for whoever has `root_fd` as his root: a descriptor, close-on-exec, or
 * -errno as openat2 has it, but for a magic link of /proc, which is taken for the name that
 * it shows. `flags` are O_PATH with or without O_DIRECTORY, or O_WRONLY | O_CREAT and others
 * for a file that is made with `mode` if there is none, also where a link at the end leads. */
int bwrap_walk(int root_fd, const char *path, int flags, int mode);

#endif
