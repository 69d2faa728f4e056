#!/bin/sh
# What the caller has ignored, blocked or open: what of it the command gets, and whether
# the tool itself stumbles over it.
. "$(dirname "$0")/../../../lib/tap.sh"
. "$(dirname "$0")/tools.sh"

show() { # IGNORED BLOCKED WHICH TOOL...
	ignored=$1 blocked=$2 which=$3
	shift 3
	has=$(run_signals with "$ignored" "$blocked" "$@" run_signals show | grep "^$which:.* ${ignored#-}${blocked#-}\b")
	if [ -n "$has" ]; then echo kept; else echo reset; fi
}
ignored_int() { show 2 - ignored "$@"; }
ignored_pipe() { show 13 - ignored "$@"; }
blocked_term() { show - 15 blocked "$@"; }
silent_pipe() {
	said=$(run_signals with 13 - "$@" sh -c 'yes | head -n 1' 2>&1)
	if [ "$said" = y ]; then echo silent; else echo complains; fi
}
ignored_chld() {
	run_signals with 17 - "$@" sh -c 'exit 3' &
	finish $!
	echo $how
}
ended_blocked() {
	run_signals with - 15 "$@" run_signals wait "$T/up" 10 >/dev/null &
	run=$!
	await file "$T/up"
	kill -TERM $run
	finish $run
	echo $how
}
fd17() {
	if run_signals open 17 -- "$@" run_signals show | grep -q '^fds:.* 17\b'; then
		echo open
	else
		echo closed
	fi
}

compare <<END
ignored_int   | INT is ignored                    | reset  | reset     | kept      | reset  | kept
ignored_pipe  | PIPE is ignored                   | reset  | kept      | kept      | reset  | kept
silent_pipe   | a pipeline, with PIPE ignored     | silent | complains | complains | silent | complains
ignored_chld  | CHLD is ignored, the command's 3  | 3      | 3         | hangs     | 3      | hangs/1
blocked_term  | TERM is blocked                   | reset  | kept      | kept      | reset  | kept
ended_blocked | TERM, when it was blocked         | 0      | hangs     | 0         | 0      | 0
fd17          | descriptor 17                     | closed | open      | open      | open   | open
END
done_testing
