#include "guard/confine/keep_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "fence/text.h"
#include "guard/confine/entries.h"
#include "guard/confine/keep_take.h"

#define TEXT_MAX_BYTES (16 * 1024 * 1024) /* of what is read at once, and of what is written */
#define PATH_BYTES     1024
#define NO_ENTRY       ((size_t)-1)

struct walk {
	struct guard_keep_names *names;
	int fd;
	unsigned int depth;
	void (*take)(struct guard_keep_names *names, const char *text, size_t length,
		     const char *path);
	int rc;		       /* -ENOMEM */
	char path[PATH_BYTES]; /* of the folder, with a slash at its end; "" */
};

/* --- lines --------------------------------------------------------------------------------- */

static void add_bytes(struct guard_keep_names *names, const char *bytes, size_t length)
{
	if (names->length + length > TEXT_MAX_BYTES) {
		(void)guard_keep_omit(names->copy, GUARD_KEEP_TOO_LARGE);
		return;
	}
	if (names->length + length > names->size_bytes) {
		size_t size_bytes = 2 * names->size_bytes + length + 4096;
		char *more = realloc(names->text, size_bytes);

		if (more == NULL) {
			(void)guard_keep_omit(names->copy, "there is too little memory");
			return;
		}
		names->text = more;
		names->size_bytes = size_bytes;
	}
	memcpy(names->text + names->length, bytes, length);
	names->length += length;
}

/* The length of a hash at the beginning of `text`, which a blank or its end follows; or 0. */
static size_t hash_length(const char *text, size_t length)
{
	size_t at = 0;

	while (at < length && strchr("0123456789abcdef", text[at]) != NULL && text[at] != '\0')
		at++;
	if (at != 40 && at != 64)
		return 0;
	return at == length || strchr(" \t\r\n", text[at]) != NULL ? at : 0;
}

/* Of a log when `entry` says which. */
static void add_line(struct guard_keep_names *names, const char *hash, size_t hash_bytes,
		     const char *path, size_t path_bytes, size_t entry, const char *words,
		     size_t words_bytes)
{
	char line[8192];
	struct fence_text text;

	fence_text_init(&text, line, sizeof(line));
	fence_text_add(&text, "%.*s ", (int)hash_bytes, hash);
	fence_text_add_safe(&text, path, path_bytes);
	if (entry != NO_ENTRY)
		fence_text_add(&text, "@{%zu}", entry);
	if (words_bytes > 0)
		fence_text_add(&text, " ");
	fence_text_add_safe(&text, words, words_bytes < 1024 ? words_bytes : 1024);
	fence_text_add(&text, "\n");
	if (!text.truncated)
		add_bytes(names, line, text.length_bytes);
}

/* --- what files have --------------------------------------------------------------------- */

/* A reference, or any file with hashes at the beginning of its lines. */
static void take_hashes(struct guard_keep_names *names, const char *text, size_t length,
			const char *path)
{
	for (const char *end; length > 0; length -= (size_t)(end - text), text = end) {
		const char *newline = memchr(text, '\n', length);
		size_t hash_bytes = hash_length(text, length);

		end = newline == NULL ? text + length : newline + 1;
		if (hash_bytes > 0)
			add_line(names, text, hash_bytes, path, strlen(path), NO_ENTRY, "", 0);
	}
}

/* HASH NAME */
static void take_packed(struct guard_keep_names *names, const char *text, size_t length,
			const char *path)
{
	(void)path;
	for (const char *end; length > 0; length -= (size_t)(end - text), text = end) {
		const char *newline = memchr(text, '\n', length);
		size_t hash_bytes = hash_length(text, length);
		size_t line_bytes = newline == NULL ? length : (size_t)(newline - text);

		end = newline == NULL ? text + length : newline + 1;
		if (hash_bytes > 0 && line_bytes > hash_bytes + 1 &&
		    line_bytes < hash_bytes + PATH_BYTES)
			add_line(names, text, hash_bytes, text + hash_bytes + 1,
				 line_bytes - hash_bytes - 1, NO_ENTRY, "", 0);
	}
}

