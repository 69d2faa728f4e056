#include "fence/conf/doc.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence/json.h"
#include "fence/opts.h"
#include "fence/own.h"
#include "fence/sys.h"

struct fence_doc {
	cJSON *root;
	char name[256]; /* for complaints; cut if longer */
};

/* --- reading ------------------------------------------------------------------------- */

/* Line and column (in bytes, both from 1) of an offset, as an editor shows them. */
static int fail_at(const char *name, const char *text, size_t offset_bytes, const char *why,
		   struct fence_err *err)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < offset_bytes; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	return fence_fail_why(err, -EBADMSG, why, "%s:%zu:%zu", name, line, column);
}

static int parse(const char *text, size_t size_bytes, struct fence_doc *doc, struct fence_err *err)
{
	/* cJSON keeps every number as a double, so one that a double cannot hold must
	 * not get that far. */
	const struct fence_json_limits limits = {
		.size_bytes = size_bytes,
		.depth = FENCE_DOC_DEPTH_MAX,
		.safe_numbers = true,
	};
	struct fence_json_fault fault;
	struct fence_json value;
	const char *stop = NULL;

	if (fence_json_parse(text, size_bytes, &limits, &value, &fault) < 0)
		return fail_at(doc->name, text, fault.offset_bytes, fault.why, err);
	doc->root = cJSON_ParseWithLengthOpts(value.at, value.size_bytes, &stop, false);
	if (!doc->root && stop >= text && stop < text + size_bytes)
		/* A number of more than 63 characters, with some versions of cJSON. */
		return fail_at(doc->name, text, (size_t)(stop - text), "too long a number", err);
	if (!doc->root)
		return fence_fail(err, -ENOMEM, "read %s", doc->name);
	return 0;
}

int fence_doc_parse(const char *name, const char *text, size_t size_bytes, struct fence_doc **ret,
		    struct fence_err *err)
{
	struct fence_doc *doc = calloc(1, sizeof(*doc));
	int rc;

	if (!doc)
		return fence_fail(err, -ENOMEM, "read %s", name);
	(void)snprintf(doc->name, sizeof(doc->name), "%s", name);
	rc = parse(text, size_bytes, doc, err);
	if (rc < 0)
		fence_doc_free(doc);
	else
		*ret = doc;
	return rc;
}

int fence_doc_read(const char *path, size_t max_bytes, struct fence_doc **ret,
		   struct fence_err *err)
{
	owned_mem char *text = malloc(max_bytes + 1);
	ssize_t length;

	if (!text)
		return fence_fail(err, -ENOMEM, "read %s", path);
	length = fence_read_file(AT_FDCWD, path, text, max_bytes + 1);
	if (length == -EFBIG)
		return fence_fail_why(err, -EFBIG, "longer than allowed", "%s: more than %zu bytes",
				      path, max_bytes);
	if (length < 0)
		return fence_fail(err, (int)length, "read %s", path);
	return fence_doc_parse(path, text, (size_t)length, ret, err);
}

void fence_doc_free(struct fence_doc *doc)
{
	if (!doc)
		return;
	cJSON_Delete(doc->root);
	free(doc);
}

void fence_doc_drop(struct fence_doc **doc)
{
	int kept = errno;

	fence_doc_free(*doc);
	errno = kept;
}

/* --- walking --------------------------------------------------------------------------- */

/* The parent's path and one step more. What is too long loses its front, since the
 * end is what a reader looks for. */
static void set_path(struct fence_doc_node *node, const char *parent, const char *step)
{
	const char *const parts[] = { step, parent[0] != '\0' && step[0] != '[' ? "." : "",
				      parent };
	size_t at = sizeof(node->path) - 1;

	node->path[at] = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t length = strlen(parts[i]), kept = length < at ? length : at;

		at -= kept;
		memcpy(node->path + at, parts[i] + (length - kept), kept);
	}
	memmove(node->path, node->path + at, sizeof(node->path) - at);
}

void fence_doc_root(const struct fence_doc *doc, struct fence_doc_node *ret)
{
	*ret = (struct fence_doc_node){ .doc = doc, .item = doc->root };
}

int fence_doc_fail(const struct fence_doc_node *node, const char *why, struct fence_err *err)
{
	return fence_fail_why(err, -EINVAL, why, "%s%s%s", node->doc->name,
			      node->path[0] != '\0' ? ": " : "", node->path);
}

