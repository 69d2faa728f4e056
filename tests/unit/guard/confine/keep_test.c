/* What is copied of a private copy and what not, within which bounds, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/confine/entries.h"
#include "guard/confine/keep.h"
#include "guard/confine/keep_copy.h"

#define HASH  "0123456789abcdef0123456789abcdef01234567"
#define OTHER "89abcdef0123456789abcdef0123456789abcdef"
#define REST  "0123456789abcdef0123456789abcdef012345" /* of a hash after its first two */
#define ZERO  "0000000000000000000000000000000000000000"

struct fixture {
	char base[32];
	int opened; /* how often the folder was asked for */
	struct guard_keep_copy copy;
};

static int open_to(void *arg)
{
	struct fixture *fixture = arg;

	fixture->opened++;
	if (mkdir("to", 0700) < 0)
		return -errno;
	return open("to", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int set_up(void **state)
{
	static struct fixture fixture;

	fixture = (struct fixture){ .base = "/tmp/fence-keep-XXXXXX" };
	fixture.copy = (struct guard_keep_copy){
		.left = { .depth = 16, .names = 1000, .bytes = 1024 * 1024 },
		.title = "/x/.git",
		.open_to = open_to,
		.arg = &fixture,
	};
	*state = &fixture;
	if (mkdtemp(fixture.base) == NULL || chdir(fixture.base) < 0)
		return -1;
	return mkdir("from", 0700);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(chdir("/"), 0);
	return guard_entries_remove(AT_FDCWD, fixture->base);
}

/* With the folders above it. */
static void put(const char *path, const char *text)
{
	char folder[4096];
	int fd;

	for (const char *at = strchr(path, '/'); at != NULL; at = strchr(at + 1, '/')) {
		(void)snprintf(folder, sizeof(folder), "%.*s", (int)(at - path), path);
		assert_true(mkdir(folder, 0700) == 0 || errno == EEXIST);
	}
	fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
}

static int take(struct fixture *fixture)
{
	int fd = open("from", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	assert_true(fd >= 0);
	rc = guard_keep_copy(fd, &fixture->copy);
	(void)close(fd);
	return rc;
}

/* A file's text; "" when there is none. */
static const char *text_of(const char *path)
{
	static char text[65536];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[length < 0 ? 0 : length] = '\0';
	if (fd >= 0)
		(void)close(fd);
	return text;
}

static int is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void of_nothing_no_folder_is_made(void **state)
{
	struct fixture *fixture = *state;

	put("from/config", "[core]\n");
	put("from/refs/heads/x", "ref: refs/heads/main\n");
	put("from/objects/aa/tmp_obj_x", "x");
	assert_int_equal(take(fixture), 0);
	assert_int_equal(fixture->opened, 0);
	assert_null(fixture->copy.why);
}

static void objects_are_what_is_called_so(void **state)
{
	struct fixture *fixture = *state;

	put("from/objects/aa/" REST, "object");
	put("from/objects/aa/" REST "0123456789abcdef01234567", "longer");
	put("from/objects/aa/" REST "x", "x");
	put("from/objects/AA/" REST, "x");
	put("from/objects/aaa/" REST, "x");
	put("from/objects/info/alternates", "/\n");
	put("from/objects/pack/pack-" HASH ".idx", "index");
	put("from/objects/pack/pack-" HASH ".pack", "pack");
	put("from/objects/pack/pack-" OTHER ".idx", "without its pack");
	put("from/objects/pack/pack-" HASH ".keep", "x");
	assert_int_equal(take(fixture), 1);
	assert_int_equal(fixture->opened, 1);
	assert_string_equal(text_of("to/objects/aa/" REST), "object");
	assert_string_equal(text_of("to/objects/aa/" REST "0123456789abcdef01234567"), "longer");
	assert_false(is_there("to/objects/aa/" REST "x"));
	assert_false(is_there("to/objects/AA"));
	assert_false(is_there("to/objects/aaa"));
	assert_false(is_there("to/objects/info"));
	assert_string_equal(text_of("to/objects/pack/pack-" HASH ".idx"), "index");
	assert_string_equal(text_of("to/objects/pack/pack-" HASH ".pack"), "pack");
	assert_false(is_there("to/objects/pack/pack-" OTHER ".idx"));
	assert_false(is_there("to/objects/pack/pack-" HASH ".keep"));
	assert_string_equal(text_of("to/names"), "# what git did in /x/.git\n");
	assert_null(fixture->copy.why);
}

static void hashes_are_taken_wherever_git_has_them(void **state)
{
	struct fixture *fixture = *state;

	put("from/HEAD", "ref: refs/heads/main\n");
	put("from/MERGE_HEAD", HASH "\n" OTHER "\n");
	put("from/rebase-merge/autostash", OTHER "\n");
	put("from/refs/heads/a/b", HASH "\n");
	put("from/packed-refs",
	    "# pack-refs with: peeled\n" HASH " refs/tags/v1\n^" OTHER "\n" OTHER " refs/heads/c");
	put("from/logs/refs/stash", ZERO " " HASH " n <e> 1 +0000\tfirst\n" HASH " " OTHER
					 " n <e> 2 +0000\tWIP on x: \033[31m\n");
	put("from/worktrees/t/HEAD", OTHER "\n");
	put("from/worktrees/t/logs/HEAD", ZERO " " HASH " n <e> 1 +0000\n");
	assert_int_equal(take(fixture), 1);
	assert_string_equal(text_of("to/names"),
			    "# what git did in /x/.git\n" HASH " refs/heads/a/b\n" HASH
			    " MERGE_HEAD\n" OTHER " MERGE_HEAD\n" OTHER
			    " rebase-merge/autostash\n" OTHER
			    " refs/stash@{0} WIP on x: \\x1b[31m\n" HASH
			    " refs/stash@{1} first\n" OTHER " worktrees/t/HEAD\n" HASH
			    " worktrees/t/HEAD@{0}\n" HASH " refs/tags/v1\n" OTHER
			    " refs/heads/c\n");
	assert_null(fixture->copy.why);
}

static void what_is_no_hash_is_passed_over(void **state)
{
	struct fixture *fixture = *state;

	put("from/refs/heads/short", "0123\n");
	put("from/refs/heads/long", HASH "0\n");
	put("from/refs/heads/upper", "0123456789ABCDEF0123456789abcdef01234567\n");
	put("from/refs/heads/.git", HASH "\n");
	put("from/refs/heads/a b", HASH "\n");
	put("from/refs/heads/a\nb", HASH "\n");
	put("from/logs/HEAD", "x\n\n" HASH "\n" HASH " \n" HASH " x\n");
	put("from/packed-refs", HASH "\n" HASH " \n\n");
	assert_int_equal(take(fixture), 0);
}

static void a_submodule_has_its_own(void **state)
{
	struct fixture *fixture = *state;

	put("from/modules/a dir/m/HEAD", HASH "\n");
	put("from/modules/a dir/m/objects/aa/" REST, "x");
	put("from/modules/a dir/m/config", "x");
	put("from/modules/a dir/m/modules/n/refs/stash", OTHER "\n");
	put("from/modules/.x/refs/stash", OTHER "\n");
	assert_int_equal(take(fixture), 1);
	assert_string_equal(text_of("to/modules/a dir/m/names"),
			    "# what git did in /x/.git\n" HASH " HEAD\n");
	assert_true(is_there("to/modules/a dir/m/objects/aa/" REST));
	assert_false(is_there("to/modules/a dir/m/config"));
	assert_string_equal(text_of("to/modules/a dir/m/modules/n/names"),
			    "# what git did in /x/.git\n" OTHER " refs/stash\n");
	assert_false(is_there("to/modules/.x"));
	assert_false(is_there("to/names"));
}

static void no_link_is_followed(void **state)
{
	struct fixture *fixture = *state;

	put("secret/" REST, "secret");
	put("secret/ref", HASH "\n");
	assert_int_equal(mkdir("from/objects", 0700), 0);
	assert_int_equal(symlink("../../secret", "from/objects/aa"), 0);
	assert_int_equal(mkdir("from/objects/bb", 0700), 0);
	assert_int_equal(symlink("../../../secret/" REST, "from/objects/bb/" REST), 0);
	assert_int_equal(symlink("../secret", "from/refs"), 0);
	assert_int_equal(symlink("../secret/ref", "from/HEAD"), 0);
	assert_int_equal(symlink("../secret", "from/modules"), 0);
	assert_int_equal(mkfifo("from/packed-refs", 0600), 0);
	assert_int_equal(mkfifo("from/objects/bb/" REST "aaaaaaaaaaaaaaaaaaaaaaaa", 0600), 0);
	assert_int_equal(take(fixture), 0);
}

static void beyond_its_bytes_nothing_is_taken(void **state)
{
	struct fixture *fixture = *state;

	put("from/refs/stash", HASH "\n");
	put("from/objects/aa/" REST, "");
	assert_int_equal(truncate("from/objects/aa/" REST, INT64_C(1) << 40), 0);
	put("from/objects/bb/" REST, "x");
	put("from/objects/pack/pack-" HASH ".pack", "");
	assert_int_equal(truncate("from/objects/pack/pack-" HASH ".pack", 2 * 1024 * 1024), 0);
	put("from/objects/pack/pack-" HASH ".idx", "x");
	assert_int_equal(take(fixture), 1);
	assert_string_equal(fixture->copy.why, "it is too large");
	assert_false(is_there("to/objects/aa"));
	assert_true(is_there("to/objects/bb/" REST));
	assert_false(is_there("to/objects/pack"));
	assert_true(is_there("to/names"));
	/* What was taken, and no more, was taken off. */
	assert_int_equal(fixture->copy.left.bytes, 1024 * 1024 - 2 * 4096);
}

static void the_smallest_files_take_a_block_each(void **state)
{
	struct fixture *fixture = *state;

	fixture->copy.left.bytes = 2 * 4096;
	put("from/objects/aa/" REST, "x");
	put("from/objects/bb/" REST, "x");
	put("from/objects/cc/" REST, "x");
	assert_int_equal(take(fixture), 1);
	assert_string_equal(fixture->copy.why, "it is too large");
	assert_int_equal(is_there("to/objects/aa") + is_there("to/objects/bb") +
				 is_there("to/objects/cc"),
			 2);
}

static void beyond_its_names_nothing_is_looked_at(void **state)
{
	struct fixture *fixture = *state;

	fixture->copy.left.names = 3;
	put("from/refs/stash", HASH "\n");
	put("from/objects/aa/" REST, "x");
	put("from/objects/bb/" REST, "x");
	put("from/modules/m/HEAD", HASH "\n");
	assert_int_equal(take(fixture), 1);
	assert_string_equal(fixture->copy.why, "it has too many names");
	assert_string_equal(text_of("to/names"),
			    "# what git did in /x/.git\n" HASH " refs/stash\n");
	assert_int_equal(is_there("to/objects/aa") + is_there("to/objects/bb"), 1);
	assert_false(is_there("to/modules"));
}

static void beyond_its_depth_neither(void **state)
{
	struct fixture *fixture = *state;

	fixture->copy.left.depth = 4;
	put("from/refs/a/b/c/d", HASH "\n");
	put("from/refs/a/b/c/d2/e", HASH "\n");
	assert_int_equal(take(fixture), 1);
	assert_string_equal(fixture->copy.why, "its folders are too deep");
	assert_string_equal(text_of("to/names"),
			    "# what git did in /x/.git\n" HASH " refs/a/b/c/d\n");
}

static void what_cannot_be_made_is_an_error(void **state)
{
	struct fixture *fixture = *state;

	put("from/refs/stash", HASH "\n");
	assert_int_equal(mkdir("to", 0700), 0);
	assert_int_equal(take(fixture), -EEXIST);
}

/* --- what is kept already ---------------------------------------------------------------- */

#define NOW 1800000000 /* 2027-01-15 */

static void kept(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "kept/%s/objects/x", name);
	put(path, "x");
}

static void tidy(const char *own)
{
	int fd = open("kept", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	guard_keep_tidy(fd, own, NOW);
	(void)close(fd);
}

static void what_is_old_goes(void **state)
{
	(void)state;
	kept("20261216T080000Z-1-4K");
	kept("20261216T075959Z-1-4K");
	kept("20261216T075959Z-1.2-4K");
	kept("19990101T000000Z-1-4K");
	tidy("19990101T000000Z-1-4K");
	assert_true(is_there("kept/20261216T080000Z-1-4K"));
	assert_false(is_there("kept/20261216T075959Z-1-4K"));
	assert_false(is_there("kept/20261216T075959Z-1.2-4K"));
	/* The one that was just made, whatever the clock said. */
	assert_true(is_there("kept/19990101T000000Z-1-4K"));
}

static void so_do_the_oldest_of_too_many(void **state)
{
	char name[64];

	(void)state;
	for (int i = 0; i < GUARD_KEEP_FOLDERS_MAX + 2; i++) {
		(void)snprintf(name, sizeof(name), "20270114T00%02d%02dZ-1-4K", i / 60, i % 60);
		kept(name);
	}
	tidy(name);
	assert_false(is_there("kept/20270114T000000Z-1-4K"));
	assert_false(is_there("kept/20270114T000001Z-1-4K"));
	assert_true(is_there("kept/20270114T000002Z-1-4K"));
}

static void and_of_too_much(void **state)
{
	(void)state;
	kept("20270114T000000Z-1-4K");
	kept("20270114T000001Z-1-524288K");
	kept("20270114T000002Z-1-524288K");
	kept("20270114T000003Z-1-4K");
	tidy("20270114T000003Z-1-4K");
	assert_false(is_there("kept/20270114T000000Z-1-4K"));
	assert_false(is_there("kept/20270114T000001Z-1-524288K"));
	assert_true(is_there("kept/20270114T000002Z-1-524288K"));
	assert_true(is_there("kept/20270114T000003Z-1-4K"));
}

static void what_is_torn_goes_unless_somebody_writes_it(void **state)
{
	int fd;

	(void)state;
	kept(".20270114T000000Z-1.0-0K");
	kept(".20270114T000000Z-2.0-0K");
	fd = open("kept/.20270114T000000Z-2.0-0K", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	tidy("");
	assert_false(is_there("kept/.20270114T000000Z-1.0-0K"));
	assert_true(is_there("kept/.20270114T000000Z-2.0-0K"));
	(void)close(fd);
}

static void what_is_called_otherwise_stays(void **state)
{
	static const char *const names[] = { "mine",
					     ".mine",
					     "20000101T000000Z-1-4",
					     "20000101T000000Z-1-K",
					     "20000101T000000Z-1-4Kx",
					     "20000101T000000-1-4K",
					     "20000101T000000Z-1-99999999999K" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		kept(names[i]);
	tidy("");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "kept/%s", names[i]);
		assert_true(is_there(path));
	}
}

static void removing_follows_no_link(void **state)
{
	(void)state;
	put("outside/x", "x");
	put("folder/a/b/c", "x");
	assert_int_equal(symlink("../../outside", "folder/a/link"), 0);
	assert_int_equal(symlink("folder", "alias"), 0);
	assert_true(guard_entries_remove(AT_FDCWD, "alias") < 0);
	assert_int_equal(guard_entries_remove(AT_FDCWD, "folder"), 0);
	assert_false(is_there("folder"));
	assert_true(is_there("outside/x"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(of_nothing_no_folder_is_made),
		TEST(objects_are_what_is_called_so),
		TEST(hashes_are_taken_wherever_git_has_them),
		TEST(what_is_no_hash_is_passed_over),
		TEST(a_submodule_has_its_own),
		TEST(no_link_is_followed),
		TEST(beyond_its_bytes_nothing_is_taken),
		TEST(the_smallest_files_take_a_block_each),
		TEST(beyond_its_names_nothing_is_looked_at),
		TEST(beyond_its_depth_neither),
		TEST(what_cannot_be_made_is_an_error),
		TEST(what_is_old_goes),
		TEST(so_do_the_oldest_of_too_many),
		TEST(and_of_too_much),
		TEST(what_is_torn_goes_unless_somebody_writes_it),
		TEST(what_is_called_otherwise_stays),
		TEST(removing_follows_no_link),
	};

	return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
