#!/bin/sh
# Signals to fence-run reach the command; asking twice means at once.
. "$(dirname "$0")/../../lib/tap.sh"
word=603.$$

start() { # NAME COMMAND...: runs it in the background; waits for $T/NAME
	name=$1
	shift
	rm -f "$T/$name"
	fence-run -q --grace 20s --result "$T/r" -- "$@" >"$T/out" 2>"$T/err" &
	run=$!
	await file "$T/$name"
}

start int sh -c "trap 'echo DONE; exit 5' INT; echo up >$T/int; while :; do await -t 1 file /nonexistent; done"
kill -INT $run
wait $run
is "INT reaches the command's trap, whose status counts" $? 5
is "the trap ran once" "$(cat "$T/out")" DONE
is "the record says who asked" "$(jq -r '.cause, .reap' "$T/r" | xargs)" "supervisor-signal reaped-term"

start deaf sh -c "trap '' INT TERM; echo up >$T/deaf; sleep $word; sleep $word"
kill -INT $run
kill -INT $run 2>/dev/null
# The two may have come as one: until it is gone, ask again.
while kill -INT $run 2>/dev/null; do await -t 0.05 gone $run && break; done
wait $run
is "INT again means KILL, without the grace" $? 137
is "that is in the record" "$(jq -r '.reap, .exit.sentBy' "$T/r" | xargs)" "reaped-kill request"
ok "nothing is left" await none "$word"

start hup sh -c "trap 'exit 6' HUP; echo up >$T/hup; while :; do await -t 1 file /nonexistent; done"
kill -HUP $run
wait $run
is "HUP is passed on as HUP" $? 6
rm -f "$T/up"
fence-run -q -- sh -c "echo up >$T/up; exec sleep $word" &
run=$!
await file "$T/up"
kill -TERM $run
wait $run
is "TERM is 143" $? 143

start list run_signals wait "$T/list" 10 12 14 28 35 64
for sig in USR1 USR2 ALRM WINCH 35 64; do
	before=$(wc -l <"$T/out")
	kill -$sig $run
	while [ "$(wc -l <"$T/out")" = "$before" ]; do await -t 0.01 file /nonexistent; done
done
kill -TERM $run
wait $run
is "USR1 USR2 ALRM WINCH and real-time signals come through" "$(xargs <"$T/out")" "10 12 14 28 35 64 15"

rm -f "$T/up"
run_signals with 1 - fence-run -q --result "$T/r" -- \
	sh -c "echo up >$T/up; while [ ! -e $T/go ]; do await -t 1 file $T/go; done; exit 8" &
run=$!
await file "$T/up"
kill -HUP $run
echo go >"$T/go"
wait $run
is "started by nohup, HUP does nothing" $? 8

start killer sh -c "echo up >$T/killer; sleep $word"
kill -TERM $run
kill -TERM $run 2>/dev/null
wait $run
status=$?
ok "a storm of TERM ends it either way" test $status = 143 -o $status = 137

# A monitor that waits for its log (a second at most) is behind with what we tell it.
mkfifo "$T/fifo"
exec 6<>"$T/fifo" # a reader from the start, which never reads
fence-run -q --log "$T/fifo" -- \
	sh -c "head -c 200000 /dev/zero; exec run_signals wait $T/flooded 40 >$T/list" &
run=$!
await file "$T/flooded"
n=0
while [ $n -lt 600 ]; do
	kill -40 $run
	n=$((n + 1))
done
while [ "$(wc -l <"$T/list")" -lt 600 ]; do await -t 0.05 gone $run && break; done
kill -TERM $run
wait $run
is "a flood of real-time signals is no failure" $? 0
is "and all of them come through" "$(grep -c 40 "$T/list")" 600
exec 6>&-

# A terminal's ^C goes to its foreground group, where the command is not: it hears
# of it once, from us.
rm -f "$T/up"
{
	await file "$T/up"
	printf '\003'
	await -t 20 file "$T/ended"
} | script -qec "trap : INT; fence-run -q --grace 300ms -- run_signals wait $T/up 2; echo up >$T/ended" /dev/null >"$T/tty"
is "one ^C on a terminal is one INT" "$(tr -d '\r' <"$T/tty" | grep -c '2$')" 1
ok "nothing is left of it" await none "$T/up"
done_testing
