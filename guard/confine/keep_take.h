/* What the parts of keep_copy.h share: how something hostile is opened, and the bounds. */
#ifndef GUARD_CONFINE_KEEP_TAKE_H
#define GUARD_CONFINE_KEEP_TAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "guard/confine/keep_copy.h"

#define GUARD_KEEP_BLOCK 4096 /* what the smallest file takes on a disk */

#define GUARD_KEEP_TOO_LARGE "it is too large"
#define GUARD_KEEP_TOO_MANY  "it has too many names"
#define GUARD_KEEP_TOO_DEEP  "its folders are too deep"
#define GUARD_KEEP_CLOSED    "some of it cannot be read"

/* An owned descriptor for reading of `name` when it is what `type` (S_IFREG, S_IFDIR) says,
 * else -1. Nothing else is opened and no link followed. */
int guard_keep_open(struct guard_keep_copy *copy, int dir_fd, const char *name, mode_t type,
		    struct stat *ret_st);

/* False, noted: that many names are not looked at. */
bool guard_keep_count(struct guard_keep_copy *copy);

/* False, noted: there is no room for a file of this size. */
bool guard_keep_charge(struct guard_keep_copy *copy, uint64_t size_bytes);

/* Notes the first reason why something is left out. Returns 0. */
int guard_keep_omit(struct guard_keep_copy *copy, const char *why);

/* A name that nobody has to look at twice: it begins with no dot and has no control
 * characters. */
bool guard_keep_is_plain(const char *name);

#endif
