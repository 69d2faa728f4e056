#!/bin/sh
# The states of an attempt, in order, and what each of them promises.
. "$(dirname "$0")/supervisor.sh"

# A look may come too late on a busy machine, and says so: then once more.
watched() { # COMMAND...
	for try in $(seq 40); do
		rm -f "$m" "$m.lock" "$T/states"
		marker_states watch "$m" >"$T/states" &
		watcher=$!
		await file "$T/states"
		"$@"
		wait $watcher
		grep -q missed "$T/states" || break
		note "look $try missed a state"
	done
	sed 1d "$T/states"
}
is "a command that ends by itself" "$(watched own -- sh -c 'exit 3')" "1 active supervisor - -
2 active group-runner group -
4 terminated supervisor group exited"
is "one that leaves something" "$(watched own -q -- sh -c 'sleep 1000 &')" "1 active supervisor - -
2 active group-runner group -
3 terminating group-runner group -
4 terminated supervisor group exited"
is "one that is timed out" "$(watched own -q --timeout 20ms -- sleep 1000)" "1 active supervisor - -
2 active group-runner group -
3 terminating group-runner group -
4 terminated supervisor group timeout"
printf 'echo hello\n' >"$T/plain"
chmod 755 "$T/plain"
is "one that is of no known format" "$(watched own -- "$T/plain" 2>/dev/null)" "1 active supervisor - -
2 active group-runner group -
4 terminated supervisor group not-started"
cancelled() {
	start -- sh -c "echo up >$T/up; exec sleep 1000"
	fence-marker cancel "$m" >/dev/null
	ended
}
is "one that is cancelled" "$(watched cancelled)" "1 active supervisor - -
2 active group-runner group -
3 cancelled cancel group -
4 cancelled supervisor group cancelled"

# When the command starts the marker names it already.
exits "at the start the marker names the command, and a living owner" 0 own -- marker_states self "$m"
exits "also from a shell's child, not the shell" 1 own -- sh -c "marker_states self '$m'; exit \$?"
own -- cat "$m" >"$T/at-start"
is "it is active then" "$(jq -r '"\(.status) \(.by) \(.seq > 1)"' "$T/at-start")" "active group-runner true"
own -- sh -c 'cat "$0" /proc/$$/stat' "$m" >"$T/at-start"
is "pid and start time are the command's" \
	"$(sed -n '1s/.*"group":{"pid":\([0-9]*\),"start":"\([0-9]*\)".*/\1 \2/p' "$T/at-start")" \
	"$(sed -n '2p' "$T/at-start" | sed 's/^\([0-9]*\) (.*) /\1 /' | awk '{ print $1, $21 }')"

# The stamps of all supervisors around a command.
stamp_of() { # MARKER
	fence-marker read "$1" --json |
		jq -r '.marker | "\(.bootId)/\(.pidNs)/\(.supervisorPid)/\(.supervisorStart)/\(.supervisorId // 0)"'
}
is "the command has its supervisor's stamp" "$(own -- printenv FENCE_SUPERVISOR)" "$(stamp_of "$m")"
inner=$T/m/inner.json
own -- fence-supervisor --create --attempt b --marker "$inner" -- printenv FENCE_SUPERVISOR >"$T/stamps"
is "a nested one has both, the innermost last" "$(cat "$T/stamps")" "$(stamp_of "$m") $(stamp_of "$inner")"
is "with a cleared environment too" "$(own --env-allow -- /usr/bin/printenv FENCE_SUPERVISOR)" "$(stamp_of "$m")"
is "and it cannot be set from outside" "$(own --env FENCE_SUPERVISOR=x -- printenv FENCE_SUPERVISOR | sed 's/.* //')" \
	"$(stamp_of "$m")"

# Terminating is there before the first signal is.
trapping="trap 'cat $m >$T/seen; exit 5' TERM; echo up >$T/up; $waiting"
seen() {
	jq -r '"\(.status) \(.by) \(has("result"))"' "$T/seen"
}
for n in 1 2 3 4 5 6 7 8 9 10; do
	rm -f "$T/seen"
	start -- sh -c "$trapping"
	kill -TERM $supervisor
	ended
	[ "$(seen)" = "terminating group-runner false" ] || break
done
is "TERM meets a marker that is terminating, $n times" "$(seen)" "terminating group-runner false"
is "its status is the command's own" $status 5
is "why is in the result" "$(outcome)" "terminated supervisor supervisor-signal reaped-term"
own -q --timeout 100ms -- sh -c "$trapping"
is "so at a time-out" "$(seen)" "terminating group-runner false"
own -q -- sh -c "(trap 'cat $m >$T/seen; exit 5' TERM; echo up >$T/left; $waiting) &
	await file $T/left" 2>/dev/null
is "so for what was left behind" "$(seen)" "terminating group-runner false"
speak -- sh -c "$trapping"
release
echo '{"terminate":{}}' >&8
ended
is "so when it was asked for" "$(seen)" "terminating group-runner false"
is "which is the cause" "$(outcome)" "terminated supervisor terminate-request reaped-term"
is "nothing but markers and locks is left" "$(beside | xargs)" "inner.json inner.json.lock"
done_testing
