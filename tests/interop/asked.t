#!/bin/sh
# An executor asks for the end: the marker says so before the first signal, the command
# has its grace, and a second request is the last.
. "$(dirname "$0")/../lib/tap.sh"
. "$SRC/tests/interop/interop.sh"

# A child that a shell just forked has its trap, and would lose the signal: the command
# is up once that child has become another program.
up='echo up >"$0"; exec sleep 100'
run() { # WORDS... : the executor in the background, until its command is up
	"$@" >"$T/said" 2>"$T/err" &
	executor=$!
	await file "$T/up"
}
over() {
	wait "$executor"
	rm -f "$T/up"
}

for language in $languages; do
	for flag in "" --socket; do
		m=$T/$language$flag.json
		name="$language${flag:+ $flag}"
		# shellcheck disable=SC2086 # no flag is no word
		run "$T/$language" $flag "$m" a.1 -- sh -c \
			'trap "cp $0 $0.seen; exit 3" TERM; sh -c "$2" "$1" & wait' \
			"$m" "$T/up" "$up"
		kill -TERM $executor
		over
		is "$name: what it heard" "$(events)" "ready started terminating terminated"
		is "$name: why" "$(said '.[2].cause')" terminate-request
		is "$name: how it ended" "$(outcome)" "terminate-request 3 - reaped-term 3 terminated"
		is "$name: before the signal the marker said it" "$(jq -r .status "$m.seen")" \
			terminating
		same_marker "$name: both readers see the same marker" "$m"
	done

	m=$T/$language.deaf.json
	run "$T/$language" "$m" a.1 -- sh -c 'trap "" TERM; echo up >"$0"; sleep 100' "$T/up"
	kill -TERM $executor
	ok "$language: the end is under way" \
		fence-marker wait "$m" --status terminating --timeout 10s
	kill -TERM $executor
	over
	is "$language: a command that does not listen is killed at the second request" \
		"$(outcome)" "terminate-request - 9 reaped-kill 137 terminated"

	# In one write with the release.
	m=$T/$language.early.json
	"$T/$language" --early "$m" a.1 -- sleep 100 >"$T/said" 2>"$T/err"
	is "$language: asked to end at once, it ends" \
		"$(said 'map(select(.event == "terminated"))[0].result.cause')" terminate-request
	is "$language: and the marker says so" "$(said last.marker.status)" terminated
	same_marker "$language: both readers see the same marker" "$m"
done

done_testing
