/* Words into options, and what they exclude of each other. A row's argument names its
 * words: "SRC DEST" takes two. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard/bwrap/bwrap.h"

#define WORDS_MAX 131072 /* of one --args */
#define DEPTH_MAX 8
#define NAMES_MAX 128

static size_t words_of(const struct fence_opt *opt)
{
	return opt->arg == NULL ? 0 : strchr(opt->arg, ' ') == NULL ? 1 : 2;
}

static const struct fence_opt *find_row(const char *word)
{
	const struct fence_cli *cli = &guard_bwrap_cli;

	for (size_t i = 0; strncmp(word, "--", 2) == 0 && i < cli->count; i++)
		if (strcmp(cli->opts[i].name, word + 2) == 0)
			return &cli->opts[i];
	return NULL;
}

static bool is_for_text(const char *word)
{
	static const char *const words[] = { "--help", "--version", "--completions",
					     "--print-options" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

static int fail_unknown(const char *word, struct fence_err *err)
{
	const char *names[NAMES_MAX];
	const char *nearest;
	size_t count = 0;

	for (; count < guard_bwrap_cli.count && count < NAMES_MAX; count++)
		names[count] = guard_bwrap_cli.opts[count].name;
	fence_fail_why(err, -EINVAL, word, "Unknown option");
	nearest = fence_nearest(word + strspn(word, "-"), names, count);
	if (nearest != NULL)
		(void)fence_hint(err, "did you mean --%s?", nearest);
	return -EINVAL;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* --perms and --size are for the very next option that makes something. */
static int check_pending(const struct bwrap *bwrap, const char *name, struct fence_err *err)
{
	static const char *const for_size[] = { "tmpfs", "perms", "size" };
	static const char *const for_mode[] = { "tmpfs",	"dir",	"file", "bind-data",
						"ro-bind-data", "size", "perms" };

	if (bwrap->have_size && !is_one_of(name, for_size, sizeof(for_size) / sizeof(for_size[0])))
		return fence_fail_why(err, -EINVAL, "must be followed by --tmpfs", "--size");
	if (bwrap->mode >= 0 && !is_one_of(name, for_mode, sizeof(for_mode) / sizeof(for_mode[0])))
		return fence_fail_why(err, -EINVAL,
				      "must be followed by an option that creates a file",
				      "--perms");
	return 0;
}

/* Words until the first that is no option: *ret_rest. */
static int parse_words(struct bwrap *bwrap, int argc, char *const *argv, int *ret_rest,
		       struct fence_err *err)
{
	int at = 0;

	while (at < argc && argv[at][0] == '-') {
		const struct fence_opt *opt;
		int count;
		int rc;

		if (strcmp(argv[at], "--") == 0) {
			at++;
			break;
		}
		opt = find_row(argv[at]);
		if (opt == NULL)
			return fail_unknown(argv[at], err);
		count = (int)words_of(opt);
		if (argc - at - 1 < count)
			return fence_fail_why(err, -EINVAL,
					      count == 1 ? "takes an argument"
							 : "takes two arguments",
					      "--%s", opt->name);
		rc = check_pending(bwrap, opt->name, err);
		if (rc < 0)
			return rc;
		bwrap->words = argv + at + 1;
		rc = opt->set(bwrap, count == 0 ? NULL : argv[at + 1], err);
		if (rc < 0)
			return rc;
		at += count + 1;
	}
	*ret_rest = at;
	return 0;
}

/* The words of `text`: a list that is kept behind it in the same memory's owner. */
static int split(struct bwrap *bwrap, char *text, size_t size_bytes, char ***ret_words,
		 int *ret_count, struct fence_err *err)
{
	size_t count = 0;
	char **words;
	char **texts = realloc(bwrap->texts, (bwrap->text_count + 2) * sizeof(*texts));

	if (texts == NULL)
		return fence_fail(err, -ENOMEM, "keep --args data");
	bwrap->texts = texts;
	for (size_t at = 0; at < size_bytes; at += strlen(text + at) + 1)
		count++;
	words = count > WORDS_MAX ? NULL : calloc(count + 1, sizeof(*words));
	if (words == NULL)
		return fence_fail(err, count > WORDS_MAX ? -E2BIG : -ENOMEM, "split --args data");
	count = 0;
	for (size_t at = 0; at < size_bytes; at += strlen(text + at) + 1)
		words[count++] = text + at;
	texts[bwrap->text_count++] = text;
	texts[bwrap->text_count++] = (char *)words;
	*ret_words = words;
	*ret_count = (int)count;
	return 0;
}

int bwrap_parse_from(struct bwrap *bwrap, int fd, struct fence_err *err)
{
	char *text = NULL;
	char **words = NULL;
	size_t size_bytes = 0;
	int count = 0;
	int rest = 0;
	int rc;

	if (bwrap->depth >= DEPTH_MAX)
		return fence_fail(err, -ELOOP, "read --args %d", fd);
	rc = bwrap_read_all(fd, &text, &size_bytes, err);
	if (rc < 0)
		return rc;
	rc = split(bwrap, text, size_bytes, &words, &count, err);
	if (rc < 0) {
		free(text);
		return rc;
	}
	bwrap->depth++;
	rc = parse_words(bwrap, count, words, &rest, err);
	bwrap->depth--;
	if (rc == 0 && rest < count)
		return fence_fail_why(err, -EINVAL, "it is no option", "--args: \"%s\"",
				      words[rest]);
	return rc;
}

/* --- what goes together ----------------------------------------------------------- */

static int refuse(struct fence_err *err, const char *option, const char *why)
{
	return fence_fail_why(err, -EINVAL, why, "%s", option);
}

static int check(struct bwrap *bwrap, struct fence_err *err)
{
	bool userns;

	/* Asked for, not implied: as bubblewrap has it. */
	if (bwrap->disable_userns && bwrap->user != BWRAP_YES)
		return refuse(err, "--disable-userns", "requires --unshare-user");
	if (!bwrap->real_root && bwrap->userns_fd < 0)
		bwrap->user = BWRAP_YES;
	userns = bwrap->user != BWRAP_NO || bwrap->userns_fd >= 0;
	if (bwrap->userns_fd >= 0 && bwrap->user == BWRAP_YES)
		return refuse(err, "--userns", "not together with --unshare-user");
	if (bwrap->userns_fd >= 0)
		bwrap->user = BWRAP_NO;
	if (bwrap->userns_fd >= 0 && bwrap->userns_block_fd >= 0)
		return refuse(err, "--userns", "not together with --userns-block-fd");
	if (bwrap->disable_userns && bwrap->userns_block_fd >= 0)
		return refuse(err, "--disable-userns", "not together with --userns-block-fd");
	if (bwrap->uid >= 0 && !userns)
		return refuse(err, "--uid", "requires --unshare-user or --userns");
	if (bwrap->gid >= 0 && !userns)
		return refuse(err, "--gid", "requires --unshare-user or --userns");
	if (bwrap->hostname != NULL && !bwrap->uts)
		return refuse(err, "--hostname", "requires --unshare-uts");
	if (bwrap->as_pid_1 && !bwrap->pid)
		return refuse(err, "--as-pid-1", "requires --unshare-pid");
	if (bwrap->as_pid_1 && bwrap->lock_count > 0)
		return refuse(err, "--as-pid-1", "not together with --lock-file");
	if (bwrap->have_size)
		return refuse(err, "--size", "must be followed by --tmpfs");
	if ((bwrap->exec_label != NULL || bwrap->file_label != NULL) &&
	    access("/sys/fs/selinux/status", F_OK) < 0)
		return refuse(err, "labels", "not supported on this system, which has no SELinux");
	return 0;
}

int bwrap_parse(struct bwrap *bwrap, int argc, char *const *argv, int *ret_rest,
		struct fence_text *text, struct fence_err *err)
{
	struct fence_cli cli = guard_bwrap_cli;
	int rest = 0;
	int rc;

	if (argc > 1 && is_for_text(argv[1])) {
		if (strcmp(argv[1], "--help") == 0)
			cli.program = bwrap->name;
		return fence_opts_parse(&cli, argc, argv, bwrap, ret_rest, text, err);
	}
	rc = parse_words(bwrap, argc - 1, argv + 1, &rest, err);
	if (rc == 0)
		rc = check(bwrap, err);
	*ret_rest = rest + 1;
	return rc < 0 ? rc : FENCE_OPTS_PARSED;
}

void bwrap_free(struct bwrap *bwrap)
{
	for (size_t i = 0; i < bwrap->filter_count; i++)
		free(bwrap->filters[i].filter);
	for (size_t i = 0; i < bwrap->text_count; i++)
		free(bwrap->texts[i]);
	free(bwrap->filters);
	free(bwrap->texts);
	free(bwrap->lock_files);
	free(bwrap->ops);
}
