/* Finds the browser's own ELF file. A distribution's /usr/bin/chromium is a shell
 * script that adds options of its own; it is looked through, never run. */
#ifndef GUARD_BROWSER_LOCATE_H
#define GUARD_BROWSER_LOCATE_H

#include <stddef.h>

#include "fence/err.h"
#include "guard/browser/reason.h"

/* `named` is a path or a name in `search` (a PATH value); NULL: the usual names, in
 * `search` and then where they are installed. Our own program under one of these
 * names is passed over. Writes the ELF's path. On failure returns -errno, words in
 * `err` and the cause in `ret_reason`. */
int locate_browser(const char *named, const char *search, char *ret_path, size_t size_bytes,
		   enum reason *ret_reason, struct fence_err *err);

#endif
