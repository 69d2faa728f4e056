#!/bin/sh
# Signals that come when the command is just starting or ending: never a hang, never a
# status that is neither the command's nor the signal's, and no stranger is hit.
. "$(dirname "$0")/../../lib/tap.sh"
word=612.$$

# A stranger in our own group, who would hear of a signal to 0 or -1 as we would.
sh -c "trap 'echo hit >$T/hit' TERM USR1; echo up >$T/up; while :; do await -t 0.1 file $T/over && exit; done" &
stranger=$!
await file "$T/up"

storm() { # SIGNAL COMMAND...: as many as can be sent while it runs; prints the status
	sig=$1
	shift
	"$@" &
	run=$!
	sent=0
	while kill "-$sig" $run 2>/dev/null && [ $sent -lt 2000 ]; do sent=$((sent + 1)); done
	wait $run
	status=$?
}
for sig in TERM INT USR1; do
	case $sig in
	TERM) wanted="0 143 137" ;;
	INT) wanted="0 130 137" ;;
	USR1) wanted="0 138" ;;
	esac
	odd=
	n=0
	while [ $n -lt 40 ]; do
		storm $sig fence-run -q -- true
		case " $wanted " in
		*" $status "*) ;;
		*) odd="$odd $status" ;;
		esac
		n=$((n + 1))
	done
	is "a storm of $sig around a short command: no other status than $wanted" "$odd" ""
done
n=0
odd=
while [ $n -lt 40 ]; do
	storm TERM fence-run -q -t 1e-10 --grace 1ms -- sleep $word
	case $status in
	124 | 143 | 137) ;;
	*) odd="$odd $status" ;;
	esac
	n=$((n + 1))
done
is "nor with a time-out at the same time" "$odd" ""
ok "nothing is left" await none "$word"
ok "no stranger heard of it" test ! -e "$T/hit"
echo over >"$T/over"
wait $stranger
done_testing
