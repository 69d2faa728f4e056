#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "fence/reap.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "fence/tree.h"

#define PAIRS 100

static void a_name_may_contain_anything(void **state)
{
	char text[] = "42 (a) b (c) R 1 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2\n";
	char torn[] = "42 (sleep) S 1";
	char nothing[] = "";
	struct fence_proc_stat stat;

	(void)state;
	assert_int_equal(fence_proc_stat_parse(text, &stat), 0);
	assert_int_equal(stat.pid, 42);
	assert_string_equal(stat.name, "a) b (c");
	assert_int_equal(stat.state, 'R');
	assert_int_equal(stat.parent, 1);
	assert_int_equal(stat.group, 40);
	assert_int_equal(stat.session, 39);
	assert_int_equal(stat.start_ticks, 98765);
	assert_int_equal(fence_proc_stat_parse(torn, &stat), -EBADMSG);
	assert_int_equal(fence_proc_stat_parse(nothing, &stat), -EBADMSG);
}

static void our_own_stat_is_ours(void **state)
{
	struct fence_proc_stat stat;

	(void)state;
	assert_int_equal(fence_proc_stat(getpid(), &stat), 0);
	assert_int_equal(stat.pid, getpid());
	assert_int_equal(stat.parent, getppid());
	assert_int_equal(stat.group, getpgrp());
	assert_int_equal(fence_proc_probe(), 0);
}

/* A child with a child, both waiting; the pipe tells the grandchild's pid. */
static pid_t start_two(pid_t *ret_grandchild)
{
	pid_t child, grandchild;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	if (fence_spawn_fork(0, &child, NULL) == 0) {
		(void)setpgid(0, 0);
		if (fence_spawn_fork(0, &grandchild, NULL) == 0)
			for (;;)
				(void)pause();
		if (write(ends[1], &grandchild, sizeof(grandchild)) < 0)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)close(ends[1]);
	assert_int_equal(read(ends[0], ret_grandchild, sizeof(*ret_grandchild)),
			 sizeof(*ret_grandchild));
	(void)close(ends[0]);
	return child;
}

static size_t place_of(const struct fence_tree *tree, pid_t pid)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->nodes[i].pid == pid)
			return i;
	return SIZE_MAX;
}

static void end_all(void)
{
	struct fence_exit how;
	int rc;

	while ((rc = fence_reap_look(&how)) != -ECHILD) {
		assert_true(fence_tree_kill_children(NULL) >= 0);
		if (rc == 1)
			assert_int_equal(fence_reap_take(how.pid, &how, NULL), 0);
	}
}

static void descendants_are_listed_parents_first(void **state)
{
	for (int by_scan = 0; by_scan < 2; by_scan++) {
		struct fence_tree tree = { .by_scan = by_scan == 1 };
		pid_t grandchild;
		pid_t child = start_two(&grandchild);

		(void)state;
		assert_int_equal(fence_tree_list(&tree), 0);
		assert_int_equal(tree.count, 2);
		assert_int_equal(place_of(&tree, child), 0);
		assert_int_equal(tree.nodes[0].parent, getpid());
		assert_int_equal(place_of(&tree, grandchild), 1);
		assert_int_equal(tree.nodes[1].parent, child);
		fence_tree_drop(&tree);
		end_all();
	}
}

static bool is_pid(const struct fence_proc_stat *proc, const void *arg)
{
	return proc->pid == *(const pid_t *)arg;
}

static void a_signal_reaches_whom_it_is_meant_for(void **state)
{
	static const int kill_only[] = { SIGKILL };
	struct fence_tree tree = { 0 };
	struct fence_proc_stat stat;
	pid_t grandchild;
	pid_t child = start_two(&grandchild);

	(void)state;
	assert_int_equal(fence_tree_list(&tree), 0);
	assert_int_equal(fence_tree_signal(&tree, kill_only, 1, is_pid, &grandchild), 1);
	do {
		assert_int_equal(fence_proc_stat(grandchild, &stat), 0);
	} while (stat.state != 'Z');
	assert_int_equal(fence_proc_stat(child, &stat), 0);
	assert_int_not_equal(stat.state, 'Z');
	fence_tree_drop(&tree);
	end_all();
}

