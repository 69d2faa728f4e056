#include "guard/browser/proof.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The browser is this program; its child is a shell under some type's name, which takes
 * another when it is told to. The clock is ours. */
struct scene {
	struct proof *proof;
	pid_t child;
	int to_fd, from_fd;
};

static void be_child(const char *first, const char *then)
{
	execl("/bin/sh", "sh", "-c", "echo x; read line; exec sh -c 'echo x; read line' \"$1\"",
	      first, then, (char *)NULL);
	_exit(1);
}

static void hear(const struct scene *scene)
{
	char bytes[2];

	assert_int_equal(read(scene->from_fd, bytes, 2), 2);
}

static void set_up(struct scene *scene, const char *first, const char *then)
{
	int to[2], from[2];

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	scene->child = fork();
	if (scene->child == 0) {
		(void)dup2(to[0], 0);
		(void)dup2(from[1], 1);
		be_child(first, then);
	}
	(void)close(to[0]);
	(void)close(from[1]);
	scene->to_fd = to[1];
	scene->from_fd = from[0];
	scene->proof = calloc(1, sizeof(*scene->proof));
	assert_non_null(scene->proof);
	assert_int_equal(proof_open(scene->proof, getpid(), 0), 0);
	hear(scene);
}

static void tear_down(struct scene *scene)
{
	(void)kill(scene->child, SIGKILL);
	(void)waitpid(scene->child, NULL, 0);
	(void)close(scene->to_fd);
	(void)close(scene->from_fd);
	proof_close(scene->proof);
	free(scene->proof);
}

static void rename_child(const struct scene *scene)
{
	assert_int_equal(write(scene->to_fd, "\n", 1), 1);
	hear(scene);
}

static void a_renderer_that_is_named_late_is_still_judged(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene, "--type=zygote", "--type=renderer");
	(void)proof_look(scene.proof, 1000);
	(void)proof_look(scene.proof, 9000);
	assert_int_equal(scene.proof->seen[PROC_ZYGOTE], 1);
	rename_child(&scene);
	/* It gets its time from here, however long it had another name. */
	(void)proof_look(scene.proof, 20000);
	assert_true(proof_has_pending(scene.proof));
	assert_int_equal(scene.proof->seen[PROC_ZYGOTE], 0);
	(void)proof_look(scene.proof, 20300);
	assert_int_equal(proof_state(scene.proof), PROOF_WEAKENED);
	tear_down(&scene);
}

static void half_a_title_does_not_make_a_renderer(void **state)
{
	struct scene scene;

	(void)state;
	set_up(&scene, "--type=utigote", "--type=utility");
	(void)proof_look(scene.proof, 1000);
	assert_true(proof_has_pending(scene.proof));
	rename_child(&scene);
	(void)proof_look(scene.proof, 1050);
	(void)proof_look(scene.proof, 9000);
	assert_int_equal(scene.proof->seen[PROC_UTILITY], 1);
	assert_int_equal(proof_state(scene.proof), PROOF_PENDING);
	tear_down(&scene);
}

static void a_command_line_that_was_not_clean_stays_so(void **state)
{
	struct scene scene;
	int command_line = -1;

	(void)state;
	set_up(&scene, "--type=zygote", "--type=renderer");
	proof_command_line(scene.proof, false, &command_line);
	assert_int_equal(command_line, 1);
	command_line = 0;
	proof_command_line(scene.proof, true, &command_line);
	assert_int_equal(command_line, 0);
	tear_down(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_renderer_that_is_named_late_is_still_judged),
		cmocka_unit_test(half_a_title_does_not_make_a_renderer),
		cmocka_unit_test(a_command_line_that_was_not_clean_stays_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
