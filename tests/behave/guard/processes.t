#!/bin/sh
# Signals reach the command, and nothing outlives it.
. "$(dirname "$0")/guard.sh"

is "the command sees its own processes alone" "$(guard -- sh -c 'cd /proc && echo [0-9]*')" "1 2"
fence-guard exec -- sh -c 'trap "echo got; exit 7" TERM; echo up >ready; while :; do sleep 0.05; done' >out 2>/dev/null &
pid=$!
await file ready
kill -TERM "$pid"
wait "$pid"
is "TERM reaches the command, and its status comes back" "$?/$(cat out)" 7/got
rm -f ready

for signal in INT HUP QUIT USR1 USR2 WINCH; do
	env --default-signal fence-guard exec -- bash -c "trap 'exit 9' $signal; echo up >ready; while :; do sleep 0.05; done" 2>/dev/null &
	pid=$!
	await file ready
	kill -$signal "$pid"
	wait "$pid"
	is "$signal is passed on" "$?" 9
	rm -f ready
done

fence-guard exec -- sh -c 'kill -TSTP $$; echo on >on' &
pid=$!
ok "when the command stops, so does the launcher" await state "$pid" T
kill -CONT "$pid"
wait "$pid"
is "and goes on when told" "$?/$(cat on)" 0/on

exits "a background process does not outlive the command" 0 guard -- \
	sh -c 'setsid sleep 98764 & sleep 98764 & exit 0'
ok "of it nothing is left" await -t 1 none 98764

fence-guard exec -- sh -c 'setsid sleep 98765 & sleep 98765 & echo up >ready; exec sleep 98765' &
pid=$!
await file ready
kill -9 "$pid"
wait "$pid" 2>/dev/null
ok "kill -9 of the launcher leaves nothing after a second" await -t 1 none 98765
rm -f ready

for delay in 0 0.001 0.002 0.003 0.005; do
	fence-guard exec -- sh -c 'setsid sleep 98766 & exec sleep 98766' &
	pid=$!
	sleep $delay
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
done
ok "whenever it comes" await -t 1 none 98766

fence-guard exec -- sh -c 'sleep 98767 & echo up >ready; wait' 2>"$T/err" &
pid=$!
await file ready
init=$(cat "/proc/$pid/task/$pid/children")
kill -9 $init
wait "$pid"
is "kill -9 of init is not taken for success" "$?" 137
like "and is said" "$(cat "$T/err")" "fence-guard: init ended before the command (signal 9)*"
ok "and takes all along" await -t 1 none 98767

exits "orphans are reaped" 0 guard -- \
	sh -c 'for i in 1 2 3 4 5; do (true & ) ; done; sleep 0.1; ! grep -l "^State:.Z" /proc/[0-9]*/status 2>/dev/null'
done_testing
