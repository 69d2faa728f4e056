#!/bin/sh
# What fence-marker prints and writes is what the schemas say.
. "$(dirname "$0")/../../lib/tap.sh"

m=$T/m.json
faults() { # SCHEMA FILE
	jq -r --slurpfile schema "$SRC/schemas/$1.json" -f "$SRC/tests/lib/schema.jq" "$2" 2>&1
}
fits() { # NAME STATUS VERB WORDS...: the line fits the verb's schema
	name=$1 status=$2 verb=$3
	shift 3
	exits "$name" "$status" fence-marker "$verb" "$@" --json
	is "$name: one line" "$(wc -l <"$T/out" | tr -d ' ')" 1
	is "$name: as its schema says" "$(faults "fence-marker-$verb-v1" "$T/out")" ""
}

fits "a marker is made" 0 create "$m" --attempt a1 --pid $$
is "the marker is as its schema says" "$(faults fence-marker-v1 "$m")" ""
fits "it is not made twice" 77 create "$m" --attempt a1 --pid $$
fits "it is read" 0 read "$m"
approved=$(jq -c .approved "$T/out")
fits "it is another attempt's" 1 read "$m" --attempt a2
fits "there is none" 2 read "$T/none"
fits "there is none, and why" 2 read "$T/none" --explain
fits "it is replaced" 0 replace "$m" --attempt a1 --status cancelled --approved "$approved"
is "the new state is as the schema says" "$(faults fence-marker-v1 "$m")" ""
fits "it is not replaced" 77 replace "$m" --attempt a1 --status cancelled --approved "$approved"
sed 's/}$/,\n\t"x": [1, "a  b\\"  c"]}/' "$m" >"$T/pretty"
cat "$T/pretty" >"$m"
fits "a marker of several lines is shown in one" 0 read "$m"
is "with its strings as they are" "$(jq -c .marker.x "$T/out")" '[1,"a  b\"  c"]'

n=$T/n.json
fits "another marker is made" 0 create "$n" --attempt a2 --pid $$ --durable none
fits "it is waited for" 0 wait "$n" --status active
fits "not in time" 75 wait "$n" --over --timeout 10ms
fits "none is waited for" 2 wait "$T/none" --over --appear 0s
fits "it is alive" 77 repair "$n" --apply
fits "it is another attempt's, to be repaired" 1 repair "$n" --attempt a3
fits "it is another attempt's, to be cancelled" 1 cancel "$n" --attempt a3
fits "it is cancelled" 0 cancel "$n"
fits "it is cancelled again" 0 cancel "$n"
fits "it does not end in time" 75 cancel "$n" --wait 10ms
fits "its status cannot come" 1 wait "$n" --status terminated
fits "there is none to cancel" 2 cancel "$T/none"
fits "there is none to repair" 2 repair "$T/none"
sleep 60 &
supervisor=$!
fits "a third one is made" 0 create "$T/o" --attempt a3 --pid $supervisor
kill -KILL $supervisor
wait $supervisor 2>/dev/null
fits "its supervisor is dead" 1 wait "$T/o" --over
fits "it would be repaired" 0 repair "$T/o"
fits "it is repaired" 0 repair "$T/o" --apply
fits "it is over" 0 wait "$T/o" --over
fits "there is nothing to repair" 0 repair "$T/o" --apply
fits "nor to cancel" 1 cancel "$T/o"
is "a marker with a result is as its schema says" "$(faults fence-marker-v1 "$T/o")" ""
jq -c '.result.cause = "bored"' "$T/o" >"$T/bad"
like "an unknown cause is seen" "$(faults fence-marker-v1 "$T/bad")" "record.result.cause: *"
jq -c '.format = "cockpit-executor/v1"' "$T/bad" >"$T/foreign"
is "but is nobody's business in the other format" "$(faults fence-marker-v1 "$T/foreign")" ""
fits "the first is read once more" 0 read "$m"

# Controls: the check sees a missing member, a wrong type and one too many.
jq -c 'del(.outcome)' "$T/out" >"$T/bad"
is "a missing member is seen" "$(faults fence-marker-read-v1 "$T/bad" | head -n 1)" \
	"record.outcome: missing"
jq -c '.marker.seq = "1"' "$T/out" >"$T/bad"
is "a wrong type is seen" "$(faults fence-marker-read-v1 "$T/bad")" \
	"record.marker.seq: string, not integer"
jq -c '.more = 1' "$T/out" >"$T/bad"
is "a member too many is seen" "$(faults fence-marker-read-v1 "$T/bad")" \
	"record.more: must not be there"

done_testing
