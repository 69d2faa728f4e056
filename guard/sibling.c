#include "guard/sibling.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int beside_us(const char *program, char *path, size_t size_bytes)
{
	ssize_t length = readlink("/proc/self/exe", path, size_bytes - 1);
	char *slash;

	if (length < 0)
		return -errno;
	path[length] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL || (size_t)(slash + 1 - path) + strlen(program) >= size_bytes)
		return -ENAMETOOLONG;
	memcpy(slash + 1, program, strlen(program) + 1);
	return 0;
}

int guard_become(const char *program, char **argv, struct fence_err *err)
{
	char path[PATH_MAX];

	if (beside_us(program, path, sizeof(path)) == 0) {
		argv[0] = path;
		(void)execve(path, argv, environ);
	}
	(void)snprintf(path, sizeof(path), "%s/%s", FENCE_BINDIR, program);
	argv[0] = path;
	(void)execve(path, argv, environ);
	fence_fail(err, -errno, "execute %s", program);
	return fence_hint(err, "install it beside this program or into %s", FENCE_BINDIR);
}
