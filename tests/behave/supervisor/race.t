#!/bin/sh
# A cancel against a supervisor that starts, runs, ends or is done: one final state, and
# whoever was told "cancelled" can rely on it. RACES says how many of a hundred are run.
. "$(dirname "$0")/supervisor.sh"

# In memory: the limit of a second is for processes, not for a disk that others keep busy.
F=$(mktemp -d /dev/shm/fence-test.XXXXXX 2>/dev/null) || F=$T
[ "$F" = "$T" ] || later rm -rf "$F"

count=$((500 * ${RACES:-100} / 100))
mkdir "$F/race"
ok "$count cancels at random moments" supervisor_race cancel $count "$F/race"
cp "$T/.ok" "$T/said"
note "$(cat "$T/said")"
# Moments that are all of one kind would prove little.
for phase in "before the start" "while it ran" "while it ended" "too late"; do
	n=$(sed -n "s/.*$phase \([0-9]*\).*/\1/p" "$T/said")
	ok "some of them $phase" test "${n:-0}" -gt 0
done
done_testing
