#!/bin/sh
# fence-marker repair: what a dead supervisor left is ended and published, as far as it
# is proven to be of the attempt; everything else is left alone and said.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/lib/attempts.sh"

m=$T/m
result() {
	jq -r '[.status, .by, .result.cause, .result.reap, (.result.survivors | tostring)] | join(" ")' "$m"
}
proofs() { # the first word is what the leader's comm is, by proof
	jq -r '[.found[] | .name + "/" + .proof] | sort | join(" ")' "$T/out"
}

# --- alive, over, none ---------------------------------------------------------------------
begin "$m" a -- sleep "$W"
cp "$m" "$T/kept"
exits "a supervisor that lives is left alone" 77 fence-marker repair "$m" --apply
like "and named" "$(cat "$T/err")" "*its supervisor runs: pid $supervisor; *"
exits "whoever says otherwise" 77 fence-marker repair "$m" --apply --force
ok "nothing was changed" cmp "$m" "$T/kept"
is "nobody was signalled" "$(sleepers)" 1
exits "it is another attempt's" 1 fence-marker repair "$m" --attempt b --apply
exits "there is none" 2 fence-marker repair "$T/none" --apply
ok "and none is made, nor a lock" test ! -e "$T/none" -a ! -e "$T/none.lock"

die
exits "dead: it says what it would do" 0 fence-marker repair "$m" --json
is "which is to end its group" "$(proofs)" "sleep/group"
exits "in a sentence, too" 0 fence-marker repair "$m"
like "with pid and name" "$(cat "$T/out")" "*would-repair*; found: $group sleep (group); say --apply*"
ok "and changes nothing" cmp "$m" "$T/kept"
is "nor signals anybody" "$(sleepers)" 1
exits "applied, it does it" 0 fence-marker repair "$m" --apply
is "the end is published" "$(result)" "terminated repair supervisor-signal reaped-term 0"
is "its group is gone" "$(sleepers)" 0
cp "$m" "$T/kept"
exits "once more there is nothing to do" 0 fence-marker repair "$m" --apply --json
is "and that is said" "$(jq -r .outcome "$T/out")" nothing-to-do
ok "and nothing changed" cmp "$m" "$T/kept"

# --- ways to be left ------------------------------------------------------------------------
# left NAME FOUND REAP OPTIONS... -- COMMAND...: applied, with what it finds
left() {
	name=$1 found=$2 reap=$3 count=$4
	shift 4
	grace=30s
	[ "$reap" != reaped-kill ] || grace=300ms
	begin "$m" a "$@"
	await_sleepers "$count" || note "$name: $(sleepers) sleepers, not $count"
	die
	# The leader is reaped by whoever inherits it.
	case $* in
	*"exit 0"*) await gone "$group" ;;
	esac
	exits "$name: repaired" 0 fence-marker repair "$m" --apply --grace $grace --json
	is "$name: found by what proves it" "$(proofs)" "$found"
	is "$name: published" "$(result)" "terminated repair supervisor-signal $reap 0"
	is "$name: nothing is left" "$(sleepers)" 0
}
left "nothing was ever started" "" no-session 0
left "its group has ended already" "" clear 0 -- sh -c "exit 0"
left "it deafened itself to TERM" "sh/group sleep/group" reaped-kill 1 -- \
	sh -c "trap '' TERM; while :; do sleep $W; done"
left "it escaped to a session of its own" "sleep/stamp" reaped-term 1 -- \
	sh -c "setsid sleep $W & exit 0"
left "it escaped without a stamp, beside its parent" "sh/group sleep/descendant" reaped-term 1 -- \
	sh -c "env -i $(command -v setsid) sleep $W & wait"
begin "$m" a -- sleep "$W"
await_sleepers 1
kill -STOP "$group"
die
exits "it was stopped: repaired" 0 fence-marker repair "$m" --apply
is "by TERM, which it was woken for" "$(sleepers) $(result)" \
	"0 terminated repair supervisor-signal reaped-term 0"
left "its first thread has ended" "marker_attempt/stamp" reaped-term 0 --no-group -- \
	marker_attempt headless
left "a hundred escaped at once" \
	"$(yes sleep/stamp | head -n 63 | tr '\n' ' ')sleep/stamp" reaped-term 100 -- \
	sh -c "i=0; while [ \$i != 100 ]; do setsid sleep $W & i=\$((i + 1)); done; exit 0"
if [ "$(jq -r .group.id "$m")" = null ]; then
	lacks "a member outlives its leader" "pidfds with ids (Linux 6.9)"
