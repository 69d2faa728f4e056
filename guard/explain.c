/* The answer comes from where the confinement comes from: a path is looked up in the plan
 * that exec would carry out, a call in the table that the filter is made of. Nothing is
 * confined for it, and nobody is connected to. */
#include "guard/explain.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fence/jsonw.h"
#include "fence/own.h"
#include "guard/confine/asking.h"
#include "guard/confine/own.h"
#include "guard/confine/placeholder.h"
#include "guard/confine/plan.h"
#include "guard/confine/plan_build.h"
#include "guard/confine/resolve.h"
#include "guard/confine/root.h"
#include "guard/confine/steps.h"
#include "guard/policy/load.h"
#include "guard/policy/netrule.h"
#include "guard/policy/policy.h"
#include "guard/policy/words.h"

#define STATUS_USAGE 64
#define STATUS_DATA  65

enum kind {
	KIND_NONE,
	KIND_PATH,
	KIND_HOST,
	KIND_SYSCALL,
	KIND_COMMAND,
};

static const char *const kind_words[] = {
	[KIND_PATH] = "path",
	[KIND_HOST] = "host",
	[KIND_SYSCALL] = "syscall",
	[KIND_COMMAND] = "command",
};

struct conf {
	struct guard_policy policy;
	const char *file, *profile;
	enum kind kind;
	const char *subject;
	bool json;
};

struct answer {
	const char *verdict;
	const char *enforced_by;
	char rule[512];
	const char *reason; /* may be NULL */
	const char *error;  /* what a refused call returns; may be NULL */
	struct guard_place place;
	char resolved[PATH_MAX]; /* of a path */
};

/* --- options ---------------------------------------------------------------------- */

static int ask_about(void *arg, enum kind kind, const char *value, struct fence_err *err)
{
	struct conf *conf = arg;

	if (conf->kind != KIND_NONE)
		return fence_fail_why(err, -EINVAL, "one thing is asked about at a time", "--%s",
				      kind_words[kind]);
	if (value[0] == '\0')
		return fence_fail_why(err, -EINVAL, "empty", "--%s", kind_words[kind]);
	conf->kind = kind;
	conf->subject = value;
	return 0;
}

static int set_path(void *conf, const char *value, struct fence_err *err)
{
	return ask_about(conf, KIND_PATH, value, err);
}

static int set_host(void *conf, const char *value, struct fence_err *err)
{
	return ask_about(conf, KIND_HOST, value, err);
}

static int set_syscall(void *conf, const char *value, struct fence_err *err)
{
	return ask_about(conf, KIND_SYSCALL, value, err);
}

static int set_command(void *conf, const char *value, struct fence_err *err)
{
	return ask_about(conf, KIND_COMMAND, value, err);
}

static const struct fence_opt options[] = {
	{ 0, "policy", "FILE", "the policy file that is asked", FENCE_OPT_KEEP(struct conf, file) },
	{ 0, "profile", "NAME", "the profile that is asked (gate)",
	  FENCE_OPT_KEEP(struct conf, profile) },
	{ 0, "path", "PATH", "may it be read and written", .set = set_path },
	{ 0, "host", "HOST[:PORT]", "may it be connected to", .set = set_host },
	{ 0, "syscall", "NAME", "may it be called", .set = set_syscall },
	{ 0, "command", "TEXT", "what do the commands of the file advise", .set = set_command },
	{ 0, "json", NULL, "answer with a record", FENCE_OPT_TRUE(struct conf, json) },
};

const struct fence_cli guard_explain_cli = {
	.program = "fence-guard",
	.verb = "explain",
	.summary = "say what a policy means for a path, host or system call",
	.operands = NULL,
	.opts = options,
	.count = sizeof(options) / sizeof(options[0]),
	.notes = "Exit status: 0 answered, 64 usage, 65 the policy is not good.\n"
		 "\n"
		 "Example:\n"
		 "  fence-guard explain --policy policy.yaml --path .git/hooks\n",
};

