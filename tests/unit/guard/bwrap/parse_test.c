#include "guard/bwrap/bwrap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct parsed {
	struct bwrap bwrap;
	struct fence_err err;
	int rest;
	int rc;
};

static struct bwrap fresh(bool real_root)
{
	return (struct bwrap){
		.mode = -1,
		.userns_fd = -1,
		.userns2_fd = -1,
		.pidns_fd = -1,
		.uid = -1,
		.gid = -1,
		.sync_fd = -1,
		.block_fd = -1,
		.userns_block_fd = -1,
		.info_fd = -1,
		.json_fd = -1,
		.name = "fence-bwrap",
		.program = "fence-bwrap",
		.real_root = real_root,
	};
}

static struct parsed parse(int real_root, ...)
{
	struct parsed parsed = { .bwrap = fresh(real_root != 0) };
	const char *argv[32] = { "fence-bwrap" };
	struct fence_text text;
	char buf[64];
	va_list words;
	int argc = 1;

	va_start(words, real_root);
	while ((argv[argc] = va_arg(words, const char *)) != NULL)
		argc++;
	va_end(words);
	fence_text_init(&text, buf, sizeof(buf));
	parsed.rc = bwrap_parse(&parsed.bwrap, argc, (char *const *)(uintptr_t)argv, &parsed.rest,
				&text, &parsed.err);
	return parsed;
}

static void operations_keep_their_order(void **state)
{
	struct parsed parsed = parse(true, "--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs",
				     "/tmp", "true", "--dir", NULL);

	(void)state;
	assert_int_equal(parsed.rc, FENCE_OPTS_PARSED);
	assert_int_equal(parsed.rest, 8);
	assert_int_equal(parsed.bwrap.op_count, 3);
	assert_int_equal(parsed.bwrap.ops[0].kind, BWRAP_BIND);
	assert_true(parsed.bwrap.ops[0].read_only);
	assert_int_equal(parsed.bwrap.ops[1].kind, BWRAP_DEV);
	assert_string_equal(parsed.bwrap.ops[2].dest, "/tmp");
	bwrap_free(&parsed.bwrap);
}

static void a_mode_and_a_size_are_for_the_next_option_alone(void **state)
{
	struct parsed parsed = parse(true, "--perms", "0700", "--size", "4096", "--tmpfs", "/a",
				     "--tmpfs", "/b", "true", NULL);

	(void)state;
	assert_int_equal(parsed.rc, FENCE_OPTS_PARSED);
	assert_int_equal(parsed.bwrap.ops[0].mode, 0700);
	assert_int_equal(parsed.bwrap.ops[0].size_bytes, 4096);
	assert_int_equal(parsed.bwrap.ops[1].mode, -1);
	assert_int_equal(parsed.bwrap.ops[1].size_bytes, 0);
	bwrap_free(&parsed.bwrap);
}

static void sizes_that_are_none_are_refused(void **state)
{
	static const char *const sizes[] = {
		"0", "-1", " 5", "", "18446744073709551616", "9223372036854775808", "12x", "0x10"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct parsed parsed =
			parse(true, "--size", sizes[i], "--tmpfs", "/a", "true", NULL);

		assert_int_equal(parsed.rc, -EINVAL);
		assert_non_null(strstr(parsed.err.what, "--size"));
		bwrap_free(&parsed.bwrap);
	}
}

static void only_uid_0_can_do_without_a_user_namespace(void **state)
{
	struct parsed root = parse(true, "true", NULL);
	struct parsed user = parse(false, "true", NULL);
	struct parsed all = parse(true, "--unshare-all", "true", NULL);

	(void)state;
	assert_int_equal(root.bwrap.user, BWRAP_NO);
	assert_int_equal(user.bwrap.user, BWRAP_YES);
	assert_int_equal(all.bwrap.user, BWRAP_TRY);
	bwrap_free(&root.bwrap);
	bwrap_free(&user.bwrap);
	bwrap_free(&all.bwrap);
}

static void capabilities_are_changed_in_the_order_given(void **state)
{
	struct parsed added =
		parse(false, "--cap-drop", "ALL", "--cap-add", "CAP_KILL", "true", NULL);
	struct parsed dropped =
		parse(false, "--cap-add", "CAP_KILL", "--cap-drop", "ALL", "true", NULL);

	(void)state;
	assert_int_equal(added.bwrap.caps, 1 << 5);
	assert_int_equal(dropped.bwrap.caps, 0);
	assert_true(dropped.bwrap.caps_named);
	bwrap_free(&added.bwrap);
	bwrap_free(&dropped.bwrap);
}

static void words_come_from_a_descriptor(void **state)
{
	static const char words[] = "--dir\0/a b\0--tmpfs\0/c";
	int fd = memfd_create("args", 0);
	char number[16];
	struct parsed parsed;

	(void)state;
	assert_int_equal(write(fd, words, sizeof(words)), sizeof(words));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	(void)snprintf(number, sizeof(number), "%d", fd);
	parsed = parse(true, "--args", number, "true", NULL);
	assert_int_equal(parsed.rc, FENCE_OPTS_PARSED);
	assert_int_equal(parsed.rest, 3);
	assert_int_equal(parsed.bwrap.op_count, 2);
	assert_string_equal(parsed.bwrap.ops[0].dest, "/a b");
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	bwrap_free(&parsed.bwrap);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_keep_their_order),
		cmocka_unit_test(a_mode_and_a_size_are_for_the_next_option_alone),
		cmocka_unit_test(sizes_that_are_none_are_refused),
		cmocka_unit_test(only_uid_0_can_do_without_a_user_namespace),
		cmocka_unit_test(capabilities_are_changed_in_the_order_given),
		cmocka_unit_test(words_come_from_a_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
