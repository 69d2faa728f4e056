#!/bin/sh
# What the command gets by options, and what is told of it.
. "$(dirname "$0")/../../lib/tap.sh"

valid() { # SCHEMA FILE: every line of it
	faults=$(jq -r --slurpfile schema "$SRC/schemas/$1.json" -f "$SRC/tests/lib/schema.jq" "$2") &&
		echo "$faults" && [ -z "$faults" ]
}

# Limits and priority.
is "control: the limit is another without the option" "$([ "$(fence-run -- sh -c 'ulimit -n')" = 77 ]; echo $?)" 1
is "a soft and a hard limit" "$(fence-run --limit nofile=77:99 -- sh -c 'ulimit -Sn; ulimit -Hn' | xargs)" "77 99"
is "one value is both" "$(fence-run --limit nofile=77 -- sh -c 'ulimit -Sn; ulimit -Hn' | xargs)" "77 77"
is "sizes have units" "$(fence-run --limit fsize=4KiB --limit core=0 -- sh -c 'ulimit -f; ulimit -c' | xargs)" "8 0"
is "it is ours no more than before" "$(fence-run --limit nofile=77 --capture 1KiB --tee -- sh -c 'ulimit -n')" 77
exits "a resource that is none is named, with the nearest" 125 fence-run --limit nofle=3 -- true
like "as said" "$(cat "$T/err")" 'fence-run: --limit "nofle": no such resource; did you mean nofile?'
for bad in nofile nofile= nofile=x nofile=9:8 =3 nofile=-1 nofile=3: core=1XB; do
	exits "a bad limit is 125: $bad" 125 fence-run --limit "$bad" -- true
	is "in one line" "$(wc -l <"$T/err")" 1
done
if [ "$ROOT" = no ]; then
	exits "a limit that we may not set starts nothing" 125 \
		fence-run --limit nofile=unlimited -- touch "$T/ran"
	like "and that is said" "$(cat "$T/err")" "fence-run: set resource limits for touch: Operation not permitted*"
	ok "it did not start" test ! -e "$T/ran"
	exits "nor does a nice value" 125 fence-run --nice -5 -- touch "$T/ran"
	ok "it did not start" test ! -e "$T/ran"
fi
here=$(nice)
is "a nice value is added" "$(fence-run --nice 3 -- nice)" "$((here + 3))"

# Files of the command's own.
exits "its streams go to files" 0 fence-run --stdout "$T/o" --stderr "$T/e" -- sh -c 'echo out; echo err >&2'
is "each to its own" "$(cat "$T/o") $(cat "$T/e")" "out err"
exits "both to one" 0 fence-run --stdout "$T/o" --stderr "$T/o" -- sh -c 'echo one; echo two >&2; echo three'
is "in their order" "$(xargs <"$T/o")" "one two three"
exits "one that cannot be opened starts nothing" 125 fence-run --stdout "$T/none/o" -- touch "$T/ran"
ok "it did not start" test ! -e "$T/ran"
exits "what is read by us is not written by it" 125 fence-run --stdout "$T/o" --capture 1KiB -- true
is "a grandchild that holds it is no leak" \
	"$(fence-run -q --stdout "$T/o" --result "$T/r" -- sh -c 'sleep 60 & exit 4'; jq -c '[.exitStatus, .leftover.count, has("output")]' "$T/r")" "[4,1,false]"

# The beginning of the output.
exits "head and tail" 0 fence-run --capture 10B --capture-head 5B --result "$T/r" -- printf 0123456789abcdefghij
ok "as the schema says" valid fence-run-result-v1 "$T/r"
is "with what is left out between them" \
	"$(jq -c '.output.stdout | [.head, .omittedBytes, .tail, .truncated, .bytes]' "$T/r")" \
	'["01234",5,"abcdefghij",true,20]'
for size in 1 9 14 15; do
	text=$(printf '%0*d' $size 7)
	fence-run --capture 10B --capture-head 5B --result "$T/r" -- printf %s "$text"
	is "all of $size bytes is head and tail" \
		"$(jq -r '.output.stdout | .head + .tail, .truncated' "$T/r" | xargs)" "$text false"
done
fence-run --capture 4B --capture-head 4B --result "$T/r" -- printf 'aaa\303\244b\303\244cc'
is "characters are not torn at the gap" \
	"$(jq -c '.output.stdout | [.head, .omittedBytes, .tail]' "$T/r")" '["aaa",3,"äcc"]'
fence-run --capture-head 3B --result "$T/r" -- printf abcdef
is "a head alone" "$(jq -c '.output.stdout | [.head, .omittedBytes, .tail]' "$T/r")" '["abc",3,""]'

# Processor time.
exits "processor time has a limit of its own" 124 fence-run -q --cpu-timeout 150ms --result "$T/r" -- \
	sh -c 'while :; do :; done & while :; do :; done'
