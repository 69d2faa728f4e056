#!/bin/sh
# A pid or a process group whose number was given to a stranger: the stranger is left
# alone. In a pid namespace of our own the next number can be chosen.
. "$(dirname "$0")/../../lib/tap.sh"

cat >"$T/inside" <<'END'
# The command leads group N, starts a deaf daemon in a session of its own and exits; we
# reap it, so that N is free, and are in the grace. A stranger is born as N, and leads a
# group N. Then we are asked to pass signals on, and the grace ends.
T=$1
fence-run -q --grace 1s --result "$T/r" -- sh -c "echo \$\$ >$T/number
	setsid sh -c 'trap \"\" TERM USR1; echo \$\$ >$T/deaf; while :; do await -t 1 file /nonexistent; done' &
	await file $T/deaf" &
run=$!
await file "$T/number"
number=$(cat "$T/number")
await gone "$number" || echo "the command was not reaped"
echo $((number - 1)) >/proc/sys/kernel/ns_last_pid
setsid sh -c "echo \$\$ >$T/stranger
	trap 'echo hit >>$T/hit' TERM USR1 INT HUP; while [ ! -e $T/over ]; do await -t 0.1 file $T/over; done" &
stranger=$!
await file "$T/stranger"
[ "$(cat "$T/stranger")" = "$number" ] || echo "the number was not given again"
kill -USR1 $run
kill -TERM $run
wait $run
kill -0 "$number" || echo "the stranger is dead"
kill -0 "$(cat "$T/deaf")" 2>/dev/null && echo "the daemon lives"
echo over >"$T/over"
wait $stranger
[ -e "$T/hit" ] && echo "the stranger was hit"
echo done
END
if unshare -Urpf --mount-proc sh -c 'echo 100 >/proc/sys/kernel/ns_last_pid' 2>/dev/null; then
	n=0
	while [ $n -lt 3 ]; do
		rm -f "$T"/number "$T"/deaf "$T"/stranger "$T"/hit "$T"/over
		is "a stranger with the leader's number is left alone, the daemon is ended" \
			"$(unshare -Urpf --mount-proc sh "$T/inside" "$T" 2>&1)" "done"
		n=$((n + 1))
	done
	is "the daemon was killed" "$(jq -r '.reap, .survivors.count' "$T/r" | xargs)" "reaped-kill 0"
else
	lacks "a stranger with the leader's number is left alone" "a user and pid namespace with ns_last_pid"
fi
done_testing
