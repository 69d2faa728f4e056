#!/bin/sh
# KILL at random moments, before the start too: the rest ends the command, all of it and
# within a second, and repair tells what is the case. When supervisor and runner are
# killed at once nobody is left to end the command: then repair finds and ends it.
. "$(dirname "$0")/supervisor.sh"

# The leak check at a supervisor's end is a child of it, which would be taken for the runner.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS

# In memory: the limit of a second is for processes, not for a disk that others keep busy.
F=$(mktemp -d /dev/shm/fence-test.XXXXXX 2>/dev/null) || F=$T
[ "$F" = "$T" ] || later rm -rf "$F"

for who in supervisor runner executor supervisor+executor supervisor+runner; do
	count=$((100 * ${RACES:-100} / 100))
	[ "$who" = "${who%+*}" ] || count=$((count / 2))
	mkdir "$F/$who"
	ok "$who: killed $count times" supervisor_race kill $who $count "$F/$who"
	note "$who: $(cat "$T/.ok")"
	n=$(sed -n 's/.*, started \([0-9]*\), over already \([0-9]*\);.*/\1 \2/p' "$T/.ok")
	ok "$who: some of them after the start" test $((${n% *} + ${n#* })) -gt 0
done

# With stronger containment. To have cgroups of its own a user needs a delegated one.
kinds=pidns
[ $ROOT = no ] || kinds="pidns cgroup"
for contain in $kinds; do
	rm -f "$m"
	if ! own --contain $contain -- true 2>"$T/err"; then
		lacks "$contain: supervisor and runner are killed" "$(cat "$T/err")"
		continue
	fi
	for who in runner supervisor+runner; do
		count=$((25 * ${RACES:-100} / 100))
		mkdir "$F/$contain.$who"
		ok "$contain, $who: killed $count times" \
			supervisor_race -c $contain kill $who $count "$F/$contain.$who"
		note "$contain, $who: $(cat "$T/.ok")"
	done
done
done_testing
