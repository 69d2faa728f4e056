#!/bin/sh
# Any process that may write the marker can cancel the attempt, without a socket; and
# what was cancelled stays so.
. "$(dirname "$0")/supervisor.sh"

sleeping="echo up >$T/up; sleep 1000 & setsid sleep 1000 & exec sleep 1000"
approved() {
	fence-marker read "$m" --json | jq -c .approved
}
check() { # NAME WANTED-OUTCOME
	group=$(field .group.pid)
	ended
	is "$1: the command was ended" $status 143
	is "$1: that and how it ended is published" "$(outcome)" "$2"
	ok "$1: it is gone" await -t 1 gone "$group"
}
start -- sh -c "$sleeping"
ok "it is cancelled" fence-marker cancel "$m"
check "by fence-marker cancel" "cancelled supervisor cancelled reaped-term"
start -- sh -c "$sleeping"
ok "it is replaced" fence-marker replace "$m" --attempt a --approved "$(approved)" --status cancelled
check "by fence-marker replace" "cancelled supervisor cancelled reaped-term"
start -- sh -c "$sleeping"
sed 's/"active"/"cancelled"/' "$m" >"$T/cancelled"
cat "$T/cancelled" >"$m"
check "by who knows no lock, in place" "cancelled supervisor cancelled reaped-term"
rm "$m" # of another format
start --format cockpit-executor/v1 -- sh -c "$sleeping"
ok "one in the other format is cancelled" fence-marker cancel "$m" --format cockpit-executor/v1
ended
is "and ended" "$status $(jq -r '"\(.status) \(.result.cause)"' "$m")" "143 cancelled cancelled"
rm "$m"

# While it ends.
start --grace 10s -- sh -c "trap 'await -t 5 file $T/go; exit 5' TERM; echo up >$T/up; $waiting"
kill -TERM $supervisor
ok "it is terminating" fence-marker wait "$m" --status terminating --timeout 5s
ok "it is cancelled then" fence-marker cancel "$m"
is "by us" "$(field '"\(.status) \(.by)"')" "cancelled cancel"
echo go >"$T/go"
ended
is "the command ends in its own way" $status 5
is "the first cause counts, the status stays" "$(outcome)" "cancelled supervisor supervisor-signal reaped-term"

# Too late.
own -- true
exits "what is over cannot be cancelled" 1 fence-marker cancel "$m"
is "and is as it was" "$(outcome)" "terminated supervisor exited clear"

# Asked while the command does not listen: a grace, then KILL.
start --grace 50ms -- sh -c "trap '' TERM; echo up >$T/up; while :; do sleep 1000; done"
ok "a deaf one is cancelled" fence-marker cancel "$m"
ended
is "it is killed" "$status $(outcome)" "137 cancelled supervisor cancelled reaped-kill"
is "nothing is left beside the marker" "$(beside)" ""
done_testing