elif fence-marker repair "$m" >/dev/null && ! begin "$m" a --no-stamp -- sh -c "sleep $W & exit 0"; then
	:
else
	await_sleepers 1
	await gone "$group"
	die
	fence-marker repair "$m" --json >"$T/out"
	if [ "$(proofs)" = sleep/unproven ]; then
		lacks "a member outlives its leader" "pidfds that open by id (Linux 6.17)"
		fence-marker repair "$m" --apply --force >/dev/null
		kill -KILL "-$group"
	else
		is "a member outlives its leader: it is in the group all the same" "$(proofs)" sleep/group
		exits "and is ended with it" 0 fence-marker repair "$m" --apply
		is "so that none is left" "$(sleepers) $(result)" \
			"0 terminated repair supervisor-signal reaped-term 0"
		left "a session outlives its group and leader" "sleep/session" reaped-term 1 --no-stamp -- \
			bash -c "set -m; sleep $W & exit 0"
	fi
fi
# A kernel before 6.17, which opens no pidfd by its inode.
older() {
	strace -f -o /dev/null -e trace=open_by_handle_at -e inject=open_by_handle_at:error=EINVAL \
		env ASAN_OPTIONS=detect_leaks=0 fence-marker "$@"
}
begin "$m" a --no-stamp -- sleep "$W"
await_sleepers 1
die
exits "an older kernel knows a group by its leader" 0 older repair "$m" --json
is "while that is there" "$(proofs)" sleep/group
exits "and ends it" 0 older repair "$m" --apply
is "with all of it" "$(sleepers) $(result)" "0 terminated repair supervisor-signal reaped-term 0"
begin "$m" a --no-stamp -- sh -c "sleep $W & exit 0"
await_sleepers 1
await gone "$group"
die
exits "without a leader it does not know" 1 older repair "$m" --apply --json
is "whose the number is" "$(proofs) $(sleepers)" "sleep/unproven 1"
fence-marker repair "$m" --apply --force >"$T/out"
kill -KILL "-$group"
await_sleepers 0
(
	ulimit -n 24
	begin "$m" a -- sh -c "i=0; while [ \$i != 60 ]; do setsid sleep $W & i=\$((i + 1)); done; exit 0"
	await_sleepers 60
	die
	fence-marker repair "$m" --apply >"$T/out" 2>"$T/err"
	echo "$? $(sleepers) $(result)" >"$T/few"
)
is "more escaped than there are descriptors" "$(cat "$T/few")" \
	"0 0 terminated repair supervisor-signal reaped-term 0"

# --- cancelled ---------------------------------------------------------------------------------
begin "$m" a -- sleep "$W"
fence-marker cancel "$m" >/dev/null
die
exits "a cancelled attempt is repaired" 0 fence-marker repair "$m" --apply
is "it stays cancelled, and is done" "$(result)" "cancelled repair cancelled reaped-term 0"
is "with nothing left" "$(sleepers)" 0

# --- not proven ----------------------------------------------------------------------------------
begin "$m" a --no-id --no-stamp -- sh -c "sleep $W & exit 0"
await_sleepers 1
await gone "$group"
die
exits "who has the group's number alone is not proven" 0 fence-marker repair "$m" --json
is "and is listed so" "$(proofs)" sleep/unproven
exits "the end is not published then" 1 fence-marker repair "$m" --apply
like "and that is said" "$(cat "$T/err")" "*may be strangers; a person who knows*"
is "the marker counts them" "$(result)" "terminating repair supervisor-signal survived 1"
is "nobody was signalled" "$(sleepers)" 1
exits "a person can say that it is a stranger" 0 fence-marker repair "$m" --apply --force --json
is "and that it was said is told" "$(jq -c .forced "$T/out")" true
is "then it is over" "$(result)" "terminated repair supervisor-signal clear 0"
is "and the stranger still there" "$(sleepers)" 1
kill -KILL "-$group"
await_sleepers 0

rm "$m"
# A foreign format does not say of which boot its group is.
begin "$m" a --cockpit -- sleep "$W"
die
exits "a foreign marker's group is not proven" 1 \
	fence-marker repair "$m" --apply --format cockpit-executor/v1 --json
is "and not signalled" "$(proofs) $(sleepers)" "sleep/unproven 1"
kill -KILL "-$group"
await_sleepers 0
exits "once it has gone by itself the end is published" 0 \
	fence-marker repair "$m" --apply --format cockpit-executor/v1
is "by a foreign marker too" "$(jq -r .status "$m")" terminated
rm "$m"