static bool is_zombie(pid_t pid)
{
	struct fence_proc_stat stat;

	assert_int_equal(fence_proc_stat(pid, &stat), 0);
	return stat.state == 'Z';
}

static void all_hear_it_but_the_excepted_and_the_dead(void **state)
{
	static const int stop_only[] = { SIGSTOP };
	static const int kill_only[] = { SIGKILL };

	(void)state;
	for (int by_scan = 0; by_scan < 2; by_scan++) {
		struct fence_tree tree = { .by_scan = by_scan == 1 };
		struct fence_tree_except except = { 0 };
		pid_t grandchild;
		pid_t child = start_two(&grandchild);
		int policy = fence_sched_policy(child);

		assert_int_equal(fence_tree_signal_all(&tree, stop_only, 1, &except), 2);
		/* Below a child that is left out all the same. */
		except.pid = child;
		assert_int_equal(fence_tree_signal_all(&tree, kill_only, 1, &except), 1);
		while (!is_zombie(grandchild))
			;
		assert_false(is_zombie(child));
		assert_int_equal(fence_sched_policy(child), policy);
		except = (struct fence_tree_except){ .group = child };
		assert_int_equal(fence_tree_signal_all(&tree, kill_only, 1, &except), 0);
		except.group = 0;
		assert_int_equal(fence_tree_signal_all(&tree, kill_only, 1, &except), 1);
		while (!is_zombie(child))
			;
		assert_int_equal(fence_tree_signal_all(&tree, kill_only, 1, &except), 0);
		fence_tree_drop(&tree);
		end_all();
	}
}

/* Each of them dies of its own signal while the next ones are looked for, and leaves a
 * process that nobody has seen yet. */
static void who_loses_its_parent_meanwhile_hears_it_too(void **state)
{
	static const int term_only[] = { SIGTERM };
	struct fence_tree_except except = { 0 };
	struct fence_tree tree = { 0 };
	struct fence_exit how;
	pid_t grandchild;
	int deaths = 0;

	(void)state;
	for (int i = 0; i < PAIRS; i++)
		(void)start_two(&grandchild);
	assert_int_equal(fence_tree_signal_all(&tree, term_only, 1, &except), 2 * PAIRS);
	while (fence_reap_any(&how) == 0)
		deaths += how.signalled && how.number == SIGTERM;
	assert_int_equal(deaths, 2 * PAIRS);
	fence_tree_drop(&tree);
}

/* The pid in the list is that of a process which is no descendant of ours by now,
 * nor of the one that was its parent: as after the number was given out again. */
static void a_stranger_with_the_number_is_left_alone(void **state)
{
	static const int kill_only[] = { SIGKILL };
	struct fence_tree_node node = { .pid = getppid(), .parent = getpid() + 1 };
	struct fence_tree tree = { .nodes = &node, .count = 1 };

	(void)state;
	assert_int_equal(fence_tree_signal(&tree, kill_only, 1, NULL, NULL), 0);
}

static void the_spared_live_on(void **state)
{
	pid_t grandchild, other_grandchild;
	pid_t child = start_two(&grandchild);
	pid_t other = start_two(&other_grandchild);
	struct fence_spare spare = { .pids = &other, .count = 1 };
	struct fence_proc_stat stat;
	struct fence_exit how;

	(void)state;
	assert_true(fence_tree_kill_children(&spare) >= 1);
	assert_int_equal(fence_reap_wait(child, &how, NULL), 0);
	assert_true(how.signalled && how.number == SIGKILL);
	assert_int_equal(fence_proc_stat(other, &stat), 0);
	assert_int_not_equal(stat.state, 'Z');
	end_all();
}

static int become_subreaper(void **state)
{
	(void)state;
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_may_contain_anything),
		cmocka_unit_test(our_own_stat_is_ours),
		cmocka_unit_test(descendants_are_listed_parents_first),
		cmocka_unit_test(a_signal_reaches_whom_it_is_meant_for),
		cmocka_unit_test(all_hear_it_but_the_excepted_and_the_dead),
		cmocka_unit_test(who_loses_its_parent_meanwhile_hears_it_too),
		cmocka_unit_test(a_stranger_with_the_number_is_left_alone),
		cmocka_unit_test(the_spared_live_on),
	};

	return cmocka_run_group_tests(tests, become_subreaper, NULL);
}
