#!/bin/sh
# A marker is a lock: while its attempt may still run there is no other one.
. "$(dirname "$0")/supervisor.sh"

start -- sh -c "echo up >$T/up; exec sleep 1000"
exits "beside a living supervisor it is busy" 75 own -- touch "$T/ran"
like "and its process is named" "$(cat "$T/err")" "fence-supervisor: *process $supervisor*"
exits "for every attempt" 75 fence-supervisor --create --attempt b --marker "$m" -- touch "$T/ran"
is "the marker is the first one's" "$(field '"\(.attemptId) \(.status)"')" "a active"
kill -KILL $supervisor
ended
exits "after its supervisor's death it may still run" 75 own -- touch "$T/ran"
like "and repair is named" "$(cat "$T/err")" "fence-supervisor: *its attempt may still run; *fence-marker repair*"
ok "repair ends it" fence-marker repair "$m" --apply
seq=$(field .seq)
exits "then the place is free" 0 fence-supervisor --create --attempt b --marker "$m" -- true
is "seq goes on" "$(field .seq)" "$((seq + 4))"
is "the attempt is the new one" "$(field '"\(.attemptId) \(.status)"')" "b terminated"
ok "nothing else ran" test ! -e "$T/ran"

# Cancelled, and not yet done.
start -- sh -c "trap '' TERM; echo up >$T/up; while :; do sleep 1000; done"
ok "it is cancelled" fence-marker cancel "$m"
exits "a cancelled one that still runs is busy" 75 own -- touch "$T/ran"
kill -KILL $supervisor
ended
exits "and may still run after its supervisor's death" 75 own -- touch "$T/ran"
ok "repair ends it" fence-marker repair "$m" --apply
is "it stays cancelled" "$(field '"\(.status) \(.by) \(.result.survivors)"')" "cancelled repair 0"
exits "then the place is free" 0 own -- true

# What is no marker is left alone.
taken() { # NAME
	exits "$1: refused" 77 own -- touch "$T/ran"
	like "$1: it is said" "$(cat "$T/err")" "fence-supervisor: make marker $m: something else is there; *"
	rm -rf "$m"
}
echo precious >"$m"
cp "$m" "$T/precious"
exits "a file that is no marker is refused" 77 own -- touch "$T/ran"
ok "it is as it was" cmp "$m" "$T/precious"
taken "a file"
: >"$m"
taken "an empty file"
mkdir "$m"
taken "a folder"
ln -s nowhere "$m"
taken "a link to nowhere"
own -- true
cp "$m" "$T/copy"
cp "$T/copy" "$m.new" && mv "$m.new" "$m"
taken "a copied marker"
exits "control: the other format is made" 0 own --format cockpit-executor/v1 -- true
taken "a marker of another format"
ok "nothing of it was run" test ! -e "$T/ran"
is "nothing is left beside it" "$(beside)" ""
done_testing
