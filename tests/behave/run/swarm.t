#!/bin/sh
# Swarms and crowds end.
. "$(dirname "$0")/../../lib/tap.sh"

for kind in hoppers setsid-hoppers; do
	rm -f "$T/up"
	exits "20 $kind are ended" 124 fence-run -q -t 500ms --grace 100ms --result "$T/r" -- \
		run_swarm $kind 20 "$T/up"
	ok "they ran" test -s "$T/up"
	ok "none is left" await -t 0 none "$T/up"
	note "$(jq -c '{kind: "'$kind'", sent, wallMs}' "$T/r")"
	is "soon" "$(jq '.survivors.count == 0 and .wallMs < 3000' "$T/r")" true
done
for kind in daemons deaf-daemons; do
	rm -f "$T/up"
	fence-run -q --grace 300ms --result "$T/r" -- run_swarm $kind 1000 "$T/up" &
	run=$!
	await -t 30 file "$T/up"
	kill $run
	wait $run
	ok "1,000 $kind, every second one daemonised: none is left" await -t 0 none "$T/up"
	note "$(jq -c '{kind: "'$kind'", sent, wallMs}' "$T/r")"
	is "within a second" \
		"$(jq '.survivors.count == 0 and .wallMs - (.sent.killAtMs // .sent.termAtMs) < 1000' "$T/r")" true
done
is "the deaf ones were killed" "$(jq -r .reap "$T/r")" reaped-kill
done_testing
