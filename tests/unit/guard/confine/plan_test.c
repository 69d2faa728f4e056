/* What a command line becomes: an ordered list of operations. Building it only
 * looks, so it is tested here without confining anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/confine/placeholder.h"
#include "guard/confine/plan.h"

struct fixture {
	char base[PATH_MAX]; /* the working directory */
	char before[PATH_MAX];
	struct guard_policy policy;
	struct guard_plan plan;
	struct fence_err err;
};

static void put(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	(void)close(fd);
}

/* Not below /tmp, which every plan hides. Where /var/tmp is read-only, as in a sandbox
 * of our own, the place we work in will do. */
static bool make_base(struct fixture *f)
{
	char here[PATH_MAX - 32];

	memcpy(f->base, "/var/tmp/fence-plan.XXXXXX", 27);
	if (mkdtemp(f->base) != NULL)
		return true;
	if (errno != EROFS || getcwd(here, sizeof(here)) == NULL)
		return false;
	(void)snprintf(f->base, sizeof(f->base), "%s/fence-plan.XXXXXX", here);
	return mkdtemp(f->base) != NULL;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!make_base(f) || getcwd(f->before, sizeof(f->before)) == NULL || chdir(f->base) < 0)
		return -1;
	if (mkdir("a", 0700) < 0 || mkdir("a/b", 0700) < 0 || mkdir("a-x", 0700) < 0)
		return -1;
	put("a/b/file");
	put("plain");
	guard_policy_init(&f->policy);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	guard_plan_free(&f->plan);
	guard_policy_free(&f->policy);
	if (chdir(f->base) == 0) {
		(void)unlink("second");
		(void)unlink("plain");
		(void)unlink("a/b/file");
		(void)rmdir("a/b");
		(void)rmdir("a");
		(void)rmdir("a-x");
		(void)unlink(".git/HEAD");
		(void)rmdir(".git/objects");
		(void)rmdir(".git/refs");
		(void)rmdir(".git");
	}
	assert_int_equal(chdir(f->before), 0);
	(void)rmdir(f->base);
	free(f);
	return 0;
}

static void rule(struct fixture *f, enum guard_access access, const char *path)
{
	assert_int_equal(guard_policy_add_rule(&f->policy, access, path, NULL), 0);
}

static int build(struct fixture *f)
{
	return guard_plan_build(&f->plan, &f->policy, &f->err);
}

/* The operation at `path` below the working directory, or NULL. */
static const struct guard_op *at(const struct fixture *f, const char *path)
{
	char whole[PATH_MAX + 64];

	(void)snprintf(whole, sizeof(whole), "%s%s", f->base, path);
	for (size_t i = 0; i < f->plan.count; i++)
		if (strcmp(f->plan.ops[i].path, whole) == 0 && !f->plan.ops[i].skip)
			return &f->plan.ops[i];
	return NULL;
}

static void assert_kind(const struct fixture *f, const char *path, enum guard_op_kind kind)
{
	const struct guard_op *op = at(f, path);

	assert_non_null(op);
	assert_int_equal(op->kind, kind);
}

static void parents_come_before_children(void **state)
{
	struct fixture *f = *state;

	rule(f, GUARD_RO, "a/b");
	rule(f, GUARD_DENY, "a-x");
	rule(f, GUARD_TMPFS, "a");
	assert_int_equal(build(f), 0);
	assert_kind(f, "", GUARD_OP_RW);
	assert_kind(f, "/a", GUARD_OP_TMPFS);
	assert_kind(f, "/a/b", GUARD_OP_RO);
	assert_kind(f, "/a-x", GUARD_OP_MASK);
	assert_true(at(f, "") < at(f, "/a"));
	assert_true(at(f, "/a") < at(f, "/a/b"));
	assert_ptr_equal(&f->plan.ops[at(f, "/a/b")->parent], at(f, "/a"));
	assert_ptr_equal(&f->plan.ops[at(f, "/a-x")->parent], at(f, ""));
}

