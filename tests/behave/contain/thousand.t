#!/bin/sh
# 1,000 descendants, half of them in sessions of their own and forked twice, end whatever
# holds them: when they are asked, and when all of them are deaf.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/contain.sh"

one() { # WHO KIND
	who=$1 kind=$2
	for swarm in daemons deaf-daemons; do
		rm -f "$T/up"
		as_exec "$who" fence-run -q --contain "$kind" --grace 300ms --result "$T/r.$who.$kind" -- \
			run_swarm $swarm 1000 "$T/up" &
		run=$!
		await -t 30 file "$T/up"
		kill $run
		wait $run
		ok "$who, $kind: 1,000 $swarm: none is left" await -t 0 none "$T/up"
		is "$who, $kind: the record counts them" \
			"$(jq -r '.contain, .survivors.count, .endedCount >= 1000' "$T/r.$who.$kind" | xargs)" \
			"$kind 0 true"
		is "$who, $kind: and it took no second" \
			"$(jq '.wallMs - (.sent.killAtMs // .sent.termAtMs) < 1000' "$T/r.$who.$kind")" true
		note "$(jq -c '{contain, sent, wallMs, endedCount}' "$T/r.$who.$kind")"
	done
}
each_kind one
is "no group is left" "$(groups)" ""
done_testing
