#!/bin/sh
# A time-out ends everything, polite or not, and says 124.
. "$(dirname "$0")/../../lib/tap.sh"
word=600.$$

exits "a command that is quick enough keeps its status" 3 fence-run -t 60s -- sh -c 'exit 3'
exits "a slow one is ended" 124 fence-run -t 100ms -- sleep $word
like "and that is said" "$(cat "$T/err")" "fence-run: the command was ended: it ran longer than 100 ms"
exits "quietly when asked" 124 fence-run -q -t 100ms -- sleep $word
is "then nothing is said" "$(cat "$T/err")" ""
exits "it may clean up in the grace; 124 all the same" 124 \
	fence-run -t 200ms -- sh -c "trap 'echo cleaned; exit 0' TERM; sleep $word & wait"
is "its trap ran" "$(cat "$T/out")" cleaned
exits "a deaf one is killed after the grace" 124 \
	fence-run -q -t 100ms --grace 100ms --result "$T/r" -- \
	sh -c "trap '' TERM; sleep $word; sleep $word"
is "with KILL, by us" "$(jq -r '.cause, .reap, .exit.signal, .exit.sentBy' "$T/r" | xargs)" \
	"timeout reaped-kill 9 timeout"
is "after the grace and not before" \
	"$(jq '.sent.termAtMs >= 100 and (.sent.killAtMs - .sent.termAtMs) >= 99' "$T/r")" true
exits "without a grace KILL comes at once" 124 \
	fence-run -q -t 100ms --grace 0 --result "$T/r" -- sh -c "trap '' TERM; sleep $word; sleep $word"
is "and no TERM is sent" "$(jq -r '.sent.termAtMs, .reap' "$T/r" | xargs)" "null reaped-kill"
exits "a stopped one acts on TERM" 124 fence-run -q -t 200ms --grace 60s --result "$T/r" -- \
	sh -c 'kill -STOP $$; exit 9'
is "since it is continued" "$(jq -r .exit.signal "$T/r")" 15
exits "the smallest time-out is one" 124 fence-run -q -t 1e-10 -- sleep $word
exits "zero is none" 4 fence-run -t 0 -- sh -c 'exit 4'
exits "a pipe holder does not prolong it" 124 fence-run -q -t 200ms --capture 1KiB -- \
	sh -c "echo foo; sleep $word & sleep $word"
exits "silence is ended" 124 fence-run --idle-timeout 200ms --result "$T/r" -- \
	sh -c "echo one; sleep $word"
is "that is another cause" "$(jq -r .cause "$T/r")" idle-timeout
is "and the output went on" "$(cat "$T/out")" one
exits "what goes on writing is not silent" 0 fence-run --idle-timeout 500ms -- \
	sh -c 'for i in 1 2 3 4 5 6 7 8; do echo $i; await -t 0.1 file /nonexistent; done; exit 0'
n=0
while [ $n -lt 30 ]; do
	fence-run -q -t 1ms --grace 1ms -- sleep $word
	[ $? = 124 ] || break
	n=$((n + 1))
done
is "the shortest time-out and grace always give the same status" $n 30
ok "nothing is left" await none "$word"
done_testing
