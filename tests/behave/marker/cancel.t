#!/bin/sh
# fence-marker cancel: asks, once, and signals nobody.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/lib/attempts.sh"

m=$T/m
pending() { # signals that came to a process that blocks them all
	sed -n 's/^S[hi][dg]Pnd:[^0-9a-f]*//p' "/proc/$1/status" | tr -d '\n0'
}

begin "$m" a --own --blocked -- sleep "$W"
kill -USR1 "$supervisor"
like "a signal to it would be seen" "$(pending "$supervisor")" "?*"
die
exits "(a clean start)" 0 fence-marker repair "$m" --apply

begin "$m" a --own --blocked -- sleep "$W"
exits "an attempt is cancelled, its supervisor owning it" 0 fence-marker cancel "$m"
is "it is said" "$(sed 's/, seq.*//' "$T/out")" \
	"$m: cancelled: attempt a is cancelled, supervisor pid $supervisor"
is "by whom" "$(jq -r .by "$m")" cancel
cp "$m" "$T/kept"
exits "cancelling again is fine" 0 fence-marker cancel "$m" --attempt a --json
is "and is told from the first time" "$(jq -r .outcome "$T/out")" already-cancelled
ok "and changes nothing" cmp "$m" "$T/kept"
is "the supervisor was not signalled" "$(pending "$supervisor")" ""
is "nor the command" "$(sleepers)" 1
strace -f -o "$T/trace" -e trace=kill,tkill,tgkill,pidfd_send_signal,rt_sigqueueinfo \
	env ASAN_OPTIONS=detect_leaks=0 fence-marker cancel "$m" >/dev/null 2>&1
is "no call of it signals anybody" "$(grep -c '^[0-9]* *[a-z_]*(' "$T/trace")" 0

fence-marker cancel "$m" --wait 0 >"$T/out" 2>"$T/err" 3>&- 4<&- &
waiter=$!
await state $waiter S
publish "cancelled cancelled reaped-term 0"
wait $waiter
is "with --wait it ends when all is over" "$? $(sed 's/ attempt.*//' "$T/out")" "0 $m: over:"
exits "not in time is 75" 75 sh -c "fence-marker create '$T/x' --attempt x --pid $supervisor >/dev/null
	fence-marker cancel '$T/x' --wait 50ms"
die
kill -KILL "-$group"

exits "its supervisor died: it is cancelled all the same" 0 sh -c "
	sleep $W & pid=\$!; fence-marker create '$T/y' --attempt y --pid \$pid >/dev/null
	kill -KILL \$pid; wait \$pid 2>/dev/null
	fence-marker cancel '$T/y'"
like "and what is to be done is said" "$(cat "$T/out")" "*supervisor has ended: see fence-marker repair"
exits "to wait for it is no use" 1 fence-marker cancel "$T/y" --wait 10s

exits "there is none" 2 fence-marker cancel "$T/none"
ok "and no lock is made for it" test ! -e "$T/none.lock"

begin "$T/n" b
exits "it is another attempt's" 1 fence-marker cancel "$T/n" --attempt c
cp "$T/n" "$T/kept"
mkfifo "$T/go" "$T/held"
marker_race hold "$T/n" <"$T/go" >"$T/held" 3>&- 4<&- &
holder=$!
exec 5>"$T/go"
read -r word <"$T/held"
is "another writer holds the lock" "$word" held
exits "then it is busy" 75 fence-marker cancel "$T/n" --lock-wait 50ms
exec 5>&-
wait "$holder"
ln "$T/n" "$T/n2"
exits "a marker of two names is not cancelled through one" 77 fence-marker cancel "$T/n2"
rm "$T/n2"
chmod 755 "$T"
if [ $ROOT = yes ] && [ $DROPS = no ]; then
	lacks "not permitted: refused" "the capabilities to become another user"
elif [ $ROOT = yes ]; then
	chmod 644 "$T/n"
	exits "not permitted: refused" 77 setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$BIN/fence-marker" cancel "$T/n"
	chmod 600 "$T/n"
else
	mkdir "$T/dir"
	fence-marker create "$T/dir/n" --attempt a --pid $$ >/dev/null
	rm "$T/dir/n.lock"
	chmod 500 "$T/dir"
	exits "not permitted: refused" 77 fence-marker cancel "$T/dir/n"
	chmod 700 "$T/dir"
fi
ok "all of that changed nothing" cmp "$T/n" "$T/kept"
publish terminating
publish "terminated exited clear 0"
exits "what has terminated is not cancelled" 1 fence-marker cancel "$T/n" --json
is "and that is told" "$(jq -r .outcome "$T/out")" already-terminated
die

begin "$T/c" c --cockpit
exits "a foreign marker is cancelled, too" 0 fence-marker cancel "$T/c" --format cockpit-executor/v1
is "and gets no field for it" "$(jq -r '[.status, .by // "none"] | join(" ")' "$T/c")" "cancelled none"
die

done_testing
