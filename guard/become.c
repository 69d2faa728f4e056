#include "guard/become.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "fence/sibling.h"

int guard_become(const char *program, char **argv, struct fence_err *err)
{
	char path[PATH_MAX];
	int rc = fence_sibling_find(program, path, sizeof(path));

	if (rc == 0) {
		argv[0] = path;
		(void)execve(path, argv, environ);
		rc = -errno;
	}
	fence_fail(err, rc, "execute %s", program);
	return fence_hint(err, "install it beside this program or into %s", FENCE_BINDIR);
}
