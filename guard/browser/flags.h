/* The browser's command line, read as Chromium reads it (base/command_line.cc):
 * each word is trimmed of ASCII blanks; `-` and `--` both begin a switch; its name
 * ends at the first `=`; case counts; a bare `--` ends the switches; of several
 * with one name the last value counts. Pure: no memory, no system call. */
#ifndef GUARD_BROWSER_FLAGS_H
#define GUARD_BROWSER_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "guard/browser/reason.h"

/* One switch: slices of the word that was given, not NUL-terminated. */
struct flag {
	const char *name;
	size_t name_length;
	const char *value; /* NULL: there was no `=` */
	size_t value_length;
};

/* Is this word a switch to Chromium? Fills `ret` if so. */
bool flag_parse(const char *word, struct flag *ret);

/* Does Chromium stop reading switches at this word? */
bool flag_ends_switches(const char *word);

struct flags_report {
	unsigned int dropped; /* switches that took the sandbox off, left out */
	unsigned int risky;   /* switches kept that make the browser easier to attack */
	enum reason reason;   /* REASON_OK, or why the command line is refused ... */
	size_t refused_at;    /* ... and the word that is to blame */
	struct flag refused;
	struct flag user_data_dir; /* the one that counts; name is NULL without one */
};

/* Filters words[0..count) (without the program's name) into `ret_words`, which has
 * room for count + 1 pointers and ends in NULL. With `strict`, what would be
 * dropped is refused. Every word is looked at, so the report is whole even when
 * the command line is refused; the first word to blame is named. */
void flags_filter(char *const *words, size_t count, bool strict, const char **ret_words,
		  struct flags_report *ret);

/* Does a running browser's command line still hold a switch that should have been
 * dropped or refused? Same rules, nothing else. */
bool flags_are_clean(char *const *words, size_t count);

#endif
