#!/bin/sh
# The exit status is the command's, or says what else happened.
. "$(dirname "$0")/../../lib/tap.sh"

printf 'not a program' >"$T/noexec"
printf '#!/no/such/interpreter\n' >"$T/badscript"
chmod 755 "$T/badscript"
printf 'echo hello\n' >"$T/plain"
chmod 755 "$T/plain"

exits "a success is handed back" 0 fence-run -- true
exits "an exit status is handed back" 7 fence-run -- sh -c 'exit 7'
exits "the command's own 126 is not ours" 126 fence-run -- sh -c 'exit 126'
is "and nothing is said about it" "$(cat "$T/err")" ""
exits "death of a signal is 128+n" 139 fence-run -- sh -c 'kill -SEGV $$'
exits "KILL from elsewhere is 137" 137 fence-run -- sh -c 'kill -KILL $$'
exits "a command that is not there is 127" 127 fence-run -- no-such-command
like "and is named" "$(cat "$T/err")" "fence-run: execute no-such-command: No such file or directory; *"
exits "a path that is not there is 127" 127 fence-run -- "$T/nothing"
exits "a file without permission is 126" 126 fence-run -- "$T/noexec"
like "and is named" "$(cat "$T/err")" "fence-run: execute $T/noexec: Permission denied*"
exits "a folder is 126" 126 fence-run -- "$T"
exits "a script without its interpreter is 127" 127 fence-run -- "$T/badscript"
like "and that is said" "$(cat "$T/err")" "*its interpreter is not"
exits "a file of no known format is 126" 126 fence-run -- "$T/plain"
exits "no command is 125" 125 fence-run
exits "no command after -- is 125" 125 fence-run -t 1s --
exits "an unknown option is 125" 125 fence-run --timeot 1s -- true
like "and the near one is named" "$(cat "$T/err")" "fence-run: *timeot*timeout*"
is "in one line" "$(wc -l <"$T/err")" 1
exits "a bad value is 125" 125 fence-run --timeout soon -- true
exits "a descriptor that is not open is 125" 125 fence-run --keep-fd 99 -- true
exits "a working folder that is not there is 125" 125 fence-run --cwd "$T/none" -- true
exits "a result that cannot be written is 125" 125 fence-run --result "$T/none/r" -- touch "$T/ran"
ok "and the command was not run" test ! -e "$T/ran"
exits "nor one whose name is too long" 125 fence-run --result "$T/$(printf '%0300d' 0)" -- touch "$T/ran"
exits "nor one to a descriptor that is only read" 125 fence-run --result-fd 0 -- touch "$T/ran" </dev/null
like "that is said" "$(cat "$T/err")" "fence-run: --result-fd 0: not open for writing"
ok "in neither case was it run" test ! -e "$T/ran"
exits "a log that cannot be written is 125" 125 fence-run --log "$T/none/log" -- touch "$T/ran"
ok "nor was it then" test ! -e "$T/ran"
if unshare -Urpf --mount-proc true 2>/dev/null; then
	exits "control: in a pid namespace with its own /proc it works" 3 \
		unshare -Urpf --mount-proc "$BIN/fence-run" -- sh -c 'exit 3'
	exits "with another namespace's /proc nothing is run" 125 \
		unshare -Urpf "$BIN/fence-run" -- touch "$T/ran"
	like "since nothing could be ended for certain" "$(cat "$T/err")" "fence-run: use /proc: *"
	ok "it was not" test ! -e "$T/ran"
else
	lacks "with another namespace's /proc nothing is run" "user namespaces"
fi
exits "the rest of the line is the command's" 0 fence-run -- sh -c '[ "$1" = --timeout ]' sh --timeout
exits "help is no failure" 0 fence-run --help
like "it is printed to standard output" "$(cat "$T/out")" "*--timeout*"
if [ -w /dev/full ]; then
	fence-run --help >/dev/full 2>"$T/err"
	is "help that cannot be written is" $? 125
	like "and that is said" "$(cat "$T/err")" "fence-run: write to standard output: No space left on device"
else
	lacks "help that cannot be written is" "a writable /dev/full"
fi
done_testing