/* --- paths ------------------------------------------------------------------------ */

static const struct guard_rule *rule_of(const struct guard_policy *policy,
					const struct guard_op *op)
{
	for (size_t i = 0; op->named && i < policy->rule_count; i++)
		if (policy->rules[i].path == op->origin)
			return &policy->rules[i];
	return NULL;
}

static void set_rule(struct answer *answer, const char *word, const char *path)
{
	struct fence_text text;

	fence_text_init(&text, answer->rule, sizeof(answer->rule));
	fence_text_add(&text, "%s%s", word, path[0] == '\0' ? "" : " ");
	fence_text_add_bytes(&text, path, strlen(path));
}

static void judge_default(const struct guard_op *op, struct answer *answer)
{
	static const char *const words[] = {
		[GUARD_OP_DEV] = "the small",
		[GUARD_OP_PROC] = "the new",
		[GUARD_OP_TMP] = "the private",
		[GUARD_OP_RW] = "the working directory",
		[GUARD_OP_RO] = "protected unnamed:",
		[GUARD_OP_MASK] = "masked unnamed:",
		[GUARD_OP_OVERLAY] = "a private copy of",
	};

	set_rule(answer,
		 op->kind == GUARD_OP_RO && !op->shut ? "the working directory" : words[op->kind],
		 op->path);
}

static void judge_op(const struct guard_policy *policy, const struct guard_op *op,
		     struct answer *answer)
{
	static const char *const verdicts[] = {
		[GUARD_OP_DEV] = "private",	[GUARD_OP_PROC] = "private",
		[GUARD_OP_TMP] = "private",	[GUARD_OP_TMPFS] = "private",
		[GUARD_OP_OVERLAY] = "private", [GUARD_OP_RW] = "allow",
		[GUARD_OP_RO] = "read-only",	[GUARD_OP_MASK] = "deny",
	};
	const struct guard_rule *rule;

	answer->enforced_by = policy->profile->narrow ? "landlock" : "mount";
	if (policy->profile->narrow && op != NULL && op->kind != GUARD_OP_RW)
		op = NULL;
	if (op == NULL) {
		answer->verdict = "read-only";
		set_rule(answer, "the root file system", "");
		return;
	}
	answer->verdict = verdicts[op->kind];
	if (op->kind == GUARD_OP_RW)
		answer->enforced_by = "none";
	rule = rule_of(policy, op);
	if (rule == NULL) {
		judge_default(op, answer);
		return;
	}
	set_rule(answer, guard_access_word(rule->access), rule->path);
	answer->reason = rule->reason;
	answer->place = rule->place;
}

static const char *value_of(char *const *envp, const char *name)
{
	size_t length = strlen(name);

	for (; *envp != NULL; envp++)
		if (strncmp(*envp, name, length) == 0 && (*envp)[length] == '=')
			return *envp + length + 1;
	return NULL;
}

/* A descriptor for every path, as exec's init has it. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Absolute, but with what links there are: of a path that is missing nothing else is known. */
static bool spell_out(const char *cwd, const char *path, char ret[2 * PATH_MAX])
{
	int length = path[0] == '/' ? snprintf(ret, 2 * PATH_MAX, "%s", path)
				    : snprintf(ret, 2 * PATH_MAX, "%s/%s", cwd, path);

	while (length > 1 && length < 2 * PATH_MAX && ret[length - 1] == '/')
		ret[--length] = '\0';
	return length > 0 && length < 2 * PATH_MAX;
}

/* Of the rules about what does not exist the plan has nothing. */
static void judge_missing(const struct guard_policy *policy, const char *cwd, const char *path,
			  struct answer *answer)
{
	char asked[2 * PATH_MAX], denied[2 * PATH_MAX];

	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct guard_rule *rule = &policy->rules[i];

