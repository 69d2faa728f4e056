#include "fence/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

#define MODERN                                                                                     \
	"23 22 0:21 / /proc rw - proc proc rw\n31 22 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 "  \
	"rw\n"

static int place(const char *mounts, const char *groups, char *ret)
{
	char mounts_copy[1024], groups_copy[1024];

	(void)snprintf(mounts_copy, sizeof(mounts_copy), "%s", mounts);
	(void)snprintf(groups_copy, sizeof(groups_copy), "%s", groups);
	return fence_cgroup_place(mounts_copy, groups_copy, ret, PATH_MAX);
}

static void our_group_is_found_below_its_mount(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(place(MODERN, "0::/user.slice/a b\n", path), 0);
	assert_string_equal(path, "/sys/fs/cgroup/user.slice/a b");
	assert_int_equal(place(MODERN, "0::/\n", path), 0);
	assert_string_equal(path, "/sys/fs/cgroup");
}

static void the_old_hierarchies_beside_it_are_not_meant(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(place("11 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
			       "20 41 0:38 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 c rw\n",
			       "4:memory:/other\n1:name=systemd:/\n0::/ours\n", path),
			 0);
	assert_string_equal(path, "/sys/fs/cgroup/unified/ours");
	assert_int_equal(place("11 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
			       "1:cpu:/\n", path),
			 -ENOENT);
}

static void a_mount_of_a_part_shows_what_is_below_that_part(void **state)
{
	static const char part[] = "31 22 0:28 /pod/one /cg\\040v2 rw - cgroup2 cgroup2 rw\n";
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(place(part, "0::/pod/one/leaf\n", path), 0);
	assert_string_equal(path, "/cg v2/leaf");
	assert_int_equal(place(part, "0::/pod/one\n", path), 0);
	assert_string_equal(path, "/cg v2");
	assert_int_equal(place(part, "0::/pod/oneself\n", path), -ENOENT);
	assert_int_equal(place(part, "0::/\n", path), -ENOENT);
}

static void a_group_above_our_namespace_has_no_folder(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(place(MODERN, "0::/../../above\n", path), -ENOENT);
	assert_int_equal(place("", "0::/\n", path), -ENOENT);
	assert_int_equal(place(MODERN, "", path), -ENOENT);
	assert_int_equal(place("cgroup2 - cgroup2 \n", "0::/\n", path), -ENOENT);
}

static void put(const char *folder, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void memory_numbers_are_the_controllers_own(void **state)
{
	char folder[] = "/tmp/fence-unit.XXXXXX";
	char path[PATH_MAX];
	uint64_t number = 7;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(folder));
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fence_cgroup_memory_kills(fd, &number), -ENOENT);
	assert_int_equal(fence_cgroup_memory_peak(fd, &number), -ENOENT);
	assert_int_equal(number, 7);
	put(folder, "memory.events",
	    "low 0\nhigh 0\nmax 31\noom 2\noom_kill 3\noom_group_kill 1\n");
	put(folder, "memory.peak", "104857600\n");
	assert_int_equal(fence_cgroup_memory_kills(fd, &number), 0);
	assert_int_equal(number, 3);
	assert_int_equal(fence_cgroup_memory_peak(fd, &number), 0);
	assert_int_equal(number, 104857600);
	put(folder, "memory.events", "low 0\nhigh 0\n");
	assert_int_equal(fence_cgroup_memory_kills(fd, &number), -ENOENT);
	put(folder, "memory.peak", "\n");
	assert_int_equal(fence_cgroup_memory_peak(fd, &number), -EBADMSG);
	for (int i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder,
			       i == 0 ? "memory.events" : "memory.peak");
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(close(fd), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* Any folder tree can be removed as groups are, as long as it has no files. */
static void groups_are_removed_however_deep(void **state)
{
	char folder[] = "/tmp/fence-unit.XXXXXX";
	char path[PATH_MAX];
	int fd, next;

	(void)state;
	assert_non_null(mkdtemp(folder));
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int depth = 0; depth < 500; depth++) {
		assert_int_equal(mkdirat(fd, "a", 0700), 0);
		assert_int_equal(mkdirat(fd, "b", 0700), 0);
		next = openat(fd, "b", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		assert_int_equal(close(fd), 0);
		fd = next;
	}
	assert_int_equal(close(fd), 0);
	assert_int_equal(fence_cgroup_remove(folder), 0);
	assert_int_equal(fence_cgroup_remove(folder), -ENOENT);

	assert_int_equal(mkdir(folder, 0700), 0);
	(void)snprintf(path, sizeof(path), "%s/busy", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	put(path, "file", "what keeps a folder as a process keeps a group\n");
	assert_true(fence_cgroup_remove(folder) < 0);
	(void)snprintf(path, sizeof(path), "%s/busy/file", folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(fence_cgroup_remove(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_group_is_found_below_its_mount),
		cmocka_unit_test(the_old_hierarchies_beside_it_are_not_meant),
		cmocka_unit_test(a_mount_of_a_part_shows_what_is_below_that_part),
		cmocka_unit_test(a_group_above_our_namespace_has_no_folder),
		cmocka_unit_test(memory_numbers_are_the_controllers_own),
		cmocka_unit_test(groups_are_removed_however_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
