#!/bin/sh
# Writers and readers at the same marker, all at once.
. "$(dirname "$0")/../../lib/tap.sh"

m=$T/m.json
temporaries() {
	for file in "${m%/*}"/.m.json*; do
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

# The rest in memory where there is some: ext4, which gives the same inodes out again and
# again, also writes the bytes of each file that is renamed over another, and thousands of
# them wait for the disk.
memory=$(mktemp -d /dev/shm/fence-test.XXXXXX 2>/dev/null) || memory=$(mktemp -d "$T/XXXXXX")
later rm -rf "$memory"
m=$memory/m.json
ok "another marker is made" fence-marker create "$m" --attempt a --pid $$

# The control: without the lock, updates are lost.
lost=0 round=0
while [ $lost = 0 ] && [ $round -lt 20 ]; do
	round=$((round + 1))
	before=$(seq_of)
	marker_race careless "$m" a 500 >"$T/c1" 2>&1 &
	one=$!
	marker_race careless "$m" a 500 >"$T/c2" 2>&1
	two=$?
	wait "$one"
	is "two careless writers think that each of 500 updates is in" "$? $two" "0 0"
	lost=$((before + 1000 - $(seq_of)))
done
ok "but some are lost" test $lost -gt 0
note "lost: $lost of 1000 in round $round"

# Two writers, one that knows nothing of the lock, and a reader, all at once.
marker_race foreign "$m" b 1 >/dev/null
mkfifo "$T/end" "$T/reads"
marker_race watch "$m" b <"$T/end" >"$T/reads" 2>"$T/watch" &
reader=$!
exec 3>"$T/end" 4<"$T/reads"
read -r word <&4
is "a reader reads all the time" "$word" reads
marker_race foreign "$m" b 2000 >"$T/f" 2>&1 &
foreign=$!
marker_race write "$m" b 500 >"$T/w1" 2>&1 &
one=$!
marker_race write "$m" b 500 >"$T/w2" 2>&1 &
two=$!
for party in $foreign $one $two; do
	wait $party
	is "the writer gets its updates in" $? 0
done
exec 3>&-
wait "$reader"
is "each time an authentic state was there" "$? $(cat "$T/watch")" "0 "
read -r looks <&4
exec 4<&-
ok "it did read" test "${looks:-0}" -gt 100
note "started over: $(cat "$T/w1") and $(cat "$T/w2"); the reader looked $looks times"
is "no temporary is left then" "$(temporaries)" ""

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
