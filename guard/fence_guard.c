/* fence-guard: confines a command. See fence-guard(1). */

#include <string.h>

#include "fence/err.h"
#include "fence/opts.h"
#include "fence/sys.h"
#include "guard/become.h"
#include "guard/doctor.h"
#include "guard/exec.h"
#include "guard/explain.h"

#define TEXT_BYTES 16384

static const struct fence_cli *const verbs[] = { &guard_exec_cli, &guard_explain_cli,
						 &guard_doctor_cli };

static const struct fence_cli_set set = {
	.program = "fence-guard",
	.summary = "confine a command",
	.verbs = verbs,
	.count = sizeof(verbs) / sizeof(verbs[0]),
	.notes = "fence-guard --bwrap takes bubblewrap's options instead: see fence-bwrap(1).\n",
};

static void complain(const struct fence_err *err)
{
	char line[1200];
	size_t length = fence_err_line(err, "fence-guard", line, sizeof(line));

	(void)fence_write_full(2, line, length);
}

int main(int argc, char **argv)
{
	char buf[TEXT_BYTES];
	struct fence_text text;
	struct fence_err err = { 0 };
	const struct fence_cli *verb = NULL;
	int status = 125;
	int answer;

	if (fence_fix_stdio() < 0)
		return 125;
	fence_text_init(&text, buf, sizeof(buf));
	if (argc > 1 && strcmp(argv[1], "--bwrap") == 0) {
		(void)guard_become("fence-bwrap", argv + 1, &err);
		complain(&err);
		return 125;
	}
	answer = fence_opts_verb(&set, argc, argv, &verb, &text, &err);
	if (answer == FENCE_OPTS_TEXT)
		status = 0;
	else if (answer == FENCE_OPTS_PARSED && verb == &guard_explain_cli)
		status = guard_explain_main(argc - 1, argv + 1, &text, &err);
	else if (answer == FENCE_OPTS_PARSED && verb == &guard_doctor_cli)
		status = guard_doctor_main(argc - 1, argv + 1, &text, &err);
	else if (answer == FENCE_OPTS_PARSED)
		status = guard_exec_main(argc - 1, argv + 1, &text, &err);
	if (err.code != 0)
		complain(&err);
	if (text.length_bytes > 0 && fence_write_full(1, text.buf, text.length_bytes) < 0)
		return 125;
	return status;
}