/* OLD NEW WHO WHEN<tab>WORDS; the newest is the last. */
static void take_log(struct guard_keep_names *names, const char *text, size_t length,
		     const char *path)
{
	for (size_t entry = 0; length > 0; entry++) {
		const char *before;
		const char *line;
		const char *tab;
		size_t old_bytes;
		size_t new_bytes = 0;
		size_t line_bytes;

		if (text[length - 1] == '\n')
			length--;
		before = memrchr(text, '\n', length);
		line = before == NULL ? text : before + 1;
		line_bytes = length - (size_t)(line - text);
		length = (size_t)(line - text);
		old_bytes = hash_length(line, line_bytes);
		if (old_bytes > 0 && line_bytes > old_bytes)
			new_bytes = hash_length(line + old_bytes + 1, line_bytes - old_bytes - 1);
		if (new_bytes == 0)
			continue;
		tab = memchr(line, '\t', line_bytes);
		add_line(names, line + old_bytes + 1, new_bytes, path, strlen(path), entry,
			 tab == NULL ? "" : tab + 1,
			 tab == NULL ? 0 : line_bytes - (size_t)(tab + 1 - line));
	}
}

static int take_file(struct walk *walk, const char *name, const char *path)
{
	struct stat st;
	owned_fd fd = guard_keep_open(walk->names->copy, walk->fd, name, S_IFREG, &st);
	owned_mem char *text = NULL;

	if (fd < 0 || st.st_size == 0)
		return 0;
	if (st.st_size > TEXT_MAX_BYTES)
		return guard_keep_omit(walk->names->copy, GUARD_KEEP_TOO_LARGE);
	text = malloc((size_t)st.st_size);
	if (text == NULL)
		return -ENOMEM;
	if (fence_read_full(fd, text, (size_t)st.st_size) < 0)
		return guard_keep_omit(walk->names->copy, GUARD_KEEP_CLOSED);
	walk->take(walk->names, text, (size_t)st.st_size, path);
	return 0;
}

/* --- where they are -------------------------------------------------------------------------- */

static int walk_folder(const struct walk *above, const char *name, const char *path);

static bool put_path(char ret[PATH_BYTES], const struct walk *walk, const char *name)
{
	struct fence_text text;

	fence_text_init(&text, ret, PATH_BYTES);
	fence_text_add(&text, "%s%s", walk->path, name);
	return !text.truncated;
}

/* Of a blank in a name nobody could tell where it ends, and git allows none. */
static int on_entry(void *arg, const char *name)
{
	struct walk *walk = arg;
	char path[PATH_BYTES];
	int rc;

	if (!guard_keep_count(walk->names->copy))
		return 1;
	if (!guard_keep_is_plain(name) || strchr(name, ' ') != NULL)
		return 0;
	if (!put_path(path, walk, name))
		return guard_keep_omit(walk->names->copy, GUARD_KEEP_TOO_DEEP);
	rc = take_file(walk, name, path);
	return rc < 0 ? rc : walk_folder(walk, name, path);
}

/* `path`: what the names in it begin with. */
static int walk_folder(const struct walk *above, const char *name, const char *path)
{
	struct guard_keep_copy *copy = above->names->copy;
	struct walk walk = { .names = above->names,
			     .depth = above->depth + 1,
			     .take = above->take };
	struct fence_text text;
	struct stat st;
	owned_fd fd = guard_keep_open(copy, above->fd, name, S_IFDIR, &st);

	if (fd < 0)
		return 0;
	fence_text_init(&text, walk.path, sizeof(walk.path));
	fence_text_add(&text, "%s%s", path, path[0] == '\0' ? "" : "/");
	if (walk.depth > copy->left.depth || text.truncated)
		return guard_keep_omit(copy, GUARD_KEEP_TOO_DEEP);
	walk.fd = fd;
	return guard_entries_each(fd, on_entry, &walk);
}

