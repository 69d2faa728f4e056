/* Any bytes as a git configuration: what is found ends within its buffer, and a path
 * that fits into a small buffer is the same in a large one. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guard/policy/gitconf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	char small[16];
	char large[4096];
	const char *text = (const char *)data;
	enum guard_git_blanks blanks =
		size_bytes & 1 ? GUARD_GIT_BLANKS_KEPT : GUARD_GIT_BLANKS_SPACES;
	bool in_small = guard_git_hooks_path(text, size_bytes, blanks, small, sizeof(small));
	bool in_large = guard_git_hooks_path(text, size_bytes, blanks, large, sizeof(large));

	if (in_small && strlen(small) >= sizeof(small))
		abort();
	if (in_large && strlen(large) >= sizeof(large))
		abort();
	/* What has no NUL byte in it is compared whole. */
	if (in_small && in_large && memchr(data, 0, size_bytes) == NULL &&
	    strcmp(small, large) != 0)
		abort();
	return 0;
}
