#include "guard/policy/load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/opts.h"
#include "fence/own.h"
#include "fence/reap.h"
#include "fence/sibling.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "guard/policy/wire.h"

#define READER "fence-policy"

/* --- what it wrote ---------------------------------------------------------------- */

struct taking {
	struct guard_policy *policy;
	struct fence_err *err;
};

static int out_of_memory(struct taking *t)
{
	return fence_fail(t->err, -ENOMEM, "keep the policy %s", t->policy->file);
}

/* What both programs agree on by being of one version; anything else is a fault of
 * ours, and no policy. */
static int disagree(struct taking *t, const char *word)
{
	return fence_fail_why(t->err, -EPROTO, "not what " READER " of this version writes",
			      "read the policy %s%s%.40s", t->policy->file,
			      word[0] == '\0' ? "" : ", at ", word);
}

/* "what; what to do", as a reader of YAML words it. */
static int take_fault(struct taking *t, const struct guard_wire_record *record)
{
	const char *text = record->value[1];
	const char *hint = strstr(text, "; ");
	int length = hint == NULL ? (int)strlen(text) : (int)(hint - text);
	char why[sizeof(t->err->why)];
	int64_t total = 1;

	if (t->err == NULL)
		return -EINVAL;
	(void)snprintf(why, sizeof(why), "%.*s", length, text);
	(void)fence_parse_number(record->value[2], 1, INT32_MAX, &total);
	fence_fail_why(t->err, -EINVAL, why, "%s", record->value[0]);
	if (total > 1)
		(void)fence_hint(t->err, "%s%s" READER " shows all %lld faults",
				 hint == NULL ? "" : hint + 2, hint == NULL ? "" : "; ",
				 (long long)total);
	else if (hint != NULL)
		(void)fence_hint(t->err, "%s", hint + 2);
	return -EINVAL;
}

static int take_file(struct taking *t, const struct guard_wire_record *record)
{
	t->policy->file_path = record->value[0];
	return 0;
}

static int take_profile(struct taking *t, const struct guard_wire_record *record)
{
	t->policy->profile_name = record->value[0];
	t->policy->profile_place = record->place;
	return guard_policy_set_profile(t->policy, record->value[1], t->err);
}

static int take_rule(struct taking *t, const struct guard_wire_record *record)
{
	struct guard_rule *rule;
	int access = fence_opt_choice("rw|ro|tmpfs|overlay|deny|protect", record->value[0]);
	int rc;

	if (access < 0)
		return disagree(t, record->value[0]);
	rc = guard_policy_add_rule(t->policy, (enum guard_access)access, record->value[1], t->err);
	if (rc < 0)
		return rc;
	rule = &t->policy->rules[t->policy->rule_count - 1];
	rule->reason = record->value[2][0] == '\0' ? NULL : record->value[2];
	rule->place = record->place;
	return 0;
}

static int take_root(struct taking *t, const struct guard_wire_record *record)
{
	t->policy->root = record->value[0];
	t->policy->root_place = record->place;
	return 0;
}

static int take_bind(struct taking *t, const struct guard_wire_record *record)
{
	struct guard_policy *policy = t->policy;
	int access = fence_opt_choice("rw|ro", record->value[0]);
	int rc;

	if (access < 0)
		return disagree(t, record->value[0]);
	rc = guard_policy_add_bind(policy, (enum guard_access)access, record->value[1], t->err);
	if (rc < 0)
		return rc;
	policy->binds[policy->bind_count - 1].place = record->place;
	policy->rules[policy->rule_count - 1].place = record->place;
	return 0;
}

static int take_net(struct taking *t, const struct guard_wire_record *record)
{
	int net = fence_opt_choice("none|host|rules|ports", record->value[0]);

	if (net < 0)
		return disagree(t, record->value[0]);
	t->policy->net = (enum guard_net)net;
	t->policy->net_place = record->place;
	return 0;
}