/* Files that are not in a folder of references and name commits. */
static int take_states(struct walk *git)
{
	static const char *const states[] = {
		"HEAD",
		"ORIG_HEAD",
		"MERGE_HEAD",
		"MERGE_AUTOSTASH",
		"CHERRY_PICK_HEAD",
		"REVERT_HEAD",
		"REBASE_HEAD",
		"FETCH_HEAD",
		"AUTO_MERGE",
		"BISECT_HEAD",
		"rebase-merge/autostash",
		"rebase-merge/orig-head",
		"rebase-merge/onto",
		"rebase-merge/stopped-sha",
		"rebase-apply/autostash",
		"rebase-apply/orig-head",
	};
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < sizeof(states) / sizeof(states[0]); i++) {
		const char *name = strchr(states[i], '/');
		struct walk inner = *git;
		owned_fd fd = -1;
		char folder[16];
		char path[PATH_BYTES];
		struct stat st;

		if (!put_path(path, git, states[i]))
			continue;
		if (name == NULL) {
			rc = take_file(git, states[i], path);
			continue;
		}
		memcpy(folder, states[i], (size_t)(name - states[i]));
		folder[name - states[i]] = '\0';
		fd = guard_keep_open(git->names->copy, git->fd, folder, S_IFDIR, &st);
		inner.fd = fd;
		rc = fd < 0 ? 0 : take_file(&inner, name + 1, path);
	}
	return rc;
}

/* References by the names that they have in it, then the rest. */
static int take_git(struct walk *git)
{
	char path[PATH_BYTES];
	int rc;

	git->take = take_hashes;
	rc = put_path(path, git, "refs") ? walk_folder(git, "refs", path) : 0;
	if (rc >= 0)
		rc = take_states(git);
	git->take = take_log;
	/* With no slash at its end: logs/HEAD is that of HEAD. */
	(void)put_path(path, git, "");
	if (path[0] != '\0')
		path[strlen(path) - 1] = '\0';
	return rc < 0 ? rc : walk_folder(git, "logs", path);
}

static int on_work_tree(void *arg, const char *name)
{
	struct walk *trees = arg;
	struct walk git = { .names = trees->names, .depth = trees->depth };
	struct fence_text text;
	struct stat st;
	owned_fd fd = -1;

	if (!guard_keep_count(trees->names->copy))
		return 1;
	fence_text_init(&text, git.path, sizeof(git.path));
	fence_text_add(&text, "worktrees/%s/", name);
	if (!guard_keep_is_plain(name) || strchr(name, ' ') != NULL || text.truncated)
		return 0;
	fd = guard_keep_open(trees->names->copy, trees->fd, name, S_IFDIR, &st);
	git.fd = fd;
	return fd < 0 ? 0 : take_git(&git);
}

int guard_keep_names_collect(int git_fd, struct guard_keep_names *names)
{
	struct walk git = { .names = names, .fd = git_fd };
	struct walk trees = { .names = names, .depth = 1 };
	owned_fd fd = -1;
	struct stat st;
	int rc = take_git(&git);

	fd = guard_keep_open(names->copy, git_fd, "worktrees", S_IFDIR, &st);
	trees.fd = fd;
	if (rc >= 0 && fd >= 0)
		rc = guard_entries_each(fd, on_work_tree, &trees);
	git.take = take_packed;
	if (rc >= 0)
		rc = take_file(&git, "packed-refs", "");
	if (rc >= 0 && names->length > 0 && !guard_keep_charge(names->copy, names->length))
		names->length = 0;
	return rc < 0 ? rc : 0;
}

int guard_keep_names_write(const struct guard_keep_names *names, int fd)
{
	char line[4096];
	struct fence_text text;
	int rc;

	fence_text_init(&text, line, sizeof(line));
	fence_text_add(&text, "# what git did in ");
	fence_text_add_safe(&text, names->copy->title, strlen(names->copy->title));
	fence_text_add(&text, "\n");
	rc = fence_write_full(fd, line, text.length_bytes);
	return rc < 0 ? rc : fence_write_full(fd, names->text, names->length);
}

void guard_keep_names_free(struct guard_keep_names *names)
{
	free(names->text);
	names->text = NULL;
	names->length = names->size_bytes = 0;
}
