#!/bin/sh
# KILL to the tool itself: what of the command is there a second later.
. "$(dirname "$0")/../../../lib/tap.sh"
. "$(dirname "$0")/tools.sh"

# Half of it in a session of its own. It makes $T/up when all of it is there.
tree() {
	"$@" sh -c "run_signals wait $T/other 10 & setsid run_signals wait $T/up 10 & wait" >/dev/null &
	run=$!
}
later() {
	tree "$@"
	await file "$T/up"
	kill -KILL $run
	wait $run
	if await -t 1 none "$T/"; then echo clear; else echo left; fi
}
compare <<END
later | KILL to the tool | clear | left | left | left | left
END

# While it starts: whether a peer has a command by then is a matter of luck, and says
# nothing.
left_after() { # PAUSE TOOL...: of ten
	pause=$1
	shift
	n=0
	for try in 1 2 3 4 5 6 7 8 9 10; do
		tree "$@" 2>/dev/null
		[ "$pause" = 0 ] || await -t "$pause" file "$T/never"
		kill -KILL $run
		wait $run 2>/dev/null
		await -t 1 none "$T/" || n=$((n + 1))
		clean
		rm -f "$T/up" "$T/other"
	done
	echo $n
}
for pause in 0 0.001 0.01 0.1; do
	is "KILL to fence-run after $pause s: of ten times, left" \
		"$(left_after $pause fence-run -q --)" 0
done
is "with captured output too" "$(left_after 0.01 fence-run -q --capture 1KiB --)" 0

# The other of the two processes.
left=0
ended=0
for pause in 0 0 0 0 0.001 0.001 0.001 0.01 0.01 0.1; do
	tree fence-run -q -- 2>/dev/null
	until monitor=$(pgrep -P $run); do :; done
	[ $pause = 0 ] || await -t $pause file "$T/never"
	kill -KILL "$monitor"
	await -t 1 gone $run && ended=$((ended + 1))
	wait $run
	await -t 1 none "$T/" || left=$((left + 1))
	clean
	rm -f "$T/up" "$T/other"
done
is "KILL to its monitor at such moments: of ten times, left" $left 0
is "and fence-run itself ends every time" $ended 10
done_testing