static const char *kind_word(const cJSON *item)
{
	if (cJSON_IsObject(item))
		return fence_json_kind_word(FENCE_JSON_OBJECT);
	if (cJSON_IsArray(item))
		return fence_json_kind_word(FENCE_JSON_ARRAY);
	if (cJSON_IsString(item))
		return fence_json_kind_word(FENCE_JSON_STRING);
	if (cJSON_IsNumber(item))
		return fence_json_kind_word(FENCE_JSON_NUMBER);
	if (cJSON_IsBool(item))
		return fence_json_kind_word(FENCE_JSON_BOOL);
	return fence_json_kind_word(FENCE_JSON_NULL);
}

static int fail_kind(const struct fence_doc_node *node, const char *wanted, struct fence_err *err)
{
	char why[96];

	(void)snprintf(why, sizeof(why), "%s; must be %s", kind_word(node->item), wanted);
	return fence_doc_fail(node, why, err);
}

int fence_doc_get(const struct fence_doc_node *node, const char *key, struct fence_doc_node *ret,
		  struct fence_err *err)
{
	struct fence_doc_node found = { .doc = node->doc };

	if (!cJSON_IsObject(node->item))
		return fail_kind(node, "an object", err);
	found.item = cJSON_GetObjectItemCaseSensitive(node->item, key);
	if (!found.item)
		return -ENOENT;
	set_path(&found, node->path, key);
	*ret = found;
	return 0;
}

int fence_doc_need(const struct fence_doc_node *node, const char *key, struct fence_doc_node *ret,
		   struct fence_err *err)
{
	struct fence_doc_node missing = { .doc = node->doc };
	int rc = fence_doc_get(node, key, ret, err);

	if (rc != -ENOENT)
		return rc;
	set_path(&missing, node->path, key);
	(void)fence_doc_fail(&missing, "missing", err);
	if (err)
		err->code = -ENOENT;
	return -ENOENT;
}

int fence_doc_only(const struct fence_doc_node *node, const char *const *keys, size_t count,
		   struct fence_err *err)
{
	const cJSON *member;

	if (!cJSON_IsObject(node->item))
		return fail_kind(node, "an object", err);
	cJSON_ArrayForEach(member, node->item)
	{
		struct fence_doc_node unknown = { .doc = node->doc };
		const char *nearest;
		size_t i = 0;

		while (i < count && strcmp(keys[i], member->string) != 0)
			i++;
		if (i < count)
			continue;
		set_path(&unknown, node->path, member->string);
		(void)fence_doc_fail(&unknown, "unknown key", err);
		nearest = fence_nearest(member->string, keys, count);
		if (nearest)
			(void)fence_hint(err, "did you mean \"%s\"?", nearest);
		return -EINVAL;
	}
	return 0;
}

int fence_doc_count(const struct fence_doc_node *node, size_t *ret, struct fence_err *err)
{
	if (!cJSON_IsArray(node->item))
		return fail_kind(node, "an array", err);
	*ret = (size_t)cJSON_GetArraySize(node->item);
	return 0;
}

void fence_doc_at(const struct fence_doc_node *node, size_t index, struct fence_doc_node *ret)
{
	struct fence_doc_node found = { .doc = node->doc };
	char step[24];

	found.item = cJSON_GetArrayItem(node->item, (int)index);
	(void)snprintf(step, sizeof(step), "[%zu]", index);
	set_path(&found, node->path, step);
	*ret = found;
}

/* --- values ------------------------------------------------------------------------------ */

int fence_doc_string(const struct fence_doc_node *node, const char **ret, struct fence_err *err)
{
	if (!cJSON_IsString(node->item))
		return fail_kind(node, "a string", err);
	*ret = node->item->valuestring;
	return 0;
}

int fence_doc_int(const struct fence_doc_node *node, int64_t min, int64_t max, int64_t *ret,
		  struct fence_err *err)
{
	int64_t number;
	char why[96];

	if (!cJSON_IsNumber(node->item))
		return fail_kind(node, "a whole number", err);
	/* Within 2^53 both ways, as the scanner made sure: the conversion is defined. */
	number = (int64_t)node->item->valuedouble;
	if ((double)number < node->item->valuedouble || (double)number > node->item->valuedouble)
		return fence_doc_fail(node, "must be a whole number", err);
	if (number < min || number > max) {
		(void)snprintf(why, sizeof(why), "must be between %" PRId64 " and %" PRId64, min,
			       max);
		(void)fence_doc_fail(node, why, err);
		if (err)
			err->code = -ERANGE;
		return -ERANGE;
	}
	*ret = number;
	return 0;
}

int fence_doc_bool(const struct fence_doc_node *node, bool *ret, struct fence_err *err)
{
	if (!cJSON_IsBool(node->item))
		return fail_kind(node, "true or false", err);
	*ret = cJSON_IsTrue(node->item);
	return 0;
}
