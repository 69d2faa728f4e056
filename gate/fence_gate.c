/* fence-gate: run stages, judge them, say why. The verbs and their options; the
 * work is in the files beside this one. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/opts.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "gate/config.h"
#include "gate/environ.h"
#include "gate/plan.h"
#include "gate/report/list.h"
#include "gate/run.h"

#define PROGRAM "fence-gate"

enum {
	EXIT_USAGE = 64,
	EXIT_CONFIG = 65,
	EXIT_INTERNAL = 70,
};

struct conf {
	const char *config_path;
	long long jobs; /* 0: as many as there are processors */
	bool fail_fast;
	bool json;
};

/* --- options ----------------------------------------------------------------------- */

static int set_jobs(void *conf, const char *value, struct fence_err *err)
{
	return fence_opt_number(value, 1, GATE_MAX_JOBS, &((struct conf *)conf)->jobs, err);
}

static int set_keep_going(void *conf, const char *value, struct fence_err *err)
{
	(void)value;
	(void)err;
	((struct conf *)conf)->fail_fast = false;
	return 0;
}

#define CONFIG_OPTION                                                                              \
	{                                                                                          \
		'c', "config", "FILE", "read FILE, whose folder is the root (default gates.yaml)", \
			FENCE_OPT_KEEP(struct conf, config_path)                                   \
	}
#define JSON_OPTION(help)                                                                          \
	{                                                                                          \
		0, "json", NULL, help, FENCE_OPT_TRUE(struct conf, json)                           \
	}

static const struct fence_opt run_opts[] = {
	CONFIG_OPTION,
	{ 'j', "jobs", "N", "run at most N stages at once (default: one a processor)",
	  .set = set_jobs },
	{ 'k', "keep-going", NULL, "go on after a stage did not pass (the default)",
	  .set = set_keep_going },
	{ 0, "fail-fast", NULL, "stop everything once a stage did not pass",
	  FENCE_OPT_TRUE(struct conf, fail_fast) },
	JSON_OPTION("print the record on standard output"),
};

static const struct fence_opt check_opts[] = { CONFIG_OPTION };

