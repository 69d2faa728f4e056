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

/* Both lead to the same, or fail alike. */
static void compare(const char *path, int flags, int mode)
{
	int theirs = fence_openat2(root_fd, path, (uint64_t)(O_CLOEXEC | flags), (uint64_t)mode,
				   RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	int ours = bwrap_walk(root_fd, path, flags, mode);
	struct stat their_st, our_st;

	if (theirs < 0 || ours < 0) {
		if (theirs != ours)
			fail_msg("%s: %d, not %d", path, ours, theirs);
		return;
	}
	assert_int_equal(fstat(theirs, &their_st), 0);
	assert_int_equal(fstat(ours, &our_st), 0);
	if (their_st.st_ino != our_st.st_ino || their_st.st_dev != our_st.st_dev)
		fail_msg("%s: another object", path);
	assert_int_equal(fcntl(theirs, F_GETFL) & (O_ACCMODE | O_PATH),
			 fcntl(ours, F_GETFL) & (O_ACCMODE | O_PATH));
	(void)close(theirs);
	(void)close(ours);
}

static const char *const paths[] = {
	"/",
	".",
	"..",
	"a",
	"/a",
	"//a//",
	"a/.",
	"a/..",
	"a/../..",
	"a/../../etc/passwd",
	"a/file",
	"a/file/",
	"a/file/x",
	"a/file/..",
	"a/absolute",
	"a/absolute/passwd",
	"a/climbing",
	"a/climbing/passwd",
	"a/climbing/../a/b/c",
	"a/down",
	"a/down/..",
	"a/down/../..",
	"a/top",
	"a/top/a/top/etc",
	"a/loop",
	"a/loop/x",
	"a/slash",
	"a/dangling",
	"a/dangling/x",
	"none",
	"none/x",
	"none/..",
	"a/b/up",
	"a/b/up/b/up/file",
	"a/b/c/../../../../../../../etc",
	"/../../../etc/passwd",
	"a/top/..",
	"./a/./b/./c/.",
};

static void every_name_leads_where_the_kernel_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		compare(paths[i], O_PATH, 0);
		compare(paths[i], O_PATH | O_DIRECTORY, 0);
	}
}

static void a_name_that_is_too_long_is_refused(void **state)
{
	char name[300];
	char path[5000];

	(void)state;
	memset(name, 'a', sizeof(name));
	name[256] = '\0';
	compare(name, O_PATH, 0);
	memset(path, '/', sizeof(path));
	path[4096] = '\0';
	compare(path, O_PATH, 0);
	path[4095] = '\0';
	compare(path, O_PATH, 0);
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
	compare("etc/made", O_WRONLY | O_CREAT, 0640);
	compare("etc/made", O_WRONLY | O_CREAT | O_EXCL, 0640);
	compare("a/b", O_WRONLY | O_CREAT, 0640);
	compare("a/top", O_WRONLY | O_CREAT, 0640);
	compare("a/dangling", O_WRONLY | O_CREAT, 0640);
	compare("none/x", O_WRONLY | O_CREAT, 0640);
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
