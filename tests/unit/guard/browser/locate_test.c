#include "guard/browser/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/own.h"
#include "fence/sys.h"

static char folder[64];

static const char *make(const char *name, const char *bytes, mode_t mode)
{
	static char path[PATH_MAX];
	owned_fd fd = -1;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(fence_write_full(fd, bytes, strlen(bytes)), 0);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(folder, sizeof(folder), "/tmp/locate-test.XXXXXX");
	return mkdtemp(folder) == NULL ? -1 : 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "chrome", "wrapper", "browser" };
	char path[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		(void)unlink(path);
	}
	return rmdir(folder);
}

static enum reason refused(const char *path)
{
	char found[PATH_MAX];
	enum reason reason = REASON_OK;
	struct fence_err err;

	assert_true(locate_browser(path, NULL, found, sizeof(found), &reason, &err) < 0);
	assert_true(err.what[0] != '\0');
	return reason;
}

static void an_elf_file_is_itself(void **state)
{
	const char *path = make("browser", "\177ELFx", 0755);
	char found[PATH_MAX];
	enum reason reason;

	(void)state;
	assert_int_equal(locate_browser(path, NULL, found, sizeof(found), &reason, NULL), 0);
	assert_string_equal(found, path);
}

static void a_name_is_looked_up_in_the_path(void **state)
{
	const char *path = make("browser", "\177ELFx", 0755);
	char found[PATH_MAX];
	enum reason reason;

	(void)state;
	assert_int_equal(locate_browser("browser", folder, found, sizeof(found), &reason, NULL), 0);
	assert_string_equal(found, path);
}

static void behind_a_script_is_the_elf_beside_it(void **state)
{
	char found[PATH_MAX], wanted[PATH_MAX];
	enum reason reason;

	(void)state;
	(void)snprintf(wanted, sizeof(wanted), "%s", make("chrome", "\177ELFx", 0755));
	assert_int_equal(locate_browser(make("wrapper", "#!/bin/sh\nexec chrome\n", 0755), NULL,
					found, sizeof(found), &reason, NULL),
			 0);
	assert_string_equal(found, wanted);
	(void)unlink(wanted);
}

static void what_is_no_browser_is_refused_with_its_reason(void **state)
{
	(void)state;
	assert_int_equal(refused(make("wrapper", "#!/bin/sh\nexec /snap/bin/chromium \"$@\"",
				      0755)),
			 REASON_WRAPPER_SNAP);
	assert_int_equal(refused(make("wrapper", "#!/bin/sh\nexec flatpak run org.x", 0755)),
			 REASON_WRAPPER_FLATPAK);
	assert_int_equal(refused(make("wrapper", "#!/bin/sh\nexec something", 0755)),
			 REASON_EXECUTABLE_MISSING);
	assert_int_equal(refused(make("browser", "MZ nothing", 0755)), REASON_EXEC_FORMAT);
	assert_int_equal(refused(make("browser", "", 0755)), REASON_EXEC_FORMAT);
	assert_int_equal(refused("/nonexistent/browser"), REASON_EXECUTABLE_MISSING);
	assert_int_equal(refused(folder), REASON_EXECUTABLE_DENIED);
}

static void we_ourselves_are_no_browser(void **state)
{
	(void)state;
	assert_int_equal(refused("/proc/self/exe"), REASON_EXECUTABLE_MISSING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_elf_file_is_itself),
		cmocka_unit_test(a_name_is_looked_up_in_the_path),
		cmocka_unit_test(behind_a_script_is_the_elf_beside_it),
		cmocka_unit_test(what_is_no_browser_is_refused_with_its_reason),
		cmocka_unit_test(we_ourselves_are_no_browser),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
