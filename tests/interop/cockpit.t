#!/bin/sh
# A marker in the format of another executor is read and replaced in place by these
# tools, its own fields come back byte for byte, and that executor goes on with it.
. "$(dirname "$0")/../lib/tap.sh"
. "$SRC/tests/interop/interop.sh"
program cockpit "$NODE" cockpit.mjs
format=cockpit-executor/v1
m=$T/m.json

like "there is Node" "$languages" "*node*"
exits "the executor makes a marker" 0 "$T/cockpit" create "$m" $$
approved=$(cat "$T/out")
is "and reads it" "$("$T/cockpit" check "$m")" active
is "we read it" "$(fence-marker read "$m" --format $format --json | jq -r .marker.status)" active
is "with the numbers that it wrote" "$(fence-marker read "$m" --format $format --json |
	jq -c '[.marker.budget, .marker.deep, .marker.seq, .marker.by]')" \
	'[150,{"two":{"three":{}}},"a word",{"shift":"night"}]'
exits "not as a format that it is not" 2 fence-marker read "$m"

# Every state that may follow, each approved by the one before.
next() {
	fence-marker replace "$m" --attempt cockpit_7 --format $format --approved "$approved" \
		--status "$1" --json >"$T/out" 2>"$T/err" || return
	approved=$(jq -c .approved "$T/out")
}
for status in active terminating cancelled; do
	ok "it is replaced: $status" next $status
	is "and the executor understands it, nothing is lost" "$("$T/cockpit" check "$m")" $status
done
like "what approves the last one is only the file" "$approved" '*"parentIno":"'*'"}'
exits "what cannot follow is refused" 77 fence-marker replace "$m" --attempt cockpit_7 \
	--format $format --approved "$approved" --status active

# A whole attempt.
exits "a whole attempt" 0 "$T/cockpit" run "$T/run.json" sh -c 'exit 4'
is "it hears the end" "$(jq -r '[.event, .exitStatus, .markerStatus] | join(" ")' "$T/out")" \
	"terminated 4 terminated"
is "and reads its marker, nothing is lost" "$("$T/cockpit" check "$T/run.json")" terminated
is "which now has the group and the result, too" "$(jq -r \
	'[(.group.pid > 1), .result.cause, .result.code] | join(" ")' "$T/run.json")" \
	"true exited 4"
"$T/cockpit" run "$T/cancelled.json" sh -c 'echo up >"$0"; sleep 100' "$T/up" >"$T/out" &
executor=$!
ok "another attempt runs" await file "$T/up"
ok "it is cancelled" fence-marker cancel "$T/cancelled.json" --format $format
wait $executor
is "it hears the end" "$(jq -r '[.event, .result.cause, .markerStatus] | join(" ")' "$T/out")" \
	"terminated cancelled cancelled"
is "and reads its marker, nothing is lost" "$("$T/cockpit" check "$T/cancelled.json")" cancelled

exits "one level more" 0 "$T/cockpit" create "$T/deeper.json" $$ deeper
exits "is no marker" 2 fence-marker read "$T/deeper.json" --format $format --explain
exits "of another process: it is not started" 0 "$T/cockpit" create "$T/other.json" 1
printf '{"release":%s}\n' "$(cat "$T/out")" >"$T/release"
exits "and its supervisor refuses" 77 fence-supervisor --attempt cockpit_7 --format $format \
	--marker "$T/other.json" -- touch "$T/ran" <"$T/release"
is "because it names another" "$(jq -r '.reason // empty' "$T/out")" not-approved
ok "nothing ran" test ! -e "$T/ran"

done_testing
