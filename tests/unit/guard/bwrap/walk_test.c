#include "guard/bwrap/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/sys.h"

static char dir[] = "/tmp/fence-walk.XXXXXX";
static int root_fd;

static void link_to(const char *target, const char *name)
{
	assert_int_equal(symlinkat(target, root_fd, name), 0);
}

static void file(const char *name)
{
	int fd = openat(root_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	(void)close(fd);
}

static int make_tree(void **state)
{
	static const char *const folders[] = { "a", "a/b", "a/b/c", "etc" };

	(void)state;
	assert_non_null(mkdtemp(dir));
	root_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(root_fd >= 0);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		assert_int_equal(mkdirat(root_fd, folders[i], 0755), 0);
	file("a/file");
	file("etc/passwd");
	link_to("/etc", "a/absolute");
	link_to("../../../../../etc", "a/climbing");
	link_to("b/c", "a/down");
	link_to("/", "a/top");
	link_to("loop", "a/loop");
	link_to("/etc/passwd/", "a/slash");
	link_to("nowhere/x", "a/dangling");
	link_to("..", "a/b/up");
	return 0;
}

static int remove_tree(void **state)
{
	static const char *const names[] = {
		"a/absolute", "a/climbing", "a/down", "a/top",	    "a/loop",	"a/slash",
		"a/dangling", "a/b/up",	    "a/file", "etc/passwd", "etc/made", "a/b/c/made",
	};
	static const char *const folders[] = { "a/b/c", "a/b", "a", "etc" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)unlinkat(root_fd, names[i], 0);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		assert_int_equal(unlinkat(root_fd, folders[i], AT_REMOVEDIR), 0);
	(void)close(root_fd);
	return rmdir(dir);
}

/* Leads to `target`, or fails with `error`. */
static void check(const char *path, int fd, const char *target, int error)
{
	struct stat wanted, got;

	if (fd < 0 || target == NULL) {
		if (fd != -error)
			fail_msg("%s: %d, not %d", path, fd, -error);
		return;
	}
	assert_int_equal(fstat(fd, &got), 0);
	assert_int_equal(fstatat(root_fd, target, &wanted, AT_SYMLINK_NOFOLLOW), 0);
	if (got.st_ino != wanted.st_ino || got.st_dev != wanted.st_dev)
		fail_msg("%s: not %s", path, target);
	(void)close(fd);
}

static void compare(const char *path, int flags, int mode, const char *target, int error)
{
	int theirs = fence_openat2(root_fd, path, (uint64_t)(O_CLOEXEC | flags), (uint64_t)mode,
				   RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);

	if (theirs != -ENOSYS)
		check(path, theirs, target, error);
	check(path, bwrap_walk(root_fd, path, flags, mode), target, error);
}

/* What openat2 says, which is asked where there is one: inside of fence-guard it does not
 * exist. The name without links that the path leads to, or the error; and the error when it must
 * be a folder. */
static const struct {
	const char *path, *target;
	int error, folder_error;
} paths[] = {
	{ "/", ".", 0, 0 },
	{ ".", ".", 0, 0 },
	{ "..", ".", 0, 0 },
	{ "a", "a", 0, 0 },
	{ "/a", "a", 0, 0 },
	{ "//a//", "a", 0, 0 },
	{ "a/.", "a", 0, 0 },
	{ "a/..", ".", 0, 0 },
	{ "a/../..", ".", 0, 0 },
	{ "a/../../etc/passwd", "etc/passwd", 0, ENOTDIR },
	{ "a/file", "a/file", 0, ENOTDIR },
	{ "a/file/", NULL, ENOTDIR, ENOTDIR },
	{ "a/file/x", NULL, ENOTDIR, ENOTDIR },
	{ "a/file/..", NULL, ENOTDIR, ENOTDIR },
	{ "a/absolute", "etc", 0, 0 },
	{ "a/absolute/passwd", "etc/passwd", 0, ENOTDIR },
	{ "a/climbing", "etc", 0, 0 },
	{ "a/climbing/passwd", "etc/passwd", 0, ENOTDIR },
	{ "a/climbing/../a/b/c", "a/b/c", 0, 0 },
	{ "a/down", "a/b/c", 0, 0 },
	{ "a/down/..", "a/b", 0, 0 },
	{ "a/down/../..", "a", 0, 0 },
	{ "a/top", ".", 0, 0 },
	{ "a/top/a/top/etc", "etc", 0, 0 },
	{ "a/loop", NULL, ELOOP, ELOOP },
	{ "a/loop/x", NULL, ELOOP, ELOOP },
	{ "a/slash", NULL, ENOTDIR, ENOTDIR },
	{ "a/dangling", NULL, ENOENT, ENOENT },
	{ "a/dangling/x", NULL, ENOENT, ENOENT },
	{ "none", NULL, ENOENT, ENOENT },
	{ "none/x", NULL, ENOENT, ENOENT },
	{ "none/..", NULL, ENOENT, ENOENT },
	{ "a/b/up", "a", 0, 0 },
	{ "a/b/up/b/up/file", "a/file", 0, ENOTDIR },
	{ "a/b/c/../../../../../../../etc", "etc", 0, 0 },
	{ "/../../../etc/passwd", "etc/passwd", 0, ENOTDIR },
	{ "a/top/..", ".", 0, 0 },
	{ "./a/./b/./c/.", "a/b/c", 0, 0 },
};

static void every_name_leads_where_the_kernel_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		compare(paths[i].path, O_PATH, 0, paths[i].target, paths[i].error);
		compare(paths[i].path, O_PATH | O_DIRECTORY, 0,
			paths[i].folder_error == 0 ? paths[i].target : NULL, paths[i].folder_error);
	}
}

