#!/bin/sh
# Output that comes after the command's exit: within the window it is kept, and who waits
# for what is left gets all of it.
. "$(dirname "$0")/../../lib/tap.sh"
word=610.$$
later_on="await -t 0.4 file /nonexistent"

exits "control: silence of 200 ms ends the reading" 0 \
	fence-run -q --capture 1KiB --result "$T/r" -- sh -c "($later_on; echo late) & exit 0"
is "what comes later is not there" "$(jq -r '.output.stdout.tail, .output.leaked' "$T/r" | xargs)" "true"
exits "with --leftover wait it is waited for, and is no leak" 0 \
	fence-run -q --capture 1KiB --leftover wait --leak fail --result "$T/r" -- sh -c "($later_on; echo late) & exit 0"
is "and whole" "$(jq -r '.output.stdout.tail, .output.leaked, .leftover.action' "$T/r" | xargs)" \
	"late false wait"
exits "who has not let go of it at the time-out is ended, and that is no leak either" 124 \
	fence-run -q -t 600ms --capture 1KiB --leftover wait --leak fail --result "$T/r" -- \
	sh -c "sleep $word & exit 0"
# A holder outside, through /proc: that one is a leak, with --leftover wait as well.
fence-run -q --capture 1KiB --leftover wait --result "$T/r" -- sh -c "echo \$\$ >$T/pid; await -t 20 file $T/opened" &
run=$!
await file "$T/pid"
sh -c "echo up >$T/held; exec sleep $word" >/proc/"$(cat "$T/pid")"/fd/1 &
holder=$!
await file "$T/held"
echo yes >"$T/opened"
wait $run
is "a stranger that holds it is one, as ever" "$(jq -r '.output.leaked, .output.holders[0]' "$T/r" | xargs)" \
	"true $holder"
kill $holder
wait $holder 2>/dev/null
exits "longer than any drain lasts" 0 fence-run -q --tee --leftover wait -- \
	sh -c "(await -t 2.3 file /nonexistent; echo late) & exit 0"
is "it comes through a tee too" "$(cat "$T/out")" late
exits "an escapee that writes for ever does not hold us" 0 \
	fence-run -q --capture 1KiB --result "$T/r" -- sh -c "setsid yes $word & exit 0"
is "longer than the cap" "$(jq '.wallMs < 4000' "$T/r")" true
ok "nothing is left" await none "$word"
done_testing
