#!/bin/sh
# An executor is killed: nothing of its command runs a second later, however far that
# had detached, and the marker says why.
. "$(dirname "$0")/../lib/tap.sh"
. "$SRC/tests/interop/interop.sh"

# What the command starts in a session of its own is found all the same.
command='setsid sh -c "echo \$\$ >\$0.daemon; exec sleep 300" "$0" &
	while [ ! -s "$0.daemon" ]; do :; done; echo $$ >"$0.leader"; wait'

supervisors=
for language in $languages; do
	for flag in "" --socket; do
		m=$T/$language$flag.json
		name="$language${flag:+ $flag}"
		# shellcheck disable=SC2086 # no flag is no word
		"$T/$language" $flag "$m" a.1 -- sh -c "$command" "$m" >"$T/said" 2>"$T/err" &
		executor=$!
		ok "$name: the command runs" await file "$m.leader"
		leader=$(cat "$m.leader")
		daemon=$(cat "$m.daemon")
		ok "$name: with a daemon of its own" kill -0 "$daemon"
		kill -KILL $executor
		ok "$name: after a second nothing of it runs" \
			await -t 1 gone "$daemon" "$leader"
		ok "$name: and the marker knows" \
			fence-marker wait "$m" --status terminated --timeout 1s
		supervisors="$supervisors $(said '.[0].pid')"
		wait $executor 2>/dev/null
		fence-marker read "$m" --json >"$T/marker"
		is "$name: the marker says why" "$(jq -r \
			'[.marker.status, .marker.result.cause, .marker.result.survivors] | join(" ")' \
			"$T/marker")" "terminated executor-gone 0"
	done
done

# Whoever inherited them may take a while to reap them.
# shellcheck disable=SC2086 # a list of numbers
ok "no supervisor is left" await gone $supervisors
for supervisor in $supervisors; do
	await -t 0 gone "$supervisor" || kill -KILL "$supervisor"
done

done_testing
