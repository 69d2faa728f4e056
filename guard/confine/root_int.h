/* The parts of entering a root that know each other. */
#ifndef GUARD_CONFINE_ROOT_INT_H
#define GUARD_CONFINE_ROOT_INT_H

#include <stdbool.h>

#include "guard/confine/resolve.h"
#include "guard/confine/root.h"

/* While the view is the host's, and plan->inner.sources are known: what of the host's own
 * secrets, of the policy, of markers and of the registry of placeholders will be seen inside,
 * by its names on the host. */
int guard_root_note_masks(struct guard_plan *plan);
int guard_root_note_protections(struct guard_plan *plan, struct fence_err *err);
int guard_root_note_registry(struct guard_plan *plan);

/* Once plan->inner.dests are known, too: by its names inside. */
int guard_root_translate(struct guard_plan *plan);

/* A folder in memory with all that is in `folder_fd` bound into it, as a mount on `path`
 * below dir_fd ("": on dir_fd itself). It is noted in plan->inner. */
int guard_root_shadow(struct guard_plan *plan, int folder_fd, int dir_fd, const char *path,
		      int *ret_tree_fd);

/* Where a mount goes: found in the root, which is entered, by its own links, or made in
 * memory. */
int guard_root_place(struct guard_plan *plan, const char *path, bool is_dir,
		     struct guard_object *ret, struct fence_err *err);

#endif
