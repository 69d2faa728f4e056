#!/bin/sh
# A policy's own words about system calls: what it denies and allows above the filter.
. "$(dirname "$0")/guard.sh"

# LeakSanitizer needs ptrace at the end of a program.
guard() {
	fence-guard exec --env ASAN_OPTIONS=detect_leaks=0 --ro "$FENCE_BUILD" "$@"
}

if [ "$(uname -m)" != x86_64 ]; then
	lacks "the numbers below are x86_64's" x86_64
	done_testing
fi

# policy WORDS: of profile gate, on line 3.
policy() {
	printf 'version: 1\nprofiles:\n  gate: {%s}\n' "$1" >policy.yaml
}
under() {
	says_name=$1
	says_wanted=$2
	shift 2
	is "$says_name" "$(guard --policy policy.yaml "$@" 2>"$T/err")" "$says_wanted"
}
# refused NAME WANTED: nothing is run, and the line is WANTED.
refused() {
	rm -f ran
	guard --policy policy.yaml -- sh -c ': >ran' 2>"$T/err"
	is "$1: refused, and nothing is run" "$?/$(ls ran 2>/dev/null)" 125/
	is "with the place" "$(cat "$T/err")" "fence-guard: $2"
}

# --- deny -------------------------------------------------------------------------------
policy 'seccomp: {}'
under "control: an empty mapping is the usual filter" "ok EPERM" -- \
	sh -c 'echo "$(guard_try call 101) $(guard_try call 250 0 0)"'
policy 'seccomp: {deny: [ptrace, memfd_create]}'
under "what is denied is refused" EPERM -- guard_try call 101
under "each" EPERM -- guard_try call 319
under "and nothing else" ok -- guard_try thread
policy 'seccomp: {deny: [ptrace, socket, keyctl], errno: ENOSYS}'
under "with the errno that is named" ENOSYS -- guard_try call 101
under "whatever the arguments are" ENOSYS -- guard_try call 41 1 1 0
under "in place of the filter's own errno" ENOSYS -- guard_try call 250 0 0
under "other refusals stay as they are" EPERM -- guard_try call 310
policy 'seccomp: {base: strict, deny: [getrandom], errno: EACCES}'
under "above strict" EACCES -- guard_try call 318 0 0 0
under "which holds" ENOSYS -- guard_try call 240

# --- allow ------------------------------------------------------------------------------
policy 'seccomp: {allow: [keyctl, userfaultfd, modify_ldt]}'
kernels=$(guard_try call 250 9999 0)
unlike "control: the kernel has another answer" "$kernels" EPERM
under "what is allowed reaches the kernel" "$kernels" -- guard_try call 250 9999 0
under "what is not named does not" EPERM -- guard_try call 310
under "x32's number of it does not exist" ENOSYS -- guard_try call 0x400000fa 9999 0
exits "nor another architecture's" 159 guard --policy policy.yaml -- guard_try int80
policy 'seccomp: {base: strict, allow: [ptrace]}'
under "a call is added to the list" ok -- guard_try call 101
under "and no other" ENOSYS -- guard_try call 240
policy 'seccomp: {allow: [keyctl]}'
under "with --strict on the command line, too" "$kernels EPERM" --strict -- \
	sh -c 'echo "$(guard_try call 250 9999 0) $(guard_try call 101)"'
under "with --net ports: the rules about arguments stay" "$kernels EPROTONOSUPPORT EACCES" --net ports:443 -- \
	sh -c 'echo "$(guard_try call 250 9999 0) $(guard_try call 41 2 2 0) $(guard_try call 50 0 1)"'
under "with --allow-userns" "$kernels ok" --allow-userns -- \
	sh -c 'echo "$(guard_try call 250 9999 0) $(guard_try clone 0x10000000)"'
printf 'version: 1\nprofiles: {ll: {extends: landlock, seccomp: {deny: [ptrace], allow: [keyctl]}}}\n' >policy.yaml
is "in a profile that extends landlock" \
	"$(fence-guard exec --env ASAN_OPTIONS=detect_leaks=0 --policy policy.yaml --profile ll -- sh -c 'guard_try call 101; guard_try call 250 9999 0')" \
	"EPERM
$kernels"

# --- what is no list ------------------------------------------------------------------------
policy 'seccomp: {deny: [ptrase]}'
refused "an unknown name" 'policy.yaml:3:27: no system call "ptrase" is known; did you mean "ptrace"'
exits "fence-policy says so" 65 fence-policy policy.yaml
is "in the same words" "$(cat "$T/err")" \
	'fence-policy: policy.yaml:3:27: no system call "ptrase" is known; did you mean "ptrace"'
exits "and explain" 65 fence-guard explain --policy policy.yaml --syscall ptrace
policy 'seccomp: {deny: [socketcall]}'
refused "a name that other machines have" \
	'policy.yaml:3:27: other machines have a system call "socketcall", this one has not; leave it out'
policy 'seccomp: {allow: [mount]}'
refused "what holds the view of files" \
	'policy.yaml:3:28: "mount" cannot be allowed: what is masked and protected rests on its refusal'
policy 'seccomp: {base: strict, allow: [setns]}'
refused "what leads to other namespaces" 'policy.yaml:3:42: "setns" cannot be allowed: it leads into other namespaces'
policy 'seccomp: {allow: [ioctl]}'
refused "what is judged by arguments" \
	'policy.yaml:3:28: "ioctl" cannot be allowed: its arguments decide, and what they may be has options of its own'
