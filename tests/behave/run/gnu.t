#!/bin/sh
# What is asked of a time-out elsewhere: black-box cases after those of GNU timeout.
. "$(dirname "$0")/../../lib/tap.sh"
word=611.$$

exits "a command that fails in time" 1 fence-run -t 10s -- false
exits "one that does not" 124 fence-run -q -t .1 -- sleep 10
exits "a folder is no command" 126 fence-run -t 10 -- .
exits "a name that is not there" 127 fence-run -t 10 -- no_such
exits "a duration that is none" 125 fence-run -t invalid -- sleep 0
exits "a unit that is none" 125 fence-run -t 42D -- sleep 0
exits "a negative one" 125 fence-run -t -1 -- sleep 0
exits "one beyond every clock" 125 fence-run -t 99999999999999999999d -- sleep 0
like "that is said" "$(cat "$T/err")" "fence-run: *99999999999999999999d*"
exits "a unit of a day" 0 fence-run -t 1d -- true
exits "a fraction" 0 fence-run -t 10.34 -- true
exits "a power of ten" 0 fence-run -t 9.999e2s -- true
exits "a fraction too fine to hold" 124 fence-run -q -t 5e-324 -- sleep 10
exits "a time-out whose signals are all ignored by the caller" 124 \
	run_signals with 14,15,17 - fence-run -q -t .1 -- sleep 10
exits "or all blocked" 124 run_signals with - 14,15,17,18 fence-run -q -t .1 -- sleep 10
exits "one inside another: the inner one counts" 124 fence-run -q -t 10 -- fence-run -q -t .1 -- sleep 10
exits "or the outer one" 124 fence-run -q -t .2 -- fence-run -q -t 10 -- sleep $word
ok "and then nothing is left of the inner one's" await -t 0 none "$word"
exits "in a pipeline" 0 sh -c 'echo in | fence-run -t 10 -- cat | grep -q in'
# Who starts it in a group of its own and stops that group.
setsid sh -c "echo \$\$ >$T/group; exec fence-run -q -t 1s -- sleep $word" &
run=$!
await file "$T/group"
await some "sleep" >/dev/null
kill -STOP "-$(cat "$T/group")"
ok "stopped by STOP, which nobody can forward" await state $run T
kill -CONT "-$(cat "$T/group")"
wait $run
is "it has its time-out all the same once it goes on" $? 124
ok "nothing is left" await none "$word"
done_testing
