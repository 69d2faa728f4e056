#!/bin/sh
# Descriptors and environment: nothing passes that was not named.
. "$(dirname "$0")/guard.sh"

exec 7>"$W/seven" 8>"$W/eight"
exits "a descriptor is closed" 2 guard -- sh -c 'echo x >&7'
exits "unless it is kept" 0 guard --keep-fd 7 -- sh -c 'echo kept >&7'
is "by its number" "$(cat seven)" kept
exits "the other one stays closed" 2 guard --keep-fd 7 -- sh -c 'echo x >&8'
exits "one that is not open cannot be kept" 125 guard --keep-fd 99 -- true
like "and is named" "$(cat "$T/err")" "*99*"
is "no other descriptor is open" "$(guard -- sh -c 'ls /proc/self/fd' | tr '\n' ' ')" "0 1 2 3 "
exec 7>&- 8>&-
is "closed standard descriptors are /dev/null" \
	"$(guard -- sh -c 'readlink /proc/self/fd/0' <&- )" /dev/null
mkfifo pipe
sh -c 'exec cat pipe >got' &
exec 9>pipe
fence-guard exec --keep-fd 9 -- sh -c 'echo one >&9; exec 9>&-; echo up >ready; exec sleep 98762' 9>&9 &
pid=$!
exec 9>&-
await file ready
ok "a kept pipe ends when the command ends it" await -t 5 file got
kill "$pid"
wait

exits "a folder as standard input would lead outside: refused" 125 guard -- true <"$T"
like "by its number" "$(cat "$T/err")" "fence-guard: descriptor 0 is a folder*"

# A descriptor that was opened outside can be opened again through /proc, by way of
# the host's own mount. The net under the mounts is for that.
mkdir "$T/other"
echo old >"$T/other/file"
sh -c 'echo old >/proc/self/fd/0' <"$T/other/file"
is "control: unconfined, what is open for reading can be opened for writing" "$?" 0
landlock=$(guard --status-fd 5 -- true 5>&1 | sed -n 's/.*"landlock":"\([a-z]*\)".*/\1/p')
if [ "$landlock" = off ]; then
	lacks "and not inside" "Landlock ABI 2 (Linux 5.19)"
else
	says "and not inside" EACCES -- guard_try write /proc/self/fd/0 <"$T/other/file"
fi
is "the file is as it was" "$(cat "$T/other/file")" old

# What is open for writing may be: scripts say /dev/stderr.
said() {
	echo before >"$T/log"
	eval "guard $2 -- sh -c 'echo one >>/dev/stdout; echo two >>/dev/stderr; echo three | tee -a /dev/stderr >/dev/null' $3"
	is "scripts may write to /dev/stdout and /dev/stderr: $1" "$(cat "$T/log" | xargs)" "$4"
}
said "a file" "" '>"$T/log" 2>&1' "one two three"
said "a file that is added to" "" '>>"$T/log" 2>&1' "before one two three"
said "/dev/null and a file" "" '>/dev/null 2>"$T/log"' "two three"
said "a pipe" "" '2>&1 | cat >"$T/log"' "one two three"
exits "both /dev/null" 0 sh -c 'fence-guard exec -- sh -c "echo x >/dev/stdout && echo y >/dev/stderr" >/dev/null 2>&1'
exits "/dev/fd of a kept one" 0 guard --keep-fd 7 -- sh -c 'echo seven >/dev/fd/7' 7>"$T/log"
is "there it is" "$(cat "$T/log")" seven
says "a kept one that is open for reading is not" EACCES --keep-fd 7 -- guard_try write /proc/self/fd/7 7<"$T/log"

export SECRET_TOKEN=x LD_LIBRARY_PATH=/x GIT_DIR=/x NODE_OPTIONS=-x BASH_ENV=/x TZ=UTC
is "the environment is the list alone" \
	"$(guard -- env | sed 's/=.*//' | grep -vx 'PWD\|SHLVL\|_' | sort | tr '\n' ' ')" \
	"$(env | sed -n 's/^\(PATH\|HOME\|USER\|LOGNAME\|TMPDIR\|LANG\|LC_ALL\|LC_CTYPE\|TZ\|TERM\)=.*/\1/p' | sort | tr '\n' ' ')"
is "a named variable passes" "$(guard --env SECRET_TOKEN -- printenv SECRET_TOKEN)" x
is "or gets its value" "$(guard --env 'A=b c=d' -- printenv A)" "b c=d"
is "--env-all passes all" "$(guard --env-all -- printenv GIT_DIR)" /x
exits "--unset takes one out" 1 guard --env-all --unset GIT_DIR -- printenv GIT_DIR
is "PATH finds the command as it is inside" "$(guard --env PATH=/nowhere -- /bin/sh -c 'echo $PATH')" /nowhere
exits "an empty PATH finds nothing" 127 guard --env PATH=/nowhere -- sh
done_testing
