#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guard/policy/load.h"
#include "guard/reader/reader.h"

static void read_text(struct guard_reader *reader, const char *text, const char *profile)
{
	*reader = (struct guard_reader){ .profile = profile, .home = "/home/me" };
	assert_int_equal(fence_yaml_parse(text, strlen(text), &reader->yaml), 0);
	assert_int_equal(guard_reader_check(reader), 0);
}

/* The faults of a file, one a line. */
static void faults_are(const char *text, const char *wanted)
{
	struct guard_reader reader;
	char got[4096] = "";
	size_t length = 0;

	read_text(&reader, text, "gate");
	for (size_t i = 0; i < reader.yaml->fault_count; i++) {
		fence_yaml_fault_line(&reader.yaml->faults[i], "p", got + length,
				      sizeof(got) - length - 1);
		length = strlen(got);
		memcpy(got + length++, "\n", 2);
	}
	assert_string_equal(got, wanted);
	guard_reader_free(&reader);
}

static void every_fault_has_its_place_and_the_nearest_key(void **state)
{
	static const struct {
		const char *text, *faults;
	} rows[] = {
		{ "", "p:1:1: the file is empty\n" },
		{ "[]", "p:1:1: the file must be a mapping, not a list\n" },
		{ "profiles: {}", "p:1:1: the file needs the key \"version\"\n" },
		{ "version: 2", "p:1:10: version \"2\"; this program reads version 1\n" },
		{ "version: 1\nprofile: {}",
		  "p:2:1: unknown key \"profile\"; did you mean \"profiles\"\n" },
		{ "version: 1\nversion: 1",
		  "p:2:1: key \"version\" on line 2 is on line 1 already\n" },
		{ "version: 1\nprofiles: []",
		  "p:2:11: \"profiles\" must be a mapping, not a list\n" },
		{ "version: 1\nprofiles:\n  a: {file: {}}",
		  "p:3:7: unknown key \"file\"; did you mean \"files\"\n" },
		{ "version: 1\nprofiles:\n  a: {files: {rww: []}}",
		  "p:3:15: unknown key \"rww\"; did you mean \"rw\"\n" },
		{ "version: 1\nprofiles:\n  a: {files: {rw: .}}",
		  "p:3:19: \"rw\" must be a list, not a scalar\n" },
		{ "version: 1\nprofiles:\n  a: {files: {rw: [[a]]}}",
		  "p:3:20: a path must be a scalar, not a list\n" },
		{ "version: 1\nprofiles:\n  a: {files: {rw: ['']}}", "p:3:20: a path is empty\n" },
		{ "version: 1\nprofiles:\n  a: {files: {rw: [~you/x]}}",
		  "p:3:20: \"~you/x\" is another user's home folder; write it out, or ./~ for a "
		  "name "
		  "that begins so\n" },
		{ "version: 1\nprofiles:\n  a: {files: {rw: [x], deny: [x]}}",
		  "p:3:31: \"x\" is to be deny here and rw on line 3 already\n" },
		{ "version: 1\nprofiles:\n  a: {network: {mode: hots}}",
		  "p:3:23: \"mode\" cannot be \"hots\"; did you mean \"host\"\n" },
		{ "version: 1\nprofiles:\n  a: {network: {}}",
		  "p:3:16: network needs the key \"mode\"\n" },
		{ "version: 1\nprofiles:\n  a: {env: {set: {CI: true}}}",
		  "p:3:23: \"true\" would be no string to other readers; write \"true\" in "
		  "quotes\n" },
		{ "version: 1\nprofiles:\n  a: {env: {keep: [A-B], unset: [1A]}}",
		  "p:3:20: \"A-B\" is no name of an environment variable\n"
		  "p:3:34: \"1A\" is no name of an environment variable\n" },
		{ "version: 1\nprofiles:\n  a: {limits: {memroy: 1GiB}}",
		  "p:3:16: unknown key \"memroy\"; did you mean \"memory\"\n" },
		{ "version: 1\nprofiles:\n  a: {limits: {memory: 1GB4, pids: 0, cpu: 0.0005, "
		  "cputime: 1ms}}",
		  "p:3:24: \"memory\" cannot be \"1GB4\"; it is a size, as 4GiB or 512MiB\n"
		  "p:3:36: \"pids\" cannot be \"0\"; it is a number from 1 on\n"
		  "p:3:44: \"cpu\" cannot be \"0.0005\"; it is a number of processors, as 2, 0.5 "
		  "or "
		  "50%\n"
		  "p:3:61: \"cputime\" cannot be \"1ms\"; it is a time in whole seconds, as 30s or "
		  "5m\n" },
		{ "version: 1\nprofiles:\n  a: {seccomp: off}",
		  "p:3:16: \"seccomp\" cannot be \"off\"; use one of default, strict\n" },
		{ "version: 1\nprofiles:\n  a: {files: {bind: [\"a:b\"]}}",
		  "p:3:22: \"a:b\" is not of the form SOURCE:DEST; DEST is absolute\n" },
		{ "version: 1\nprofiles:\n  a: {extends: none, root: tree}",
		  "p:3:28: profile \"a\" confines neither files nor system calls; it must extend "
		  "another than none\n" },
		{ "version: 1\nprofiles:\n  a: {waitAll: on}",
		  "p:3:16: \"waitAll\" cannot be \"on\"; use one of false, true\n" },
		{ "version: 1\nprofiles:\n  a: {seccomp: []}",
		  "p:3:16: \"seccomp\" must be default, strict or a mapping, not a list\n" },
		{ "version: 1\nprofiles:\n  a: {seccomp: {base: sticrt, alow: []}}",
		  "p:3:23: \"base\" cannot be \"sticrt\"; did you mean \"strict\"\n"
		  "p:3:31: unknown key \"alow\"; did you mean \"allow\"\n" },
		{ "version: 1\nprofiles:\n  a: {seccomp: {deny: [ptrase, socketcall, [a], '']}}",
		  "p:3:24: no system call \"ptrase\" is known; did you mean \"ptrace\"\n"
		  "p:3:32: other machines have a system call \"socketcall\", this one has not; "
		  "leave it out\n"
		  "p:3:44: a system call must be a scalar, not a list\n"
		  "p:3:49: a system call is empty\n" },
		{ "version: 1\nprofiles:\n  a: {seccomp: {allow: [keyctl], deny: [bpf, keyctl]}}",
		  "p:3:46: system call \"keyctl\" is named on line 3 already\n" },
		{ "version: 1\nprofiles:\n  a: {seccomp: {deny: [execve]}}",
		  "p:3:24: \"execve\" cannot be denied: no command is started and ended without "
		  "it\n" },
		{ "version: 1\nprofiles:\n  a: {seccomp: {allow: [mount, setns, bpf]}}",
		  "p:3:25: \"mount\" cannot be allowed: what is masked and protected rests on its "
		  "refusal\n"
		  "p:3:32: \"setns\" cannot be allowed: it leads into other namespaces\n"
		  "p:3:39: \"bpf\" cannot be allowed: it changes the kernel, which all else rests "
		  "on\n" },
		{ "version: 1\nprofiles:\n  a: {seccomp: {allow: [chroot, openat2, ioctl]}}",
		  "p:3:25: \"chroot\" cannot be allowed: allowUserns is what allows it\n"
		  "p:3:33: \"openat2\" cannot be allowed: allowSetId is what allows it\n"
		  "p:3:42: \"ioctl\" cannot be allowed: its arguments decide, and what they may be "
		  "has options of its own\n" },
		{ "version: 1\nprofiles:\n  a: {seccomp: {errno: EPREM}}",
		  "p:3:24: \"EPREM\" is no errno; use a name such as EPERM or ENOSYS\n"
		  "p:3:24: \"errno\" is what \"deny\" answers, and there is none\n" },
		{ "version: 1\nprofiles:\n  none: {seccomp: {deny: [ptrace]}}",
		  "p:3:19: profile \"none\" confines neither files nor system calls; it must "
		  "extend another than none\n" },
		{ "version: 1\nprofiles:\n  a: {allowUserns: yes}",
		  "p:3:20: \"allowUserns\" cannot be \"yes\"; use one of false, true\n" },
		{ "version: 1\nprofiles:\n  none: {allowSetId: true}",
		  "p:3:22: profile \"none\" confines neither files nor system calls; it must "
		  "extend another than none\n" },
		{ "version: 1\nprofiles:\n  none: {allowNesting: true}",
		  "p:3:24: profile \"none\" confines neither files nor system calls; it must "
		  "extend another than none\n" },
		{ "version: 1\nprofiles:\n  a: {allowNesting: 1}",
		  "p:3:21: \"allowNesting\" cannot be \"1\"; use one of false, true\n" },
		{ "version: 1\nprofiles:\n  a: {keepCaps: [SYS_ADMINN]}",
		  "p:3:18: no such capability \"SYS_ADMINN\"; names are those of "
		  "capabilities(7)\n" },
		{ "version: 1\nprofiles:\n  a: {extends: evaluater}",
		  "p:3:16: \"extends\" cannot be \"evaluater\"; did you mean \"evaluator\"\n" },
		{ "version: 1\nprofiles:\n  none: {files: {rw: [x]}}",
		  "p:3:17: profile \"none\" confines neither files nor system calls; it must "
		  "extend "
		  "another than none\n" },
		{ "version: 1\nprofiles:\n  -a: {}", "p:3:3: \"-a\" is no name of a profile; use 1 "
						     "to 32 of A-Z a-z 0-9 . _ -, a letter, "
						     "digit or _ first\n" },
		{ "version: 1\ncommands:\n  - {argv: [a], verdikt: ask}",
		  "p:3:5: a command needs the key \"verdict\"\n"
		  "p:3:17: unknown key \"verdikt\"; did you mean \"verdict\"\n" },
		{ "version: 1\ncommands:\n  - {argv: [], verdict: maybe}",
		  "p:3:12: \"argv\" is empty\n"
		  "p:3:25: \"verdict\" cannot be \"maybe\"; use one of allow, deny, ask, "
		  "opaque\n" },
		{ "version: 1\ncommands:\n  - argv: [git, push]\n    verdict: ask\n"
		  "    match: [git push x, git status, a;b]\n    notMatch: [git status, git push]",
		  "p:5:25: example \"git status\" is not matched by this rule\n"
		  "p:5:37: example \"a;b\" is no simple command: it is more than one simple "
		  "command\n"
		  "p:6:28: example \"git push\" is matched by this rule, and must not\n" },
		{ "version: 1\nprotect:\n  - {paht: x}",
		  "p:3:5: an entry of \"protect\" needs the key \"path\"\n"
		  "p:3:6: unknown key \"paht\"; did you mean \"path\"\n" },
		{ "version: 1\nprotect:\n  - {path: x}\n  - {path: x}",
		  "p:4:12: \"x\" is to be protect here and protect on line 3 already\n" },
		{ "version: 1\nopaque: {sandboxed: opaque}",
		  "p:2:21: \"sandboxed\" cannot be \"opaque\"; use one of allow, deny, ask\n" },
		{ "version: 1\nnetwork: {allow: [10.0.0.5/8], exposeDebugPorts: [0]}",
		  "p:2:19: \"10.0.0.5/8\" is no net: bits below the mask are set\n"
		  "p:2:51: \"0\" is no port; use a number from 1 to 65535\n" },
		{ "version: 1\nprofiles: &a {}\nnetwork: *a",
		  "p:2:11: anchor \"&a\"; write the value where it is used\n"
		  "p:3:10: alias \"*a\"; write the value here\n"
		  "p:3:10: \"network\" must be a mapping, not a scalar\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		faults_are(rows[i].text, rows[i].faults);
}

static void a_tab_is_refused_by_its_place(void **state)
{
	struct guard_reader reader;

	(void)state;
	read_text(&reader, "version: 1\n\tprofiles: {}\n", "gate");
	assert_true(reader.yaml->error_total > 0);
	assert_int_equal(reader.yaml->faults[0].line, 2);
	assert_int_equal(reader.yaml->faults[0].column, 1);
	assert_non_null(strstr(reader.yaml->faults[0].text, "tab"));
	guard_reader_free(&reader);
}

/* The text, compiled and taken as fence-guard would. */
static void load(const char *text, const char *profile, struct guard_policy *policy)
{
	struct guard_reader reader;
	struct guard_wire wire = { 0 };
	struct fence_err err = { 0 };

	read_text(&reader, text, profile);
	assert_int_equal(guard_reader_compile(&reader, "p", "/p", &wire), 0);
	guard_policy_init(policy);
	policy->file = "p";
	if (guard_policy_take(policy, wire.bytes, wire.count, &err) < 0)
		fail_msg("%s: %s", err.what, err.why);
	guard_reader_free(&reader);
}

static void a_profile_of_the_file_adds_to_what_it_extends(void **state)
{
	static const char text[] = "version: 1\nprofiles:\n"
				   "  gate: {files: {ro: [a]}}\n"
				   "  mine: {files: {ro: [b]}}\n"
				   "  view: {extends: evaluator, network: {mode: host}}\n"
				   "protect: [{path: ~/c, reason: why}]\n";
	static const struct {
		const char *asked, *base;
		size_t rules;
		enum guard_net net;
	} rows[] = {
		{ "gate", "gate", 2, GUARD_NET_NONE },
		{ "mine", "gate", 2, GUARD_NET_NONE },
		{ "view", "evaluator", 1, GUARD_NET_HOST },
		{ "chromium", "chromium", 1, GUARD_NET_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct guard_policy policy;

		load(text, rows[i].asked, &policy);
		assert_string_equal(policy.profile_name, rows[i].asked);
		assert_string_equal(policy.profile->name, rows[i].base);
		assert_int_equal(policy.rule_count, rows[i].rules);
		assert_string_equal(policy.rules[rows[i].rules - 1].path, "/home/me/c");
		assert_int_equal(policy.net, rows[i].net);
		guard_policy_free(&policy);
	}
}

static void limits_are_in_their_units(void **state)
{
	struct guard_policy policy;

	(void)state;
	load("version: 1\nprofiles:\n  gate:\n    limits: {memory: 4GiB, pids: 512, cpu: 1.5, "
	     "nofile: 64, "
	     "fsize: 1MiB, core: 0, cputime: 2m}\n",
	     "gate", &policy);
	assert_int_equal(policy.limits[GUARD_LIMIT_MEMORY], UINT64_C(4) << 30);
	assert_int_equal(policy.limits[GUARD_LIMIT_PIDS], 512);
	assert_int_equal(policy.limits[GUARD_LIMIT_CPU], 1500);
	assert_int_equal(policy.limits[GUARD_LIMIT_NOFILE], 64);
	assert_int_equal(policy.limits[GUARD_LIMIT_FSIZE], 1048576);
	assert_int_equal(policy.limits[GUARD_LIMIT_CORE], 0);
	assert_int_equal(policy.limits[GUARD_LIMIT_CPUTIME], 120);
	assert_int_equal(policy.limit_places[GUARD_LIMIT_PIDS].line, 4);
	guard_policy_free(&policy);
}

static void calls_are_taken_with_their_answers_and_places(void **state)
{
	const struct guard_call_rule *rule;
	struct guard_policy policy;

	(void)state;
	load("version: 1\nprofiles:\n  gate:\n    seccomp:\n      base: strict\n      allow: "
	     "[ptrace]\n"
	     "      deny: [socket, sendto]\n      errno: EACCES\n",
	     "gate", &policy);
	assert_int_equal(policy.seccomp, GUARD_SECCOMP_STRICT);
	assert_int_equal(policy.call_count, 3);
	rule = guard_policy_call(&policy, guard_call_number("ptrace"));
	assert_int_equal(rule->error, 0);
	assert_int_equal(rule->place.line, 6);
	rule = guard_policy_call(&policy, guard_call_number("sendto"));
	assert_int_equal(rule->error, EACCES);
	assert_int_equal(rule->place.line, 7);
	assert_int_equal(rule->place.column, 22);
	assert_null(guard_policy_call(&policy, guard_call_number("read")));
	guard_policy_free(&policy);

	load("version: 1\nprofiles: {gate: {seccomp: {deny: [ptrace]}}}\n", "gate", &policy);
	assert_int_equal(policy.seccomp, GUARD_SECCOMP_DEFAULT);
	assert_int_equal(policy.calls[0].error, EPERM);
	guard_policy_free(&policy);
}

static void an_empty_list_of_variables_lets_none_pass(void **state)
{
	static char path[] = "PATH=/bin";
	static char *const from[] = { path, NULL };
	struct guard_policy policy;
	struct guard_environ environment;

	(void)state;
	load("version: 1\nprofiles: {gate: {env: {keep: []}}}\n", "gate", &policy);
	assert_int_equal(guard_policy_environ(&policy, from, &environment), 0);
	assert_null(environment.list[0]);
	guard_environ_free(&environment);
	guard_policy_free(&policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fault_has_its_place_and_the_nearest_key),
		cmocka_unit_test(a_tab_is_refused_by_its_place),
		cmocka_unit_test(a_profile_of_the_file_adds_to_what_it_extends),
		cmocka_unit_test(limits_are_in_their_units),
		cmocka_unit_test(calls_are_taken_with_their_answers_and_places),
		cmocka_unit_test(an_empty_list_of_variables_lets_none_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
