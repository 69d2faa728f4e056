#!/bin/sh
# --explain tells of what is refused, with the process, what it asked for and the rule; the
# answer that the process gets is the same as without.
. "$(dirname "$0")/guard.sh"

ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
echo s >secret
mkdir kept
echo k >kept/file

# explained NAME PATTERN COMMAND...: the one line about it, and the same errno and status as
# without.
explained() {
	explained_name=$1
	explained_pattern=$2
	shift 2
	guard --deny secret --protect kept -- "$@" >"$T/plain.out" 2>"$T/plain.err"
	explained_status=$?
	guard --deny secret --protect kept --explain-fd 7 -- "$@" 7>"$T/lines" >"$T/out" 2>"$T/err"
	is "$explained_name: the same status" "$?" "$explained_status"
	is "$explained_name: the same answer" "$(cat "$T/out")" "$(cat "$T/plain.out")"
	like "$explained_name: told with its rule" "$(cat "$T/lines")" "$explained_pattern"
}
# silent NAME COMMAND...
silent() {
	silent_name=$1
	shift
	guard --deny secret --protect kept --explain-fd 7 -- "$@" 7>"$T/lines" >/dev/null 2>&1
	is "$silent_name: nothing is told" "$(cat "$T/lines")" ""
}

is "control: the rules hold" "$(guard --deny secret -- guard_try open secret)" EACCES
explained "a denied open" "fence-guard: explain: [0-9]* (guard_try) open* $W/secret: EACCES by mount: --deny secret" \
	guard_try open secret
explained "an open for writing" "*(guard_try) open* /etc/passwd: EROFS by mount: in no writable folder" \
	guard_try write /etc/passwd
explained "a protected file" "*(guard_try) open* $W/kept/file: EROFS by mount: --protect kept" \
	guard_try write kept/file
explained "a rename of what is protected" "*(guard_try) rename* $W/kept: EBUSY by mount: --protect kept" \
	guard_try rename kept gone
explained "a connection" "*(guard_try) connect 192.0.2.1:80: ENETUNREACH by netns: network none" \
	guard_try connect 192.0.2.1 80
explained "a signal to the host" "*(sh) kill $$: ESRCH by pidns: *" sh -c "kill $$ 2>/dev/null"
explained "a new namespace" "*(guard_try) clone flags 0x1*: EPERM by seccomp: the default filter" \
	guard_try clone 0x10000000
if [ "$(uname -m)" = x86_64 ]; then
	explained "a mount" "*(guard_try) mount: EPERM by seccomp: the default filter" guard_try call 165
	explained "a refused family of sockets" \
		"*(guard_try) socket family 38, type 5*: EAFNOSUPPORT by seccomp: *" guard_try call 41 38 5 0
	explained "a call that runtimes do without" "*(guard_try) clone3: ENOSYS by seccomp: *" guard_try call 435 1 88
	explained "a call that no table knows" "*(guard_try) call 9999: ENOSYS by seccomp: *" guard_try call 9999
fi
if command -v mount >/dev/null && [ "$ROOT" = yes ]; then
	explained "a mount by mount(8)" "*(mount) mount /mnt: EPERM by seccomp: *" mount -t tmpfs none /mnt
fi
explained "a link that leads there" "* $W/secret: EACCES by mount: --deny secret" \
	sh -c 'ln -s secret link; guard_try open link; rm link'
explained "a folder that is entered first" "* $W/secret: EACCES by mount: --deny secret" \
	sh -c 'cd kept && guard_try open ../secret'
newline='
'
printf x >"a${newline}b"
guard --deny "a${newline}b" --explain-fd 7 -- guard_try open "a${newline}b" 7>"$T/lines" >/dev/null 2>&1
is "a name with a newline stays on its line" "$(wc -l <"$T/lines" | tr -d ' ')" 1
like "and is legible" "$(cat "$T/lines")" "*/a?x0ab: EACCES by mount: --deny a?x0ab"

silent "what is allowed" sh -c 'echo x >fine; cat fine kept/file; rm fine; : >/dev/null; kill -0 $$'
silent "what is not there" sh -c 'cat /absent; rm absent/x'
silent "a connection to itself" guard_try lo
guard --overlay kept --explain-fd 7 -- sh -c 'echo x >kept/file' 7>"$T/lines"
is "an overlay that is written to: nothing is told" "$?/$(cat "$T/lines")" 0/
guard --deny secret --explain -- guard_try open secret >/dev/null 2>"$T/err"
like "without a descriptor it is standard error" "$(cat "$T/err")" "fence-guard: explain: *"
guard --explain-fd 7 -- sh -c 'for i in 1 2 3 4 5; do guard_try write /etc/passwd; done' 7>"$T/lines" >/dev/null
is "the same is told once" "$(wc -l <"$T/lines" | tr -d ' ')" 1
guard --explain-fd 7 -- sh -c 'i=0; while [ $i -lt 300 ]; do true 2>/dev/null >/etc/x$i; i=$((i + 1)); done' \
	7>"$T/lines" 2>/dev/null
is "the number of lines is bounded" "$(wc -l <"$T/lines" | tr -d ' ')" 201
like "which is said" "$(tail -n 1 "$T/lines")" "*200 refusals were told of; no more are"

# Whoever asks is never forgotten.
is "two hundred pipelines, and none hangs" "$(guard --explain-fd 7 -- sh -c '
	i=0
	while [ $i -lt 200 ]; do
		echo a | cat | cat
		i=$((i + 1))
	done' 7>/dev/null | wc -l | tr -d ' ')" 200
mkfifo full
exits "a reader who does not read stops nobody" 0 timeout 20 sh -c 'exec 8<>full 7>full
	fence-guard exec --explain-fd 7 -- sh -c "i=0; while [ \$i -lt 2000 ]; do
		true 2>/dev/null >/etc/\$i; i=\$((i + 1)); done"'
rm full

# Its death is the command's.
fence-guard exec --explain -- sh -c 'echo up >ready; exec sleep 98771' 2>"$T/err" &
launcher=$!
await file ready
explainer=$(for each in $(cat /proc/$launcher/task/*/children); do
	[ "$(tr -d '\0' <"/proc/$each/cmdline" | head -c 11)" = fence-guard ] &&
		! grep -q '^NSpid:.*[[:space:]]1$' "/proc/$each/status" && echo "$each"
done)
kill -9 "$explainer"
wait "$launcher"
is "when it is killed, so is the command" "$?" 125
ok "all of it" await none 98771
like "which is said" "$(cat "$T/err")" "fence-guard: the explaining process ended before the command: *"
rm -f ready
fence-guard exec --explain -- sh -c 'echo up >ready; exec sleep 98772' &
launcher=$!
await file ready
kill -9 "$launcher"
wait "$launcher" 2>/dev/null
ok "when the launcher is killed nothing is left" await none 98772
rm -f ready

exits "profile none has nothing to explain" 125 fence-guard exec --profile none --explain -- true
exits "a descriptor that is not open is refused" 125 fence-guard exec --explain-fd 77 -- true
if [ "$(uname -m)" = x86_64 ]; then
	exits "where it cannot be, nothing starts" 125 guard_refuse 317 38 fence-guard exec --explain -- true
	exits "without it none of it is done" 0 guard_refuse 317 38 fence-guard exec -- true
fi
done_testing
