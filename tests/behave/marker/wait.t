#!/bin/sh
# fence-marker wait: ends when the state is there, or cannot come, and sleeps until then.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/lib/attempts.sh"

m=$T/m
# waiting OPTIONS...: a wait in the background that has gone to sleep
waiting() {
	fence-marker wait "$m" "$@" >"$T/out" 2>"$T/err" 3>&- 4<&- &
	waiter=$!
	await state $waiter S
}
# ends NAME STATUS OUTPUT: how it ended
ends() {
	wait "$waiter"
	is "$1" "$? $(sed 's/ attempt.*//' "$T/out")$(sed 's/.*: \(.*\)/, \1/' "$T/err")" "$2"
}
edit() { # SED: in place, as a writer without the lock does
	sed "$1" "$m" >"$T/text"
	cat "$T/text" >"$m"
}

# --- there already --------------------------------------------------------------------------
begin "$m" a
exits "a status that is there already is no wait" 0 fence-marker wait "$m" --status active
like "it is said" "$(cat "$T/out")" "$m: reached: attempt a is active, *"
exits "one of several is enough" 0 fence-marker wait "$m" --status terminated,active
exits "not in time" 75 fence-marker wait "$m" --status terminated --timeout 50ms
like "which is said" "$(cat "$T/err")" "*: not in time"
exits "a status or --over is needed" 64 fence-marker wait "$m"
exits "but not both" 64 fence-marker wait "$m" --over --status active
exits "an unknown status is a mistake" 64 fence-marker wait "$m" --status active,finished
exits "so is an empty one" 64 fence-marker wait "$m" --status active,

# --- it comes -----------------------------------------------------------------------------------
waiting --status terminating,terminated
publish terminating
ends "it ends when the status comes" "0 $m: reached:"
waiting --status terminated
publish "terminated exited clear 0"
ends "and when the next one does" "0 $m: reached:"
exits "a status that cannot come any more is not waited for" 1 fence-marker wait "$m" --status active
exits "over is over" 0 fence-marker wait "$m" --over
die

# --- cancelled is not over -------------------------------------------------------------------
begin "$m" b
fence-marker cancel "$m" >/dev/null
exits "asked for is cancelled" 0 fence-marker wait "$m" --status terminated,cancelled
exits "and will not be terminated" 1 fence-marker wait "$m" --status terminated
waiting --over
publish "terminated cancelled survived 2"
publish "terminated cancelled reaped-kill 0"
ends "over is when nothing of it runs" "0 $m: over:"
die

# --- not there ----------------------------------------------------------------------------------
exits "no marker, and none is waited for" 2 fence-marker wait "$T/none" --status active --appear 0s
exits "no marker in time" 2 fence-marker wait "$T/none" --status active --appear 50ms
exits "no folder" 2 fence-marker wait "$T/none/none" --status active
echo rubbish >"$T/rubbish"
exits "what is no marker and stays so" 2 fence-marker wait "$T/rubbish" --status active
rm "$m"
waiting --status active
begin "$m" c
ends "a marker that appears" "0 $m: reached:"
waiting --status active --attempt d
die
rm "$m"
begin "$m" d
ends "another attempt's marker is not there yet" "0 $m: reached:"
waiting --status terminated
rm "$m"
ends "a marker that goes away" "2 , no authentic marker; fence-marker read --explain says which rule is broken"
die
mkdir "$T/dir"
m=$T/dir/m
begin "$m" a
waiting --status terminated
rm -r "$T/dir"
ends "a folder that goes away" "2 , no authentic marker; fence-marker read --explain says which rule is broken"
die
m=$T/m

# --- written in place -------------------------------------------------------------------------
begin "$m" a
mkfifo "$T/go" "$T/empty"
marker_attempt rewrite "$m" <"$T/go" >"$T/empty" &
writer=$!
exec 5>"$T/go"
read -r word <"$T/empty"
is "a writer without the lock has emptied the marker" "$word $(stat -c %s "$m")" "empty 0"
waiting --status active
echo go >&5
ends "it has time to write it" "0 $m: reached:"
wait "$writer"
exec 5>&-

# --- the supervisor ends ---------------------------------------------------------------------
waiting --over
die
ends "its supervisor dies" "1 $m: supervisor-dead:, its supervisor has ended without publishing that; see fence-marker repair"
exits "it is dead before" 1 fence-marker wait "$m" --over
exits "a status that is there is there" 0 fence-marker wait "$m" --status active
rm "$m"

