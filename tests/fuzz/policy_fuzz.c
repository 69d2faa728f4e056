/* Any bytes at all as a policy file: what is accepted is taken by fence-guard as it was
 * written, what is refused has a place; and whatever fence-guard is handed it takes or
 * refuses. The first byte says which of the two, and which profile is asked for. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guard/confine/own.h"
#include "guard/policy/load.h"
#include "guard/policy/netrule.h"
#include "guard/reader/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void must(bool claim)
{
	if (!claim)
		abort();
}

/* What exec would find in it holds what the format promises. */
static void check_policy(struct guard_policy *policy)
{
	must(policy->profile != NULL && policy->profile_name != NULL && policy->file_path != NULL);
	for (size_t i = 0; i < policy->rule_count; i++)
		must(policy->rules[i].path[0] != '\0' && policy->rules[i].path[0] != '~');
	for (size_t i = 0; i < policy->env_count; i++)
		must(policy->env[i].name_length > 0);
	for (size_t i = 0; i < policy->command_count; i++)
		must(policy->commands[i].count > 0);
	for (size_t i = 0; i < policy->net_line_count; i++) {
		struct guard_net_rule rule;

		must(policy->net_lines[i].list == GUARD_NET_EXPOSE ||
		     guard_net_rule_parse(policy->net_lines[i].text, &rule) == NULL);
	}
	for (size_t i = 0; i < policy->call_count; i++) {
		const struct guard_call_rule *rule = &policy->calls[i];
		const char *name = guard_call_name(rule->number);

		must(name != NULL && rule == guard_policy_call(policy, rule->number));
		must(rule->error == 0 ? guard_call_kept(name) == NULL : !guard_call_is_ours(name));
	}
	must(guard_own_filter(policy, NULL) == 0);
	must((policy->own_filter != NULL) == (policy->call_count > 0));
	(void)guard_policy_check(policy, NULL);
}

static int take(const char *bytes, size_t count, struct guard_policy *policy, struct fence_err *err)
{
	char *copy = malloc(count + 1);

	must(copy != NULL);
	memcpy(copy, bytes, count);
	guard_policy_init(policy);
	policy->file = "p";
	return guard_policy_take(policy, copy, count, err);
}

static void try_file(const char *text, size_t count, const char *profile)
{
	struct guard_reader reader = { .profile = profile, .home = "/home" };
	struct guard_wire wire = { 0 };
	struct guard_policy policy;
	struct fence_err err = { 0 };
	bool is_good;

	if (fence_yaml_parse(text, count, &reader.yaml) < 0)
		return;
	must(guard_reader_check(&reader) == 0);
	must(guard_reader_compile(&reader, "p", "/p", &wire) == 0);
	is_good = reader.yaml->error_total == 0;
	must(is_good || reader.yaml->faults[0].line > 0);
	must((take(wire.bytes, wire.count, &policy, &err) == 0) == is_good);
	if (is_good)
		check_policy(&policy);
	else
		must(err.code < 0 && err.what[0] != '\0');
	guard_policy_free(&policy);
	guard_wire_free(&wire);
	guard_reader_free(&reader);
}

static void try_stream(const char *bytes, size_t count)
{
	static const char head[] = GUARD_WIRE_FORM "\0" FENCE_VERSION;
	struct guard_policy policy;
	struct fence_err err = { 0 };
	char *whole = malloc(sizeof(head) + count);

	must(whole != NULL);
	memcpy(whole, head, sizeof(head));
	memcpy(whole + sizeof(head), bytes, count);
	(void)take(whole, sizeof(head) + count, &policy, &err);
	guard_policy_free(&policy);
	free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	const char *text = (const char *)data + 1;

	if (size_bytes == 0)
		return 0;
	if (data[0] == 's')
		try_stream(text, size_bytes - 1);
	else
		try_file(text, size_bytes - 1, data[0] == 'e' ? "evaluator" : "gate");
	return 0;
}
