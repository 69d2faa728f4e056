/* The list of the markers that a command's attempts have. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "fence/attempt.h"
#include "fence/text.h"

static void add_path(struct fence_text *text, const char *path)
{
	for (; *path != '\0'; path++) {
		if (*path == '%')
			fence_text_add_bytes(text, "%25", 3);
		else if (*path == ':')
			fence_text_add_bytes(text, "%3A", 3);
		else
			fence_text_add_bytes(text, path, 1);
	}
}

int fence_attempt_markers_add(const char *outer, const char *path,
			      char ret[FENCE_ATTEMPT_MARKERS_BYTES])
{
	char cwd[PATH_MAX];
	struct fence_text text;

	fence_text_init(&text, ret, FENCE_ATTEMPT_MARKERS_BYTES);
	if (outer != NULL && outer[0] != '\0')
		fence_text_add(&text, "%s:", outer);
	if (path[0] != '/') {
		if (getcwd(cwd, sizeof(cwd)) == NULL)
			return -errno;
		add_path(&text, cwd);
		/* In the root itself "//" is still the root. */
		fence_text_add(&text, "/");
	}
	add_path(&text, path);
	return text.truncated ? -ENAMETOOLONG : 0;
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