static void protection_pins_the_way_up_to_the_writable_root(void **state)
{
	struct fixture *f = *state;

	rule(f, GUARD_PROTECT, "a/b/file");
	assert_int_equal(build(f), 0);
	assert_kind(f, "/a/b/file", GUARD_OP_RO);
	assert_true(at(f, "/a/b/file")->shut);
	assert_kind(f, "/a/b", GUARD_OP_PIN);
	assert_kind(f, "/a", GUARD_OP_PIN);
	assert_kind(f, "", GUARD_OP_RW);
}

static void what_is_read_only_needs_no_protection(void **state)
{
	struct fixture *f = *state;

	rule(f, GUARD_RO, "a");
	rule(f, GUARD_PROTECT, "a/b/file");
	assert_int_equal(build(f), 0);
	assert_null(at(f, "/a/b/file"));
	assert_null(at(f, "/a/b"));
}

static void what_is_hidden_needs_no_mask(void **state)
{
	struct fixture *f = *state;

	rule(f, GUARD_DENY, "a");
	rule(f, GUARD_DENY, "a/b/file");
	assert_int_equal(build(f), 0);
	assert_kind(f, "/a", GUARD_OP_MASK);
	assert_null(at(f, "/a/b/file"));
}

static void nothing_is_shown_below_a_mask(void **state)
{
	struct fixture *f = *state;

	rule(f, GUARD_DENY, "a");
	rule(f, GUARD_RW, "a/b");
	assert_int_equal(build(f), -EINVAL);
	assert_non_null(strstr(f->err.what, "/a/b"));
}

static void nor_below_a_mask_that_is_hidden_itself(void **state)
{
	struct fixture *f = *state;

	rule(f, GUARD_TMPFS, "a");
	rule(f, GUARD_DENY, "a/b");
	assert_int_equal(build(f), 0);
	assert_null(at(f, "/a/b"));
	guard_plan_free(&f->plan);
	rule(f, GUARD_RW, "a/b/file");
	assert_int_equal(build(f), -EINVAL);
}

static void contradictions_are_errors_and_repetitions_are_not(void **state)
{
	struct fixture *f = *state;

	rule(f, GUARD_DENY, "a");
	rule(f, GUARD_DENY, "./a/");
	assert_int_equal(build(f), 0);
	assert_kind(f, "/a", GUARD_OP_MASK);
	guard_plan_free(&f->plan);
	rule(f, GUARD_RO, "a");
	assert_int_equal(build(f), -EINVAL);
}

static void what_is_named_decides_over_the_working_directory(void **state)
{
	struct fixture *f = *state;

	rule(f, GUARD_RO, ".");
	rule(f, GUARD_RW, "a");
	assert_int_equal(build(f), 0);
	/* Read-only as everything is; but below /tmp that would not be there. */
	if (strncmp(f->base, "/tmp/", 5) == 0)
		assert_kind(f, "", GUARD_OP_RO);
	else
		assert_null(at(f, ""));
	assert_kind(f, "/a", GUARD_OP_RW);
}

static void the_new_proc_cannot_be_replaced(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(chdir("/proc"), 0);
	assert_int_equal(build(f), 0);
	for (size_t i = 0; i < f->plan.count; i++)
		if (strcmp(f->plan.ops[i].path, "/proc") == 0)
			assert_int_equal(f->plan.ops[i].kind, GUARD_OP_PROC);
	guard_plan_free(&f->plan);
	rule(f, GUARD_RO, "/proc");
	assert_int_equal(build(f), -EINVAL);
}

static void what_is_denied_and_absent_is_noted(void **state)
{
	struct fixture *f = *state;

	rule(f, GUARD_DENY, "nope");
	assert_int_equal(build(f), 0);
	assert_int_equal(f->plan.absent_denied.count, 1);
	assert_string_equal(f->plan.absent_denied.items[0], "nope");
}

/* In a sandbox, as these tests may be in one of ours, it is. */
static bool registry_is_read_only(void)
{
	char path[64];

	guard_placeholder_registry(path, sizeof(path));
	*strrchr(path, '/') = '\0';
	return access(path, W_OK) < 0 && errno == EROFS;
}