static const struct fence_opt list_opts[] = {
	CONFIG_OPTION,
	JSON_OPTION("print one JSON line"),
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct fence_cli run_cli = {
	.program = PROGRAM,
	.verb = "run",
	.summary = "run a gate's stages and give the verdict",
	.operands = "GATE",
	.opts = run_opts,
	.count = COUNT(run_opts),
	.notes = "Exit status: 0 PASS, 1 FAIL, 3 DEGRADED, 4 VOID, 5 PARTIAL,\n"
		 "64 usage, 65 bad configuration, 70 internal.\n",
};

static const struct fence_cli check_cli = {
	.program = PROGRAM,
	.verb = "check",
	.summary = "check the configuration and run nothing",
	.opts = check_opts,
	.count = COUNT(check_opts),
};

static const struct fence_cli list_cli = {
	.program = PROGRAM,
	.verb = "list",
	.summary = "list the gates and their stages",
	.opts = list_opts,
	.count = COUNT(list_opts),
};

static const struct fence_cli plan_cli = {
	.program = PROGRAM,
	.verb = "plan",
	.summary = "show what a gate would run, and in which order",
	.operands = "GATE",
	.opts = list_opts,
	.count = COUNT(list_opts),
};

static const struct fence_cli *const verbs[] = { &run_cli, &check_cli, &list_cli, &plan_cli };

static const struct fence_cli_set cli_set = {
	.program = PROGRAM,
	.summary = "run the test stages of a project and give one verdict",
	.verbs = verbs,
	.count = COUNT(verbs),
	.notes = "See fence-gate(1) and fence-gates(5).\n",
};

/* --- speaking ------------------------------------------------------------------------ */

static void complain(const struct fence_err *err)
{
	char line[1200];
	size_t length = fence_err_line(err, PROGRAM, line, sizeof(line));

	(void)fence_write_full(STDERR_FILENO, line, length);
}

static int complain_and(int status, const struct fence_err *err)
{
	complain(err);
	return status;
}

/* One write a line, so that lines of several programs do not mix. */
static void print_faults(const struct fence_yaml *yaml, const char *path)
{
	size_t total = yaml->error_total + yaml->warning_total;

	for (size_t i = 0; i < yaml->fault_count; i++) {
		char fault[PATH_MAX + 400], line[PATH_MAX + 420];
		int length;

		fence_yaml_fault_line(&yaml->faults[i], path, fault, sizeof(fault));
		length = snprintf(line, sizeof(line), "%s: %s\n", PROGRAM, fault);
		(void)fence_write_full(STDERR_FILENO, line, (size_t)length);
	}
	if (total > yaml->fault_count) {
		struct fence_err more = { 0 };

		(void)fence_fail_why(&more, -EBADMSG, "more faults than are shown", "%s", path);
		(void)fence_hint(&more, "mend these; %zu more are left", total - yaml->fault_count);
		complain(&more);
	}
}

/* --- what the verbs share --------------------------------------------------------------- */

/* Options may stand before and after the operand. Returns an exit status, or -1 to
 * go on. */
static int parse(const struct fence_cli *cli, int argc, char **argv, struct conf *conf,
		 const char **ret_operand)
{
	static char buf[65536];
	struct fence_text text;
	struct fence_err err = { 0 };

	*ret_operand = NULL;
	fence_text_init(&text, buf, sizeof(buf));
	for (;;) {
		int rest;
		int rc = fence_opts_parse(cli, argc, argv, conf, &rest, &text, &err);

		if (rc < 0)
			return complain_and(EXIT_USAGE, &err);
		if (rc == FENCE_OPTS_TEXT)
			return fence_write_full(STDOUT_FILENO, buf, text.length_bytes) < 0
				       ? EXIT_INTERNAL
				       : 0;
		if (rest >= argc)
			return -1;
		if (*ret_operand || !cli->operands) {
			(void)fence_fail_why(&err, -EINVAL, "one word too many", "%s", argv[rest]);
			return complain_and(EXIT_USAGE, &err);
		}
		*ret_operand = argv[rest];
		argc -= rest;
		argv += rest;
	}
}

/* Reads and checks. Returns an exit status, or -1 to go on. */
static int load(const struct conf *conf, struct gate_config *config)
{
	struct fence_err err = { 0 };

	if (gate_config_read(AT_FDCWD, conf->config_path, config, &err) < 0) {
		if (err.code == -ENOENT)
			(void)fence_hint(&err, "name the file with --config");
		return complain_and(EXIT_CONFIG, &err);
	}
	print_faults(config->yaml, conf->config_path);
	if (config->yaml->error_total == 0)
		return -1;
	gate_config_free(config);
	return EXIT_CONFIG;
}

/* The named gate. Returns an exit status, or -1 to go on. */
static int choose(const struct gate_config *config, const char *operand,
		  const struct gate_gate **ret)
{
	const char *ids[GATE_MAX_GATES];
	struct fence_err err = { 0 };
	const char *nearest;

	if (!operand) {
		(void)fence_fail_why(&err, -EINVAL, "no gate is named", "arguments");
		(void)fence_hint(&err, "name one; fence-gate list shows them");
		return complain_and(EXIT_USAGE, &err);
	}
	*ret = gate_config_find(config, operand);
	if (*ret)
		return -1;
	for (size_t i = 0; i < config->gate_count; i++)
		ids[i] = config->gates[i].id;
	nearest = fence_nearest(operand, ids, config->gate_count);
	(void)fence_fail_why(&err, -EINVAL, "no such gate", "%s", operand);
	if (nearest)
		(void)fence_hint(&err, "did you mean \"%s\"", nearest);
	else
		(void)fence_hint(&err, "fence-gate list shows them");
	return complain_and(EXIT_USAGE, &err);
}

/* The plan of the named gate, whose every stage can be given its environment. Returns an
 * exit status, or -1 to go on. */
static int make_plan(const struct gate_config *config, const char *operand, struct gate_plan *ret)
{
	const struct gate_gate *gate;
	struct fence_err err = { 0 };
	int status = choose(config, operand, &gate);

	if (status >= 0)
		return status;
	if (gate_plan_make(config, gate, ret) < 0) {
		(void)fence_fail(&err, -ENOMEM, "plan gate %s", gate->id);
		return complain_and(EXIT_INTERNAL, &err);
	}
	for (size_t i = 0; i < ret->count; i++) {
		owned_mem char **environment = NULL;

		if (gate_environ_make(gate_plan_stage(ret, i), environ, &environment, &err) == 0)
			continue;
		gate_plan_free(ret);
		return complain_and(err.code == -EINVAL ? EXIT_CONFIG : EXIT_INTERNAL, &err);
	}
	return -1;
}

/* --- check, list, plan --------------------------------------------------------------------- */

static int verb_check(const struct conf *conf, const struct gate_config *config,
		      const char *operand)
{
	(void)conf;
	(void)config;
	(void)operand;
	return 0; /* loading it was the check */
}

static int verb_list(const struct conf *conf, const struct gate_config *config, const char *operand)
{
	struct fence_err err = { 0 };

	(void)operand;
	if (gate_list_print(config, STDOUT_FILENO, conf->json, &err) < 0)
		return complain_and(EXIT_INTERNAL, &err);
	return 0;
}

static int verb_plan(const struct conf *conf, const struct gate_config *config, const char *operand)
{
	struct fence_err err = { 0 };
	struct gate_plan plan;
	int status = make_plan(config, operand, &plan);

	if (status >= 0)
		return status;
	if (gate_plan_print(&plan, environ, STDOUT_FILENO, conf->json, &err) < 0)
		status = complain_and(EXIT_INTERNAL, &err);
	gate_plan_free(&plan);
	return status < 0 ? 0 : status;
}

/* --- run ------------------------------------------------------------------------------------- */

static unsigned int processors(void)
{
	cpu_set_t set;

	/* It fails where there are more processors than the set has room for, 1,024:
	 * more than stages that run at once in any case. */
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return GATE_MAX_JOBS;
	return CPU_COUNT(&set) < GATE_MAX_JOBS ? (unsigned int)CPU_COUNT(&set) : GATE_MAX_JOBS;
}

/* The folder of the configuration, absolute and without links. */
static int find_root(const char *config_path, char **ret, int *ret_fd, struct fence_err *err)
{
	owned_mem char *file = realpath(config_path, NULL);
	char *slash;
	int fd;

	if (!file)
		return fence_fail(err, -errno, "find the folder of %s", config_path);
	slash = strrchr(file, '/');
	slash[slash == file ? 1 : 0] = '\0';
	fd = open(file, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fence_fail(err, -errno, "open %s", file);
	*ret = fence_take_mem(&file);
	*ret_fd = fd;
	return 0;
}

static int run_plan(const struct conf *conf, const struct gate_plan *plan)
{
	owned_mem char *root = NULL;
	owned_fd root_fd = -1;
	enum gate_verdict_kind kind = GATE_PASS;
	struct fence_err err = { 0 };
	struct gate_run_conf run = { .jobs = conf->jobs > 0 ? (unsigned int)conf->jobs
							    : processors(),
				     .fail_fast = conf->fail_fast,
				     .json = conf->json,
				     .config_path = conf->config_path,
				     .environment = environ };

	if (find_root(conf->config_path, &root, &root_fd, &err) < 0)
		return complain_and(EXIT_CONFIG, &err);
	run.root = root;
	run.root_fd = root_fd;
	if (gate_run(&run, plan, &kind, &err) < 0)
		return complain_and(EXIT_INTERNAL, &err);
	return gate_verdict_exit(kind);
}

static int verb_run(const struct conf *conf, const struct gate_config *config, const char *operand)
{
	struct gate_plan plan;
	int status = make_plan(config, operand, &plan);

	if (status >= 0)
		return status;
	status = run_plan(conf, &plan);
	gate_plan_free(&plan);
	return status;
}

/* --- main ------------------------------------------------------------------------------------ */

static const struct {
	const struct fence_cli *cli;
	int (*run)(const struct conf *conf, const struct gate_config *config, const char *operand);
} actions[] = {
	{ &run_cli, verb_run },
	{ &check_cli, verb_check },
	{ &list_cli, verb_list },
	{ &plan_cli, verb_plan },
};

static int act(const struct fence_cli *cli, int argc, char **argv)
{
	struct conf conf = { .config_path = "gates.yaml" };
	struct gate_config config;
	const char *operand;
	int status = parse(cli, argc, argv, &conf, &operand);

	if (status < 0)
		status = load(&conf, &config);
	if (status >= 0)
		return status;
	for (size_t i = 0; i < COUNT(actions); i++)
		if (actions[i].cli == cli)
			status = actions[i].run(&conf, &config, operand);
	gate_config_free(&config);
	return status;
}

int main(int argc, char **argv)
{
	static char buf[65536];
	const struct fence_cli *cli = NULL;
	struct fence_text text;
	struct fence_err err = { 0 };
	int rc;

	(void)fence_fix_stdio();
	fence_text_init(&text, buf, sizeof(buf));
	rc = fence_opts_verb(&cli_set, argc, argv, &cli, &text, &err);
	if (rc < 0)
		return complain_and(EXIT_USAGE, &err);
	if (rc == FENCE_OPTS_TEXT)
		return fence_write_full(STDOUT_FILENO, buf, text.length_bytes) < 0 ? EXIT_INTERNAL
										   : 0;
	return act(cli, argc - 1, argv + 1);
}
