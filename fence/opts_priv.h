/* Shared by the parts of fence/opts: reading options, writing about them, completions. */
#ifndef FENCE_OPTS_PRIV_H
#define FENCE_OPTS_PRIV_H

#include "fence/opts.h"

/* The rows of a table and, after them, those that every program understands. */
size_t fence_opts_count(const struct fence_cli *cli);
const struct fence_opt *fence_opts_row(const struct fence_cli *cli, size_t i);

/* What `--help`, `--version`, `--completions SHELL` (with `value`) and
 * `--print-options` print. */
void fence_opts_write(const struct fence_cli *cli, const struct fence_opt *opt, const char *value,
		      struct fence_text *text);

/* The same for a program with verbs. */
void fence_opts_write_set_help(const struct fence_cli_set *set, struct fence_text *text);
void fence_opts_write_completions(const char *program, const struct fence_cli *const *verbs,
				  size_t count, const char *shell, struct fence_text *text);

#endif
