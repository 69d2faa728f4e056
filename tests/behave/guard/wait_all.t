#!/bin/sh
# --wait-all: the end is that of the last process, the status that of the command.
. "$(dirname "$0")/guard.sh"

# A process that outlives the command, in a session of its own: it says when it is an
# orphan, so the command has ended, and ends when a word comes through `go`. By then it has no
# child: a shell that is about to start one (vfork) is not stopped by a TSTP that stops that.
cat >stay <<'END'
trap 'echo got >got; exit 0' TERM
while read -r pid name state parent rest </proc/$$/stat && [ "$parent" != 1 ]; do sleep 0.01; done
exec 3<>"go${1:-}"
echo "$$" >"orphaned${1:-}"
read -r word <&3 && echo "$word" >late
END
clear() {
	rm -f orphaned orphaned2 late got go go2
	mkfifo go go2
}

clear
guard -- sh -c 'setsid sh stay & exit 7' 2>/dev/null
is "control: without it what the command leaves is ended with it" "$?/$(ls late 2>/dev/null)" 7/

clear
fence-guard exec --ro "$FENCE_BUILD" --wait-all --status-fd 5 -- sh -c 'setsid sh stay & exit 7' 5>"$T/record" &
pid=$!
await file orphaned
is "with it we go on when the command has ended" "$(grep -c '"event":"exit"' "$T/record")" 0
ok "and are there" kill -0 $pid
echo word >go
wait $pid
is "until the rest has ended by itself; the status is the command's" "$?/$(cat late)" 7/word
like "the record's end comes then, with nothing left over" "$(tail -n 1 "$T/record")" \
	'*"event":"exit","code":7,*"leftover":{"count":0,"processes":\[\]}*'
ok "and covers all" jq -se 'map(select(.event == "exit")) | length == 1 and .[0].wallMs >= 0' "$T/record"

clear
fence-guard exec --ro "$FENCE_BUILD" --wait-all -- sh -c 'setsid sh stay & kill -9 $$' &
pid=$!
await file orphaned
echo word >go
wait $pid
is "also that of a command that died of a signal" "$?/$(cat late)" 137/word

exits "where nothing is left the end is at once" 3 guard --wait-all -- sh -c 'true & wait; exit 3'
exits "a chain of orphans is waited for as a whole" 4 guard --wait-all -- \
	sh -c '(setsid sh -c "sleep 0.05; (sleep 0.05; echo chain >chain) & exit 1" &) ; exit 4'
is "to its last member" "$(cat chain)" chain

clear
fence-guard exec --ro "$FENCE_BUILD" --wait-all -- sh -c 'setsid sh stay & exit 5' &
pid=$!
await file orphaned
kill -TERM $pid
wait $pid
is "TERM reaches what is left, in whatever session" "$?/$(cat got)" 5/got

clear
fence-guard exec --ro "$FENCE_BUILD" --wait-all -- sh -c 'sh stay & setsid sh stay 2 & exit 5' &
pid=$!
await file orphaned
await file orphaned2
kill -TERM $pid
wait $pid
is "and all of it at once, in the command's group and outside" "$?/$(ls late 2>/dev/null)" 5/

clear
env --default-signal fence-guard exec --ro "$FENCE_BUILD" --wait-all -- sh -c 'sh stay & exit 6' &
pid=$!
await file orphaned
kill -TSTP $pid
ok "when what is left of the command's group stops, so do we" await state $pid T
kill -CONT $pid
echo word >go
wait $pid
is "and go on when told" "$?/$(cat late)" 6/word

clear
fence-guard exec --ro "$FENCE_BUILD" --wait-all -- sh -c 'setsid sleep 98761 & setsid sh stay & exit 0' &
pid=$!
await file orphaned
kill -9 $pid
wait $pid 2>/dev/null
ok "kill -9 of the launcher still ends all" await -t 1 none 98761

# On a terminal: when nobody is left in the command's group, its foreground is ours again,
# and Ctrl-C reaches the rest through us.
clear
cat >hears <<'END'
trap 'echo heard; exit 0' INT
while read -r pid name state parent rest </proc/$$/stat && [ "$parent" != 1 ]; do sleep 0.01; done
echo alone
while :; do sleep 0.01; done
END
seen=$(pty_drive expect alone silence 0.5 owner type '\x03' expect heard -- \
	fence-guard exec --ro "$FENCE_BUILD" --wait-all -- \
	bash -c 'env --default-signal=INT setsid bash hears & exit 8' | tr -d '\r')
is "Ctrl-C ends what left the terminal" "$?" 0
like "whose foreground is ours when the command's group is empty" "$seen" "alone*owner: leader*heard*"
seen=$(pty_drive expect alone silence 0.5 owner type '\x03' expect heard -- \
	fence-guard exec --ro "$FENCE_BUILD" --wait-all -- \
	bash -c 'env --default-signal=INT bash hears & exit 8' | tr -d '\r')
like "and that group's as long as it has a member" "$seen" "alone*owner: other*heard*"

printf 'version: 1\nprofiles:\n  gate: {waitAll: true}\n  none: {waitAll: true}\n' >policy.yaml
rm -f chain
exits "a policy's waitAll does the same" 4 guard --policy policy.yaml -- \
	sh -c '(sleep 0.05; echo chain >chain) & exit 4'
is "and waits" "$(cat chain)" chain
rm -f chain
exits "also in profile none" 4 fence-guard exec --policy policy.yaml --profile none -- \
	sh -c '(sleep 0.05; echo chain >chain) & exit 4'
is "which waits, too" "$(cat chain)" chain
exits "profile landlock has nobody who waits" 125 fence-guard exec --profile landlock --wait-all -- true
like "and says so" "$(cat "$T/err")" "fence-guard: --wait-all: profile landlock does without what that takes; *"
done_testing
