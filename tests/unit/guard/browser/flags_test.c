#include "guard/browser/flags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

static size_t filter(const char *const *words, size_t count, bool strict, const char **ret_words,
		     struct flags_report *ret)
{
	size_t kept = 0;

	flags_filter((char *const *)(uintptr_t)words, count, strict, ret_words, ret);
	while (ret_words[kept] != NULL)
		kept++;
	return kept;
}

/* What one word alone leads to. */
static struct flags_report report_of(const char *word, bool strict)
{
	struct flags_report report;
	const char *kept[2];

	(void)filter(&word, 1, strict, kept, &report);
	return report;
}

static void a_switch_is_read_as_chromium_reads_it(void **state)
{
	static const struct {
		const char *word;
		bool is_switch;
		const char *name;
		const char *value;
	} cases[] = {
		{ "--no-sandbox", true, "no-sandbox", NULL },
		{ "-no-sandbox", true, "no-sandbox", NULL },
		{ "\t --no-sandbox \r\n", true, "no-sandbox", NULL },
		{ "--no-sandbox=0", true, "no-sandbox", "0" },
		{ "--no-sandbox=", true, "no-sandbox", "" },
		{ "--a=b=c", true, "a", "b=c" },
		{ "--a= b", true, "a", " b" },
		{ "---no-sandbox", true, "-no-sandbox", NULL },
		{ "--=x", true, "", "x" },
		{ "--No-Sandbox", true, "No-Sandbox", NULL },
		{ "no-sandbox", false, NULL, NULL },
		{ "-", false, NULL, NULL },
		{ "--", false, NULL, NULL },
		{ " -- ", false, NULL, NULL },
		{ "", false, NULL, NULL },
		{ "   ", false, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct flag flag;

		assert_int_equal(flag_parse(cases[i].word, &flag), cases[i].is_switch);
		if (!cases[i].is_switch)
			continue;
		assert_int_equal(flag.name_length, strlen(cases[i].name));
		assert_memory_equal(flag.name, cases[i].name, flag.name_length);
		assert_int_equal(flag.value != NULL, cases[i].value != NULL);
		if (flag.value == NULL)
			continue;
		assert_int_equal(flag.value_length, strlen(cases[i].value));
		assert_memory_equal(flag.value, cases[i].value, flag.value_length);
	}
}

static void what_clients_add_by_habit_is_left_out_and_counted(void **state)
{
	const char *words[] = { "--headless", "--no-sandbox",	"-no-sandbox",
				"--a",	      "--no-sandbox=0", " --disable-setuid-sandbox ",
				"page" };
	const char *kept[N(words) + 1];
	struct flags_report report;

	(void)state;
	assert_int_equal(filter(words, N(words), false, kept, &report), 3);
	assert_string_equal(kept[0], "--headless");
	assert_string_equal(kept[1], "--a");
	assert_string_equal(kept[2], "page");
	assert_int_equal(report.dropped, 4);
	assert_int_equal(report.reason, REASON_OK);
}

static void strict_refuses_what_would_be_left_out(void **state)
{
	(void)state;
	assert_int_equal(report_of("--no-sandbox", false).reason, REASON_OK);
	assert_int_equal(report_of("--no-sandbox", true).reason, REASON_WEAKENING_FLAG);
	assert_int_equal(report_of("-disable-setuid-sandbox=1", true).reason,
			 REASON_WEAKENING_FLAG);
	assert_int_equal(report_of("--headless", true).reason, REASON_OK);
}

static void a_switch_that_weakens_the_sandbox_is_refused(void **state)
{
	static const char *const words[] = {
		"--single-process",
		"-single-process=x",
		" --no-zygote",
		"--no-zygote-sandbox",
		"--disable-seccomp-filter-sandbox",
		"--disable-namespace-sandbox",
		"--disable-gpu-sandbox",
		"--in-process-gpu",
		"--renderer-cmd-prefix=xterm -e",
		"--utility-cmd-prefix=a",
		"--zygote-cmd-prefix=a",
		"--gpu-launcher=a",
		"--browser-subprocess-path=/tmp/x",
		"--allow-sandbox-debugging",
		"--disable-landlock-sandbox",
		"--gpu-sandbox-allow-sysv-shm",
		"--js-flags=--sandbox-testing",
		"--js-flags=--harmony --sandbox_testing",
		"--js-flags=--sandbox-fuzzing",
		"--js-flags=--run_as_sandbox_security_poc",
		"--js-flags=--expose-memory-corruption-api",
		"--js-flags=--expose_memory_corruption_api",
		"--disable-webnn-compiler-sandbox",
		"--gpu-sandbox-failures-fatal=no",
	};
	static const char *const fine[] = { "--js-flags=--harmony",
					    "--js-flags",
					    "--no-zygotes",
					    "--single-proces",
					    "--gpu-sandbox-failures-fatal=yes",
					    "single-process",
					    "--Single-Process" };

	(void)state;
	for (size_t i = 0; i < N(words); i++)
		assert_int_equal(report_of(words[i], false).reason, REASON_WEAKENING_FLAG);
	for (size_t i = 0; i < N(fine); i++)
		assert_int_equal(report_of(fine[i], false).reason, REASON_OK);
	assert_int_equal(report_of("--type=renderer", false).reason, REASON_BAD_FLAG);
}

static void the_first_word_to_blame_is_named(void **state)
{
	const char *words[] = { "--headless", "--in-process-gpu", "--single-process" };
	const char *kept[N(words) + 1];
	struct flags_report report;

	(void)state;
	(void)filter(words, N(words), false, kept, &report);
	assert_int_equal(report.refused_at, 1);
	assert_memory_equal(report.refused.name, "in-process-gpu", report.refused.name_length);
}

static void after_a_bare_double_dash_nothing_is_a_switch(void **state)
{
	const char *words[] = { "--headless", " -- ", "--no-sandbox", "--single-process" };
	const char *kept[N(words) + 1];
	struct flags_report report;

	(void)state;
	assert_int_equal(filter(words, N(words), true, kept, &report), 4);
	assert_int_equal(report.reason, REASON_OK);
	assert_true(flags_are_clean((char *const *)(uintptr_t)words, N(words)));
}

static void risky_switches_stay_and_are_counted(void **state)
{
	static const struct {
		const char *word;
		unsigned int risky;
	} cases[] = {
		{ "--disable-web-security", 1 },
		{ "--remote-allow-origins=*", 1 },
		{ "--remote-allow-origins=http://a", 0 },
		{ "--remote-debugging-port=9222", 1 },
		{ "--remote-debugging-port=0", 0 },
		{ "--remote-debugging-address=0.0.0.0", 1 },
		{ "--remote-debugging-address=127.0.0.1", 0 },
		{ "--disable-features=Translate,IsolateOrigins", 1 },
		{ "--disable-features=Translate", 0 },
		{ "--disable-site-isolation-trials", 1 },
	};

	(void)state;
	for (size_t i = 0; i < N(cases); i++) {
		struct flags_report report = report_of(cases[i].word, false);

		assert_int_equal(report.risky, cases[i].risky);
		assert_int_equal(report.reason, REASON_OK);
	}
}

static void the_last_profile_folder_counts(void **state)
{
	const char *words[] = { "--user-data-dir=/a", "-user-data-dir=/bb", "--",
				"--user-data-dir=/c" };
	const char *kept[N(words) + 1];
	struct flags_report report;

	(void)state;
	(void)filter(words, N(words), false, kept, &report);
	assert_int_equal(report.user_data_dir.value_length, 3);
	assert_memory_equal(report.user_data_dir.value, "/bb", 3);
	assert_null(report_of("--headless", false).user_data_dir.name);
}

static void a_running_command_line_is_checked_by_the_same_rules(void **state)
{
	const char *good[] = { "--headless", "--remote-debugging-port=9222", "x" };
	const char *bad[] = { "--headless", "  -no-sandbox=1" };

	(void)state;
	assert_true(flags_are_clean((char *const *)(uintptr_t)good, N(good)));
	assert_false(flags_are_clean((char *const *)(uintptr_t)bad, N(bad)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_is_read_as_chromium_reads_it),
		cmocka_unit_test(what_clients_add_by_habit_is_left_out_and_counted),
		cmocka_unit_test(strict_refuses_what_would_be_left_out),
		cmocka_unit_test(a_switch_that_weakens_the_sandbox_is_refused),
		cmocka_unit_test(the_first_word_to_blame_is_named),
		cmocka_unit_test(after_a_bare_double_dash_nothing_is_a_switch),
		cmocka_unit_test(risky_switches_stay_and_are_counted),
		cmocka_unit_test(the_last_profile_folder_counts),
		cmocka_unit_test(a_running_command_line_is_checked_by_the_same_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
