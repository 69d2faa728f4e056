#!/bin/sh
# --progress: one line on a terminal, gone at the end; nothing anywhere else.
. "$(dirname "$0")/../../lib/tap.sh"
word=625.$$

pty_drive -s 24x80 expect '1s of 1m00s' -- fence-run -q --progress -t 60s -- \
	sh -c "sleep $word & await -t 1.3 file /nonexistent; kill \$!; exit 3" >"$T/shown"
is "its status is the command's" $? 3
tr '\r' '\n' <"$T/shown" >"$T/lines"
like "time, limit, processes and memory are shown" "$(grep -m 1 '1s of' "$T/lines")" \
	"fence-run: 1s of 1m00s, 3 processes, RSS *iB*"
n=$(grep -c 'RSS' "$T/lines")
ok "at most twice a second ($n)" test "$n" -ge 2 -a "$n" -le 3
is "on one line, which is erased" "$(wc -l <"$T/shown") $(tail -n 1 "$T/lines" | tr -d ' ')" "0 "
ok "the width of the terminal is kept" sh -c "! grep -E '.{80}' '$T/lines'"
pty_drive -s 24x30 -- fence-run -q --progress -- await -t 0.7 file /nonexistent >"$T/shown"
ok "a narrow one's too" sh -c "tr '\\r' '\\n' <'$T/shown' | grep -q RSS || ! tr '\\r' '\\n' <'$T/shown' | grep -qE '.{30}'"
pty_drive -- fence-run --progress -t 700ms -- sleep $word >"$T/shown"
like "our own words come after it" "$(tr '\r' '\n' <"$T/shown" | grep -v '^ *$' | tail -n 1)" \
	"fence-run: the command was ended: it ran longer than 700 ms"
pty_drive expect 'output 2.0 KiB' -- fence-run -q --progress --capture 1KiB -t 30s -- \
	sh -c "head -c 2048 /dev/zero; await -t 1.2 file /nonexistent; exit 0" >"$T/shown"
is "output that is read is counted" $? 0
pty_drive file "$T/done" -- sh -m -c "fence-run --progress -- await -t 1.2 file /nonexistent & wait; echo yes >$T/done" >"$T/shown"
is "nothing is shown in the background" "$(cat "$T/shown")" ""

exits "where there is no terminal" 0 fence-run --progress -- sh -c 'await -t 0.7 file /nonexistent; exit 0'
is "nothing is shown either" "$(cat "$T/out" "$T/err")" ""

# No look at the clock: asleep until something happens.
wakeups() { # of the launcher, in a second
	rm -f "$T/up"
	fence-run -q "$@" -- sh -c "echo up >$T/up; exec sleep $word" 2>/dev/null &
	run=$!
	await file "$T/up"
	await state $run S
	before=$(sed -n 's/^voluntary_ctxt_switches:\t//p' /proc/$run/status)
	await -t 1.2 file /nonexistent
	after=$(sed -n 's/^voluntary_ctxt_switches:\t//p' /proc/$run/status)
	kill $run
	wait $run 2>/dev/null
	echo $((after - before))
}
is "we do not wake up without it" "$(wakeups)" 0
is "nor with it, without a terminal" "$(wakeups --progress)" 0
ok "nothing is left" await none "$word"
done_testing
