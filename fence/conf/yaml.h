/* Strict YAML for files that people write by hand and that decide what runs.
 *
 * A small subset of YAML 1.1, read from libyaml's events into a tree: mappings,
 * lists and scalars, in block or flow form. Refused, each with its place: a file
 * over 256 KiB, nesting over 32, anchors, aliases, tags, directives, merge keys, a
 * second document, keys that are no scalar, the same key twice (both lines are
 * named), tabs before the first character of a line, NUL, bytes that are no UTF-8.
 * A plain scalar stays the string that was written: `no`, `3.10` and `010` are
 * never a boolean, a fraction or eight.
 *
 * Faults are collected, not returned one by one: the reader adds what it finds,
 * the caller that checks the tree adds its own, and all of them are shown together
 * in the order of the file. After a fault of syntax libyaml cannot go on, so that
 * one is the last of the reader's. */
#ifndef FENCE_CONF_YAML_H
#define FENCE_CONF_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "fence/err.h"

#define FENCE_YAML_MAX_BYTES  ((size_t)256 * 1024)
#define FENCE_YAML_MAX_DEPTH  32
#define FENCE_YAML_MAX_NODES  16384
#define FENCE_YAML_MAX_KEYS   1024 /* of one mapping */
#define FENCE_YAML_MAX_FAULTS 64

enum fence_yaml_kind {
	FENCE_YAML_SCALAR,
	FENCE_YAML_LIST,
	FENCE_YAML_MAPPING,
	FENCE_YAML_ANY, /* in a table of keys only */
};

struct fence_yaml_node {
	enum fence_yaml_kind kind;
	unsigned int line, column; /* of the value; both count from 1, columns in characters */
	const char *key;	   /* in a mapping; NULL elsewhere */
	unsigned int key_line, key_column;
	const char *text; /* of a scalar: never NULL, holds no NUL */
	bool plain;	  /* a scalar without quotes, not a block */
	size_t count;	  /* of a list or mapping */
	const struct fence_yaml_node *first, *next;
};

struct fence_yaml_fault {
	unsigned int line, column;
	bool warning;
	char text[256];
};

struct fence_yaml {
	/* NULL when there is no document or the reader had to stop. */
	const struct fence_yaml_node *root;
	struct fence_yaml_fault faults[FENCE_YAML_MAX_FAULTS]; /* by line and column */
	size_t fault_count;				       /* kept in `faults` */
	size_t error_total;   /* found, with those that were not kept */
	size_t warning_total; /* the same; a file with warnings alone is good */
	struct fence_yaml_chunk *chunks;
};

/* Reads the file (`path` relative to `dir_fd`, which may be AT_FDCWD). 0 also when
 * the content has faults: look at error_total when all checks are done. -errno
 * with words when it cannot be read at all: -EFBIG over 256 KiB, -EINVAL when it
 * is no regular file. Free `*ret` with fence_yaml_free. */
int fence_yaml_read(int dir_fd, const char *path, struct fence_yaml **ret, struct fence_err *err);

/* The same from memory: 0, -ENOMEM or -EFBIG. */
int fence_yaml_parse(const char *text, size_t size_bytes, struct fence_yaml **ret);

void fence_yaml_free(struct fence_yaml *yaml);

/* Memory that lives as long as the tree, zeroed; NULL when there is none. */
void *fence_yaml_alloc(struct fence_yaml *yaml, size_t size_bytes);

/* Adds a fault or a warning at a place. */
void fence_yaml_fault(struct fence_yaml *yaml, unsigned int line, unsigned int column,
		      const char *format, ...) __attribute__((format(printf, 4, 5)));
void fence_yaml_warn(struct fence_yaml *yaml, unsigned int line, unsigned int column,
		     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "file:line:column: what", printable ASCII whatever the file held. */
void fence_yaml_fault_line(const struct fence_yaml_fault *fault, const char *file, char *buf,
			   size_t size_bytes);

/* One row for each key that a mapping may have. `take` gets the value, whose kind
 * has been checked, and adds faults of its own. A row without `take` is a key that
 * the format has and this version has not: it is refused in those words. */
struct fence_yaml_key {
	const char *name;
	enum fence_yaml_kind kind;
	bool required;
	void (*take)(void *arg, struct fence_yaml *yaml, const struct fence_yaml_node *value);
};

/* Gives each entry of the mapping to its row. Faults: not a mapping (`what` names
 * it: "a stage"), unknown keys with the nearest known one, wrong kinds, required
 * keys that are missing. */
void fence_yaml_take(struct fence_yaml *yaml, const struct fence_yaml_node *node, const char *what,
		     const struct fence_yaml_key *keys, size_t count, void *arg);

/* The number of the scalar among `words`, or -1 with a fault that names the nearest, or
 * all of them. */
int fence_yaml_choice(struct fence_yaml *yaml, const struct fence_yaml_node *value,
		      const char *const *words, size_t count);

/* "a scalar", "a list", "a mapping". */
const char *fence_yaml_kind_name(enum fence_yaml_kind kind);

/* Whether other YAML readers would turn this plain scalar into something else than
 * the string that was written (`no`, `3.10`, `010`, `1e3`, `12:30`, `~`). */
bool fence_yaml_is_ambiguous(const struct fence_yaml_node *node);

#endif
