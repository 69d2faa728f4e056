#!/bin/sh
# Captured output that somebody still holds open never makes us hang.
. "$(dirname "$0")/../../lib/tap.sh"
word=602.$$

exits "the output of a command that ends is whole" 0 \
	fence-run --capture 1KiB --result "$T/r" -- sh -c 'echo out; echo err >&2'
is "both streams" "$(jq -r '.output.stdout.tail, .output.stderr.tail' "$T/r" | xargs)" "out err"
is "nothing leaked" "$(jq -r '.output.leaked, (.output.holders | length)' "$T/r" | xargs)" "false 0"

exits "a background job that holds it is ended" 0 \
	fence-run --capture 1KiB --result "$T/r" -- sh -c "sleep $word & exit 0"
is "soon, and named" \
	"$(jq -r '.output.leaked, (.output.holders == .leftover.pids), .wallMs < 2000' "$T/r" | xargs)" \
	"true true true"
like "in words too" "$(cat "$T/err")" "*output was still held open*"
exits "that can be a failure" 125 fence-run -q --capture 1KiB --leak fail -- sh -c "sleep $word & exit 0"
exits "one that goes on writing is ended at the cap" 0 \
	fence-run -q --capture 1KiB --result "$T/r" -- sh -c "setsid sh -c 'while echo $word; do :; done' & exit 0"
is "that is 2 s" "$(jq -r '.output.leaked, .wallMs >= 2000, .wallMs < 4000' "$T/r" | xargs)" \
	"true true true"
exits "what comes within the window is waited for" 0 \
	fence-run -q --capture 1KiB --result "$T/r" -- \
	sh -c '(await -t 0.1 file /nonexistent; echo a; await -t 0.1 file /nonexistent; echo b) & exit 0'
is "and is not lost" "$(jq -r '.output.stdout.tail, .output.leaked' "$T/r" | xargs)" "a b false"

# A holder outside the tree: this shell's own child has the pipe through /proc.
fence-run -q --capture 1KiB --result "$T/r" -- sh -c "echo \$\$ >$T/pid; await -t 20 file $T/opened" &
run=$!
await file "$T/pid"
sh -c "exec sleep $word" >/proc/"$(cat "$T/pid")"/fd/1 &
holder=$!
await some "$word" >/dev/null
echo yes >"$T/opened"
wait $run
is "a stranger that holds it does not delay us for ever" $? 0
is "it is named" "$(jq -r '.output.leaked, .output.holders[0]' "$T/r" | xargs)" "true $holder"
ok "and is left alone: it is not ours" kill -0 $holder
kill $holder
wait $holder 2>/dev/null

fence-run -q --capture 1KiB --result "$T/r1" -- sh -c "echo up >$T/first; await -t 20 file $T/second" &
run=$!
await file "$T/first"
exits "two runs at once do not hold each other's pipes" 0 \
	fence-run -q --capture 1KiB --result "$T/r2" -- true
is "the first to end leaks nothing" "$(jq -r .output.leaked "$T/r2")" false
echo yes >"$T/second"
wait $run
is "nor does the other" "$(jq -r .output.leaked "$T/r1")" false
ok "nothing is left" await none "$word"
done_testing
