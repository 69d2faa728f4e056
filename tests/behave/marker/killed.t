#!/bin/sh
# A replacement killed at each of its system calls leaves the whole old or the whole
# new state, and the next writer leaves no trace of it.
. "$(dirname "$0")/../../lib/tap.sh"

m=$T/m.json
# A leak check at the end of a traced program would need to trace it too.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS

temporaries() {
	for file in "$T"/.m.json*; do
		[ ! -e "$file" ] || echo "$file"
	done
}
look() {
	fence-marker read "$m" --json >"$T/read" || echo '{}' >"$T/read"
	approved=$(sed 's/.*"approved":\({[^}]*}\).*/\1/' "$T/read")
	seq=$(sed 's/.*"seq":\([0-9]*\),"nonce":"[0-9a-f]*"}.*/\1/' "$T/read")
}

ok "a marker is made" fence-marker create "$m" --attempt a --pid $$
look
ok "a traced replacement works" strace -o "$T/trace" \
	fence-marker replace "$m" --attempt a --approved "$approved" --status active
look
is "and is the second state" "$seq" 2

# The calls from the opening of the lock on, each with its count among its like.
awk -F'(' '/^[a-z_0-9]+\(/ {
		count[$1]++
		if (/m\.json\.lock"/) seen = 1
		if (seen && $1 != "exit_group") print $1, count[$1]
	}' "$T/trace" >"$T/calls"
calls=$(wc -l <"$T/calls")
ok "the trace shows the whole update" test "$calls" -gt 20
ok "with its rename" grep -q '^rename' "$T/calls"

torn=0 littered=0 survived=0 old=0 new=0 failed=0
while read -r call nth; do
	before=$seq
	strace -o /dev/null -e trace="$call" -e inject="$call:signal=KILL:when=$nth" \
		fence-marker replace "$m" --attempt a --approved "$approved" --status active \
		>/dev/null 2>&1
	[ $? = 137 ] || survived=$((survived + 1))
	look
	if [ "$seq" = "$before" ]; then
		old=$((old + 1))
	elif [ "$seq" = $((before + 1)) ]; then
		new=$((new + 1))
	else
		torn=$((torn + 1))
		note "at $call number $nth: $(cat "$T/read")"
	fi
	fence-marker replace "$m" --attempt a --approved "$approved" --status active \
		>/dev/null 2>"$T/err" || failed=$((failed + 1))
	[ -z "$(temporaries)" ] || littered=$((littered + 1))
	look
done <"$T/calls"

is "it was killed at every call" "$survived" 0
is "never is the marker torn" "$torn" 0
ok "it was killed before the rename" test "$old" -gt 10
ok "and after it" test "$new" -gt 0
is "the next writer always gets its turn" "$failed" 0
is "and leaves nothing of the killed one" "$littered" 0
note "$calls calls: $old left the old state, $new the new one"

done_testing