policy 'seccomp: {deny: [execve]}'
refused "what nothing goes without" \
	'policy.yaml:3:27: "execve" cannot be denied: no command is started and ended without it'
policy 'seccomp: {deny: [ptrace], allow: [ptrace]}'
refused "both at once" 'policy.yaml:3:27: system call "ptrace" is named on line 3 already'
policy 'seccomp: {deny: [ptrace], errno: EPREM}'
refused "no errno" 'policy.yaml:3:43: "EPREM" is no errno; use a name such as EPERM or ENOSYS'
unseen="it makes sockets and files that no filter sees; take network mode host and allowSetId with it"
policy 'seccomp: {allow: [io_uring_setup]}'
refused "io_uring, beside rules about arguments" "policy.yaml:3:28: allow io_uring_setup: $unseen"
policy 'seccomp: {allow: [io_uring_setup]}, network: {mode: host}, allowSetId: true'
under "where there are none it can be had" EFAULT -- guard_try call 425 1 0
exits "but not with another network by option" 125 guard --policy policy.yaml --net none -- true

policy 'seccomp: {deny: [setsid]}'
says_line='policy.yaml:3:27: deny setsid: no session is made without it; leave it out, or newSession'
exits "a session cannot be had where it is denied" 125 guard --policy policy.yaml --new-session -- true
is "with the place" "$(cat "$T/err")" "fence-guard: $says_line"
under "without, it is denied" EPERM -- guard_try call 112
policy 'seccomp: {deny: [setsid]}, newSession: true'
refused "also when the file asks for it" "$says_line"

# --- everything -----------------------------------------------------------------------------
# The smallest program there is ends with 7; not even a C library's start is left to it.
printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\002\000\076\000\001\000\000\000\170\000\100\000\000\000\000\000' >tiny
printf '\100\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\100\000\070\000\001\000\000\000\000\000\000\000' >>tiny
printf '\001\000\000\000\005\000\000\000\000\000\000\000\000\000\000\000\000\000\100\000\000\000\000\000\000\000\100\000\000\000\000\000' >>tiny
printf '\204\000\000\000\000\000\000\000\204\000\000\000\000\000\000\000\000\020\000\000\000\000\000\000\277\007\000\000\000\270\074\000\000\000\017\005' >>tiny
chmod 755 tiny
exits "control: the smallest program" 7 guard -- ./tiny
policy "seccomp: {deny: [$(guard_calls deniable | paste -sd,)]}"
exits "with every call denied that can be, a command is started and ended all the same" 7 \
	guard --policy policy.yaml -- ./tiny
exits "also by its name" 7 guard --policy policy.yaml --env "PATH=$W" -- tiny
guard --policy policy.yaml --status-fd 5 -- ./tiny 5>"$T/record"
is "with a whole record" "$?/$(jq -r .event "$T/record" | paste -sd' ')/$(jq .code "$T/record" | paste -sd' ')" "7/exec exit/null 7"
exits "and --explain" 7 guard --policy policy.yaml --explain-fd 7 -- ./tiny 7>"$T/lines"
exits "and --strict" 7 guard --policy policy.yaml --strict -- ./tiny
exits "control: a shell does not get far" 0 sh -c 'fence-guard exec --policy policy.yaml -- sh -c "echo x" >out 2>&1; test $? -gt 100'

# --- what is said of it ---------------------------------------------------------------------
policy 'seccomp: {base: strict, allow: [keyctl], deny: [ptrace, memfd_create], errno: EACCES}'
# explains NAME WANTED CALL
explains() {
	is "explain: $1" "$(fence-guard explain --policy policy.yaml --syscall "$3" 2>&1)" "$2"
}
explains "what is denied" "ptrace: deny with EACCES: seccomp deny ptrace (policy.yaml:3:58); enforced by seccomp" ptrace
explains "what is allowed" "keyctl: allow: seccomp allow keyctl (policy.yaml:3:42); enforced by none" keyctl
explains "what is not named" "io_setup: deny with ENOSYS: seccomp strict (policy.yaml:3:26); enforced by seccomp" io_setup
guard --policy policy.yaml --explain-fd 7 --status-fd 5 -- sh -c 'guard_try call 319; guard_try call 240' \
	5>"$T/record" 7>"$T/lines" >"$T/out" 2>"$T/err"
is "--explain changes no answer" "$(paste -sd' ' "$T/out")" "EACCES ENOSYS"
like "and names the rule with its place" "$(head -n 1 "$T/lines")" \
	"*(guard_try) memfd_create: EACCES by seccomp: the policy's own filter (policy.yaml:3:66)"
like "or that of the filter" "$(tail -n 1 "$T/lines")" "*(guard_try) mq_open: ENOSYS by seccomp: seccomp: strict"
is "the record says how many" "$(jq -c 'select(.event == "exec") | [.filter, .ownCalls]' "$T/record")" \
	'["strict",{"allowed":1,"denied":2}]'
is "by its schema" "$(jq -r --slurpfile schema "$SRC/schemas/fence-guard-status-v1.json" \
	-f "$SRC/tests/lib/schema.jq" "$T/record" 2>&1)" ""
done_testing
