/* What the files of the reader share. */
#ifndef GUARD_READER_READER_INT_H
#define GUARD_READER_READER_INT_H

#include "guard/reader/reader.h"

struct guard_place guard_reader_place(const struct fence_yaml_node *node);

/* A scalar that is not empty, or NULL with a fault; `what` is "a path". */
const char *guard_reader_text(struct fence_yaml *yaml, const struct fence_yaml_node *value,
			      const char *what);

/* true or false; else a fault. */
bool guard_reader_flag(struct fence_yaml *yaml, const struct fence_yaml_node *value, bool *ret);

/* The path with ~ replaced by the home folder, or NULL with a fault. */
const char *guard_reader_path(struct guard_reader *reader, const struct fence_yaml_node *value);

/* A profile's `seccomp`, into `out`; NULL: it is checked alone. */
void guard_reader_seccomp(struct guard_reader *reader, struct guard_wire *out,
			  const struct fence_yaml_node *value);

/* Paths of one policy that were named already; sorted once, so thousands are cheap. */
struct guard_named {
	const char *path;
	enum guard_access access;
	struct guard_place place;
};

/* Faults for paths that are named twice. Sorts. */
void guard_reader_twice(struct fence_yaml *yaml, struct guard_named *named, size_t count);

/* One value of each top-level key; `arg` is the reader. */
void guard_reader_profiles(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value);
void guard_reader_commands(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value);
void guard_reader_network(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value);
void guard_reader_opaque(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value);

#endif
