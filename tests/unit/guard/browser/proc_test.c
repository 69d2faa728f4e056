#include "guard/browser/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/own.h"
#include "fence/reap.h"
#include "fence/spawn.h"

static void a_type_is_read_in_both_forms_of_a_command_line(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		enum proc_type type;
	} cases[] = {
#define CASE(text, type) { text, sizeof(text) - 1, type }
		CASE("/x/chromium\0--type=renderer\0--lang=de\0", PROC_RENDERER),
		CASE("/x/chromium --type=renderer --lang=de", PROC_RENDERER),
		CASE("/x/chromium --type=renderer", PROC_RENDERER),
		CASE("/x/chromium --type=zygote --no-zygote-sandbox\0\0\0", PROC_ZYGOTE),
		CASE("/x/chromium\0--type=gpu-process\0", PROC_GPU),
		CASE("/x/chromium\0--type=utility\0--utility-sub-type=x\0", PROC_UTILITY),
		CASE("/x/handler\0--type=crashpad-handler\0", PROC_OTHER),
		CASE("/x/chromium\0--headless\0", PROC_OTHER),
		CASE("/x/chromium\0--my--type=renderer\0", PROC_OTHER),
		CASE("--type=renderer", PROC_OTHER), /* that is the program's name */
		CASE("", PROC_OTHER),
		/* The first one counts, whatever follows. */
		CASE("/x/c --type=renderer --x=a --type=zygote", PROC_RENDERER),
		/* What we do not know has to prove itself. */
		CASE("/x/chromium\0--type=novelty\0", PROC_RENDERER),
		CASE("/x/chromium --type=", PROC_RENDERER),
		CASE("/x/chromium --type=zygot", PROC_RENDERER),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (proc_parse_type(cases[i].bytes, cases[i].length) != cases[i].type)
			fail_msg("case %zu: %s", i, cases[i].bytes);
}

static void a_name_with_parentheses_does_not_confuse_the_fields(void **state)
{
	const char *text = "42 (a) R 7 (x) S 6 42 42 0 -1 4194304 1 2 3 4 50 60 7 8 20 0 1 0 98765 "
			   "1 2 3\n";
	struct proc_stat stat;

	(void)state;
	assert_int_equal(proc_parse_stat(text, &stat), 0);
	assert_int_equal(stat.ppid, 6);
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.cpu_ticks, 110);
	assert_int_equal(stat.start_ticks, 98765);
}

static void a_text_that_is_no_stat_is_refused(void **state)
{
	static const char *const texts[] = {
		"",	    "42",	    "42 (a)",
		"42 (a) S", "42 (a) S x 1", "42 (a) S 6 1 1 0 -1 4 1 2 3 4 50 60"
	};
	struct proc_stat stat;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(proc_parse_stat(texts[i], &stat), -EBADMSG);
}

static void layers_are_read_from_a_status(void **state)
{
	struct proc_layers layers = { 0 };

	(void)state;
	assert_int_equal(proc_parse_status("Name:\tNSpid:\t9\nNSpid:\t5798\t22\t1\n"
					   "CapEff:\t0000000000200000\nSeccomp:\t2\n"
					   "Seccomp_filters:\t3\n",
					   &layers),
			 0);
	assert_int_equal(layers.pid_depth, 3);
	assert_int_equal(layers.cap_eff, 0x200000);
	assert_int_equal(layers.seccomp_mode, 2);
	assert_int_equal(layers.seccomp_filters, 3);
	assert_int_equal(proc_parse_status("CapEff:\t0\n", &layers), 0);
	assert_int_equal(layers.seccomp_filters, -1);
	assert_int_equal(layers.pid_depth, 0);
	assert_int_equal(proc_parse_status("NSpid:\t1\n", &layers), -EBADMSG);
}

static const struct proc_layers plain = { .seccomp_mode = 0,
					  .seccomp_filters = 0,
					  .pid_depth = 1,
					  .pid_ns = 1,
					  .net_ns = 2,
					  .user_ns = 3,
					  .root = PROC_ROOT_OTHER };
static const struct proc_layers good = { .seccomp_mode = 2,
					 .seccomp_filters = 1,
					 .pid_depth = 3,
					 .pid_ns = 11,
					 .net_ns = 12,
					 .user_ns = 13,
					 .root = PROC_ROOT_EMPTY };

static void expect(const struct proc_layers *browser, const struct proc_layers *renderer,
		   unsigned int missing, unsigned int unknown)
{
	unsigned int got_missing, got_unknown;

	layers_judge(browser, renderer, &got_missing, &got_unknown);
	assert_int_equal(got_missing, missing);
	assert_int_equal(got_unknown, unknown);
}

static void a_renderer_in_every_layer_is_proven(void **state)
{
	(void)state;
	expect(&plain, &good, 0, 0);
}

