#!/bin/sh
# What a command leaves behind when it ends.
. "$(dirname "$0")/../../../lib/tap.sh"
. "$(dirname "$0")/tools.sh"

# It makes the file itself: nothing of it is still on its way to being what it will be.
member="run_signals wait $T/up 10 & await file $T/up"
daemon="setsid $member"

left_by() { # SCRIPT TOOL...
	script=$1
	shift
	"$@" sh -c "$script; exit 5" >/dev/null &
	finish $!
	echo "$how $(rest "$T/up")"
}
member_left() { left_by "$member" "$@"; }
session_left() { left_by "$daemon" "$@"; }
session_term() {
	"$@" sh -c "$daemon; echo up >$T/got; exec sleep $word" >/dev/null &
	run=$!
	await file "$T/got"
	kill -TERM $run
	finish $run
	echo "$how $(rest "$T/up")"
}
pipe_holder() {
	[ -p "$T/pipe" ] || mkfifo "$T/pipe"
	cat "$T/pipe" >/dev/null &
	reader=$!
	"$@" sh -c "$daemon; exit 5" >"$T/pipe" &
	wait $!
	finish $reader
	if [ $how = 0 ]; then echo ends; else echo hangs; fi
}

compare <<END
member_left  | a member outlives the leader    | 5 clear   | 5 left   | 5 left   | 5 clear  | 5 left
session_left | another session outlives it     | 5 clear   | 5 left   | 5 left   | 5 left   | 5 left
session_term | TERM, and another session       | 143 clear | 143 left | 143 left | 143 left | 143 left
pipe_holder  | a pipe that is held, its reader | ends      | hangs    | hangs    | hangs    | hangs
END
done_testing
