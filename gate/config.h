/* gates.yaml: the stages and gates of a project, read strictly (fence-gates(5)).
 *
 * Everything in it is checked before anything runs: kinds, limits, names, that
 * every named stage exists, that needs have no cycle. All faults are collected and
 * shown together. The folder of the file is the root: the working directory of
 * every stage. */
#ifndef GATE_CONFIG_H
#define GATE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fence/conf/yaml.h"
#include "fence/err.h"

#define GATE_MAX_STAGES	 1024 /* and names in one list */
#define GATE_MAX_GATES	 256
#define GATE_MAX_ARGS	 4096
#define GATE_ID_BYTES	 64
#define GATE_TIMEOUT_MS	 ((int64_t)10 * 60 * 1000)
#define GATE_TIMEOUT_MAX ((int64_t)24 * 60 * 60 * 1000)
#define GATE_GRACE_MS	 ((int64_t)5 * 1000)
#define GATE_GRACE_MAX	 ((int64_t)10 * 60 * 1000)

/* A profile of fence-guard, or none. */
enum gate_sandbox {
	GATE_SANDBOX_GATE, /* what a stage has unless it says otherwise */
	GATE_SANDBOX_CHROMIUM,
	GATE_SANDBOX_NONE,
};
const char *gate_sandbox_word(enum gate_sandbox sandbox);

/* A name in the file and where it stands there. */
struct gate_name {
	const char *text;
	unsigned int line, column;
	size_t index; /* of the stage it names, once that is known */
};

struct gate_names {
	struct gate_name *at;
	size_t count;
};

struct gate_stage {
	const char *id;
	unsigned int line, column; /* of its id */
	char **argv;		   /* NULL at the end, as execve(2) wants it */
	size_t argc;
	int64_t timeout_ms;
	int64_t idle_timeout_ms; /* 0: none */
	int64_t grace_ms;
	struct gate_names needs;
	enum gate_sandbox sandbox;
	const char *policy; /* of fence-guard, relative to the root; NULL: none */
	unsigned int policy_line, policy_column;
	struct gate_names env_keep; /* names of our own environment */
	struct gate_names env_set;  /* "NAME=value" */
	bool leaks_fail;
};

struct gate_gate {
	const char *id;
	unsigned int line, column;
	bool targeted;	     /* tier: targeted, else full */
	const char *changes; /* NULL: not given */
	struct gate_names stages;
};

struct gate_config {
	struct fence_yaml *yaml; /* owns every string and array below */
	struct gate_stage *stages;
	size_t stage_count;
	struct gate_gate *gates;
	size_t gate_count;
};

/* Reads and checks. 0 also when there are faults: then config->yaml->error_total
 * is not 0 and nothing else of it may be used. -errno with words when the file
 * cannot be read. Free with gate_config_free in each case of 0. */
int gate_config_read(int dir_fd, const char *path, struct gate_config *ret, struct fence_err *err);

/* The same from memory, for tests and fuzzing. */
int gate_config_parse(const char *text, size_t size_bytes, struct gate_config *ret);

void gate_config_free(struct gate_config *config);

const struct gate_gate *gate_config_find(const struct gate_config *config, const char *id);

/* config_check.c: what can be judged only once the whole file is known. Fills the
 * indices of names; adds faults. */
void gate_config_check(struct gate_config *config);

#endif
