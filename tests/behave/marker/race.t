#!/bin/sh
# Writers and readers at the same marker, all at once.
. "$(dirname "$0")/../../lib/tap.sh"

m=$T/m.json
temporaries() {
	for file in "$T"/.m.json*; do
		[ ! -e "$file" ] || echo "$file"
	done
}
seq_of() {
	fence-marker read "$m" --json | sed 's/.*"approved":{[^}]*"seq":\([0-9]*\).*/\1/'
}

ok "a marker is made" fence-marker create "$m" --attempt a --pid $$
is "its first state has seq 1" "$(seq_of)" 1

marker_race write "$m" a 1000 >"$T/w1" 2>&1 &
one=$!
marker_race write "$m" a 1000 >"$T/w2" 2>&1 &
two=$!
marker_race read "$m" a 5000 >"$T/r" 2>&1 &
reader=$!
wait "$one"
is "the first of two writers gets its 1000 updates in" "$? $(cat "$T/w1" | tr -d 0-9)" "0 "
wait "$two"
is "the second gets its 1000 updates in" "$? $(cat "$T/w2" | tr -d 0-9)" "0 "
wait "$reader"
is "a reader sees an authentic marker every time" "$? $(cat "$T/r")" "0 0"
is "no update is lost" "$(seq_of)" 2001
note "started over: $(cat "$T/w1") and $(cat "$T/w2")"
is "no temporary is left in the folder" "$(temporaries)" ""

marker_race foreign "$m" b 2000 >"$T/f" 2>&1 &
foreign=$!
marker_race read "$m" b 1 >/dev/null 2>&1
while ! marker_race read "$m" b 1 >/dev/null 2>&1; do
	kill -0 "$foreign" 2>/dev/null || break
done
ok "a reader beside a writer without the lock sees an authentic marker every time" \
	marker_race read "$m" b 3000
wait "$foreign"
is "which gets its updates in" "$? $(cat "$T/f")" "0 0"

done_testing