# --- not permitted ---------------------------------------------------------------------------------
if [ $ROOT = yes ] && [ $DROPS = no ]; then
	lacks "what may not be signalled survives" "the capabilities to become another user"
elif [ $ROOT = yes ]; then
	mkdir "$T/nobody"
	chown 65534 "$T/nobody"
	begin "$T/nobody/m" a -- sleep "$W"
	chown 65534 "$T/nobody/m" "$T/nobody/m.lock"
	die
	exits "what may not be signalled survives" 1 setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$BIN/fence-marker" repair "$T/nobody/m" --apply --grace 50ms --json
	is "which is told" "$(jq -r '[.outcome, (.survivors | tostring)] | join(" ")' "$T/out")" "survived 1"
	is "and published" "$(jq -r '[.status, .result.reap, (.result.survivors | tostring)] | join(" ")' "$T/nobody/m")" \
		"terminating survived 1"
	exits "who may end it can repair it then" 0 fence-marker repair "$T/nobody/m" --apply
	is "to the end" "$(sleepers) $(jq -r .status "$T/nobody/m")" "0 terminated"
fi

# --- at the same time --------------------------------------------------------------------------
begin "$m" a
die
mkfifo "$T/go" "$T/owned"
marker_attempt own "$m" <"$T/go" >"$T/owned" &
owner=$!
exec 5>"$T/go"
read -r word <"$T/owned"
is "another process owns the attempt" "$word" owned
exits "then it is busy" 75 fence-marker repair "$m" --apply
like "by whom" "$(cat "$T/err")" "*another process owns it: pid $owner*"
exits "which is said beforehand, too" 75 fence-marker repair "$m"
exec 5>&-
wait "$owner"
exits "afterwards it is not" 0 fence-marker repair "$m" --apply

begin "$m" a -- sh -c "trap '' TERM; while :; do sleep $W; done"
await_sleepers 1
die
fence-marker repair "$m" --apply --grace 60s >/dev/null 2>&1 &
first=$!
until grep -q terminating "$m"; do await -t 0.01 file "$T/none" || :; done
exits "a second repair is not let in" 75 fence-marker repair "$m" --apply
kill -KILL "$first"
wait "$first" 2>/dev/null
exits "a repair that was killed is repaired" 0 fence-marker repair "$m" --apply --grace 0
is "to the end" "$(sleepers) $(result)" "0 terminated repair supervisor-signal reaped-kill 0"

mkfifo "$T/inside"
begin "$m" a -- sh -c "read -r go <'$T/inside'; fence-marker repair '$m' --apply >/dev/null 2>'$T/err'
	echo \$? >'$T/status'; exec sleep $W"
die
echo go >"$T/inside"
await file "$T/status"
is "an attempt does not repair itself" "$(cat "$T/status")" 77
like "and says so" "$(cat "$T/err")" "*this process is of the attempt itself*"
is "nor changes anything" "$(jq -r .status "$m")" active
exits "somebody else does" 0 fence-marker repair "$m" --apply

# --- a cgroup ------------------------------------------------------------------------------------
hierarchy=$(sed -n 's/^[^ ]* [^ ]* [^ ]* \/ \([^ ]*\) .* - cgroup2 .*/\1/p' /proc/self/mountinfo | head -n 1)
cgroup=$hierarchy/fence-test.$$
if [ -n "$hierarchy" ] && mkdir "$cgroup" 2>/dev/null && mkdir "$cgroup/below" 2>/dev/null &&
	(sh -c 'echo $$' >"$cgroup/below/cgroup.procs") 2>/dev/null; then
	later sh -c "rmdir '$cgroup/below' '$cgroup' 2>/dev/null"
	left "in the recorded cgroup, and by nothing else" "sleep/cgroup" reaped-term 1 --no-stamp \
		--cgroup "$cgroup" -- sh -c "
			(echo 0 >'$cgroup/below/cgroup.procs'; exec setsid sleep $W) & exit 0"
	left "deaf in the recorded cgroup" "sh/cgroup sleep/cgroup" reaped-kill 1 --no-stamp \
		--cgroup "$cgroup" -- sh -c "
			(echo 0 >'$cgroup/below/cgroup.procs'
			exec setsid sh -c \"trap '' TERM; while :; do sleep $W; done\") & exit 0"
	ok "the cgroup is empty" rmdir "$cgroup/below" "$cgroup"
elif [ $ROOT = yes ]; then
	rmdir "$cgroup" 2>/dev/null
	lacks "in the recorded cgroup, and by nothing else" "a writable cgroup2 hierarchy"
fi

done_testing