		if ((rule->access != GUARD_DENY && rule->access != GUARD_PROTECT) ||
		    !spell_out(cwd, path, asked) || !spell_out(cwd, rule->path, denied) ||
		    !guard_path_within(asked, denied))
			continue;
		/* A mask needs something to lie on; a protection brings it. */
		answer->verdict = rule->access == GUARD_DENY ? "deny" : "read-only";
		answer->enforced_by = rule->access == GUARD_DENY ? "none" : "mount";
		answer->reason = rule->access == GUARD_DENY
					 ? "it does not exist, so nothing is masked"
					 : rule->reason;
		answer->place = rule->place;
		set_rule(answer, guard_access_word(rule->access), rule->path);
		return;
	}
}

static int look_up(struct guard_plan *plan, const struct guard_policy *policy, const char *path,
		   struct answer *answer, struct fence_err *err)
{
	struct guard_object object = { .fd = -1 };
	int rc = guard_plan_build(plan, policy, err);

	if (rc < 0) {
		guard_policy_place(policy, plan->current, err);
		return rc;
	}
	/* What is missing is as what is above it. */
	rc = guard_resolve(plan->cwd, path, NULL, &object);
	fence_close_fd(&object.fd);
	if (rc < 0 && rc != -ENOENT && rc != -ENOTDIR && rc != -EACCES)
		return fence_fail(err, rc, "look at %s", path);
	memcpy(answer->resolved, object.path, sizeof(answer->resolved));
	judge_op(policy, guard_plan_nearest(plan, object.path), answer);
	if (rc < 0)
		judge_missing(policy, plan->cwd, path, answer);
	return 0;
}

/* Where the command's root is another one its paths are looked up there, by us in
 * namespaces of our own, as exec does it. */
static int enter_root(struct guard_plan *plan, const struct guard_policy *policy,
		      struct fence_err *err)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int rc = 0;

	if (unshare(CLONE_NEWNS | (plan->real_root ? 0 : CLONE_NEWUSER)) < 0)
		rc = fence_fail(err, -errno, "create namespaces");
	if (rc == 0 && !plan->real_root)
		rc = guard_map_self(uid, gid, err);
	plan->policy = policy;
	if (rc == 0)
		rc = guard_root_enter(plan, err);
	if (rc < 0)
		guard_policy_place(policy, plan->current, err);
	return rc;
}

static int answer_unconfined(struct answer *answer)
{
	answer->verdict = "allow";
	answer->enforced_by = "none";
	set_rule(answer, "profile", "none");
	return 0;
}

static int explain_path(struct conf *conf, struct answer *answer, struct fence_err *err)
{
	struct guard_environ environment;
	struct guard_plan plan = { .look_only = true,
				   .real_root = guard_is_privileged(),
				   .keeps = guard_placeholder_keeps() };
	int rc = guard_policy_environ(&conf->policy, environ, &environment);

	if (rc < 0)
		return fence_fail(err, rc, "make the environment");
	if (!conf->policy.profile->confine) {
		guard_environ_free(&environment);
		return answer_unconfined(answer);
	}
	plan.home = value_of(environment.list, "HOME");
	plan.tmp_dir = value_of(environment.list, "TMPDIR");
	raise_limit();
	rc = conf->policy.root == NULL ? 0 : enter_root(&plan, &conf->policy, err);
	if (rc == 0)
		rc = look_up(&plan, &conf->policy, conf->subject, answer, err);
	guard_plan_free(&plan);
	guard_environ_free(&environment);
	return rc;
}

/* --- hosts ------------------------------------------------------------------------ */

/* A rule that denies wins over any that allows; what no rule names is denied. */
static const struct guard_net_line *find_line(const struct guard_policy *policy,
					      const struct guard_net_target *target,
					      enum guard_net_list list)
{
	for (size_t i = 0; i < policy->net_line_count; i++) {
		const struct guard_net_line *line = &policy->net_lines[i];
		struct guard_net_rule rule;

		if (line->list == list && guard_net_rule_parse(line->text, &rule) == NULL &&
		    guard_net_rule_matches(&rule, target, list == GUARD_NET_ALLOW))
			return line;
	}
	return NULL;
}

