/* fence-chromium's two doings, for its main. */
#ifndef GUARD_BROWSER_BROWSER_H
#define GUARD_BROWSER_BROWSER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "fence/err.h"
#include "fence/jsonw.h"
#include "guard/browser/reason.h"

struct browser_conf {
	long long uid;	      /* -1: not named */
	const char *browser;  /* NULL: not named */
	const char *evidence; /* NULL: no file */
	int evidence_fd;      /* -1: none */
	bool is_strict;
	enum reason_vocabulary vocabulary;
	pid_t prove_pid; /* 0: start a browser */
};

/* Exit statuses (fence-chromium(1)). */
enum {
	BROWSER_EXIT_REFUSED = 77,
	BROWSER_EXIT_FAILED = 125,
	BROWSER_EXIT_DENIED = 126,
	BROWSER_EXIT_MISSING = 127,
};

/* Becomes the browser with these words, or returns an exit status with words in
 * `err`. All signals must be blocked; `mask` is what the browser gets. */
int browser_start(const struct browser_conf *conf, char *const *words, size_t count,
		  const sigset_t *mask, struct fence_err *err);

/* Proves a browser that runs already, from outside, and writes the record. The exit
 * status: 0 when it is sandboxed, 1 when not or not known. Without a record there
 * are words in `err`. */
int browser_prove(const struct browser_conf *conf, struct fence_jsonw *ret_record,
		  struct fence_err *err);

#endif
