/* The list of the markers that a command's attempts have. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "fence/attempt.h"

struct list {
	char *text;
	size_t length;
	size_t size;
};

static int append(struct list *list, const char *text, size_t length)
{
	if (length >= list->size - list->length)
		return -ENAMETOOLONG;
	memcpy(list->text + list->length, text, length);
	list->length += length;
	list->text[list->length] = '\0';
	return 0;
}

static int append_path(struct list *list, const char *path)
{
	int rc = 0;

	for (; rc == 0 && *path != '\0'; path++) {
		if (*path == '%')
			rc = append(list, "%25", 3);
		else if (*path == ':')
			rc = append(list, "%3A", 3);
		else
			rc = append(list, path, 1);
	}
	return rc;
}

int fence_attempt_markers_add(const char *outer, const char *path,
			      char ret[FENCE_ATTEMPT_MARKERS_BYTES])
{
	struct list list = { .text = ret, .size = FENCE_ATTEMPT_MARKERS_BYTES };
	char cwd[PATH_MAX] = "";
	int rc = 0;

	if (path[0] != '/' && getcwd(cwd, sizeof(cwd)) == NULL)
		return -errno;
	if (outer != NULL && outer[0] != '\0') {
		rc = append(&list, outer, strlen(outer));
		if (rc == 0)
			rc = append(&list, ":", 1);
	}
	if (rc == 0 && path[0] != '/')
		rc = append_path(&list, cwd);
	/* In the root itself "//" is still the root. */
	if (rc == 0 && path[0] != '/')
		rc = append(&list, "/", 1);
	return rc < 0 ? rc : append_path(&list, path);
}

static int unescape(const char **at, char *ret)
{
	const char *text = *at;

	*ret = text[0];
	*at += 1;
	if (text[0] != '%')
		return 0;
	if (strncmp(text, "%25", 3) == 0)
		*ret = '%';
	else if (strncmp(text, "%3A", 3) == 0)
		*ret = ':';
	else
		return -EINVAL;
	*at += 2;
	return 0;
}

int fence_attempt_markers_next(const char **at, char *ret, size_t size)
{
	const char *text = *at;
	size_t length = 0;

	if (*text == '\0')
		return 0;
	if (*text != '/')
		return -EINVAL;
	while (*text != '\0' && *text != ':') {
		if (length + 1 >= size)
			return -ENAMETOOLONG;
		if (unescape(&text, &ret[length++]) < 0)
			return -EINVAL;
	}
	ret[length] = '\0';
	if (*text == ':' && *++text == '\0')
		return -EINVAL;
	*at = text;
	return 1;
}