static void a_name_that_is_too_long_is_refused(void **state)
{
	char name[300];
	char path[5000];

	(void)state;
	memset(name, 'a', sizeof(name));
	name[256] = '\0';
	compare(name, O_PATH, 0, NULL, ENAMETOOLONG);
	memset(path, '/', sizeof(path));
	path[4096] = '\0';
	compare(path, O_PATH, 0, NULL, ENAMETOOLONG);
	path[4095] = '\0';
	compare(path, O_PATH, 0, ".", 0);
}

static void a_file_is_made_where_the_name_leads(void **state)
{
	struct stat st;
	int fd = bwrap_walk(root_fd, "a/absolute/made", O_WRONLY | O_CREAT, 0640);

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(fstatat(root_fd, "etc/made", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode));
	compare("etc/made", O_WRONLY | O_CREAT, 0640, "etc/made", 0);
	compare("etc/made", O_WRONLY | O_CREAT | O_EXCL, 0640, NULL, EEXIST);
	compare("a/b", O_WRONLY | O_CREAT, 0640, NULL, EISDIR);
	compare("a/top", O_WRONLY | O_CREAT, 0640, NULL, EISDIR);
	compare("a/dangling", O_WRONLY | O_CREAT, 0640, NULL, ENOENT);
	compare("none/x", O_WRONLY | O_CREAT, 0640, NULL, ENOENT);
	assert_int_equal(unlinkat(root_fd, "etc/made", 0), 0);
	assert_int_equal(symlinkat("/a/b/c/made", root_fd, "etc/made"), 0);
	fd = bwrap_walk(root_fd, "etc/made", O_WRONLY | O_CREAT, 0640);
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(fstatat(root_fd, "a/b/c/made", &st, AT_SYMLINK_NOFOLLOW), 0);
}

/* However often it says "..". */
static void no_way_leads_out(void **state)
{
	char path[4096] = "";
	int fd;
	struct stat st, top;

	(void)state;
	for (int i = 0; i < 1300; i++)
		memcpy(path + (size_t)i * 3, "../", 4);
	fd = bwrap_walk(root_fd, path, O_PATH, 0);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(fstat(root_fd, &top), 0);
	assert_int_equal(st.st_ino, top.st_ino);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_leads_where_the_kernel_says),
		cmocka_unit_test(a_name_that_is_too_long_is_refused),
		cmocka_unit_test(a_file_is_made_where_the_name_leads),
		cmocka_unit_test(no_way_leads_out),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