ok "as the schema says" valid fence-run-result-v1 "$T/r"
is "and the record says which" "$(jq -c '[.cause, .limit]' "$T/r")" '["timeout","cpu"]'
is "so much was used, and not a lot more" "$(jq '.userMs + .systemMs | . >= 140 and . < 1000' "$T/r")" true
exits "of children that are gone, too" 124 fence-run -q --cpu-timeout 150ms -- \
	sh -c 'while :; do sh -c "i=0; while [ \$i -lt 2000 ]; do i=\$((i + 1)); done"; done'
exits "who sleeps uses none" 0 fence-run --cpu-timeout 50ms -- sleep 0.2
exits "a time-out that counts suspended time" 124 fence-run -q --clock boottime -t 50ms --result "$T/r" -- sleep 60
is "is a wall time-out" "$(jq -c '[.cause, .limit]' "$T/r")" '["timeout","wall"]'
exits "and one that is not reached is none" 3 fence-run --clock boottime -t 1m -- sh -c 'exit 3'

# What is left by wish.
mkfifo "$T/life"
exits "what is left behind may be left" 0 fence-run --leftover leave --result "$T/r" -- \
	sh -c "setsid sh -c 'echo \$\$ >\"$T/left\"; read -r _ <\"$T/life\"; echo on >\"$T/on\"' </dev/null >/dev/null 2>&1 &
		await file '$T/left'"
ok "as the schema says" valid fence-run-result-v1 "$T/r"
is "the record says so" "$(jq -c '[.leftover.action, .leftover.count, .reap]' "$T/r")" '["leave",1,"inherited"]'
ok "it lives" kill -0 "$(cat "$T/left")"
echo >"$T/life"
ok "and ends in its own time" await file "$T/on"
ok "for good" await gone "$(cat "$T/left")"

# Dying as the command died.
sh -c 'fence-run --reraise -- sh -c "kill -USR1 \$\$"; echo $?' >"$T/out" 2>"$T/err"
is "a shell sees 128+n of both" "$(cat "$T/out")" 138
exits "a tool that sees signals sees the signal" 0 python3 -c '
import subprocess, sys
code = subprocess.call(["fence-run", "--reraise", "--", "sh", "-c", "kill -TERM $$"])
sys.exit(code != -15)'
exits "control: without the option it sees an exit status" 0 python3 -c '
import subprocess, sys
code = subprocess.call(["fence-run", "--", "sh", "-c", "kill -TERM $$"])
sys.exit(code != 143)'
exits "a time-out of ours is none of its signals" 124 fence-run -q --reraise -t 50ms -- sleep 60

# Events.
fence-run -q --events-fd 5 -t 300ms --grace 100ms -- sh -c 'trap "" TERM; sleep 60 & wait; sleep 60' 5>"$T/events"
is "what happened, in order" "$(jq -r .event "$T/events" | xargs)" "started ending signalled signalled exited ended"
ok "as the schema says" valid fence-run-event-v1 "$T/events"
is "with the signals" "$(jq -c 'select(.event == "signalled") | .signal' "$T/events" | xargs)" "15 9"
is "and the end" "$(jq -c 'select(.event == "ended") | [.cause, .reap, .exitStatus]' "$T/events")" '["timeout","reaped-kill",124]'
fence-run -q --events-fd 5 -- sh -c 'sleep 60 & exit 6' 5>"$T/events"
is "leftovers too" "$(jq -r .event "$T/events" | xargs)" "started exited leftover ending signalled ended"
ok "as the schema says" valid fence-run-event-v1 "$T/events"
fence-run -q --events-fd 5 --idle-timeout 100ms -- sleep 60 5>"$T/events"
is "silence too" "$(jq -r .event "$T/events" | head -2 | xargs)" "started output-idle"
mkfifo "$T/full"
exec 6<>"$T/full"
timeout .2 cat /dev/zero >&6 # until it takes no more
fence-run -q --events-fd 6 --result "$T/r" -- run_signals wait "$T/waits" >/dev/null &
run=$!
await file "$T/waits"
kill $run
wait $run
is "a reader that reads nothing keeps no signal from the command" \
	"$(jq '.sent.termAtMs < 2000' "$T/r")" true
exec 6>&-
fence-run -q --events-fd 5 -- no-such-command 5>"$T/events"
is "a command that is not there only ends" "$(jq -c '[.event, .cause, .exitStatus]' "$T/events")" '["ended","not-started",127]'
is "the command does not get the descriptor" "$(fence-run --events-fd 5 -- run_signals show 5>/dev/null | grep fds)" "fds: 0 1 2"
exits "one that is not open is 125" 125 fence-run --events-fd 99 -- true
# A reader that is gone, or that never reads.
exits "a reader that is gone changes nothing" 3 sh -c '
	{ fence-run --events-fd 5 -- sh -c "exit 3" 5>&1 >/dev/null; echo $? >"$1"; } | true; exit "$(cat "$1")"' sh "$T/rc"
done_testing
