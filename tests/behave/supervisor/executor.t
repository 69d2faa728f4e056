#!/bin/sh
# An attempt ends when its executor does, and in its own time when it was ending anyway.
. "$(dirname "$0")/supervisor.sh"

sleeping="echo up >$T/up; exec sleep 1000"
executor() {
	sleep 1000 &
	executor=$!
	echo $executor >>"$T/pids"
}

executor
start --executor $executor -- sh -c "$sleeping"
group=$(field .group.pid)
kill -KILL $executor
ended
is "the executor's death ends it" $status 143
is "that is the cause" "$(outcome)" "terminated supervisor executor-gone reaped-term"
ok "the command is gone" await -t 1 gone "$group"
executor
exits "an executor that lives is no reason to end" 3 own --executor $executor -- sh -c 'exit 3'
kill $executor

speak -- sh -c "$sleeping"
release
exec 8>&-
ended
is "the end of the control lines ends it" $status 143
is "since the executor is gone" "$(outcome)" "terminated supervisor executor-gone reaped-term"
is "every event came" "$(jq -r .event "$T/events" | xargs)" "ready started terminating terminated"

executor
speak --executor $executor -- sh -c "$sleeping"
release
kill $executor
ended
is "with control lines its death is enough too" "$(outcome)" "terminated supervisor executor-gone reaped-term"
executor
speak --executor $executor -- touch "$T/ran"
kill $executor
ended
is "before the release nothing is started" "$status $(event refused .reason)" "77 end-of-input"
ok "it never ran" test ! -e "$T/ran"

# Whoever asks for the end and goes has asked once: the command has its grace.
slow="trap 'await -t 0.3 file $T/none; echo done >$T/done; exit 9' TERM
	echo up >$T/up; $waiting"
leaves() { # HOW NAME CAUSE
	rm -f "$T/done"
	speak -- sh -c "$slow"
	release
	"$1"
	exec 8>&-
	ended
	is "$2, and leaves: the command finishes in its grace" "$status $(cat "$T/done")" "9 done"
	is "$2, and leaves: the first cause counts" "$(field .result.cause)" "$3"
}
terminate() {
	echo '{"terminate":{}}' >&8
}
cancel() {
	fence-marker cancel "$m" >/dev/null
	await file "$T/up"
	until [ -n "$(event terminating .cause)" ]; do await -t 0.01 file "$T/none"; done
}
timed_out() {
	until [ -n "$(event terminating .cause)" ]; do await -t 0.01 file "$T/none"; done
}
leaves terminate "an executor asks for the end" terminate-request
leaves cancel "an executor cancels" cancelled
slow_options="--timeout 100ms"
rm -f "$T/done"
# shellcheck disable=SC2086 # an option and its value
speak -q $slow_options -- sh -c "$slow"
release
timed_out
exec 8>&-
ended
is "at a time-out it leaves: the command finishes in its grace" "$status $(cat "$T/done")" "124 done"

# Gone first, cancelled then.
speak -- sh -c "$slow"
release
exec 8>&-
timed_out
ok "an attempt whose executor has gone is cancelled" fence-marker cancel "$m"
ended
is "the command still has its grace" "$status $(outcome)" "9 cancelled supervisor executor-gone reaped-term"
is "nothing is left beside the marker" "$(beside)" ""
done_testing
