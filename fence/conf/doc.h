/* JSON documents: a file or a text becomes a cJSON tree, but only after the strict
 * scanner (fence/json.h) has passed it, so cJSON never meets what it would read
 * leniently: duplicate keys, trailing bytes, NUL, other encodings, depth, numbers
 * that a double cannot hold.
 *
 * A node remembers where it stands, so every complaint names its place:
 * `policy.json: filesystem.write[2]: a number; must be a string`. */
#ifndef FENCE_CONF_DOC_H
#define FENCE_CONF_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fence/err.h"

struct cJSON;
struct fence_doc;

#define FENCE_DOC_DEPTH_MAX 32

/* Reads a file, at most `max_bytes` of it. -EFBIG: it is longer; -EBADMSG: a fault,
 * named as PATH:LINE:COLUMN; or why it could not be read. Free with fence_doc_free. */
int fence_doc_read(const char *path, size_t max_bytes, struct fence_doc **ret,
		   struct fence_err *err);

/* The same for a text; `name` is what complaints call it. */
int fence_doc_parse(const char *name, const char *text, size_t size_bytes, struct fence_doc **ret,
		    struct fence_err *err);

void fence_doc_free(struct fence_doc *doc);
void fence_doc_drop(struct fence_doc **doc);
#define owned_doc __attribute__((cleanup(fence_doc_drop))) struct fence_doc

/* One value and the way to it. It owns nothing and lives as long as the document. */
struct fence_doc_node {
	const struct fence_doc *doc;
	const struct cJSON *item;
	char path[160]; /* "filesystem.write[2]"; cut in front when it is longer */
};

void fence_doc_root(const struct fence_doc *doc, struct fence_doc_node *ret);

/* A member: 0, -ENOENT (without words: it may be optional), or -EINVAL when the
 * node is no object. Keys are compared with their case. */
int fence_doc_get(const struct fence_doc_node *node, const char *key, struct fence_doc_node *ret,
		  struct fence_err *err);
/* A member that must be there: -ENOENT has words. */
int fence_doc_need(const struct fence_doc_node *node, const char *key, struct fence_doc_node *ret,
		   struct fence_err *err);

/* Refuses an object with a key that is none of `keys`; names the nearest. */
int fence_doc_only(const struct fence_doc_node *node, const char *const *keys, size_t count,
		   struct fence_err *err);

/* Elements of an array: -EINVAL when it is none. fence_doc_at is for an index that
 * the count allows. */
int fence_doc_count(const struct fence_doc_node *node, size_t *ret, struct fence_err *err);
void fence_doc_at(const struct fence_doc_node *node, size_t index, struct fence_doc_node *ret);

/* Values: -EINVAL for another kind, -ERANGE for a number outside. A string lives as
 * long as the document. */
int fence_doc_string(const struct fence_doc_node *node, const char **ret, struct fence_err *err);
int fence_doc_int(const struct fence_doc_node *node, int64_t min, int64_t max, int64_t *ret,
		  struct fence_err *err);
int fence_doc_bool(const struct fence_doc_node *node, bool *ret, struct fence_err *err);

/* A fault of the caller's own about this node: "NAME: PATH: why". Returns -EINVAL. */
int fence_doc_fail(const struct fence_doc_node *node, const char *why, struct fence_err *err);

#endif
