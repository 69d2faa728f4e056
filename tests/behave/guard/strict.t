#!/bin/sh
# --strict: the system calls of a list, and no others.
. "$(dirname "$0")/guard.sh"

# LeakSanitizer needs ptrace at the end of a program.
guard() {
	fence-guard exec --env ASAN_OPTIONS=detect_leaks=0 --ro "$FENCE_BUILD" "$@"
}

strict() {
	guard --strict "$@"
}
# refused WHAT: how many calls were tried, when all got the answer of the table.
refused() {
	seen=$("$@" 2>&1)
	case $seen in
	*[0-9]" refused") echo "$seen" ;;
	*) echo "$seen" | head -n 20 ;;
	esac
}

is "control: outside, a call that the list lacks is there" "$(guard_try call 216 0 0 1)" EINVAL
is "and with the usual filter" "$(guard -- guard_try call 216 0 0 1)" EINVAL
like "every call that the usual filter refuses, with its errno" "$(refused guard -- guard_calls default)" \
	"2[0-9][0-9] refused"
like "every call that is not in the list, with its errno" "$(refused strict -- guard_calls strict)" \
	"[34][0-9][0-9] refused"
unlike "one that is not refused is found out" "$(guard -- guard_calls strict)" "[0-9][0-9][0-9] refused"

if [ "$(uname -m)" = x86_64 ]; then
	says "ptrace is refused" EPERM --strict -- guard_try call 101 0 0 0 0
	says "it is not by default" ok -- guard_try call 101 0 0 0 0
	says "mq_open does not exist" ENOSYS --strict -- guard_try call 240 0 0 0 0
	says "nor a number without a name" ENOSYS --strict -- guard_try call 400
	says "x32 numbers do not exist" ENOSYS --strict -- guard_try call 0x40000027
	exits "the 32-bit entry is death" 159 strict -- guard_try int80
	says "arguments are judged: TIOCSTI" EPERM --strict -- guard_try call 16 0 0x100005412 0
	says "packet sockets" EAFNOSUPPORT --strict -- guard_try call 41 17 3 0
	says "raw sockets" EPROTONOSUPPORT --strict -- guard_try call 41 2 3 1
	says "an odd personality" EPERM --strict -- guard_try call 135 0x400000
	says "with --net ports: there is no UDP" EPROTONOSUPPORT --strict --net ports:443 -- guard_try call 41 2 2 0
	says "and nothing listens" EACCES --strict --net ports:443 -- guard_try call 50 0 1
	says "unless it may" EBADF --strict --net ports:bind:0 -- guard_try call 50 99 1
fi
says "unshare of a user namespace" EPERM --strict -- guard_try clone 0x10000000
says "--allow-userns allows it" ok --strict --allow-userns -- guard_try clone 0x70000000
says "but no mount namespace" EPERM --strict --allow-userns -- guard_try clone 0x10020000
says "threads start" ok --strict -- guard_try thread
says "connections to itself are made" ok --strict -- guard_try lo
is "profile landlock has it too" \
	"$(fence-guard exec --strict --env ASAN_OPTIONS=detect_leaks=0 --profile landlock -- guard_try call 101 0 0 0 0)" EPERM
exits "profile none has no filter" 125 fence-guard exec --profile none --strict -- true
is "which is said" "$(cat "$T/err")" \
	"fence-guard: --strict: profile none confines neither files nor system calls; use --profile gate"

# filter OPTION...: what the record says.
filter() {
	fence-guard exec "$@" --status-fd 5 -- true 5>"$T/record" 2>"$T/err"
	jq -r 'select(.event == "exec") | .filter' "$T/record"
}
is "the record names the filter" "$(filter) $(filter --strict) $(filter --profile none)" "default strict off"
strict --explain-fd 7 -- sh -c 'guard_try call 101; guard_try clone 0x10000000' 7>"$T/lines" >"$T/out" 2>"$T/err"
is "--explain changes no answer" "$(paste -sd' ' "$T/out")" "EPERM EPERM"
like "and names the rule" "$(head -n 1 "$T/lines")" "*(guard_try) ptrace: EPERM by seccomp: seccomp: strict"
like "which is the usual filter's for what that refuses" "$(tail -n 1 "$T/lines")" \
	"*(guard_try) clone flags 0x1*: EPERM by seccomp: the default filter"

printf 'version: 1\nprofiles: {gate: {seccomp: strict}}\n' >policy.yaml
says "a policy's seccomp: strict is the same" EPERM --policy policy.yaml -- guard_try call 101 0 0 0 0
is "explain says so" "$(fence-guard explain --policy policy.yaml --syscall ptrace)" \
	"ptrace: deny with EPERM: seccomp strict (policy.yaml:2:28); enforced by seccomp"
is "of a call that is not there" "$(fence-guard explain --policy policy.yaml --syscall io_setup)" \
	"io_setup: deny with ENOSYS: seccomp strict (policy.yaml:2:28); enforced by seccomp"
is "of one that is allowed" "$(fence-guard explain --policy policy.yaml --syscall read)" \
	"read: allow: seccomp strict (policy.yaml:2:28); enforced by none"
is "and of one that is judged" "$(fence-guard explain --policy policy.yaml --syscall ioctl)" \
	"ioctl: arguments: seccomp strict (policy.yaml:2:28); enforced by seccomp"
is "by default it is allowed" "$(fence-guard explain --syscall ptrace)" \
	"ptrace: allow: seccomp default; enforced by none"
printf 'version: 1\nprofiles: {gate: {seccomp: default}}\n' >policy.yaml
says "the option goes above a file's default" EPERM --strict --policy policy.yaml -- guard_try call 101 0 0 0 0
done_testing
