/* Where a run is written down: ROOT/.fence/runs/ID/. The folder .fence is made
 * with mode 0700 (logs may hold what a stage printed of secrets) and ignores itself
 * in git. Every step is taken from a descriptor and follows no link, since the
 * judged code of an earlier run may have written there. An id is a UTC stamp and
 * six random hex digits: ids sort by time. */
#ifndef GATE_STORE_H
#define GATE_STORE_H

#include "fence/err.h"

#define GATE_RUN_ID_BYTES 40

struct gate_store {
	int run_fd; /* the run's folder; -1: not open */
	char id[GATE_RUN_ID_BYTES];
	char path[80]; /* ".fence/runs/ID" */
};

int gate_store_open(int root_fd, struct gate_store *ret, struct fence_err *err);
void gate_store_close(struct gate_store *store);

/* A new file STAGE+suffix for reading and writing: a close-on-exec descriptor that
 * is the caller's, or -errno with words. */
int gate_store_create(const struct gate_store *store, const char *stage, const char *suffix,
		      struct fence_err *err);

/* Gives a file of the run to another stage, or takes it away. 0 or -errno. */
int gate_store_rename(const struct gate_store *store, const char *from_stage, const char *to_stage,
		      const char *suffix);
int gate_store_remove(const struct gate_store *store, const char *stage, const char *suffix);

/* Opens a file of the run for reading: a descriptor or -errno. */
int gate_store_read(const struct gate_store *store, const char *stage, const char *suffix);

/* Makes the written file `fd` named `temporary` durable under `name`. */
int gate_store_publish(const struct gate_store *store, int fd, const char *temporary,
		       const char *name, struct fence_err *err);

#endif