static void judge_lines(const struct guard_policy *policy, const struct guard_net_target *target,
			struct answer *answer)
{
	const struct guard_net_line *line = find_line(policy, target, GUARD_NET_DENY);

	answer->verdict = "deny";
	if (line == NULL) {
		line = find_line(policy, target, GUARD_NET_ALLOW);
		answer->verdict = line != NULL ? "allow" : "deny";
	}
	if (line != NULL) {
		set_rule(answer, line->list == GUARD_NET_DENY ? "deny" : "allow", line->text);
		answer->place = line->place;
	}
}

/* Port 0: none is named, and some may be connected to, or none. */
static void judge_port(const struct guard_policy *policy, uint16_t port, struct answer *answer)
{
	const struct guard_port_list *list = &policy->ports.connect;
	bool allowed = port == 0 ? list->count > 0 : guard_ports_have(list, port);

	answer->verdict = allowed ? "allow" : "deny";
	answer->enforced_by = "landlock";
}

static int explain_host(struct conf *conf, struct answer *answer, struct fence_err *err)
{
	const struct guard_policy *policy = &conf->policy;
	struct guard_net_target target;
	const char *wrong = guard_net_target_parse(conf->subject, &target);

	if (wrong != NULL)
		return fence_fail_why(err, -EINVAL, wrong, "--host %s", conf->subject);
	answer->place = policy->net_place;
	set_rule(answer, "network mode", guard_net_word(policy->net));
	answer->verdict = policy->net == GUARD_NET_NONE ? "deny" : "allow";
	answer->enforced_by = policy->net == GUARD_NET_NONE ? "netns" : "none";
	if (policy->net == GUARD_NET_RULES)
		judge_lines(policy, &target, answer);
	if (policy->net == GUARD_NET_PORTS)
		judge_port(policy, target.port, answer);
	return 0;
}

/* --- system calls ----------------------------------------------------------------- */

static int refuse_call(const char *name, struct fence_err *err)
{
	const char *nearest = guard_call_nearest(name);

	fence_fail_why(err, -EINVAL,
		       guard_call_is_foreign(name) ? "other machines have it, this one has not"
						   : "no such system call on this machine",
		       "--syscall %s", name);
	if (nearest != NULL)
		(void)fence_hint(err, "did you mean %s?", nearest);
	return -EINVAL;
}

/* Of a call that the file names, the rule is that. */
static void set_call_rule(const struct guard_policy *policy, const char *name, int number,
			  struct answer *answer)
{
	const struct guard_call_rule *rule = guard_policy_call(policy, number);

	if (rule == NULL)
		return;
	set_rule(answer, rule->error == 0 ? "seccomp allow" : "seccomp deny", name);
	answer->place = rule->place;
}

static int explain_syscall(struct conf *conf, struct answer *answer, struct fence_err *err)
{
	const struct guard_policy *policy = &conf->policy;
	struct sock_fprog filter = guard_filter(policy);
	int number = guard_call_number(conf->subject);
	int error;

	if (number < 0)
		return refuse_call(conf->subject, err);
	answer->place = policy->seccomp_place;
	answer->enforced_by = "seccomp";
	set_rule(answer, "seccomp", guard_seccomp_word(policy->seccomp));
	if (!policy->profile->confine)
		return answer_unconfined(answer);
	if (guard_policy_call(policy, number) == NULL &&
	    guard_call_is_judged(policy, conf->subject)) {
		answer->verdict = "arguments";
		return 0;
	}
	error = guard_asking_errno(&filter, number);
	set_call_rule(policy, conf->subject, number, answer);
	answer->verdict = error == 0 ? "allow" : "deny";
	if (error == 0)
		answer->enforced_by = "none";
	else
		answer->error = fence_errno_name(error);
	return 0;
}

