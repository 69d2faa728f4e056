#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "guard/confine/root.h"
#include "guard/policy/policy.h"

/* A tree with a project in it, and in that another folder. */
static void fill(struct guard_plan *plan)
{
	static const char *const views[][2] = {
		{ "/srv/tree", "/" },
		{ "/home/ann/project", "/work" },
		{ "/var/cache", "/work/cache" },
	};

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		assert_int_equal(guard_names_add(&plan->inner.sources, views[i][0]), 0);
		assert_int_equal(guard_names_add(&plan->inner.dests, views[i][1]), 0);
	}
}

static void drop(struct guard_plan *plan)
{
	guard_names_free(&plan->inner.sources);
	guard_names_free(&plan->inner.dests);
}

static void a_path_of_the_command_has_a_name_on_the_host(void **state)
{
	static const char *const names[][2] = {
		{ "/", "/srv/tree" },
		{ "/etc/passwd", "/srv/tree/etc/passwd" },
		{ "/work", "/home/ann/project" },
		{ "/work/a/b", "/home/ann/project/a/b" },
		{ "/workshop", "/srv/tree/workshop" },
		{ "/work/cache/x", "/var/cache/x" },
	};
	static struct guard_plan plan;
	char outer[PATH_MAX];

	(void)state;
	fill(&plan);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(guard_root_outer(&plan, names[i][0], outer), 0);
		assert_string_equal(outer, names[i][1]);
	}
	drop(&plan);
}

static void the_last_bind_covers_those_before_it(void **state)
{
	static struct guard_plan plan;
	char outer[PATH_MAX];

	(void)state;
	fill(&plan);
	assert_int_equal(guard_names_add(&plan.inner.sources, "/opt"), 0);
	assert_int_equal(guard_names_add(&plan.inner.dests, "/work"), 0);
	assert_int_equal(guard_root_outer(&plan, "/work/cache/x", outer), 0);
	assert_string_equal(outer, "/opt/cache/x");
	drop(&plan);
}

static void what_is_of_the_machine_is_told_by_its_name_there(void **state)
{
	static struct guard_plan plan;

	(void)state;
	fill(&plan);
	assert_int_equal(guard_names_add(&plan.inner.sources, "/"), 0);
	assert_int_equal(guard_names_add(&plan.inner.dests, "/host"), 0);
	assert_true(guard_root_is_machine(&plan, "/host"));
	assert_true(guard_root_is_machine(&plan, "/host/proc/sys"));
	assert_true(guard_root_is_machine(&plan, "/host/sys"));
	assert_false(guard_root_is_machine(&plan, "/host/system"));
	assert_false(guard_root_is_machine(&plan, "/sys"));
	assert_false(guard_root_is_machine(&plan, "/work"));
	drop(&plan);
}

static void a_path_of_the_host_is_seen_where_it_comes_in(void **state)
{
	static const char *const names[][2] = {
		{ "/srv/tree", "/" },
		{ "/srv/tree/etc", "/etc" },
		{ "/home/ann/project", "/work" },
		{ "/home/ann/project/.env", "/work/.env" },
		{ "/var/cache/x", "/work/cache/x" },
	};
	static struct guard_plan plan;

	(void)state;
	fill(&plan);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct guard_names inner = { .items = NULL };

		assert_int_equal(guard_root_inner(&plan, names[i][0], &inner), 0);
		assert_int_equal(inner.count, 1);
		assert_string_equal(inner.items[0], names[i][1]);
		guard_names_free(&inner);
	}
	drop(&plan);
}

static void what_does_not_come_in_has_no_name_inside(void **state)
{
	static const char *const names[] = { "/", "/etc", "/home/ann", "/home/ann/project2" };
	static struct guard_plan plan;
	struct guard_names inner = { .items = NULL };

	(void)state;
	fill(&plan);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(guard_root_inner(&plan, names[i], &inner), 0);
	assert_int_equal(inner.count, 0);
	drop(&plan);
}

static void a_path_that_becomes_too_long_is_an_error(void **state)
{
	static struct guard_plan plan;
	char path[PATH_MAX];
	char outer[PATH_MAX];

	(void)state;
	fill(&plan);
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 2] = '\0';
	assert_int_equal(guard_root_outer(&plan, path, outer), -ENAMETOOLONG);
	drop(&plan);
}

static void a_bind_is_a_source_and_an_absolute_dest(void **state)
{
	static const struct {
		const char *text, *source, *dest;
	} good[] = {
		{ ".:/work", ".", "/work" },
		{ "/a:b:/c:d", "/a:b", "/c:d" },
		{ "/x:/y:/z", "/x:/y", "/z" },
		{ "a b\n:/c", "a b\n", "/c" },
	};
	static const char *const bad[] = { "", ":/x", "a", "a:b", "/a/b", "a:" };
	struct guard_policy policy;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		guard_policy_init(&policy);
		assert_int_equal(guard_policy_add_bind(&policy, GUARD_RO, good[i].text, NULL), 0);
		assert_string_equal(policy.binds[0].source, good[i].source);
		assert_string_equal(policy.binds[0].dest, good[i].dest);
		assert_int_equal(policy.rules[0].access, GUARD_RO);
		assert_string_equal(policy.rules[0].path, good[i].dest);
		guard_policy_free(&policy);
	}
	guard_policy_init(&policy);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(guard_policy_add_bind(&policy, GUARD_RW, bad[i], NULL), -EINVAL);
	assert_int_equal(policy.bind_count, 0);
	guard_policy_free(&policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_of_the_command_has_a_name_on_the_host),
		cmocka_unit_test(the_last_bind_covers_those_before_it),
		cmocka_unit_test(what_is_of_the_machine_is_told_by_its_name_there),
		cmocka_unit_test(a_path_of_the_host_is_seen_where_it_comes_in),
		cmocka_unit_test(what_does_not_come_in_has_no_name_inside),
		cmocka_unit_test(a_path_that_becomes_too_long_is_an_error),
		cmocka_unit_test(a_bind_is_a_source_and_an_absolute_dest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
