#!/bin/sh
# KILL either of fence-run's two processes: the other ends everything.
. "$(dirname "$0")/../../lib/tap.sh"
word=604.$$

monitor_of() { # the child of fence-run that is fence-run
	for at in /proc/[0-9]*; do
		[ "$(sed 's/.*) . \([0-9]*\) .*/\1/' "$at/stat" 2>/dev/null)" = "$1" ] && echo "${at#/proc/}"
	done
}

tree="sleep $word & setsid sleep $word & (setsid sleep $word &); trap '' TERM; echo up >$T/up; sleep $word; sleep $word"
for who in launcher monitor; do
	for way in plain captured; do
		rm -f "$T/up"
		option=
		[ $way = captured ] && option="--capture 1KiB"
		# shellcheck disable=SC2086 # one option and its value
		fence-run -q $option --result "$T/r" -- sh -c "$tree" >/dev/null &
		run=$!
		await file "$T/up"
		victim=$run
		[ $who = monitor ] && victim=$(monitor_of $run)
		ok "there is a $who to kill ($way)" kill -KILL "$victim"
		wait $run 2>/dev/null
		status=$?
		ok "all is gone within a second of the death of the $who ($way)" await -t 1 none "$word"
		ok "the monitor too" await -t 1 none "$T/r"
		[ $who = monitor ] || continue
		is "125 says that we failed" $status 125
		is "the record says why" "$(jq -r '.monitorLost, .cause, .survivors.count' "$T/r" | xargs)" \
			"true supervisor-signal 0"
	done
done

# As a shell or a CI runner does it: KILL to the whole process group.
rm -f "$T/up"
setsid sh -c "echo \$\$ >$T/group; exec fence-run -q -- sh -c \"$tree\"" &
run=$!
await file "$T/up"
kill -KILL "-$(cat "$T/group")"
wait $run 2>/dev/null
ok "KILL to our whole process group leaves nothing" await -t 1 none "$word"

# At any moment of the start.
n=0
for pause in 0 0.001 0.002 0.005 0.01 0.02 0 0.001 0.003 0; do
	fence-run -q -- sh -c "setsid sleep $word & sleep $word" &
	run=$!
	[ $pause = 0 ] || await -t $pause file /nonexistent
	kill -KILL $run
	wait $run 2>/dev/null
	await -t 1 none "$word" && n=$((n + 1))
done
is "the launcher killed while it starts leaves nothing" $n 10

# A swarm, since killing is a race there.
for who in launcher monitor; do
	rm -f "$T/up"
	fence-run -q -- run_swarm setsid-hoppers 10 "$T/up" &
	run=$!
	await file "$T/up"
	victim=$run
	[ $who = monitor ] && victim=$(monitor_of $run)
	kill -KILL "$victim"
	wait $run 2>/dev/null
	ok "a swarm does not outlive the $who" await -t 2 none "$T/up"
done
done_testing
