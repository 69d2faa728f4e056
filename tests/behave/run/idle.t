#!/bin/sh
# While the command runs fence-run sleeps: no wake-ups, little memory.
. "$(dirname "$0")/../../lib/tap.sh"
word=607.$$

fence-run -q -t 1h --capture 64KiB -- sh -c "echo \$PPID >$T/up; exec sleep $word" &
run=$!
await file "$T/up"
monitor=$(cat "$T/up")
await state "$monitor" S
await state $run S
switches() { awk '/ctxt_switches/ { n += $2 } END { print n }' /proc/$run/status /proc/"$monitor"/status; }
before=$(switches)
await -t 1 file /nonexistent
is "neither process wakes up in a second" "$(switches)" "$before"
for pid in $run "$monitor"; do
	note "resident: $(awk '/VmRSS/ { print $2, $3 }' /proc/"$pid"/status)"
done
kill $run
wait $run
ok "nothing is left" await none "$word"
done_testing
