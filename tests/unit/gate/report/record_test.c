#include "gate/report/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/json.h"
#include "fence/own.h"

/* What was written to the descriptor, parsed as one object of strings. */
static void assert_member(int fd, const char *name, const char *wanted, size_t wanted_bytes)
{
	static const struct fence_json_limits limits = { .size_bytes = 1 << 21, .depth = 8 };
	off_t size_bytes = lseek(fd, 0, SEEK_END);
	owned_mem char *text = malloc((size_t)size_bytes + 1);
	owned_mem char *got = malloc((size_t)size_bytes + 1);
	struct fence_json root, member;
	struct fence_json_fault fault;
	size_t got_bytes;

	assert_non_null(text);
	assert_non_null(got);
	assert_int_equal(pread(fd, text, (size_t)size_bytes, 0), size_bytes);
	assert_int_equal(text[size_bytes - 1], '\n');
	assert_int_equal(fence_json_parse(text, (size_t)size_bytes, &limits, &root, &fault), 0);
	assert_int_equal(fence_json_member(&root, name, &member), 0);
	assert_int_equal(fence_json_string(&member, got, (size_t)size_bytes + 1, &got_bytes), 0);
	assert_int_equal(got_bytes, wanted_bytes);
	assert_memory_equal(got, wanted, wanted_bytes);
}

static void a_text_of_any_length_is_one_string(void **state)
{
	static const size_t lengths[] = { 0, 1, 511, 512, 513, 8190, 8191, 8192, 262144 };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		owned_fd fd = memfd_create("record", MFD_CLOEXEC);
		owned_mem char *text = malloc(lengths[i] + 1);
		struct gate_json json;

		assert_non_null(text);
		memset(text, 'x', lengths[i]);
		gate_json_init(&json, fd);
		fence_jsonw_open(gate_json_small(&json), NULL, '{');
		gate_json_text(&json, "long", text, lengths[i]);
		gate_json_string(&json, "after", "end");
		fence_jsonw_close(gate_json_small(&json), '}');
		assert_int_equal(gate_json_line(&json), 0);
		assert_member(fd, "long", text, lengths[i]);
		assert_member(fd, "after", "end", 3);
	}
}

static void bytes_that_grow_when_they_are_escaped_still_fit(void **state)
{
	owned_fd fd = memfd_create("record", MFD_CLOEXEC);
	char text[4096], wanted[4 * sizeof(text) + 1];
	struct gate_json json;

	(void)state;
	memset(text, 0x1b, sizeof(text));
	for (size_t i = 0; i < sizeof(text); i++)
		memcpy(wanted + 4 * i, "\\x1b", 4);
	gate_json_init(&json, fd);
	fence_jsonw_open(gate_json_small(&json), NULL, '{');
	gate_json_text(&json, "esc", text, sizeof(text));
	memset(text, '\n', sizeof(text));
	gate_json_text(&json, "lines", text, sizeof(text));
	fence_jsonw_close(gate_json_small(&json), '}');
	assert_int_equal(gate_json_line(&json), 0);
	assert_member(fd, "esc", wanted, 4 * sizeof(text));
	assert_member(fd, "lines", text, sizeof(text));
}

static void the_total_counts_what_is_still_in_the_buffer(void **state)
{
	owned_fd fd = memfd_create("record", MFD_CLOEXEC);
	struct gate_json json;

	(void)state;
	gate_json_init(&json, fd);
	gate_json_string(&json, NULL, "abc");
	assert_int_equal(gate_json_total(&json), 5);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	assert_int_equal(gate_json_line(&json), 0);
	assert_int_equal(gate_json_total(&json), 6);
	assert_int_equal(lseek(fd, 0, SEEK_END), 6);
}

static void a_failed_write_is_remembered(void **state)
{
	struct gate_json json;

	(void)state;
	gate_json_init(&json, -1);
	gate_json_string(&json, NULL, "abc");
	assert_true(gate_json_line(&json) < 0);
	gate_json_string(&json, NULL, "abc");
	assert_true(gate_json_line(&json) < 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_of_any_length_is_one_string),
		cmocka_unit_test(bytes_that_grow_when_they_are_escaped_still_fit),
		cmocka_unit_test(the_total_counts_what_is_still_in_the_buffer),
		cmocka_unit_test(a_failed_write_is_remembered),
	};

	return cmocka_run_group_tests_name("gate/report/record", tests, NULL, NULL);
}
