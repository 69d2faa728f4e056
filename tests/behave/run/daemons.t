#!/bin/sh
# A stop reaches what has daemonised: first by TERM, so that it can clean up.
. "$(dirname "$0")/../../lib/tap.sh"
word=609.$$

cat >"$T/daemon" <<'END'
trap 'echo asked >"$1.end"; exit 0' TERM
echo up >"$1"
while :; do await -t 0.05 file /nonexistent; done
END
# As under crond or npm: a daemon by double fork, and a shell within a shell within ...
exits_on() { # HOW OPTION...
	how=$1
	shift
	rm -f "$T"/one* "$T"/two*
	fence-run -q --grace 20s --result "$T/r" "$@" -- sh -c "
		(setsid sh $T/daemon $T/one &)
		sh -c 'sh -c \"setsid sh $T/daemon $T/two & wait\" & wait' &
		await file $T/one && await file $T/two && echo up >$T/up; exec sleep $word" 2>/dev/null &
	run=$!
	await file "$T/up"
	rm -f "$T/up"
	[ "$how" = kept ] || kill "-$how" $run
	wait $run
	status=$?
}
exits_on TERM
is "TERM to us ends a command with daemons" $status 143
is "each daemon was asked" "$(cat "$T/one.end" "$T/two.end" | xargs)" "asked asked"
is "and nobody had to be killed" "$(jq -r '.reap, .sent.killAtMs' "$T/r" | xargs)" "reaped-term null"
exits_on INT
is "so does INT, as INT for the command" $status 130
is "and as TERM for the daemons" "$(cat "$T/one.end" "$T/two.end" | xargs)" "asked asked"
exits_on kept -t 500ms
is "so does a time-out" $status 124
is "with TERM first as well" "$(cat "$T/one.end" "$T/two.end" | xargs)" "asked asked"
ok "nothing is left" await none "$word"
ok "of the daemons neither" await none "$T/"

# A leader whose own clean-up is all there is: one INT, and it runs.
rm -f "$T/up"
fence-run -q -- sh -c "trap 'echo DONE' EXIT; trap 'exit 130' INT; run_signals wait $T/up 60" >"$T/out" &
run=$!
await file "$T/up"
kill -INT $run
wait $run
is "one INT lets the command clean up" "$? $(cat "$T/out")" "130 DONE"
done_testing
