#!/bin/sh
# Whatever holds a command, signals reach it, TSTP stops all of it and CONT goes on.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/contain.sh"
word=613.$$

one() { # WHO KIND
	who=$1 kind=$2 r=$T/$1.$2
	start() { # COMMAND...: in the background, until $T/up is there
		rm -f "$T/up"
		as_exec "$who" fence-run -q --contain "$kind" --grace 20s --result "$r" "$@" >"$T/out" 2>"$T/err" &
		run=$!
		await file "$T/up"
	}
	start -- sh -c "trap 'echo DONE; exit 5' INT; echo up >$T/up; while :; do await -t 1 file /nonexistent; done"
	kill -INT $run
	wait $run
	is "$who, $kind: INT reaches the command's trap, whose status counts" "$? $(cat "$T/out")" "5 DONE"
	start -- run_signals wait "$T/up" 10 12 35
	for sig in USR1 USR2 35; do
		before=$(wc -l <"$T/out")
		kill -$sig $run
		while [ "$(wc -l <"$T/out")" = "$before" ]; do await -t 0.01 file /nonexistent; done
	done
	kill -TERM $run
	wait $run
	is "$who, $kind: USR1, USR2 and real-time signals come through" "$(xargs <"$T/out")" "10 12 35 15"

	start -t 600ms -- sh -c "(setsid sleep $word &); echo up >$T/up; exec sleep $word"
	while :; do
		pid=$(ps -eo pid=,args= | awk -v word="$word" '$2 == "sleep" && $3 == word { print $1 }' | xargs)
		case $pid in *\ *) break ;; esac
	done
	kill -TSTP $run
	ok "$who, $kind: TSTP stops fence-run" await state $run T
	# shellcheck disable=SC2016
	ok "$who, $kind: and the command, and what left it" \
		sh -c 'for at; do await state $at T || exit 1; done' sh $pid
	ok "$who, $kind: the time-out does not run on" sh -c "! await -t 0.8 gone $pid"
	kill -CONT $run
	wait $run
	is "$who, $kind: CONT goes on with both, and the time-out comes" $? 124
	is "$who, $kind: it had what was left of it" "$(jq '.wallMs >= 1400' "$r")" true
	start -- sh -c "trap '' INT TERM; echo up >$T/up; sleep $word; sleep $word"
	kill -INT $run
	while kill -INT $run 2>/dev/null; do await -t 0.05 gone $run && break; done
	wait $run
	is "$who, $kind: INT again means KILL" "$? $(jq -r '.reap, .exit.sentBy' "$r" | xargs)" "137 reaped-kill request"
	is "$who, $kind: no group is left" "$(groups)" ""
}
each_kind one
ok "nothing is left" await none "$word"
done_testing
