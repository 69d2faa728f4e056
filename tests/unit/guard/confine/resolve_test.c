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
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "guard/confine/resolve.h"

struct place {
	char base[64];
	int count; /* links seen */
	char last[PATH_MAX];
};

static void put(const char *base, const char *name)
{
	char path[512];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", base, name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	(void)close(fd);
}

static void put_link(const char *base, const char *name, const char *target)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", base, name);
	assert_int_equal(symlink(target, path), 0);
}

static void put_dir(const char *base, const char *name)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", base, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static int set_up(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	memcpy(place->base, "/tmp/fence-resolve.XXXXXX", 26);
	if (mkdtemp(place->base) == NULL)
		return -1;
	put_dir(place->base, "a");
	put_dir(place->base, "a/b c");
	put(place->base, "a/b c/f\n");
	put_link(place->base, "rel", "a/b c");
	put_link(place->base, "abs", place->base);
	put_link(place->base, "loop", "loop");
	put_link(place->base, "gone", "nowhere/x");
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "a/b c/f\n", "rel", "abs", "loop", "gone" };
	struct place *place = *state;
	char path[512];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", place->base, names[i]);
		(void)unlink(path);
	}
	(void)snprintf(path, sizeof(path), "%s/a/b c", place->base);
	(void)rmdir(path);
	(void)snprintf(path, sizeof(path), "%s/a", place->base);
	(void)rmdir(path);
	(void)rmdir(place->base);
	free(place);
	return 0;
}

static int seen(void *arg, const struct guard_object *link)
{
	struct place *place = arg;

	place->count++;
	memcpy(place->last, link->path, sizeof(place->last));
	assert_true(S_ISLNK(link->st.st_mode));
	return 0;
}

static void expect(struct place *place, const char *path, const char *wanted, int links)
{
	struct guard_link_watch watch = { .seen = seen, .arg = place };
	struct guard_object object;
	char whole[PATH_MAX];

	(void)snprintf(whole, sizeof(whole), "%s%s", place->base, wanted);
	place->count = 0;
	assert_int_equal(guard_resolve_quick(place->base, path, &watch, &object), 0);
	assert_string_equal(object.path, whole);
	assert_int_equal(place->count, links);
	fence_drop_fd(&object.fd);
	place->count = 0;
	assert_int_equal(guard_resolve(place->base, path, &watch, &object), 0);
	assert_string_equal(object.path, whole);
	assert_int_equal(place->count, links);
	fence_drop_fd(&object.fd);
}

static void a_path_becomes_absolute_and_without_links(void **state)
{
	struct place *place = *state;

	expect(place, "a", "/a", 0);
	expect(place, "./a//b c/", "/a/b c", 0);
	expect(place, "a/../a/b c/f\n", "/a/b c/f\n", 0);
	expect(place, "rel/f\n", "/a/b c/f\n", 1);
	expect(place, "rel/../b c", "/a/b c", 1);
	expect(place, "abs/abs/rel", "/a/b c", 3);
	assert_non_null(strstr(place->last, "/rel"));
	expect(place, ".", "", 0);
}

static void what_is_missing_ends_at_its_nearest_ancestor(void **state)
{
	struct place *place = *state;
	struct guard_object object;
	char whole[PATH_MAX];

	assert_int_equal(guard_resolve(place->base, "a/no/where", NULL, &object), -ENOENT);
	(void)snprintf(whole, sizeof(whole), "%s/a", place->base);
	assert_string_equal(object.path, whole);
	assert_true(object.fd >= 0);
	fence_drop_fd(&object.fd);
	assert_int_equal(guard_resolve_quick(place->base, "a/no", NULL, &object), -ENOENT);
	assert_int_equal(object.fd, -1);
	assert_int_equal(guard_resolve_quick(place->base, "gone", NULL, &object), -ENOENT);
	assert_int_equal(object.fd, -1);
	assert_int_equal(guard_resolve_quick(place->base, "loop", NULL, &object), -ELOOP);
	assert_int_equal(object.fd, -1);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
	struct place *place = *state;
	struct guard_object object;
	char path[3 * PATH_MAX];

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(guard_resolve_quick(place->base, path, NULL, &object), -ENAMETOOLONG);
	path[300] = '\0';
	assert_int_equal(guard_resolve_quick(place->base, path, NULL, &object), -ENAMETOOLONG);
}

static void another_object_under_the_same_name_is_stale(void **state)
{
	struct place *place = *state;
	struct guard_object object;
	struct stat other;
	int fd;

	assert_int_equal(guard_resolve_quick(place->base, "a/b c/f\n", NULL, &object), 0);
	fd = guard_reopen(object.path, &object.st);
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(stat("/", &other), 0);
	assert_int_equal(guard_reopen(object.path, &other), -ESTALE);
	fence_drop_fd(&object.fd);
}

static void within_is_by_whole_components(void **state)
{
	(void)state;
	assert_true(guard_path_within("/a", "/a"));
	assert_true(guard_path_within("/a/b", "/a"));
	assert_true(guard_path_within("/a", "/"));
	assert_false(guard_path_within("/ab", "/a"));
	assert_false(guard_path_within("/a", "/a/b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_path_becomes_absolute_and_without_links, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_is_missing_ends_at_its_nearest_ancestor,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_path_that_is_too_long_is_refused, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(another_object_under_the_same_name_is_stale, set_up,
						tear_down),
		cmocka_unit_test(within_is_by_whole_components),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
