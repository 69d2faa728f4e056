#!/bin/sh
# How a command that is asked to end ends, and whether anything is left of it.
. "$(dirname "$0")/../../../lib/tap.sh"
. "$(dirname "$0")/tools.sh"

ended() { # SCRIPT TOOL...: TERM to the tool once the script has made $T/up
	script=$1
	shift
	"$@" sh -c "$script" &
	run=$!
	await file "$T/up"
	kill -TERM $run
	finish $run
	echo "$how $(rest "$word")"
}
stopped_child() {
	"$@" sh -c "echo \$\$ >$T/pid; kill -STOP \$\$; exec sleep $word" &
	run=$!
	await file "$T/pid"
	await state "$(cat "$T/pid")" T
	kill -TERM $run
	finish $run
	echo $how
}
deaf_child() {
	case $tool in
	fence-run) set -- fence-run -q --grace 200ms -- ;;
	timeout) set -- timeout --kill-after=0.2 60 ;;
	esac
	ended "trap '' TERM; echo up >$T/up; sleep $word; sleep $word" "$@"
}

compare <<END
stopped_child | TERM, the command is stopped | 143       | 143       | hangs      | hangs      | hangs
deaf_child    | TERM, the command ignores it | 137 clear | 137 clear | hangs left | hangs left | hangs left
END
done_testing