static int take_ports(struct taking *t, const struct guard_wire_record *record)
{
	if (guard_ports_parse(record->value[0], &t->policy->ports) != NULL)
		return disagree(t, record->value[0]);
	return 0;
}

static int take_env(struct taking *t, const struct guard_wire_record *record)
{
	t->policy->env_keep_only |= record->kind == GUARD_WIRE_KEEP;
	/* "keep: []": nothing passes. */
	if (record->kind == GUARD_WIRE_KEEP && record->value[0][0] == '\0')
		return 0;
	return guard_policy_add_env(t->policy, record->value[0], record->kind == GUARD_WIRE_UNSET,
				    t->err);
}

static int take_limit(struct taking *t, const struct guard_wire_record *record)
{
	for (size_t i = 0; i < GUARD_LIMIT_COUNT; i++) {
		if (strcmp(guard_limit_word((enum guard_limit)i), record->value[0]) != 0)
			continue;
		if (guard_limit_parse((enum guard_limit)i, record->value[1],
				      &t->policy->limits[i]) != NULL)
			return disagree(t, record->value[1]);
		t->policy->limit_places[i] = record->place;
		return 0;
	}
	return disagree(t, record->value[0]);
}

static int take_seccomp(struct taking *t, const struct guard_wire_record *record)
{
	int filter = fence_opt_choice("default|strict", record->value[0]);

	if (filter < 0)
		return disagree(t, record->value[0]);
	t->policy->seccomp = (enum guard_seccomp)filter;
	t->policy->seccomp_place = record->place;
	return 0;
}

static int take_call(struct taking *t, const struct guard_wire_record *record)
{
	int64_t error;
	int rc = fence_parse_number(record->value[1], 0, GUARD_ERRNO_MAX, &error);

	if (rc == 0)
		rc = guard_policy_add_call(t->policy, record->value[0], (int)error, record->place);
	if (rc == -ENOMEM)
		return out_of_memory(t);
	return rc < 0 ? disagree(t, record->value[0]) : 0;
}

static int take_allow(struct taking *t, const struct guard_wire_record *record)
{
	switch (fence_opt_choice("userns|hardlinks|set-id|nesting|wait-all|new-session",
				 record->value[0])) {
	case 0:
		t->policy->allow_userns = true;
		return 0;
	case 1:
		t->policy->allow_hardlinks = true;
		return 0;
	case 2:
		t->policy->allow_set_id = true;
		return 0;
	case 3:
		t->policy->allow_nesting = true;
		t->policy->allow_userns = true;
		return 0;
	case 4:
		t->policy->wait_all = true;
		return 0;
	case 5:
		t->policy->new_session = true;
		return 0;
	default:
		return disagree(t, record->value[0]);
	}
}

static int take_cap(struct taking *t, const struct guard_wire_record *record)
{
	int number = guard_cap_number(record->value[0]);

	if (number < 0)
		return disagree(t, record->value[0]);
	t->policy->keep_caps |= UINT64_C(1) << number;
	return 0;
}

static int take_net_rule(struct taking *t, const struct guard_wire_record *record)
{
	struct guard_policy *policy = t->policy;
	int list = fence_opt_choice("allow|deny|expose", record->value[0]);
	struct guard_net_line *more;

	if (list < 0)
		return disagree(t, record->value[0]);
	more = reallocarray(policy->net_lines, policy->net_line_count + 1, sizeof(*more));
	if (more == NULL)
		return out_of_memory(t);
	policy->net_lines = more;
	more[policy->net_line_count++] = (struct guard_net_line){
		.list = (enum guard_net_list)list,
		.text = record->value[1],
		.place = record->place,
	};
	return 0;
}

static int take_command(struct taking *t, const struct guard_wire_record *record)
{
	struct guard_policy *policy = t->policy;
	int verdict = guard_verdict_find(record->value[0]);
	struct guard_advice *more;

	if (verdict < 0)
		return disagree(t, record->value[0]);
	more = reallocarray(policy->commands, policy->command_count + 1, sizeof(*more));
	if (more == NULL)
		return out_of_memory(t);
	policy->commands = more;
	more[policy->command_count++] = (struct guard_advice){
		.verdict = (enum guard_verdict)verdict,
		.reason = record->value[1][0] == '\0' ? NULL : record->value[1],
		.place = record->place,
	};
	return 0;
}

