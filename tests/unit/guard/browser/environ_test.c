#include "guard/browser/environ.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *value_of(char *const *list, const char *name)
{
	size_t length = strlen(name);

	for (; *list != NULL; list++)
		if (strncmp(*list, name, length) == 0 && (*list)[length] == '=')
			return *list + length + 1;
	return NULL;
}

static void what_loads_code_or_weakens_the_sandbox_is_dropped(void **state)
{
	static const struct {
		const char *variable;
		bool is_dropped, is_dangerous;
	} cases[] = {
		{ "SBX_D=1", true, true },
		{ "SANDBOX_LD_PRELOAD=x", true, true },
		{ "CHROME_SANDBOX_DEBUGGING=1", true, true },
		{ "CHROME_DEVEL_SANDBOX=/x", true, true },
		{ "LD_PRELOAD=/x.so", true, true },
		{ "LD_LIBRARY_PATH=/x", true, true },
		{ "LD_AUDIT=/x", true, true },
		{ "SSLKEYLOGFILE=/x", true, true },
		{ "HOME=/root", true, false },
		{ "XDG_RUNTIME_DIR=/run/user/0", true, false },
		{ "FENCE_CHROMIUM_UID=5", true, false },
		{ "PATH=/bin", false, false },
		{ "HOMEPAGE=x", false, false },
		{ "CHROME_DEVEL_SANDBOX_X=x", false, false },
		{ "LD=ld.gold", false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_dangerous = false;

		assert_int_equal(environ_is_dropped(cases[i].variable, &is_dangerous),
				 cases[i].is_dropped);
		assert_int_equal(is_dangerous, cases[i].is_dangerous);
	}
}

static void every_place_for_files_is_in_the_private_root(void **state)
{
	char *from[] = { (char[]){ "HOME=/root" }, (char[]){ "LD_PRELOAD=/x" },
			 (char[]){ "LANG=C" }, NULL };
	unsigned int dropped;
	char **list;

	(void)state;
	assert_int_equal(environ_build(from, "/tmp/fc-1", &list, &dropped), 0);
	assert_int_equal(dropped, 1);
	assert_string_equal(value_of(list, "HOME"), "/tmp/fc-1/home");
	assert_string_equal(value_of(list, "TMPDIR"), "/tmp/fc-1/tmp");
	assert_string_equal(value_of(list, "XDG_CACHE_HOME"), "/tmp/fc-1/home/.cache");
	assert_string_equal(value_of(list, "LANG"), "C");
	assert_null(value_of(list, "LD_PRELOAD"));
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_loads_code_or_weakens_the_sandbox_is_dropped),
		cmocka_unit_test(every_place_for_files_is_in_the_private_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
