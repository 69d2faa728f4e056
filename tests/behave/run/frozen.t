#!/bin/sh
# A frozen command hears no TERM, and KILL ends it all the same.
. "$(dirname "$0")/../../lib/tap.sh"

hierarchy() { # the mount of cgroup v2 in which we may make a cgroup
	for folder in /sys/fs/cgroup /sys/fs/cgroup/unified; do
		[ -w "$folder/cgroup.procs" ] && [ -e "$folder/cgroup.subtree_control" ] && echo "$folder" && return
	done
}
folder=$(hierarchy)
if [ $ROOT = no ]; then
	exits "control: what was stopped acts on TERM" 124 fence-run -q -t 200ms --grace 60s --result "$T/r" -- \
		sh -c 'kill -STOP $$; exit 9'
	is "since it is continued" "$(jq -r .exit.signal "$T/r")" 15
	done_testing
fi
cgroup=$folder/fence-test.$$
if [ -z "$folder" ] || ! mkdir "$cgroup" 2>/dev/null || [ ! -e "$cgroup/cgroup.freeze" ]; then
	lacks "a frozen command is ended" "a cgroup v2 hierarchy in which we may make a cgroup"
	done_testing
fi
later rmdir "$cgroup"
later sh -c "echo 0 >$cgroup/cgroup.freeze"

fence-run -q -t 500ms --grace 200ms --result "$T/r" -- \
	sh -c "echo \$\$ >$cgroup/cgroup.procs; setsid run_signals wait $T/other 10 & exec run_signals wait $T/up 10" &
run=$!
await file "$T/up"
await file "$T/other"
echo 1 >"$cgroup/cgroup.freeze"
until grep -q '^frozen 1' "$cgroup/cgroup.events"; do :; done
ok "control: it is frozen, with its child in another session" \
	test "$(wc -l <"$cgroup/cgroup.procs")" -ge 2
wait $run
is "its time-out ends it" $? 124
is "by KILL, since TERM did not reach it" "$(jq -r '.reap, .exit.signal, .survivors.count' "$T/r" | xargs)" \
	"reaped-kill 9 0"
is "at once" "$(jq '.wallMs < 2000' "$T/r")" true
ok "nothing is left" await -t 0 none "$T/"
is "nor in its cgroup" "$(cat "$cgroup/cgroup.procs")" ""
done_testing
