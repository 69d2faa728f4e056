/* What is refused to a command that may nest, beside the usual filter. */
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "guard/confine/asking.h"
#include "guard/confine/nesting.h"

#define REFUSED(error) (SECCOMP_RET_ERRNO | (error))

static const struct guard_nesting nothing = { .has_pins = false };
static const struct guard_nesting pins = { .has_pins = true };
static const struct guard_nesting cgroup = { .owns_cgroup = true };
static const struct guard_nesting root = { .as_root = true, .owns_cgroup = true };
static const struct guard_nesting *const all[] = { &nothing, &pins, &cgroup, &root };

static unsigned int answer(const struct guard_nesting *nesting, int number, uint64_t a, uint64_t b,
			   uint64_t c)
{
	static struct sock_filter lines[GUARD_NESTING_LINES];
	struct sock_fprog filter = { .filter = lines };
	struct seccomp_data data = { .nr = number, .args = { a, b, c } };

	filter.len = (unsigned short)guard_nesting_filter(nesting, lines);
	assert_in_range(filter.len, 2, GUARD_NESTING_LINES);
	return guard_asking_answer(&filter, &data);
}

static void what_is_pinned_keeps_its_mounts(void **state)
{
	uint64_t high = UINT64_C(0xffffffff00000000);

	(void)state;
	assert_int_equal(answer(&pins, SYS_umount2, 0, MNT_DETACH, 0), REFUSED(EPERM));
	assert_int_equal(answer(&pins, SYS_umount2, 0, high | MNT_DETACH | UMOUNT_NOFOLLOW, 0),
			 REFUSED(EPERM));
	assert_int_equal(answer(&pins, SYS_umount2, 0, UMOUNT_NOFOLLOW, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(answer(&pins, SYS_pivot_root, 0, 0, 0), REFUSED(EPERM));
	assert_int_equal(answer(&nothing, SYS_umount2, 0, MNT_DETACH, 0), SECCOMP_RET_ALLOW);
	assert_int_equal(answer(&nothing, SYS_pivot_root, 0, 0, 0), SECCOMP_RET_ALLOW);
}

static void no_mount_namespace_is_made_that_is_no_copy(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_int_equal(answer(all[i], SYS_open_tree, 0, 0, OPEN_TREE_CLONE | 0x9100),
				 SECCOMP_RET_ALLOW);
		assert_int_equal(answer(all[i], SYS_open_tree, 0, 0, 2), REFUSED(EINVAL));
		assert_int_equal(answer(all[i], SYS_fsmount, 0, 1, 0), SECCOMP_RET_ALLOW);
		assert_int_equal(answer(all[i], SYS_fsmount, 0, 3, 0), REFUSED(EINVAL));
		assert_int_equal(answer(all[i], SYS_unshare, CLONE_NEWNS | CLONE_NEWUSER, 0, 0),
				 SECCOMP_RET_ALLOW);
	}
}

static void who_may_write_to_the_cgroup_gets_no_namespace_of_them(void **state)
{
	(void)state;
	for (size_t i = 2; i < 4; i++) {
		assert_int_equal(answer(all[i], SYS_clone, CLONE_NEWCGROUP | 17, 0, 0),
				 REFUSED(EPERM));
		assert_int_equal(answer(all[i], SYS_unshare, CLONE_NEWCGROUP, 0, 0),
				 REFUSED(EPERM));
		assert_int_equal(answer(all[i], SYS_clone, CLONE_NEWUSER | 17, 0, 0),
				 SECCOMP_RET_ALLOW);
	}
	assert_int_equal(answer(&nothing, SYS_clone, CLONE_NEWCGROUP, 0, 0), SECCOMP_RET_ALLOW);
}

static void root_sets_no_attributes(void **state)
{
	static const int calls[] = { SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(answer(&root, calls[i], 0, 0, 0), REFUSED(EOPNOTSUPP));
		assert_int_equal(answer(&pins, calls[i], 0, 0, 0), SECCOMP_RET_ALLOW);
	}
	assert_int_equal(answer(&root, SYS_getxattr, 0, 0, 0), SECCOMP_RET_ALLOW);
	assert_true(guard_nesting_caps(&root) == UINT64_C(1) << CAP_SETFCAP);
	assert_true(guard_nesting_caps(&pins) == 0);
}

/* cwd, with what is in it */
static struct guard_plan plan_of(enum guard_op_kind above, enum guard_op_kind in_it)
{
	struct guard_plan plan = { .count = 3 };

	plan.few[0] = (struct guard_op){ .kind = GUARD_OP_MASK, .parent = -1 };
	plan.few[1] = (struct guard_op){ .kind = above, .parent = -1 };
	plan.few[2] = (struct guard_op){ .kind = in_it, .parent = 1 };
	return plan;
}

static bool has_pins(enum guard_op_kind above, enum guard_op_kind in_it, bool skip)
{
	struct guard_plan plan = plan_of(above, in_it);

	plan.ops = plan.few;
	plan.few[2].skip = skip;
	return guard_plan_has_pins(&plan);
}

static void a_mount_in_a_writable_folder_pins(void **state)
{
	(void)state;
	assert_true(has_pins(GUARD_OP_RW, GUARD_OP_RO, false));
	assert_true(has_pins(GUARD_OP_RW, GUARD_OP_MASK, false));
	assert_true(has_pins(GUARD_OP_RW, GUARD_OP_TMPFS, false));
	assert_true(has_pins(GUARD_OP_OVERLAY, GUARD_OP_MASK, false));
	assert_false(has_pins(GUARD_OP_RW, GUARD_OP_RO, true));
	assert_false(has_pins(GUARD_OP_RO, GUARD_OP_MASK, false));
	assert_false(has_pins(GUARD_OP_TMP, GUARD_OP_RW, false));
}

static void root_needs_leave_to_write_a_folder_of_the_hosts(void **state)
{
	static char path[] = "/work";
	struct guard_policy policy = { .allow_nesting = true };
	struct guard_plan plan = plan_of(GUARD_OP_RW, GUARD_OP_RO);
	struct fence_err err = { 0 };

	(void)state;
	plan.ops = plan.few;
	plan.policy = &policy;
	plan.few[1].path = path;
	plan.few[1].st.st_mode = S_IFREG;
	assert_int_equal(guard_nesting_check(&root, &plan, &err), 0);
	plan.few[1].st.st_mode = S_IFDIR;
	assert_int_equal(guard_nesting_check(&pins, &plan, &err), 0);
	assert_int_equal(guard_nesting_check(&root, &plan, &err), -EPERM);
	assert_non_null(strstr(err.what, "/work"));
	policy.allow_set_id = true;
	assert_int_equal(guard_nesting_check(&root, &plan, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_pinned_keeps_its_mounts),
		cmocka_unit_test(no_mount_namespace_is_made_that_is_no_copy),
		cmocka_unit_test(who_may_write_to_the_cgroup_gets_no_namespace_of_them),
		cmocka_unit_test(root_sets_no_attributes),
		cmocka_unit_test(a_mount_in_a_writable_folder_pins),
		cmocka_unit_test(root_needs_leave_to_write_a_folder_of_the_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
