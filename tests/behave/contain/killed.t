#!/bin/sh
# KILL launcher or monitor at any moment: nothing is left. With a pid namespace that is so
# even when both are killed at once.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/contain.sh"
word=614.$$

# Escaped, deaf, and more than one.
tree="setsid sleep $word & (setsid sleep $word &); trap '' TERM; sleep $word; sleep $word"
one() { # WHO KIND
	who=$1 kind=$2
	victims="launcher monitor"
	[ "$kind" = pidns ] && victims="launcher monitor both"
	for victim in $victims; do
		for ms in 0 1 10 100; do
			ok "$who, $kind: $victim killed after $ms ms" as "$who" run_kill after $ms "$victim" \
				fence-run -q --contain "$kind" --keep-fd 9 -- sh -c "$tree"
		done
		ok "$who, $kind: $victim killed at each system call from the fork to the start" as "$who" \
			run_kill steps "$victim" fence-run -q --contain "$kind" --keep-fd 9 -- sh -c "$tree"
		note "$who, $kind, $victim: $(grep killed "$T/.ok" | tail -n 1)"
		[ "$victim" = monitor ] || continue
		: >"$T/records.$who.$kind"
		ok "$who, $kind: and once more, for the records" as "$who" run_kill steps "$victim" \
			fence-run -q --result-fd 8 --contain "$kind" --keep-fd 9 -- sh -c "$tree" 8>>"$T/records.$who.$kind"
		ok "$who, $kind: each is as its schema says" check "$T/records.$who.$kind"
		ok "$who, $kind: there are some, of commands that had been started and of others" test \
			"$(jq -s 'map(select(.monitorLost)) | map(has("process")) | unique | length' "$T/records.$who.$kind")" = 2
	done
	ok "$who, $kind: a swarm does not outlive the monitor" as "$who" run_kill after 100 monitor \
		fence-run -q --contain "$kind" --keep-fd 9 -- run_swarm setsid-hoppers 10 "$T/swarm.$who.$kind"
	ok "$who, $kind: nor the launcher" as "$who" run_kill after 100 launcher \
		fence-run -q --contain "$kind" --keep-fd 9 -- run_swarm setsid-hoppers 10 "$T/swarm.$who.$kind"
	is "$who, $kind: no group is left" "$(groups)" ""
}
each_kind one
# The control: this is seen when it happens. On a busy machine the second may get so far as
# to end something after the first is gone, so there are some tries.
for try in 1 2 3 4 5 6 7 8; do
	run_kill after 100 both fence-run -q --keep-fd 9 -- sh -c "$tree" >/dev/null 2>&1 || break
done
fails "control: subreapers alone do not survive both being killed" \
	run_kill after 100 both fence-run -q --keep-fd 9 -- sh -c "$tree"
like "and what was left is said" "$(cat "$T/.ok")" "*left: *"

# The record of a run whose monitor was killed.
monitor_of() {
	read -r first rest <"/proc/$1/task/$1/children"
	echo "$first"
}
for kind in pidns cgroup; do
	who=$([ $ROOT = yes ] && echo root || echo user)
	can "$who" $kind 2>/dev/null || continue
	rm -f "$T/up"
	as_exec "$who" fence-run -q --contain $kind --result "$T/r" -- sh -c "trap '' TERM; echo up >$T/up; $tree" &
	run=$!
	await file "$T/up"
	kill -KILL "$(monitor_of $run)"
	wait $run
	is "$kind: a lost monitor is a failure" $? 125
	is "$kind: the record says so" "$(jq -r '.contain, .monitorLost, .survivors.count, has("endedCount")' "$T/r" | xargs)" \
		"$kind true 0 $([ $kind = pidns ] && echo false || echo true)"
	ok "$kind: it is as its schema says" check "$T/r"
done
# Anybody outside of it may stop a namespace's first process.
if can "$who" pidns 2>/dev/null; then
	rm -f "$T/up"
	as_exec "$who" fence-run -q --contain pidns --grace 50ms --result "$T/r" -- sh -c "trap '' TERM; echo up >$T/up; $tree" &
	run=$!
	await file "$T/up"
	init=$(monitor_of "$(monitor_of $run)")
	kill -STOP "$init"
	ok "a namespace's first process is stopped" await state "$init" T
	kill -TERM $run
	wait $run
	is "all of it is ended all the same" "$? $(jq -r '.reap, .survivors.count' "$T/r" | xargs)" "137 reaped-kill 0"
	is "by the kernel, which does not count" "$(jq 'has("endedCount")' "$T/r")" false
	# On a busy machine it may just have had no turn.
	rm -f "$T/up"
	as_exec "$who" fence-run -q --contain pidns --grace 10ms --result "$T/r" -- sh -c "trap '' TERM; echo up >$T/up; $tree" &
	run=$!
	await file "$T/up"
	init=$(monitor_of "$(monitor_of $run)")
	kill -STOP "$init"
	await state "$init" T
	kill -TERM $run
	await -t 0.1 file "$T/never"
	kill -CONT "$init"
	wait $run
	is "one that stands still for a tenth of a second counts on" "$(jq 'has("endedCount")' "$T/r")" true
fi
is "no group is left" "$(groups)" ""
ok "nothing is left" await none "$word"
done_testing
