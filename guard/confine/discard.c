#include "guard/confine/discard.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The command may have put anything there, a pipe or a link. */
void guard_discard_stash(int git_fd, char *ret, size_t size_bytes)
{
	owned_fd refs_fd = openat(git_fd, "refs", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	owned_fd fd = -1;
	struct stat st;
	ssize_t length;

	ret[0] = '\0';
	if (refs_fd >= 0)
		fd = openat(refs_fd, "stash", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	length = fence_read_some(fd, ret, size_bytes - 1);
	ret[length < 0 ? 0 : length] = '\0';
}

/* `git gc` moves it there. */
static bool is_packed(int git_fd, const char *stash)
{
	char line[GUARD_STASH_BYTES + 16];
	owned_fd fd = openat(git_fd, "packed-refs", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	owned_mem char *text = NULL;
	struct stat st;

	(void)snprintf(line, sizeof(line), "%.*s refs/stash\n", (int)strcspn(stash, "\n"), stash);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return false;
	text = malloc((size_t)st.st_size);
	return text != NULL && fence_read_full(fd, text, (size_t)st.st_size) == 0 &&
	       memmem(text, (size_t)st.st_size, line, strlen(line)) != NULL;
}

static bool is_host_stash(const char *path, const char *stash)
{
	char text[GUARD_STASH_BYTES];
	owned_fd fd = openat(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return false;
	guard_discard_stash(fd, text, sizeof(text));
	return strcmp(text, stash) == 0 || is_packed(fd, stash);
}

static void add_path(struct fence_text *text, const char *before, const char *path)
{
	fence_text_add(text, "%s", before);
	fence_text_add_safe(text, path, strlen(path));
}

void guard_discard_tell(const char *path, const char *stash, const struct guard_kept *kept)
{
	bool is_stashed = stash[0] != '\0' && !is_host_stash(path, stash);
	char line[3000];
	struct fence_text text;

	fence_text_init(&text, line, sizeof(line));
	add_path(&text, "fence-guard: what git did in ", path);
	if (kept->folder[0] != '\0') {
		fence_text_add(&text, " was not kept there%s, but in %s",
			       is_stashed ? ", nor what it stashed away" : "", kept->folder);
		if (kept->why != NULL)
			fence_text_add(&text, ", and not all of it: %s", kept->why);
	} else if (kept->why != NULL) {
		fence_text_add(&text, "%s is lost: it could not be kept aside: %s",
			       is_stashed ? ", and what it stashed away," : "", kept->why);
	} else {
		fence_text_add(&text, " was not kept: the command had a private copy");
	}
	add_path(&text, "; --rw ", path);
	fence_text_add(&text, " keeps it\n");
	(void)fence_write_full(STDERR_FILENO, line, text.length_bytes);
}