/* --- commands --------------------------------------------------------------------- */

static int explain_command(struct conf *conf, struct answer *answer, struct fence_err *err)
{
	const struct guard_policy *policy = &conf->policy;
	const struct guard_advice *strictest = NULL;
	const char *words[GUARD_WORDS_MAX];
	size_t count = 0;
	owned_mem char *buf = malloc(strlen(conf->subject) + 1);
	const char *wrong;

	if (buf == NULL)
		return fence_fail(err, -ENOMEM, "--command %s", conf->subject);
	wrong = guard_words_split(conf->subject, buf, words, &count);
	answer->enforced_by = "none";
	answer->verdict = wrong != NULL ? "opaque" : "allow";
	set_rule(answer, wrong != NULL ? wrong : "no rule names it", "");
	for (size_t i = 0; wrong == NULL && i < policy->command_count; i++) {
		const struct guard_advice *advice = &policy->commands[i];

		if (guard_words_match(advice->words, advice->count, words, count) &&
		    (strictest == NULL || advice->verdict > strictest->verdict))
			strictest = advice;
	}
	if (strictest == NULL)
		return 0;
	answer->verdict = guard_verdict_word(strictest->verdict);
	answer->reason = strictest->reason;
	answer->place = strictest->place;
	set_rule(answer, "command", strictest->words[0]);
	return 0;
}

/* --- the verb --------------------------------------------------------------------- */

/* What the file advises when nobody can tell. */
static void add_opaque(const struct guard_policy *policy, struct fence_text *text)
{
	for (size_t i = 0; i < GUARD_SESSION_COUNT; i++)
		if (policy->opaque[i] != GUARD_VERDICT_OPAQUE)
			fence_text_add(text, ", %s: %s", guard_session_word((enum guard_session)i),
				       guard_verdict_word(policy->opaque[i]));
}

static void put_opaque(const struct guard_policy *policy, struct fence_jsonw *w)
{
	fence_jsonw_open(w, "opaque", '{');
	for (size_t i = 0; i < GUARD_SESSION_COUNT; i++)
		if (policy->opaque[i] != GUARD_VERDICT_OPAQUE)
			fence_jsonw_string(w, guard_session_word((enum guard_session)i),
					   guard_verdict_word(policy->opaque[i]));
	fence_jsonw_close(w, '}');
}

static bool is_opaque(const struct answer *answer)
{
	return strcmp(answer->verdict, guard_verdict_word(GUARD_VERDICT_OPAQUE)) == 0;
}

static void write_json(const struct conf *conf, const struct answer *answer,
		       struct fence_text *text)
{
	char buf[3 * PATH_MAX];
	struct fence_jsonw w;

	fence_jsonw_init(&w, buf, sizeof(buf));
	fence_jsonw_open(&w, NULL, '{');
	fence_jsonw_head(&w, "fence-guard-explain/v1", "fence-guard");
	fence_jsonw_string(&w, "kind", kind_words[conf->kind]);
	fence_jsonw_string(&w, "subject", conf->subject);
	if (conf->kind == KIND_PATH)
		fence_jsonw_string(&w, "resolved",
				   answer->resolved[0] == '\0' ? NULL : answer->resolved);
	fence_jsonw_string(&w, "verdict", answer->verdict);
	if (is_opaque(answer))
		put_opaque(&conf->policy, &w);
	fence_jsonw_string(&w, "rule", answer->rule);
	fence_jsonw_string(&w, "reason", answer->reason);
	fence_jsonw_string(&w, "enforcedBy", answer->enforced_by);
	fence_jsonw_string(&w, "errno", answer->error);
	fence_jsonw_string(&w, "profile",
			   conf->policy.profile_name != NULL ? conf->policy.profile_name
							     : conf->policy.profile->name);
	if (answer->place.line > 0) {
		fence_jsonw_open(&w, "source", '{');
		fence_jsonw_string(&w, "file", conf->file);
		fence_jsonw_uint(&w, "line", answer->place.line);
		fence_jsonw_uint(&w, "column", answer->place.column);
		fence_jsonw_close(&w, '}');
	} else {
		fence_jsonw_null(&w, "source");
	}
	fence_jsonw_close(&w, '}');
	if (!w.overflow)
		fence_text_add_bytes(text, w.buf, w.length_bytes);
	fence_text_add(text, "\n");
	text->truncated |= w.overflow;
}