wrong=0 round=0
while [ $round -lt 30 ]; do
	begin "$m" a
	waiting --over
	printf 'terminating\nterminated exited clear 0\n' >&3
	exec 3>&-
	wait "$waiter" || wrong=$((wrong + 1))
	wait "$supervisor"
	round=$((round + 1))
done
is "one that publishes and ends at once is not taken for dead" "$wrong of $round" "0 of 30"
rm "$m"

# The narrowest moment: it publishes and ends after the marker was read and before it is
# judged itself.
begin "$m" a
strace -o "$T/trace" -e trace=openat,pidfd_open -e inject=pidfd_open:delay_enter=500ms:when=1 \
	env ASAN_OPTIONS=detect_leaks=0 fence-marker wait "$m" --over >"$T/out" 2>"$T/err" 3>&- 4<&- &
waiter=$!
until grep -q '"m"' "$T/trace" 2>/dev/null; do await -t 0.01 file "$T/none" || :; done
publish terminating
publish "terminated exited clear 0"
exec 3>&-
wait "$supervisor"
ends "nor one that does so while it is being judged" "0 $m: over:"
like "(it was)" "$(cat "$T/trace")" "*pidfd_open($supervisor, *ESRCH*"
rm "$m"

begin "$m" a
marker_race write "$m" a 100000000 >/dev/null 2>&1 3>&- 4<&- &
writer=$!
exits "it is not in time, however busy its marker" 75 \
	timeout 20 fence-marker wait "$m" --over --timeout 200ms
kill -KILL "$writer"
wait "$writer" 2>/dev/null
die
rm "$m"

# Which of two supervisors: a foreign program names another one in its place.
begin "$m" a
first=$supervisor
sleep "$W" 3>&- 4<&- &
second=$!
waiting --over
edit "s/\"supervisorPid\":[0-9]*,.*\"bootId\"/\"supervisorPid\":$second,\"bootId\"/"
exec 3>&-
wait "$first"
ok "the first one's end is not the second one's" kill -0 "$waiter"
kill -KILL "$second"
wait "$second" 2>/dev/null
ends "the second one's is" "1 $m: supervisor-dead:, its supervisor has ended without publishing that; see fence-marker repair"
rm "$m"

begin "$m" a --cockpit
waiting --over --format cockpit-executor/v1
die
ends "a foreign marker's supervisor is known by its pid alone" \
	"1 $m: supervisor-dead:, its supervisor has ended without publishing that; see fence-marker repair"
rm "$m"

# --- elsewhere ---------------------------------------------------------------------------------
begin "$m" a
edit 's/"bootId":"......../"bootId":"00000000/'
die
exits "of another boot nobody here knows whether it is dead" 75 \
	fence-marker wait "$m" --over --timeout 50ms --json
like "which is told" "$(cat "$T/out")" '*"life":"other-boot"*'
waiting --over
fence-marker repair "$m" --apply --force >/dev/null
ends "but its marker is watched" "0 $m: over:"
rm "$m"

# --- idle ---------------------------------------------------------------------------------------
switches() {
	sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$waiter/status"
}
begin "$m" a
waiting --over --timeout 1h
before=$(switches)
# A change in the folder that is not the marker's: the count does count. A folder is one
# event, a file would be one when it is made and another when it is closed.
mkdir "$T/other"
await_more() {
	tap_tries=0
	while [ "$(switches)" = "$before" ] && [ $tap_tries -lt 200 ]; do
		tap_tries=$((tap_tries + 1))
		await -t 0.01 file "$T/none" || :
	done
	[ "$(switches)" != "$before" ]
}
ok "a change in its folder wakes it" await_more
# This wait is the measure of time: one second by another process's clock, which itself
# changes nothing in the folder. On a busy machine what it was woken for may reach into the
# first second; one that looks again and again has none that is idle.
tap_tries=0
while [ $tap_tries -lt 5 ]; do
	before=$(switches)
	await -t 1 file /nonexistent
	[ "$(switches)" != "$before" ] || break
	tap_tries=$((tap_tries + 1))
done
is "an idle second does not" "$(switches)" "$before"
note "$before switches before and after an idle second"
publish terminating
publish "terminated exited clear 0"
ends "and it is still awake enough" "0 $m: over:"
die

done_testing
