#!/bin/sh
# Whatever leaves the command's group or session is ended with it.
. "$(dirname "$0")/../../lib/tap.sh"
word=601.$$

exits "what changed its session is ended at a time-out" 124 \
	fence-run -q -t 300ms -- sh -c "setsid sleep $word & exec sleep $word"
ok "none is left" await -t 0 none "$word"
exits "a daemon is ended" 0 fence-run -q -- sh -c "(setsid sleep $word &); exit 0"
ok "none is left" await -t 0 none "$word"
exits "three sessions deep" 5 \
	fence-run -q -- sh -c "setsid sh -c 'setsid sleep $word & setsid sleep $word & wait' & exit 5"
ok "none is left" await -t 0 none "$word"

exits "what is left behind is named" 0 fence-run --result "$T/r" -- sh -c "sleep $word & exit 0"
like "in words" "$(cat "$T/err")" "fence-run: ended what the command left behind: s* (*)"
is "and in the record" "$(jq -r '.leftover.count, .leftover.action, (.leftover.pids | length), .reap' "$T/r" | xargs)" \
	"1 kill 1 reaped-term"
exits "a deaf one is killed" 0 fence-run -q --grace 100ms --result "$T/r" -- \
	sh -c "trap '' TERM; sleep $word & exit 0"
is "after the grace" "$(jq -r .reap "$T/r")" reaped-kill
exits "leftovers can be a failure" 125 fence-run -q --leftover fail -- sh -c "sleep $word & exit 0"
exits "no leftovers are none" 6 fence-run -q --leftover fail -- sh -c "exit 6"
exits "they can be waited for" 0 fence-run -q --leftover wait --result "$T/r" -- \
	sh -c "(await -t 0.2 file /nonexistent; echo late) & exit 0"
is "then their output is whole" "$(cat "$T/out")" late
is "and they were not signalled" "$(jq -r '.reap, .leftover.action, .wallMs >= 200' "$T/r" | xargs)" \
	"clear wait true"
exits "but not beyond the time-out" 124 fence-run -q -t 300ms --leftover wait -- \
	sh -c "sleep $word & exit 0"
exits "a command that leaves nothing is clear" 0 fence-run --result "$T/r" -- true
is "in the record" "$(jq -r '.reap, .leftover.count, .sent' "$T/r" | xargs)" "clear 0 {}"

cat >"$T/leader" <<'END'
trap 'if kill -0 $worker; then echo worker alive; fi; kill $worker; wait; exit 0' TERM
sh -c 'trap "echo worker asked; exit" TERM; while :; do await -t 1 file /nonexistent; done' &
worker=$!
echo up >"$1"
wait
END
for scope in leader group tree; do
	rm -f "$T/up"
	fence-run -q --term-scope $scope -- sh "$T/leader" "$T/up" >"$T/out" 2>&1 &
	run=$!
	await file "$T/up"
	await some 'worker asked' >/dev/null
	kill -TERM $run
	wait $run
	is "TERM to the scope $scope: the leader's status counts" $? 0
	[ $scope = leader ] && like "a leader ends its workers itself" "$(cat "$T/out")" "worker alive*worker asked"
done
fence-run -q -t 300ms --term-scope tree --grace 30s -- \
	sh -c "setsid sleep $word & trap 'wait; exit 0' TERM; wait"
is "TERM to the tree reaches another session while the leader lives" $? 124
ok "none is left" await -t 0 none "$word"

fence-run -q -t 60s -- run_swarm threads "$T/threads" &
run=$!
await file "$T/threads"
kill $run
wait $run
ok "the child of a thread is ended too" await -t 0 none "$T/threads"
done_testing
