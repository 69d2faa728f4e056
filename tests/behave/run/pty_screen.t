#!/bin/sh
# --pty carries full-screen programs: an editor and top, looked at through tmux.
. "$(dirname "$0")/../../lib/tap.sh"
for tool in tmux vi top; do
	command -v $tool >/dev/null && continue
	lacks "full-screen programs" "$tool (scripts/setup test)"
	done_testing
done
unset TMUX
export TERM=screen
# tmux starts what it is told through this, and nobody's own is no shell.
export SHELL=/bin/sh
t() {
	tmux -S "$T/tmux" -f /dev/null "$@"
}
later sh -c 'tmux -S "$1" kill-server 2>/dev/null' sh "$T/tmux"
screen() {
	t capture-pane -p
}
# shows NAME PATTERN: until the screen has it, at most 10 s.
shows() {
	tries=0
	until screen | grep -q -- "$2"; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || break
		await -t 0.05 file /nonexistent
	done
	screen >"$T/screen"
	ok "$1" grep -q -- "$2" "$T/screen"
	[ $tries -lt 200 ] || note "$(cat "$T/screen")"
}

t new-session -d -x 80 -y 24 "PS1='ready> ' exec sh"
shows "there is a terminal" 'ready>'
t send-keys "stty -g >$T/before; fence-run --pty -- vi -u NONE $T/text; echo vi \$?; stty -g >$T/after" Enter
shows "the editor fills the screen" '^~'
t send-keys "ihello from the keyboard" Escape "o" "second line" Escape
shows "keys arrive" '^second line'
t send-keys ":set lines?" Enter
shows "it knows its size" 'lines=2[34]'
t resize-window -x 100 -y 30
# It may draw the screen anew over the first answer.
tries=0
until screen | grep -q 'columns=100' || [ $tries = 20 ]; do
	tries=$((tries + 1))
	t send-keys ":set columns?" Enter
	await -t 0.2 file /nonexistent
done
shows "which follows the window" 'columns=100'
t send-keys Enter ":wq" Enter
shows "it ends" 'vi 0'
is "what was typed is in the file" "$(sed -n '1,2p' "$T/text" | xargs)" "hello from the keyboard second line"
ok "the terminal is as it was" cmp "$T/before" "$T/after"

t send-keys "clear; fence-run --pty --timeout 60s -- top -d 1" Enter
shows "top fills the screen" 'load average'
shows "with a table" 'PID USER'
t send-keys "q"
shows "and ends with a key" 'ready>'
t send-keys "clear; fence-run --foreground -- vi -u NONE $T/text; echo vi \$?" Enter
shows "an editor may have our own terminal as well" '^second line'
t send-keys ":q" Enter
shows "and ends" 'vi 0'
t send-keys "exit" Enter
ok "nothing is left" await none "$T/text"
done_testing
