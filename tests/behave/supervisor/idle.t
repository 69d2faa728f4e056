#!/bin/sh
# While its command runs an attempt costs no wake-up, and little memory.
. "$(dirname "$0")/supervisor.sh"

switches() {
	cat /proc/"$supervisor"/task/*/status /proc/"$monitor"/task/*/status |
		awk '/ctxt_switches/ { n += $2 } END { print n }'
}
sleeps() { # NAME
	monitor=$(cat "$T/up")
	# A moment after the start it begins to watch the marker.
	until grep -qs "^inotify wd" /proc/"$supervisor"/fdinfo/*; do await -t 0.01 file "$T/none"; done
	await state "$monitor" S
	await state "$supervisor" S
	before=$(switches)
	await -t 1 file "$T/none"
	is "$1: neither process wakes up in a second" "$(switches)" "$before"
	for pid in $supervisor "$monitor"; do
		note "$1: resident: $(awk '/VmRSS/ { print $2, $3 }' /proc/"$pid"/status)"
	done
}
start --timeout 1h -- sh -c "echo \$PPID >$T/up; exec sleep 1000"
sleeps "with --create"
fence-marker cancel "$m" >/dev/null
ended
is "control: it was watching" "$status $(field .result.cause)" "143 cancelled"

sleep 1000 &
executor=$!
speak --executor $executor --timeout 1h -- sh -c "echo \$PPID >$T/up; exec sleep 1000"
before=$(awk '/ctxt_switches/ { n += $2 } END { print n }' /proc/$supervisor/status)
await -t 0.3 file "$T/none"
is "none while it waits for the release" \
	"$(awk '/ctxt_switches/ { n += $2 } END { print n }' /proc/$supervisor/status)" "$before"
release
sleeps "with control lines"
kill $executor
ended
is "control: it was watching the executor" "$(field .result.cause)" executor-gone
exec 8>&-
done_testing
