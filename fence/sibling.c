#include "fence/sibling.h"

#include <errno.h>
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

int fence_sibling_find(const char *program, char *ret_path, size_t size_bytes)
{
	int length;

	if (beside_us(program, ret_path, size_bytes) == 0 && access(ret_path, X_OK) == 0)
		return 0;
	length = snprintf(ret_path, size_bytes, "%s/%s", FENCE_BINDIR, program);
	if (length < 0 || (size_t)length >= size_bytes || access(ret_path, X_OK) < 0)
		return -ENOENT;
	return 0;
}