static int take_word(struct taking *t, const struct guard_wire_record *record)
{
	struct guard_policy *policy = t->policy;
	struct guard_advice *command;
	const char **more;

	if (policy->command_count == 0)
		return disagree(t, record->value[0]);
	command = &policy->commands[policy->command_count - 1];
	more = reallocarray(command->words, command->count + 1, sizeof(*more));
	if (more == NULL)
		return out_of_memory(t);
	command->words = more;
	more[command->count++] = record->value[0];
	return 0;
}

static int take_opaque(struct taking *t, const struct guard_wire_record *record)
{
	int verdict = guard_verdict_find(record->value[1]);

	for (size_t i = 0; verdict >= 0 && i < GUARD_SESSION_COUNT; i++) {
		if (strcmp(guard_session_word((enum guard_session)i), record->value[0]) != 0)
			continue;
		t->policy->opaque[i] = (enum guard_verdict)verdict;
		return 0;
	}
	return disagree(t, record->value[0]);
}

static int (*const takers[])(struct taking *t, const struct guard_wire_record *record) = {
	[GUARD_WIRE_FAULT] = take_fault,       [GUARD_WIRE_FILE] = take_file,
	[GUARD_WIRE_PROFILE] = take_profile,   [GUARD_WIRE_RULE] = take_rule,
	[GUARD_WIRE_ROOT] = take_root,	       [GUARD_WIRE_BIND] = take_bind,
	[GUARD_WIRE_NET] = take_net,	       [GUARD_WIRE_PORTS] = take_ports,
	[GUARD_WIRE_KEEP] = take_env,	       [GUARD_WIRE_SET] = take_env,
	[GUARD_WIRE_UNSET] = take_env,	       [GUARD_WIRE_LIMIT] = take_limit,
	[GUARD_WIRE_CALL] = take_call,	       [GUARD_WIRE_SECCOMP] = take_seccomp,
	[GUARD_WIRE_ALLOW] = take_allow,       [GUARD_WIRE_CAP] = take_cap,
	[GUARD_WIRE_NET_RULE] = take_net_rule, [GUARD_WIRE_COMMAND] = take_command,
	[GUARD_WIRE_WORD] = take_word,	       [GUARD_WIRE_OPAQUE] = take_opaque,
};