static void write_words(const struct conf *conf, const struct answer *answer,
			struct fence_text *text)
{
	fence_text_add_safe(text, conf->subject, strlen(conf->subject));
	fence_text_add(text, ": %s%s%s: ", answer->verdict, answer->error != NULL ? " with " : "",
		       answer->error != NULL ? answer->error : "");
	fence_text_add_safe(text, answer->rule, strlen(answer->rule));
	if (answer->place.line > 0) {
		fence_text_add(text, " (");
		fence_text_add_safe(text, conf->file, strlen(conf->file));
		fence_text_add(text, ":%u:%u)", answer->place.line, answer->place.column);
	}
	if (answer->reason != NULL) {
		fence_text_add(text, ", ");
		fence_text_add_safe(text, answer->reason, strlen(answer->reason));
	}
	if (is_opaque(answer))
		add_opaque(&conf->policy, text);
	fence_text_add(text, "; enforced by %s\n", answer->enforced_by);
}

static int answer_it(struct conf *conf, struct fence_text *text, struct fence_err *err)
{
	static int (*const explain[])(struct conf *, struct answer *, struct fence_err *) = {
		[KIND_PATH] = explain_path,
		[KIND_HOST] = explain_host,
		[KIND_SYSCALL] = explain_syscall,
		[KIND_COMMAND] = explain_command,
	};
	struct answer answer = { .verdict = "deny", .enforced_by = "none" };
	int rc = conf->file != NULL
			 ? guard_policy_load(&conf->policy, conf->file, conf->profile, err)
			 : guard_policy_set_profile(&conf->policy, conf->profile, err);

	if (rc == 0)
		rc = guard_policy_settle(&conf->policy, err);
	if (rc == 0)
		rc = guard_own_filter(&conf->policy, err);
	if (rc == 0)
		rc = explain[conf->kind](conf, &answer, err);
	if (rc < 0)
		return STATUS_DATA;
	(conf->json ? write_json : write_words)(conf, &answer, text);
	if (!text->truncated)
		return 0;
	/* Half an answer is none. */
	fence_text_init(text, text->buf, text->size_bytes);
	fence_fail_why(err, -E2BIG, "the answer is too long", "--%s", kind_words[conf->kind]);
	return STATUS_DATA;
}

int guard_explain_main(int argc, char *const *argv, struct fence_text *text, struct fence_err *err)
{
	struct conf conf = { .profile = "gate" };
	int rest = 0;
	int answer;
	int status = 0;

	guard_policy_init(&conf.policy);
	answer = fence_opts_parse(&guard_explain_cli, argc, argv, &conf, &rest, text, err);
	if (answer == FENCE_OPTS_PARSED && (rest < argc || conf.kind == KIND_NONE)) {
		fence_fail_why(err, -EINVAL, "it is an option that says what is asked about", "%s",
			       rest < argc ? argv[rest] : "nothing to explain");
		(void)fence_hint(err, "use one of --path, --host, --syscall, --command");
		answer = -EINVAL;
	}
	if (answer < 0)
		status = STATUS_USAGE;
	else if (answer == FENCE_OPTS_PARSED)
		status = answer_it(&conf, text, err);
	guard_policy_free(&conf.policy);
	return status;
}
