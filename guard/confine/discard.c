#include "guard/confine/discard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "fence/text.h"

#define DEPTH_MAX 16
#define NAMES_MAX 4096 /* so that no command can keep us */

/* struct linux_dirent64 of getdents64(2). */
#define AT_LENGTH 16
#define AT_TYPE	  18
#define AT_NAME	  19
#define TYPE_DIR  4

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name);
	size_t end_length = strlen(end);

	return length >= end_length && strcmp(name + length - end_length, end) == 0;
}

/* What git writes where it only looks, or leaves where it was killed. The index is of the
 * work tree, which is the host's, and what `git add` put into it are objects. In `refs`
 * and `logs` a person chose the names, but for locks. */
static bool is_trifle(const char *name, bool is_named)
{
	static const char *const whole[] = {
		"index", "COMMIT_EDITMSG", "ORIG_HEAD", "FETCH_HEAD", "gc.pid", "gc.log",
	};

	if (ends_with(name, ".lock"))
		return true;
	for (size_t i = 0; !is_named && i < sizeof(whole) / sizeof(whole[0]); i++)
		if (strcmp(name, whole[i]) == 0)
			return true;
	return !is_named &&
	       (strncmp(name, "tmp_", 4) == 0 || strncmp(name, "sharedindex.", 12) == 0);
}

static bool has_names(const char *folder)
{
	return strcmp(folder, "refs") == 0 || strcmp(folder, "logs") == 0;
}

/* A folder in which something was made and removed again is there, and empty. */
static bool folder_matters(int dir_fd, unsigned int depth, bool is_named, unsigned int *names)
{
	char entries[4096];
	ssize_t length;
	uint16_t step;

	while ((length = fence_getdents(dir_fd, entries, sizeof(entries))) > 0) {
		for (ssize_t at = 0; at < length; at += step) {
			const char *name = entries + at + AT_NAME;
			owned_fd below_fd = -1;

			memcpy(&step, entries + at + AT_LENGTH, sizeof(step));
			if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
				continue;
			if (++*names > NAMES_MAX || depth == DEPTH_MAX)
				return true;
			if (entries[at + AT_TYPE] != TYPE_DIR) {
				if (!is_trifle(name, is_named))
					return true;
				continue;
			}
			below_fd = openat(dir_fd, name,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			if (below_fd < 0 ||
			    folder_matters(below_fd, depth + 1, is_named || has_names(name), names))
				return true;
		}
	}
	return length < 0;
}

bool guard_discard_matters(int upper_fd)
{
	unsigned int names = 0;

	return folder_matters(upper_fd, 0, false, &names);
}

static void tell_one(const char *path)
{
	char line[3000];
	struct fence_text text;

	fence_text_init(&text, line, sizeof(line));
	fence_text_add(&text, "fence-guard: what git did in ");
	fence_text_add_safe(&text, path, strlen(path));
	fence_text_add(&text, " was not kept: the command had a private copy; --rw ");
	fence_text_add_safe(&text, path, strlen(path));
	fence_text_add(&text, " keeps it\n");
	(void)fence_write_full(STDERR_FILENO, line, text.length_bytes);
}

void guard_discard_tell(const struct guard_names *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		tell_one(paths->items[i]);
}
