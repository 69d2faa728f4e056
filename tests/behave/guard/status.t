#!/bin/sh
# Exit statuses, and the record.
. "$(dirname "$0")/guard.sh"

newline='
'

exits "the command's own status" 7 guard -- sh -c 'exit 7'
exits "125 is also a status that a command may have" 125 guard -- sh -c 'exit 125'
is "which is silent" "$(cat "$T/err")" ""
exits "died of a signal: 128+n" 137 guard -- sh -c 'kill -9 $$'
exits "also of its own doing" 143 guard -- sh -c 'kill $$'
exits "not found" 127 guard -- /nonexistent/command
like "by name" "$(cat "$T/err")" "*fence-guard: find /nonexistent/command: No such file or directory"
echo plain >plain
exits "not executable" 126 guard -- ./plain
chmod 755 plain
exits "no format that can be executed" 126 guard -- ./plain
like "with a hint" "$(cat "$T/err")" "*#!/bin/sh"
exits "no command" 125 fence-guard exec
exits "an unknown option" 125 fence-guard exec --writ x -- true
exits "an unknown verb" 125 fence-guard exce -- true
exits "a profile that does not exist" 125 fence-guard exec --profile gaet -- true

record() {
	rm -f "$T/record"
	fence-guard exec --ro "$FENCE_BUILD" --status-fd 5 "$@" 5>"$T/record" >/dev/null 2>&1
	cat "$T/record"
}
seen=$(record --deny /absent/secret -- sh -c 'exit 3')
like "the start is recorded" "$seen" '*"schema":"fence-guard-status/v1"*"event":"exec"*'
like "with its layers" "$seen" '*"layers":{"namespaces":"enforced","mounts":"enforced","capabilities":"enforced","seccomp":"enforced","landlock":"[a-z]*"}*'
like "and what was denied and is not there" "$seen" '*"absentDenied":\["/absent/secret"\]*'
like "what stood in for a protected path" "$(record --protect absent/x -- true)" '*"placeholders":\["'"$W"'/absent"\]*'
like "and the end" "$seen" '*"event":"exit","code":3,*'
for status in 0 1 2 3 4 5 6 7; do
	record -- sh -c "exit $status"
done | grep -c '"pid":[1-9]' >count
is "the pid is known however short the command is" "$(cat count)" 8
like "a signal is a signal" "$(record -- sh -c 'kill -9 $$')" '*"event":"exit","signal":9,*'
like "a command that left nothing" "$(record -- sh -c 'true | cat')" \
	'*"leftover":{"count":0,"processes":\[\]}*'
mkfifo up
like "what it left is named" "$(record -- sh -c 'setsid sh -c "echo >up; exec sleep 98761" & read -r _ <up')" \
	'*"event":"exit","code":0,*"leftover":{"count":1,"processes":\[{"pid":[0-9]*,"name":"s[hl]*"}\]}*'
ok "and ended" await none 98761
rm -f up
like "a failure has stage, errno and path" "$(record --rw /absent -- true)" \
	'*"event":"failure","stage":"paths","status":125,"errno":2,"error":"ENOENT",*"path":"/absent",*'
like "so has a command that is not there" "$(record -- /absent/command)" \
	'*"event":"failure","stage":"exec","status":127,"errno":2,*"path":"/absent/command"*'
is "and there is nothing else then" "$(record -- /absent/command | wc -l | tr -d ' ')" 1
fence-guard exec --status-fd 5 -- sh -c 'echo up >ready; exec sleep 98763' 5>"$T/record" &
launcher=$!
await file ready
await file "$T/record"
pid=$(sed -n 's/.*"event":"exec","pid":\([0-9]*\),.*/\1/p' "$T/record")
is "the pid is the one outside" "$(tr '\0' ' ' <"/proc/$pid/cmdline")" "sleep 98763 "
kill "$launcher"
wait "$launcher" 2>/dev/null
rm -f ready

# faults: what is wrong with the lines of the record by the schema that is installed.
faults() {
	jq -r --slurpfile schema "$SRC/schemas/fence-guard-status-v1.json" -f "$SRC/tests/lib/schema.jq" "$1" 2>&1
}
{
	record --deny /absent --protect absent -- sh -c 'exit 3'
	fence-guard exec --profile none --status-fd 5 -- sh -c 'kill -9 $$' 5>&1
	record --profile none -- true
	record --rw "/absent${newline}x" -- true
	record -- /absent/command
} >"$T/all"
is "seven lines of every kind" "$(wc -l <"$T/all" | tr -d ' ')" 7
is "are as their schema says" "$(faults "$T/all")" ""
sed 's/"profile":"gate"/"profile":"gaet"/' "$T/all" >"$T/bad"
unlike "a line that is not is found out" "$(faults "$T/bad")" ""
exits "a descriptor that is not open is refused" 125 guard --status-fd 77 -- true
done_testing
