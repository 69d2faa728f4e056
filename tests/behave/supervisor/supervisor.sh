# What the tests of fence-supervisor share: $m, a marker in a folder of its own, and
# words. A background command is started by name, so that $! is the supervisor itself.
. "$(dirname "$0")/../../lib/tap.sh"

mkdir "$T/m"
m=$T/m/m.json
mkfifo "$T/in" "$T/never"
later sh -c 'for pid in $(cat "$0"); do kill -KILL "$pid"; done 2>/dev/null' "$T/pids"
: >"$T/pids"

# How a shell waits for a signal without a child: one that is just being forked when TERM
# comes may lose it.
waiting="exec 9<>$T/never; while :; do read -r line <&9; done"

# own OPTIONS... -- COMMAND...: in the foreground
own() {
	fence-supervisor --create --attempt a --marker "$m" "$@"
}
# start OPTIONS... -- COMMAND...: the same in the background; what the command does
# first is to fill $T/up, and then it is up
start() {
	rm -f "$T/up"
	fence-supervisor --create --attempt a --marker "$m" "$@" 2>"$T/err" &
	supervisor=$!
	echo $supervisor >>"$T/pids"
	await file "$T/up" || note "it does not come up: $(cat "$T/err")"
}
# ended: waits for it; its exit status is in $status
ended() {
	wait "$supervisor"
	status=$?
}
# speak OPTIONS... -- COMMAND...: one that is spoken to, through descriptor 8; its
# events are in $T/events
speak() {
	exec 8>&-
	rm -f "$m" "$T/events" "$T/up"
	fence-supervisor --attempt a --marker "$m" "$@" <"$T/in" >"$T/events" 2>"$T/err" &
	supervisor=$!
	echo $supervisor >>"$T/pids"
	exec 8>"$T/in"
	await file "$T/events"
}
# release: makes the marker, and names it
release() {
	printf '{"release":%s}\n' "$(fence-marker create "$m" --attempt a --pid "$supervisor" \
		--json | jq -c .approved)" >&8
	await file "$T/up"
}
event() { # NAME FILTER
	jq -r "select(.event == \"$1\") | $2" "$T/events"
}
# field FILTER: what the marker says, by fence-marker
field() {
	fence-marker read "$m" --json | jq -r ".marker | $1"
}
outcome() {
	field '"\(.status) \(.by) \(.result.cause) \(.result.reap)"'
}
# beside: what is in the folder but the marker and its lock
beside() {
	ls -A "$T/m" | grep -v -x -e m.json -e m.json.lock
}
