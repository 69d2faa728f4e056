#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fence/sys.h"
#include "guard/bwrap/bwrap.h"

#define TEXT_BYTES 32768

static void init(struct bwrap *bwrap, const char *name)
{
	const char *slash = strrchr(name, '/');

	*bwrap = (struct bwrap){
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
		.name = name,
		/* Under the name of bwrap it speaks as bwrap. */
		.program = slash == NULL ? name : slash + 1,
		.real_root = getuid() == 0,
		.caller_uid = getuid(),
		.caller_gid = getgid(),
	};
	bwrap->caps = bwrap->real_root ? bwrap_own_caps() : 0;
}

static int run(struct bwrap *bwrap, int argc, char *const *argv, struct fence_text *text,
	       struct fence_err *err)
{
	int rest = 0;
	int answer = bwrap_parse(bwrap, argc, argv, &rest, text, err);

	if (answer < 0)
		return 1;
	if (answer == FENCE_OPTS_TEXT)
		return 0;
	if (argv[rest] != NULL)
		return bwrap_launch(bwrap, argv + rest, err);
	fence_fail_why(err, -EINVAL, "no command", "nothing to run");
	(void)fence_hint(err, "see %s --help", bwrap->name);
	return 1;
}

int guard_bwrap_main(int argc, char *const *argv)
{
	char buf[TEXT_BYTES];
	struct fence_text text;
	struct fence_err err = { 0 };
	struct bwrap bwrap;
	int status;

	if (fence_fix_stdio() < 0)
		return 1;
	fence_text_init(&text, buf, sizeof(buf));
	init(&bwrap, argc > 0 ? argv[0] : "fence-bwrap");
	status = run(&bwrap, argc, argv, &text, &err);
	if (err.code != 0)
		bwrap_complain(&bwrap, &err);
	bwrap_free(&bwrap);
	if (text.length_bytes > 0 && fence_write_full(1, text.buf, text.length_bytes) < 0)
		return 1;
	return status;
}