static void what_is_protected_and_absent_is_held_by_a_placeholder_that_is_registered(void **state)
{
	struct fixture *f = *state;

	rule(f, GUARD_PROTECT, "a/nope");
	if (registry_is_read_only()) {
		assert_int_equal(build(f), -EROFS);
		assert_int_equal(access("a/nope", F_OK), -1);
		return;
	}
	assert_int_equal(build(f), 0);
	assert_kind(f, "/a/nope", GUARD_OP_RO);
	assert_kind(f, "/a", GUARD_OP_PIN);
	assert_int_equal(f->plan.placeholders.count, 1);
	assert_int_equal(access("a/nope", F_OK), 0);
	for (size_t i = 0; i < f->plan.lock_count; i++)
		assert_int_equal(close(f->plan.locks[i]), 0);
	guard_plan_free(&f->plan);
	guard_placeholder_sweep();
	assert_int_equal(access("a/nope", F_OK), -1);
}

static void a_second_name_is_refused_unless_allowed(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(link("plain", "second"), 0);
	rule(f, GUARD_DENY, "plain");
	assert_int_equal(build(f), -EMLINK);
	guard_plan_free(&f->plan);
	f->policy.allow_hardlinks = true;
	assert_int_equal(build(f), 0);
	assert_kind(f, "/plain", GUARD_OP_MASK);
}

static void make_repository(void)
{
	assert_int_equal(mkdir(".git", 0700), 0);
	assert_int_equal(mkdir(".git/objects", 0700), 0);
	assert_int_equal(mkdir(".git/refs", 0700), 0);
	put(".git/HEAD");
}

static void a_repository_is_a_private_copy(void **state)
{
	struct fixture *f = *state;

	make_repository();
	assert_int_equal(build(f), 0);
	assert_kind(f, "/.git", GUARD_OP_OVERLAY);
	assert_true(at(f, "/.git")->is_private);
}

static void what_is_no_repository_is_read_only(void **state)
{
	struct fixture *f = *state;

	make_repository();
	assert_int_equal(unlink(".git/HEAD"), 0);
	assert_int_equal(build(f), 0);
	assert_kind(f, "/.git", GUARD_OP_RO);
}

static void a_rule_decides_over_the_copy(void **state)
{
	static const struct {
		enum guard_access access;
		enum guard_op_kind kind;
	} rules[] = {
		{ GUARD_RO, GUARD_OP_RO },	 { GUARD_RW, GUARD_OP_RW },
		{ GUARD_PROTECT, GUARD_OP_RO },	 { GUARD_DENY, GUARD_OP_MASK },
		{ GUARD_TMPFS, GUARD_OP_TMPFS }, { GUARD_OVERLAY, GUARD_OP_OVERLAY },
	};
	struct fixture *f = *state;

	make_repository();
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		guard_plan_free(&f->plan);
		guard_policy_free(&f->policy);
		guard_policy_init(&f->policy);
		rule(f, rules[i].access, ".git");
		assert_int_equal(build(f), 0);
		assert_kind(f, "/.git", rules[i].kind);
		assert_false(at(f, "/.git")->is_private);
	}
}

static void there_is_no_copy_where_nothing_is_writable(void **state)
{
	struct fixture *f = *state;

	make_repository();
	assert_int_equal(guard_policy_set_profile(&f->policy, "evaluator", NULL), 0);
	assert_int_equal(build(f), 0);
	assert_null(at(f, "/.git"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(parents_come_before_children),
		TEST(protection_pins_the_way_up_to_the_writable_root),
		TEST(what_is_read_only_needs_no_protection),
		TEST(what_is_hidden_needs_no_mask),
		TEST(nothing_is_shown_below_a_mask),
		TEST(nor_below_a_mask_that_is_hidden_itself),
		TEST(contradictions_are_errors_and_repetitions_are_not),
		TEST(what_is_named_decides_over_the_working_directory),
		TEST(the_new_proc_cannot_be_replaced),
		TEST(what_is_denied_and_absent_is_noted),
		TEST(what_is_protected_and_absent_is_held_by_a_placeholder_that_is_registered),
		TEST(a_second_name_is_refused_unless_allowed),
		TEST(a_repository_is_a_private_copy),
		TEST(what_is_no_repository_is_read_only),
		TEST(a_rule_decides_over_the_copy),
		TEST(there_is_no_copy_where_nothing_is_writable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
