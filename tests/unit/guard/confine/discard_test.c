/* What of a private copy is a loss, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/confine/discard.h"

static int set_up(void **state)
{
	char *base = strdup("/tmp/fence-discard-XXXXXX");

	*state = base;
	return base == NULL || mkdtemp(base) == NULL || chdir(base) < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	static const char *const made[] = { "refs/index",   "refs/x.lock", "refs",	"a/b/index",
					    "a/b/x",	    "a/b",	   "a",		"index",
					    "index.lock",   "packed-refs", "tmp_obj_x", "ORIG_HEAD",
					    "sharedindex.1" };

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
		(void)remove(made[i]);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(*state), 0);
	free(*state);
	return 0;
}

static void put(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	(void)close(fd);
}

static bool matters(void)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool it_does;

	assert_true(fd >= 0);
	it_does = guard_discard_matters(fd);
	(void)close(fd);
	return it_does;
}

static void folders_alone_are_no_loss(void **state)
{
	(void)state;
	assert_false(matters());
	assert_int_equal(mkdir("a", 0700), 0);
	assert_int_equal(mkdir("a/b", 0700), 0);
	assert_false(matters());
}

static void an_index_and_locks_are_no_loss(void **state)
{
	(void)state;
	put("index");
	put("index.lock");
	put("tmp_obj_x");
	put("ORIG_HEAD");
	put("sharedindex.1");
	assert_int_equal(mkdir("a", 0700), 0);
	assert_int_equal(mkdir("a/b", 0700), 0);
	put("a/b/index");
	assert_false(matters());
}

static void any_other_file_is_one(void **state)
{
	(void)state;
	put("index");
	put("packed-refs");
	assert_true(matters());
}

static void however_deep_it_lies(void **state)
{
	(void)state;
	assert_int_equal(mkdir("a", 0700), 0);
	assert_int_equal(mkdir("a/b", 0700), 0);
	put("a/b/x");
	assert_true(matters());
}

static void a_branch_may_have_any_name(void **state)
{
	(void)state;
	assert_int_equal(mkdir("refs", 0700), 0);
	put("refs/x.lock");
	assert_false(matters());
	put("refs/index");
	assert_true(matters());
}

static void what_cannot_be_looked_into_is_one(void **state)
{
	(void)state;
	assert_int_equal(mkdir("a", 0700), 0);
	assert_true(guard_discard_matters(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(folders_alone_are_no_loss, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_index_and_locks_are_no_loss, set_up, tear_down),
		cmocka_unit_test_setup_teardown(any_other_file_is_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(however_deep_it_lies, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_branch_may_have_any_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_looked_into_is_one, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("discard", tests, NULL, NULL);
}
