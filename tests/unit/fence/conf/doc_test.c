#include "fence/conf/doc.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fence/own.h"
#include "fence/sys.h"

static struct fence_doc *must_parse(const char *text)
{
	struct fence_doc *doc = NULL;
	struct fence_err err = { 0 };

	if (fence_doc_parse("p.json", text, strlen(text), &doc, &err) < 0)
		fail_msg("%s: %s", err.what, err.why);
	return doc;
}

static void says(const struct fence_err *err, const char *wanted)
{
	char line[1200];

	fence_err_line(err, "t", line, sizeof(line));
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(line, wanted);
}

static void values_are_read_by_their_type(void **state)
{
	owned_doc *doc =
		must_parse("{\"name\":\"caf\\u00e9\",\"count\":-3,\"on\":true,\"list\":[1,2]}");
	struct fence_doc_node root, node;
	struct fence_err err;
	const char *text;
	int64_t number;
	size_t count;
	bool on;

	(void)state;
	fence_doc_root(doc, &root);
	assert_int_equal(fence_doc_need(&root, "name", &node, &err), 0);
	assert_int_equal(fence_doc_string(&node, &text, &err), 0);
	assert_string_equal(text, "caf\xc3\xa9");
	assert_int_equal(fence_doc_get(&root, "count", &node, &err), 0);
	assert_int_equal(fence_doc_int(&node, -5, 5, &number, &err), 0);
	assert_int_equal(number, -3);
	assert_int_equal(fence_doc_get(&root, "on", &node, &err), 0);
	assert_int_equal(fence_doc_bool(&node, &on, &err), 0);
	assert_true(on);
	assert_int_equal(fence_doc_get(&root, "list", &node, &err), 0);
	assert_int_equal(fence_doc_count(&node, &count, &err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(fence_doc_get(&root, "Name", &node, &err), -ENOENT);
}

static void a_complaint_names_the_place(void **state)
{
	owned_doc *doc = must_parse("{\"filesystem\":{\"write\":[\"/a\",\"/b\",7]},\"n\":1.5}");
	struct fence_doc_node root, fs, write, item;
	struct fence_err err = { 0 };
	const char *text;
	int64_t number;
	bool on;

	(void)state;
	fence_doc_root(doc, &root);
	assert_int_equal(fence_doc_get(&root, "filesystem", &fs, &err), 0);
	assert_int_equal(fence_doc_get(&fs, "write", &write, &err), 0);
	fence_doc_at(&write, 2, &item);
	assert_int_equal(fence_doc_string(&item, &text, &err), -EINVAL);
	says(&err, "t: p.json: filesystem.write[2]: a number; must be a string");
	assert_int_equal(fence_doc_int(&item, 8, 9, &number, &err), -ERANGE);
	says(&err, "t: p.json: filesystem.write[2]: must be between 8 and 9");
	assert_int_equal(fence_doc_bool(&write, &on, &err), -EINVAL);
	says(&err, "t: p.json: filesystem.write: an array; must be true or false");
	assert_int_equal(fence_doc_need(&fs, "read", &item, &err), -ENOENT);
	says(&err, "t: p.json: filesystem.read: missing");
	assert_int_equal(fence_doc_get(&write, "x", &item, &err), -EINVAL);
	says(&err, "t: p.json: filesystem.write: an array; must be an object");
	assert_int_equal(fence_doc_get(&root, "n", &item, &err), 0);
	assert_int_equal(fence_doc_int(&item, 0, 9, &number, &err), -EINVAL);
	says(&err, "t: p.json: n: must be a whole number");
}

static void an_unknown_key_is_refused_with_the_nearest(void **state)
{
	static const char *const keys[] = { "read", "write", "deny" };
	owned_doc *doc = must_parse("{\"fs\":{\"read\":1,\"wirte\":2}}");
	owned_doc *fine = must_parse("{\"deny\":1,\"read\":2}");
	struct fence_doc_node root, fs;
	struct fence_err err = { 0 };

	(void)state;
	fence_doc_root(doc, &root);
	assert_int_equal(fence_doc_get(&root, "fs", &fs, &err), 0);
	assert_int_equal(fence_doc_only(&fs, keys, 3, &err), -EINVAL);
	says(&err, "t: p.json: fs.wirte: unknown key; did you mean \"write\"?");
	fence_doc_root(fine, &root);
	assert_int_equal(fence_doc_only(&root, keys, 3, &err), 0);
}

static void a_fault_is_named_by_line_and_column(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{ "{\n  \"a\": 1,\n  \"a\": 2\n}",
		  "t: p.json:3:3: this key is in the object already" },
		{ "{\"a\":9007199254740993}", "t: p.json:1:6: a number beyond 2^53" },
		{ "[1] 2", "t: p.json:1:5: more after the value" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fence_doc *doc = NULL;
		struct fence_err err = { 0 };

		assert_int_equal(fence_doc_parse("p.json", cases[i].text, strlen(cases[i].text),
						 &doc, &err),
				 -EBADMSG);
		says(&err, cases[i].wanted);
		assert_null(doc);
	}
}

static void nesting_deeper_than_32_is_refused(void **state)
{
	char text[70];
	struct fence_doc *doc = NULL;
	struct fence_err err = { 0 };

	(void)state;
	memset(text, '[', 33);
	memset(text + 33, ']', 33);
	assert_int_equal(fence_doc_parse("d", text, 66, &doc, &err), -EBADMSG);
	says(&err, "t: d:1:33: nested too deep");
	assert_int_equal(fence_doc_parse("d", text + 1, 64, &doc, &err), 0);
	fence_doc_free(doc);
}

static void a_long_way_keeps_its_end(void **state)
{
	char text[2000] = "", key[60];
	struct fence_doc_node node;
	struct fence_err err;
	owned_doc *doc = NULL;

	(void)state;
	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	(void)snprintf(text, sizeof(text), "{\"%s\":{\"%s\":{\"%s\":[{\"last\":1}]}}}", key, key,
		       key);
	doc = must_parse(text);
	fence_doc_root(doc, &node);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fence_doc_get(&node, key, &node, &err), 0);
	fence_doc_at(&node, 0, &node);
	assert_int_equal(fence_doc_get(&node, "last", &node, &err), 0);
	assert_int_equal(strlen(node.path), sizeof(node.path) - 1);
	assert_string_equal(node.path + strlen(node.path) - 11, "kkk[0].last");
}

static void a_file_is_read_up_to_its_limit(void **state)
{
	char path[] = "/tmp/fence-doc.XXXXXX";
	owned_fd fd = mkstemp(path);
	struct fence_doc *doc = NULL;
	struct fence_err err = { 0 };

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fence_write_full(fd, "[1,2]", 5), 0);
	assert_int_equal(fence_doc_read(path, 5, &doc, &err), 0);
	fence_doc_free(doc);
	assert_int_equal(fence_doc_read(path, 4, &doc, &err), -EFBIG);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(fence_doc_read(path, 5, &doc, &err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read_by_their_type),
		cmocka_unit_test(a_complaint_names_the_place),
		cmocka_unit_test(an_unknown_key_is_refused_with_the_nearest),
		cmocka_unit_test(a_fault_is_named_by_line_and_column),
		cmocka_unit_test(nesting_deeper_than_32_is_refused),
		cmocka_unit_test(a_long_way_keeps_its_end),
		cmocka_unit_test(a_file_is_read_up_to_its_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
