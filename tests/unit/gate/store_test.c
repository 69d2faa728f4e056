#include "gate/store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/own.h"

static char root[] = "/tmp/fence-store.XXXXXX";

static int open_root(void **state)
{
	static int fd;

	(void)memcpy(root + sizeof(root) - 7, "XXXXXX", 6);
	if (!mkdtemp(root))
		return -1;
	fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = &fd;
	return fd < 0 ? -1 : 0;
}

/* Files of these tests only: at most two levels below .fence/runs. */
static int remove_root(void **state)
{
	int fd = *(int *)*state;

	(void)unlinkat(fd, ".fence/.gitignore", 0);
	(void)unlinkat(fd, ".fence/runs", AT_REMOVEDIR);
	(void)unlinkat(fd, ".fence", AT_REMOVEDIR); /* a folder, or in one test */
	(void)unlinkat(fd, ".fence", 0);	    /* a link */
	(void)unlinkat(fd, "elsewhere", AT_REMOVEDIR);
	(void)close(fd);
	return rmdir(root);
}

static void remove_run(int root_fd, struct gate_store *store, const char *const *files,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(unlinkat(store->run_fd, files[i], 0), 0);
	assert_int_equal(unlinkat(root_fd, store->path, AT_REMOVEDIR), 0);
	gate_store_close(store);
}

static void ids_sort_by_time_and_differ(void **state)
{
	int root_fd = *(int *)*state;
	struct gate_store first, second;

	assert_int_equal(gate_store_open(root_fd, &first, NULL), 0);
	(void)poll(NULL, 0, 2); /* ids count milliseconds */
	assert_int_equal(gate_store_open(root_fd, &second, NULL), 0);
	assert_int_equal(strlen(first.id), strlen("20260304T050607.890Z-1a2b3c"));
	assert_true(strcmp(first.id, second.id) < 0);
	remove_run(root_fd, &first, NULL, 0);
	remove_run(root_fd, &second, NULL, 0);
}

static void the_folder_is_private_and_ignores_itself(void **state)
{
	int root_fd = *(int *)*state;
	struct gate_store store;
	struct stat st;
	char text[8] = "";
	owned_fd fd = -1;

	assert_int_equal(gate_store_open(root_fd, &store, NULL), 0);
	assert_int_equal(fstatat(root_fd, ".fence", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	fd = openat(root_fd, ".fence/.gitignore", O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, text, sizeof(text)), 2);
	assert_string_equal(text, "*\n");
	remove_run(root_fd, &store, NULL, 0);
}

static void a_link_in_its_place_is_refused(void **state)
{
	int root_fd = *(int *)*state;
	struct gate_store store;
	struct fence_err err = { 0 };

	assert_int_equal(mkdirat(root_fd, "elsewhere", 0700), 0);
	assert_int_equal(symlinkat("elsewhere", root_fd, ".fence"), 0);
	assert_true(gate_store_open(root_fd, &store, &err) < 0);
	assert_string_equal(err.what, "open folder .fence");
}

static void a_file_is_new_or_refused(void **state)
{
	static const char *const files[] = { "b.log" };
	int root_fd = *(int *)*state;
	struct gate_store store;
	owned_fd fd = -1;

	assert_int_equal(gate_store_open(root_fd, &store, NULL), 0);
	fd = gate_store_create(&store, "a", ".log", NULL);
	assert_true(fd >= 0);
	assert_int_equal(gate_store_create(&store, "a", ".log", NULL), -EEXIST);
	assert_int_equal(gate_store_rename(&store, "a", "b", ".log"), 0);
	assert_int_equal(gate_store_read(&store, "a", ".log"), -ENOENT);
	remove_run(root_fd, &store, files, 1);
}

static void publishing_puts_the_whole_file_under_its_name(void **state)
{
	static const char *const files[] = { "record.json" };
	int root_fd = *(int *)*state;
	struct gate_store store;
	owned_fd fd = -1;
	owned_fd published = -1;

	assert_int_equal(gate_store_open(root_fd, &store, NULL), 0);
	fd = gate_store_create(&store, "record", ".json.new", NULL);
	assert_int_equal(write(fd, "x\n", 2), 2);
	assert_int_equal(gate_store_publish(&store, fd, "record.json.new", "record.json", NULL), 0);
	published = gate_store_read(&store, "record", ".json");
	assert_true(published >= 0);
	assert_int_equal(gate_store_read(&store, "record", ".json.new"), -ENOENT);
	remove_run(root_fd, &store, files, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ids_sort_by_time_and_differ, open_root,
						remove_root),
		cmocka_unit_test_setup_teardown(the_folder_is_private_and_ignores_itself, open_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_link_in_its_place_is_refused, open_root,
						remove_root),
		cmocka_unit_test_setup_teardown(a_file_is_new_or_refused, open_root, remove_root),
		cmocka_unit_test_setup_teardown(publishing_puts_the_whole_file_under_its_name,
						open_root, remove_root),
	};

	return cmocka_run_group_tests_name("gate/store", tests, NULL, NULL);
}