static int take_records(struct taking *t, const char *bytes, size_t count)
{
	struct guard_wire_reader reader;
	struct guard_wire_record record;
	int rc = guard_wire_open(&reader, bytes, count);

	if (rc < 0)
		return disagree(t, "");
	while ((rc = guard_wire_next(&reader, &record)) == 1) {
		rc = takers[record.kind](t, &record);
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		return disagree(t, "");
	/* The profile comes with the file in any case: nothing was taken by halves. */
	return t->policy->profile_name == NULL || t->policy->file_path == NULL ? disagree(t, "")
									       : 0;
}

int guard_policy_take(struct guard_policy *policy, char *bytes, size_t count, struct fence_err *err)
{
	struct taking t = { .policy = policy, .err = err };
	/* The last word about a variable counts: options come after the file. */
	struct guard_env_rule *options = policy->env;
	size_t option_count = policy->env_count;
	int rc;

	policy->bytes = bytes;
	policy->env = NULL;
	policy->env_count = 0;
	rc = take_records(&t, bytes, count);
	for (size_t i = 0; rc == 0 && i < option_count; i++)
		rc = guard_policy_add_env(policy, options[i].name, options[i].unset, err);
	free(options);
	return rc;
}

/* --- the program ------------------------------------------------------------------ */

static int find_reader(char *ret_path, size_t size_bytes, struct fence_err *err)
{
	int rc = fence_sibling_find(READER, ret_path, size_bytes);

	if (rc == 0)
		return 0;
	fence_fail_why(err, rc, "it reads policies, and is not there", READER);
	(void)fence_hint(err, "install it beside fence-guard or into %s", FENCE_BINDIR);
	return rc;
}

static int read_all(int fd, char **ret, size_t *ret_count)
{
	owned_mem char *bytes = NULL;
	size_t room = 0;
	size_t count = 0;

	for (;;) {
		ssize_t got;

		if (count == room) {
			char *more = room >= GUARD_WIRE_MAX_BYTES
					     ? NULL
					     : realloc(bytes, room == 0 ? 65536 : 2 * room);

			if (more == NULL)
				return room >= GUARD_WIRE_MAX_BYTES ? -EFBIG : -ENOMEM;
			bytes = more;
			room = room == 0 ? 65536 : 2 * room;
		}
		got = fence_read_some(fd, bytes + count, room - count);
		if (got < 0)
			return (int)got;
		if (got == 0)
			break;
		count += (size_t)got;
	}
	*ret = fence_take_mem(&bytes);
	*ret_count = count;
	return 0;
}

struct output {
	char *bytes;
	size_t count;
};

/* A child with signals blocked, as fence_spawn_exec asks for; `fd` is its output. */
static int start(char *const *argv, int fd, pid_t *ret_pid)
{
	struct fence_spawn_plan plan = {
		.file = argv[0],
		.argv = argv,
		.envp = environ,
		.stdio = { -1, fd, -1 },
		.umask = -1,
		.keep_signals = true,
	};
	enum fence_spawn_step step;
	sigset_t all, before;
	int rc;

	fence_sigset_fill(&all);
	if (sigprocmask(SIG_BLOCK, &all, &before) < 0)
		return -errno;
	plan.mask = &before;
	rc = fence_spawn_exec(&plan, ret_pid, NULL, &step);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static int ask(const char *program, const char *file, const char *name, struct output *ret,
	       struct fence_err *err)
{
	const char *const argv[] = { program, "--compiled", "--profile", name, "--", file, NULL };
	struct fence_exit how = { .number = 0 };
	owned_fd from = -1;
	owned_fd to = -1;
	int pair[2] = { -1, -1 };
	pid_t pid = -1;
	int rc;

	/* An inherited "ignore" would reap it behind our back. */
	rc = fence_signal_default(SIGCHLD);
	if (rc == 0 && pipe2(pair, O_CLOEXEC) < 0)
		rc = -errno;
	if (rc < 0)
		return fence_fail(err, rc, "ask %s", program);
	from = pair[0];
	to = pair[1];
	rc = start((char *const *)(uintptr_t)argv, to, &pid);
	if (rc < 0)
		return fence_fail(err, rc, "run %s", program);
	fence_close_fd(&to);
	rc = read_all(from, &ret->bytes, &ret->count);
	/* What it still wants to write ends it. */
	fence_close_fd(&from);
	(void)fence_reap_wait(pid, &how, NULL);
	if (rc < 0)
		return fence_fail(err, rc, "read from %s", program);
	/* 65 comes with the fault in words. */
	if (how.signalled || (how.number != 0 && how.number != 65)) {
		free(ret->bytes);
		ret->bytes = NULL;
		return fence_fail_why(err, -EPROTO, "it failed", "%s (%s %d)", program,
				      how.signalled ? "signal" : "status", how.number);
	}
	return 0;
}

int guard_policy_load(struct guard_policy *policy, const char *file, const char *name,
		      struct fence_err *err)
{
	char program[PATH_MAX + sizeof(READER)];
	struct output output = { 0 };
	int rc = find_reader(program, sizeof(program), err);

	if (rc == 0)
		rc = ask(program, file, name, &output, err);
	if (rc < 0)
		return rc;
	policy->file = file;
	return guard_policy_take(policy, output.bytes, output.count, err);
}
