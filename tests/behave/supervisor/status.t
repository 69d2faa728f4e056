#!/bin/sh
# What a shell sees of an attempt: its exit status, its descriptors, and no marker where
# nothing could be started.
. "$(dirname "$0")/supervisor.sh"

exits "a success is handed back" 0 own -- true
is "and published" "$(outcome)" "terminated supervisor exited clear"
is "nothing is said" "$(cat "$T/out" "$T/err")" ""
exits "an exit status is handed back" 7 own -- sh -c 'exit 7'
is "and published" "$(field .result.code)" 7
exits "death of a signal is 128+n" 139 own -- sh -c 'kill -SEGV $$'
is "and published" "$(field '"\(.result.cause) \(.result.signal) \(.result.code)"')" "signalled 11 null"
exits "a time-out is 124" 124 own -q --timeout 50ms -- sleep 1000
is "and published" "$(outcome)" "terminated supervisor timeout reaped-term"
is "nothing but the marker and its lock is left" "$(beside)" ""

rm "$m" "$m.lock"
printf 'not a program' >"$T/noexec"
printf 'echo hello\n' >"$T/plain"
chmod 755 "$T/plain"
exits "a command that is not there is 127" 127 own -- no-such-command
like "and is named" "$(cat "$T/err")" "fence-supervisor: execute no-such-command: *"
exits "a file without permission is 126" 126 own -- "$T/noexec"
for what in "no attempt is 125:--marker $m -- touch $T/ran" \
	"no marker is 125:--attempt a -- touch $T/ran" \
	"a bad name of an attempt is 125:--attempt a/b --marker $m -- touch $T/ran" \
	"no command is 125:--attempt a --marker $m" \
	"an unknown option is 125:--attempt a --marker $m --creat -- touch $T/ran" \
	"an executor that is not there is 125:--attempt a --marker $m --executor 4194304 -- touch $T/ran" \
	"a descriptor that is no socket is 125:--attempt a --marker $m --control-fd 1 -- touch $T/ran" \
	"a folder that is not there is 125:--attempt a --marker $m --cwd $T/none -- touch $T/ran"; do
	# shellcheck disable=SC2086 # words
	exits "${what%%:*}" 125 fence-supervisor --create ${what#*:}
	is "it is said in one line" "$(wc -l <"$T/err" | tr -d ' ')" 1
done
ok "none of them was run" test ! -e "$T/ran"
is "and none left a file" "$(ls -A "$T/m")" ""

exits "a file of no known format is 126" 126 own -- "$T/plain"
is "its marker says that it was not started" "$(outcome)" "terminated supervisor not-started no-session"
is "and the next one has the place" "$(own -- echo next)" next

# 0 to 2 are the command's.
is "the command reads our input and writes our output" "$(echo in | own -- sh -c 'cat; echo err >&2' 2>"$T/err")" in
is "and our standard error" "$(cat "$T/err")" err
own -- sh -c 'ls /proc/self/fd | tr "\n" " "' >"$T/fds"
is "nothing else is open in it" "$(cat "$T/fds")" "0 1 2 3 "
done_testing
