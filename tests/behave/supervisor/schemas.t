#!/bin/sh
# Every line of the protocol, and the record, are what the schemas say: real sessions,
# held by this shell through FIFOs.
. "$(dirname "$0")/../../lib/tap.sh"

mkfifo "$T/in" "$T/out.fifo" "$T/go" "$T/held"
m=$T/m.json
keep=no # the marker that is there, for the next session
# Not through jq(), which holds records against their schema: some here are spoilt on purpose.
faults() { # SCHEMA FILE
	command jq -r --slurpfile schema "$SRC/schemas/$1.json" -f "$SRC/tests/lib/schema.jq" "$2" 2>&1
}

# session OPTIONS... -- COMMAND...: a supervisor that is ready. 3 and 4 are its lines.
session() {
	rm -f "$T/events"
	[ $keep = yes ] || rm -f "$m"
	fence-supervisor --attempt a1 --marker "$m" --durable none "$@" \
		<"$T/in" >"$T/out.fifo" 2>"$T/err" 3>&- 4>&- &
	supervisor=$!
	exec 3>"$T/in" 4<"$T/out.fifo"
	expect ready
}
# next: reads one event; it, and all before it, are in the file `events`.
next() {
	event=
	read -r event <&4 && printf '%s\n' "$event" >>"$T/events"
}
expect() { # EVENT [FILTER WANTED]
	next
	is "the event $1 comes" "$(printf '%s' "$event" | jq -r .event)" "$1"
	[ $# = 1 ] || is "it says so" "$(printf '%s' "$event" | jq -r "$2")" "$3"
}
say() { # LINE
	printf '%s\n' "$1" >&3
}
create() {
	fence-marker create "$m" --attempt a1 --pid "$supervisor" --json | jq -c '{release: .approved}' \
		>"$T/release"
	is "the release is as its schema says" "$(faults fence-supervisor-control-v1 "$T/release")" ""
}
# ended STATUS: the supervisor's exit, and everything that it said.
ended() {
	next
	is "no event follows" "$event" ""
	exec 3>&- 4<&-
	wait "$supervisor"
	is "the exit status" "$?" "$1"
	is "all of its events are as the schema says" "$(faults fence-supervisor-event-v1 "$T/events")" ""
}
refused() { # REASON STATUS
	expect refused .reason "$1"
	ended "$2"
}

# --- a whole attempt ---------------------------------------------------------------------

session --result "$T/record" -- sleep 1000
create
say "$(cat "$T/release")"
expect started .contain subreaper
is "the marker is as its schema says" "$(faults fence-marker-v1 "$m")" ""
say '{"pause":{}}'
expect rejected .reason malformed
say "$(printf '%5000s' x)"
expect rejected .reason too-long
say "$(cat "$T/release")"
expect rejected .reason out-of-order
echo '{"terminate":{"grace":"1.5s"}}' >"$T/terminate"
is "the end is as its schema says" "$(faults fence-supervisor-control-v1 "$T/terminate")" ""
say "$(cat "$T/terminate")"
expect terminating .cause terminate-request
expect terminated '"\(.markerStatus) \(.exitStatus) \(.result.signal)"' "terminated 143 15"
cp "$T/events" "$T/whole"
ended 143
is "the marker of the end too" "$(faults fence-marker-v1 "$m")" ""
is "the record is as its schema says" "$(faults fence-run-result-v1 "$T/record")" ""
is "it says whose it is" "$(jq -r '.tool, .cause' "$T/record" | xargs)" \
	"fence-supervisor terminate-request"

session --result "$T/record" -- sh -c 'exit 3'
create
say "$(cat "$T/release")"
expect started
expect terminated '"\(.result.cause) \(.result.code)"' "exited 3"
ended 3

session -- sleep 1000
create
say "$(cat "$T/release")"
expect started
rm "$m"
expect terminating .cause marker-lost
expect terminated '"\(.published) \(.markerStatus)"' "false null"
ended 125
like "a marker that is gone is named" "$(cat "$T/err")" "*publish the end in $m: *"

printf 'junk\n' >"$T/junk"
chmod 755 "$T/junk"
session --result "$T/record" -- "$T/junk"
create
say "$(cat "$T/release")"
expect terminated .result.cause not-started
ended 126
is "the record of a start that failed is as its schema says" \
	"$(faults fence-run-result-v1 "$T/record")" ""

# --- refused, for every reason ---------------------------------------------------------------

session --release-timeout 10ms -- true
refused release-timeout 77
session -- true
exec 3>&-
refused end-of-input 77
session -- true
create
rm "$m"
say "$(cat "$T/release")"
refused not-approved 77
session -- true
say 'release'
refused malformed 77
session -- true
say "$(printf '%5000s' x)"
refused too-long 77
session -- true
say '{"terminate":{}}'
refused out-of-order 77
session -- true
kill "$supervisor"
refused supervisor-signal 77

rm -f "$m"
fence-supervisor --create --attempt a0 --marker "$m" -- sleep 1000 2>/dev/null &
other=$!
exits "another supervisor owns the marker" 0 fence-marker wait "$m" --status active
keep=yes
session -- true
keep=no
say '{"release":{"supervisorPid":'$supervisor',"markerDev":"1","markerIno":"1","parentDev":"1","parentIno":"1"}}'
refused busy 77
kill "$other"
wait "$other"

fence-supervisor --attempt a1 --marker "$m" -- no-such-command </dev/null >"$T/events" 2>/dev/null
is "a command that is not there is refused" \
	"$(jq -r '.reason, .what, .why' "$T/events" | xargs)" \
	"cannot-execute execute no-such-command No such file or directory"
is "as the schema says" "$(faults fence-supervisor-event-v1 "$T/events")" ""

# The marker changes between the look and the start: only the fence itself can see that.
session --result "$T/record" -- touch "$T/ran"
create
marker_race hold "$m" <"$T/go" >"$T/held" 3>&- 4<&- &
holder=$!
exec 5>"$T/go"
read -r word <"$T/held"
is "another writer has the lock" "$word" held
say "$(cat "$T/release")"
# The monitor is there, so the look is over, and the start waits for the lock.
while [ -z "$(cat "/proc/$supervisor/task/$supervisor/children")" ]; do :; done
sed 's/"active"/"cancelled"/' "$m" >"$T/cancelled"
cat "$T/cancelled" >"$m"
exec 5>&-
expect terminated '"\(.result.cause) \(.result.reap) \(.markerStatus)"' "cancelled no-session cancelled"
ended 77
wait "$holder"
fails "the command never ran" test -e "$T/ran"
is "the record of a shut fence is as its schema says" "$(faults fence-run-result-v1 "$T/record")" ""
is "it names the fence" "$(jq -r '.cause, .failure.step' "$T/record" | xargs)" \
	"not-started pass the fence"

# --- controls ----------------------------------------------------------------------------------

spoilt() { # NAME SCHEMA FILE FILTER: the changed line is seen to be wrong
	jq -c "$4" "$3" >"$T/bad"
	unlike "$1" "$(faults "$2" "$T/bad")" ""
	rm "$T/bad"
}
event() { # NAME
	jq -c "select(.event == \"$1\")" "$T/whole" | head -n 1 >"$T/one"
	is "the event $1 is one" "$(faults fence-supervisor-event-v1 "$T/one")" ""
}
event ready
spoilt "a pid that is text is seen" fence-supervisor-event-v1 "$T/one" '.pid |= tostring'
spoilt "a member too many is seen" fence-supervisor-event-v1 "$T/one" '.more = 1'
spoilt "an unknown event is seen" fence-supervisor-event-v1 "$T/one" '.event = "steady"'
event started
spoilt "an unknown word is seen" fence-supervisor-event-v1 "$T/one" '.contain = "hope"'
event terminating
spoilt "another event's member is seen" fence-supervisor-event-v1 "$T/one" '.pid = 1'
event terminated
spoilt "a missing member is seen" fence-supervisor-event-v1 "$T/one" 'del(.markerStatus)'
spoilt "an unknown cause is seen" fence-supervisor-event-v1 "$T/one" '.result.cause = "fate"'
event rejected
spoilt "a reason of a refusal is seen" fence-supervisor-event-v1 "$T/one" '.reason = "busy"'
spoilt "two words in a control line are seen" fence-supervisor-control-v1 "$T/release" \
	'.terminate = {}'
spoilt "an empty control line is seen" fence-supervisor-control-v1 "$T/release" '{}'
spoilt "an unknown member of a release is seen" fence-supervisor-control-v1 "$T/release" \
	'.release.status = "active"'
spoilt "a grace that is a number is seen" fence-supervisor-control-v1 "$T/terminate" \
	'.terminate.grace = 5'
spoilt "another step is seen" fence-run-result-v1 "$T/record" '.failure.step = "jump"'
rm -f "$T/bad"

done_testing
