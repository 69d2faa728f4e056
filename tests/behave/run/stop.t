#!/bin/sh
# TSTP stops the command, the time-out and us; CONT goes on with all three.
. "$(dirname "$0")/../../lib/tap.sh"
word=606.$$

fence-run -q -t 1500ms --result "$T/r" -- \
	sh -c "setsid sleep $word & echo \$! >$T/other; echo \$\$ >$T/pid; exec sleep $word" &
run=$!
await file "$T/pid"
pid=$(cat "$T/pid")
kill -TSTP $run
ok "fence-run stops" await state $run T
ok "its command stops" await state "$pid" T
ok "what changed its session stops" await state "$(cat "$T/other")" T
ok "the time-out does not run on" sh -c "! await -t 2 gone $pid"
kill -CONT $run
ok "it goes on" await state $run S
ok "its command goes on" await state "$pid" S
wait $run
is "and the time-out comes" $? 124
is "it had what was left of it" "$(jq '.wallMs >= 3400' "$T/r")" true

rm -f "$T/pid"
fence-run -q -- sh -c "echo \$\$ >$T/pid; exec sleep $word" &
run=$!
await file "$T/pid"
kill -TSTP $run
ok "stopped again" await state $run T
kill -TERM $run
kill -CONT $run
wait $run
is "TERM reaches a stopped command" $? 143
ok "nothing is left" await none "$word"
done_testing
