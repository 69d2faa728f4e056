#!/bin/sh
# On a terminal the command is in the foreground, and the shell gets it back.
. "$(dirname "$0")/guard.sh"

newline='
'

if ! command -v script >/dev/null; then
	lacks "a terminal for the command" "script(1) of bsdutils"
	done_testing
fi
on_terminal() {
	script -qec "$1" /dev/null </dev/null | tr -d '\r'
}
G="fence-guard exec --ro $FENCE_BUILD"
is "control: outside, on a terminal" "$(on_terminal 'guard_try foreground')" ok
is "the command is in the foreground" "$(on_terminal "$G -- guard_try foreground")" ok
is "and we again after it" "$(on_terminal "$G -- true; guard_try foreground")" ok
is "it may set its terminal" "$(on_terminal "$G -- stty -echo && echo set")" set
is "it can open /dev/tty" "$(on_terminal "$G -- sh -c 'echo hello >/dev/tty'")" hello
is "and write to /dev/stdout and /dev/stderr there" \
	"$(on_terminal "$G -- sh -c 'echo out >/dev/stdout; echo err >/dev/stderr'" | xargs)" "out err"
is "in a pipeline the others keep it" "$(on_terminal "$G -- guard_try foreground | cat")" ESRCH
is "but the command gets it when it asks" \
	"$(echo typed | script -qec "$G -- sh -c 'read line </dev/tty; echo got \$line' | cat" /dev/null | tr -d '\r' | grep got)" "got typed"
wanted="started${newline}stopped${newline}continued${newline}ended 130${newline}terminal returned"
job='echo up; read line; echo "went on with $line"; exec sleep 98768'
is "a shell's job control works: Ctrl-Z, fg, Ctrl-C" "$(guard_shell $G -- sh -c "$job")" "$wanted"
ok "and nothing is left" await -t 1 none 98768
is "but not type into it" "$(on_terminal "$G -- guard_try call 16 0 0x5412 0")" EPERM
done_testing
