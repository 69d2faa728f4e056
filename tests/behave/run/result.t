#!/bin/sh
# The result record: one JSON object, whole or not at all.
. "$(dirname "$0")/../../lib/tap.sh"

check() { # FILE: nothing in it is against the schema
	faults=$(jq -r --slurpfile schema "$SRC/schemas/fence-run-result-v1.json" \
		-f "$SRC/tests/lib/schema.jq" "$1") && echo "$faults" && [ -z "$faults" ]
}

exits "a record is written" 7 fence-run --result "$T/r" -- sh -c 'exit 7'
ok "as its schema says" check "$T/r"
is "one line" "$(wc -l <"$T/r")" 1
is "with who and how" "$(jq -r '.schema, .tool, .cause, .reap, .contain, .exitStatus, .exit.code, .exit.rawStatus' "$T/r" | xargs)" \
	"fence-run-result/v1 fence-run exited clear subreaper 7 7 1792"
is "and with what" "$(jq -c .command "$T/r")" '["sh","-c","exit 7"]'
like "and when" "$(jq -r .startedAt "$T/r")" "20??-??-??T??:??:??.???Z"
is "no output was read" "$(jq 'has("output")' "$T/r")" false

exits "a signal too" 137 fence-run --result "$T/r" -- sh -c 'kill -KILL $$'
is "who sent it: not us" "$(jq -r '.cause, .exit.signal, .exit.sentBy' "$T/r" | xargs)" "signalled 9 other"
ok "as its schema says" check "$T/r"
exits "a command that is not there as well" 127 fence-run --result "$T/r" -- no-such-command
is "with the reason" "$(jq -r '.cause, .reap, .exit, .failure.step, .failure.errno' "$T/r" | xargs)" \
	"not-started no-session null execute 2"
ok "as its schema says" check "$T/r"
exits "captured output" 0 fence-run --capture 1KiB --log "$T/log" --result "$T/r" -- echo hello
ok "as its schema says" check "$T/r"
is "times are there" "$(jq '(.wallUs > 0) and (.wallMs <= .wallUs / 1000 + 1) and (.peakRssBytes > 0)' "$T/r")" true
fence-run --result "$T/r" -- sh -c 'i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done'
is "processor time too" "$(jq '.userMs + .systemMs > 0' "$T/r")" true

is "to standard output" "$(fence-run --capture 1KiB --result - -- echo hello | jq -r .output.stdout.tail)" hello
exits "but not among the command's own output" 125 fence-run --result - -- echo hello
is "to a descriptor" "$(fence-run --result-fd 5 -- sh -c 'echo noise; exit 4' 5>&1 >/dev/null | jq .exitStatus)" 4
is "which the command does not get" "$(fence-run --result-fd 5 -- run_signals show 5>/dev/null | grep fds)" "fds: 0 1 2"

echo old >"$T/r"
ln "$T/r" "$T/link"
fence-run --result "$T/r" -- true
is "an old file is replaced, not written into" "$(cat "$T/link")" old
is "nothing else is left in the folder" "$(ls -A --ignore=.ok "$T" | xargs)" "err link log out r"
exits "a device is not replaced" 125 fence-run --result /dev/null -- true
exits "nor a folder" 125 fence-run --result "$T" -- true
ok "a relative name is fine" sh -c "cd $T && fence-run --cwd / --result here -- true && test -s here"
done_testing
