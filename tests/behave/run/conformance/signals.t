#!/bin/sh
# Signals that are sent to the tool: which of them the command gets.
. "$(dirname "$0")/../../../lib/tap.sh"
. "$(dirname "$0")/tools.sh"

passed_on() { # SIGNAL TOOL...
	sig=$1
	shift
	"$@" run_signals wait "$T/up" "$sig" >"$T/got" &
	run=$!
	await file "$T/up"
	kill "-$sig" $run
	if await -t "$(within 0.5)" file "$T/got"; then
		head -n 1 "$T/got"
	elif await -t 0 gone $run; then
		echo the tool dies
	else
		echo lost
	fi
	kill $run 2>/dev/null
	wait $run
}
usr1() { passed_on 10 "$@"; }
rtmin1() { passed_on 35 "$@"; }

tstp() {
	"$@" sh -c "echo \$\$ >$T/pid; exec sleep $word" >/dev/null &
	run=$!
	await file "$T/pid"
	await some "$word" >/dev/null
	child=$(cat "$T/pid")
	kill -TSTP $run
	answer="$(stopped $run) $(stopped "$child")"
	kill -CONT $run
	echo "$answer, then $(running $run) $(running "$child")"
	kill -KILL $run
	wait $run
}

compare <<END
usr1   | USR1    | 10 | the tool dies | 10 | 10 | 10
rtmin1 | RTMIN+1 | 35 | the tool dies | 35 | 35 | 35
tstp   | TSTP and CONT, the tool and the command | stopped stopped, then runs runs | stopped runs, then runs runs | runs stopped, then runs runs | stopped stopped, then runs runs | runs runs, then runs runs
END
done_testing