static void a_process_like_its_browser_is_in_no_layer(void **state)
{
	(void)state;
	expect(&plain, &plain, LAYER_ALL & ~LAYER_CAPS & ~LAYER_ANCESTRY, 0);
}

static void each_layer_is_judged_alone(void **state)
{
	struct proc_layers it;

	(void)state;
	it = good, it.seccomp_mode = 0, it.seccomp_filters = 0;
	expect(&plain, &it, LAYER_SECCOMP, 0);
	it = good, it.user_ns = plain.user_ns;
	expect(&plain, &it, LAYER_USER_NS, 0);
	it = good, it.pid_ns = plain.pid_ns;
	expect(&plain, &it, LAYER_PID_NS, 0);
	it = good, it.pid_depth = 1;
	expect(&plain, &it, LAYER_PID_NS, 0);
	it = good, it.net_ns = plain.net_ns;
	expect(&plain, &it, LAYER_NET_NS, 0);
	it = good, it.root = PROC_ROOT_OTHER;
	expect(&plain, &it, LAYER_ROOT, 0);
	it = good, it.cap_eff = 1;
	expect(&plain, &it, LAYER_CAPS, 0);
}

static void what_could_not_be_read_is_never_proven(void **state)
{
	struct proc_layers it;

	(void)state;
	it = good, it.user_ns = 0;
	expect(&plain, &it, 0, LAYER_USER_NS);
	it = good, it.root = PROC_ROOT_UNKNOWN;
	expect(&plain, &it, 0, LAYER_ROOT);
	it = plain, it.pid_ns = 0;
	expect(&it, &good, 0, LAYER_PID_NS);
}

static void a_filter_around_the_browser_is_not_the_renderers_own(void **state)
{
	struct proc_layers browser = plain, renderer = good;

	(void)state;
	browser.seccomp_mode = 2, browser.seccomp_filters = 1;
	expect(&browser, &renderer, LAYER_SECCOMP, 0);
	renderer.seccomp_filters = 2;
	expect(&browser, &renderer, 0, 0);
}

static void a_kernel_that_does_not_count_filters_proves_only_from_none_to_one(void **state)
{
	struct proc_layers browser = plain, renderer = good;

	(void)state;
	browser.seccomp_filters = renderer.seccomp_filters = -1;
	expect(&browser, &renderer, 0, 0);
	browser.seccomp_mode = 2;
	expect(&browser, &renderer, 0, LAYER_SECCOMP);
}

static void we_are_found_among_our_parents_descendants(void **state)
{
	owned_fd proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	owned_fd dir_fd = proc_open(proc_fd, getpid());
	struct fence_exit how;
	struct proc_stat stat;
	struct proc_layers us;
	pid_t pids[64], pid;
	ssize_t count;
	bool is_found = false;
	int fds[2];
	char byte;

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	if (fence_spawn_fork(0, &pid, NULL) == 0) {
		(void)close(fds[1]);
		_exit((int)read(fds[0], &byte, 1));
	}
	assert_int_equal(proc_read_stat(dir_fd, &stat), 0);
	assert_int_equal(stat.ppid, getppid());
	assert_int_equal(proc_read_layers(dir_fd, &us), 0);
	assert_true(us.user_ns != 0 && us.root == PROC_ROOT_OTHER);
	count = proc_descendants(proc_fd, getpid(), pids, 64);
	for (ssize_t i = 0; i < count; i++)
		is_found = is_found || pids[i] == pid;
	assert_true(is_found);
	fence_close_fd(&dir_fd);
	dir_fd = proc_open(proc_fd, pid);
	(void)close(fds[1]);
	assert_int_equal(fence_reap_wait(pid, &how, NULL), 0);
	(void)close(fds[0]);
	/* The folder stays bound to the process that is gone. */
	assert_int_equal(proc_read_stat(dir_fd, &stat), -ESRCH);
	assert_int_equal(proc_read_layers(dir_fd, &us), -ESRCH);
	assert_int_equal(proc_open(proc_fd, pid), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_type_is_read_in_both_forms_of_a_command_line),
		cmocka_unit_test(a_name_with_parentheses_does_not_confuse_the_fields),
		cmocka_unit_test(a_text_that_is_no_stat_is_refused),
		cmocka_unit_test(layers_are_read_from_a_status),
		cmocka_unit_test(a_renderer_in_every_layer_is_proven),
		cmocka_unit_test(a_process_like_its_browser_is_in_no_layer),
		cmocka_unit_test(each_layer_is_judged_alone),
		cmocka_unit_test(what_could_not_be_read_is_never_proven),
		cmocka_unit_test(a_filter_around_the_browser_is_not_the_renderers_own),
		cmocka_unit_test(a_kernel_that_does_not_count_filters_proves_only_from_none_to_one),
		cmocka_unit_test(we_are_found_among_our_parents_descendants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
