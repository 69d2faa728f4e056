#!/bin/sh
# What fence-run can do, an attempt can have: time-outs, graces, captured output, the
# record.
. "$(dirname "$0")/supervisor.sh"

record() { # FILTER
	jq -r "$1" "$T/record"
}
exits "a time-out ends a deaf command" 124 own -q --timeout 50ms --grace 50ms --result "$T/record" -- \
	sh -c "trap '' TERM; while :; do sleep 1000; done"
is "by KILL, after the grace" "$(outcome)" "terminated supervisor timeout reaped-kill"
is "the record is this program's" "$(record '"\(.schema) \(.tool) \(.cause) \(.exitStatus)"')" \
	"fence-run-result/v1 fence-supervisor timeout 124"
exits "an idle time-out is one" 124 own -q --capture 1KiB --idle-timeout 50ms -- sleep 1000
is "and the cause" "$(field .result.cause)" idle-timeout

exits "output is captured" 0 own --capture 1KiB --result "$T/record" -- sh -c 'echo out; echo err >&2'
is "and is in the record" "$(record '.output.stdout.tail + .output.stderr.tail' | xargs)" "out err"
is "and nowhere else" "$(cat "$T/out")" ""
exits "and passed on" 0 own --capture 1KiB --tee -- sh -c 'echo out; echo err >&2'
is "to our own" "$(cat "$T/out" "$T/err" | xargs)" "out err"
is "the record can go to standard output" "$(own --capture 1KiB --result - -- true | jq -r .cause)" exited
exits "a log is written" 0 own --log "$T/log" -- echo line
is "by the command" "$(cat "$T/log")" line

exits "leftovers can be a failure" 125 own -q --leftover fail -- sh -c 'sleep 1000 &'
is "which the marker calls an exit" "$(outcome)" "terminated supervisor exited reaped-term"
exits "or waited for" 0 own --leftover wait -- sh -c 'sleep 0.1 & exit 0'
is "and are then not signalled" "$(outcome)" "terminated supervisor exited clear"
is "folder, mask and environment are set" \
	"$(own --cwd "$T" --umask 027 --env ONE=1 --unset HOME -- sh -c 'echo "$PWD $(umask) $ONE ${HOME-none}"')" \
	"$T 0027 1 none"

# Asked over the control lines.
deaf="trap '' TERM; echo up >$T/up; while :; do sleep 1000; done"
speak --grace 100s -- sh -c "$deaf"
release
echo '{"terminate":{"grace":"50ms"}}' >&8
ended
is "the end has the grace that it was asked with" "$status $(outcome)" \
	"137 terminated supervisor terminate-request reaped-kill"
speak --grace 100s -- sh -c "$deaf"
release
printf '{"terminate":{}}\n{"terminate":{}}\n' >&8
ended
is "asked twice it is KILL at once" "$status $(outcome)" \
	"137 terminated supervisor terminate-request reaped-kill"
for sig in INT HUP QUIT TERM; do
	start -- sh -c "trap 'exit 5' $sig; echo up >$T/up; $waiting"
	kill -$sig $supervisor
	ended
	is "$sig is passed on as it is" "$status $(field .result.cause)" "5 supervisor-signal"
done
exec 8>&-
is "nothing is left beside the marker" "$(beside)" ""
done_testing
