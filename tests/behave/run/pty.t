#!/bin/sh
# --pty on a terminal: the command has one of its own, and ours is as it was.
. "$(dirname "$0")/../../lib/tap.sh"
word=623.$$

pty_drive -s 33x99 expect go type 'word\r' expect '[word]' resize 20x50 expect resized -- \
	fence-run --pty -- sh -c "trap 'echo resized; stty size; exit 3' WINCH
	tty >$T/tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size; ps -o sid= -p \$\$ | grep -qw \$\$ && echo leads
	echo go; read -r line; echo \"[\$line]\"; while :; do await -t 0.1 file /nonexistent; done" >"$T/shown" 2>&1
is "its status counts" $? 3
is "its terminal has the size of ours, and follows it" "$(tr -d '\r' <"$T/shown" | xargs)" \
	"33 99 leads go word [word] resized 20 50"

pty_drive -s 5x40 -- sh -c "tty; fence-run --pty -- tty" >"$T/shown"
is "it is another one" "$(tr -d '\r' <"$T/shown" | sort -u | grep -c /dev/)" 2
pty_drive file "$T/up" type '\x03' expect 2 type '\x1c' expect 3 type '\x1a' expect 20 signal 15 -- \
	fence-run --pty -- run_signals wait "$T/up" 2 3 20 >"$T/shown" 2>&1
is "^C ^\\ and ^Z go through, to the command alone" \
	"$(tr -d '\r' <"$T/shown" | grep -cE '(2|3|20)$')" 3
pty_drive expect ready type 'text\r\x04' -- fence-run --pty -- sh -c 'echo ready; cat; echo over' >"$T/shown"
is "^D ends the input" "$(tr -d '\r' <"$T/shown" | xargs)" "ready text text over"

# around NAME WANTED [STEP...] -- COMMAND: our terminal's mode before and after.
around() {
	name=$1
	wanted=$2
	shift 2
	steps=
	while [ "$1" != -- ]; do
		steps="$steps '$1'"
		shift
	done
	shift
	rm -f "$T/before" "$T/after" "$T/up" "$T/pid"
	eval "pty_drive $steps -- sh -c 'stty -ixon; stty -g >$T/before; \"\$@\"; echo \$? >$T/status; stty -g >$T/after' sh \"\$@\"" >"$T/shown" 2>&1
	is "$name" "$(cat "$T/status")" "$wanted"
	ok "and the terminal is as it was" cmp "$T/before" "$T/after"
}
around "a command ends" 4 -- fence-run --pty -- sh -c 'stty raw -echo; exit 4'
around "it is not found" 127 -- fence-run --pty -- /nonexistent
around "it cannot be started" 126 -- fence-run --pty -- /etc/passwd
around "its time is over" 124 -- fence-run -q -t 200ms --pty -- sleep $word
around "we are asked to end" 143 -- fence-run --pty -- sh -c "kill -TERM \$(ps -o ppid= -p \$PPID); exec sleep $word"
around "the monitor is killed" 125 -- fence-run --pty -- sh -c "kill -KILL \$PPID; exec sleep $word"
around "it is there and that is said in lines" 124 -- fence-run -t 100ms --pty -- sleep $word
is "as on any terminal" "$(grep -c 'ran longer than 100 ms'"$(printf '\r')" "$T/shown")" 1

# Stopped by a signal to us: the terminal is as it was while we are, and after.
pty_drive -t 10 file "$T/stopped" type '\n' expect again type 'more\r' -- sh -m -c "stty -g >$T/before
	fence-run --pty -t 1s --result $T/r -- sh -c \"echo \\\$\\\$ >$T/pid; kill -TSTP \\\$(ps -o ppid= -p \\\$PPID); echo again; read -r line; echo got-\\\$line; exit 7\"
	stty -g >$T/after; await -t 5 state \$(cat $T/pid) T && echo yes >$T/stopped; read -r line; fg >/dev/null; echo ended \$?; stty -g >$T/end" >"$T/shown" 2>&1
ok "TSTP to us stops the command" test -s "$T/stopped"
ok "and gives the terminal back" cmp "$T/before" "$T/after"
like "fg goes on" "$(cat "$T/shown")" "*got-more*ended 7*"
ok "and in the end it is as it was" cmp "$T/before" "$T/end"

# In the background it neither reads nor changes the terminal, and gets it with fg.
rm -f "$T/pid"
pty_drive -t 10 expect shown expect ready owner type 'x\n' expect again silence 0.7 type 'text\r\x04' -- sh -m -c "stty -g >$T/before
	fence-run --pty -- sh -c 'echo shown; exec cat' & await -t 0.2 file /nonexistent; stty -g >$T/after; echo ready; read -r line; echo again \$line; fg >/dev/null; echo ended \$?" >"$T/shown" 2>&1
ok "a start in the background leaves the terminal alone" cmp "$T/before" "$T/after"
like "and to the shell" "$(cat "$T/shown")" "*owner: leader*again x*"
like "in the foreground the keys are the command's" "$(tr -d '\r' <"$T/shown" | xargs)" "*again x text text ended 0"

exits "--progress does not go with it" 125 fence-run --pty --progress -- true
exits "nor does --stdout" 125 fence-run --pty --stdout "$T/file" -- true
ok "nothing is left" await none "$word"
done_testing
