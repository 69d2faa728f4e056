#!/bin/sh
# An executor that does not read its events delays nobody: not a cancel, not the end. What
# it did not take yet, it gets.
. "$(dirname "$0")/supervisor.sh"

mkfifo "$T/out.fifo"
exec 7<>"$T/out.fifo"
exec 8<>"$T/in"
next() { # reads one event
	read -r line <&7
	printf '%s\n' "$line" >"$T/line"
	jq -r .event "$T/line"
}
# Fills the pipe; 65536 bytes of it are to be drained before the next event.
fill() {
	dd if=/dev/zero of="$T/out.fifo" bs=4096 count=16 oflag=nonblock 2>"$T/dd"
}
begin() { # OPTIONS... -- COMMAND...
	rm -f "$m" "$T/up"
	fence-supervisor --attempt a --marker "$m" "$@" <"$T/in" >"$T/out.fifo" 2>"$T/err" 7>&- 8>&- &
	supervisor=$!
	echo $supervisor >>"$T/pids"
	is "it is ready" "$(next)" ready
	release
	is "and started" "$(next)" started
}

begin -- sh -c "echo up >$T/up; exec sleep 1000"
fill
i=0
while [ $i -lt 200 ]; do
	echo nonsense
	i=$((i + 1))
done >&8
ok "a cancel is obeyed at once, whatever is unread" fence-marker cancel "$m" --wait 3s
head -c 65536 <&7 >"$T/filled"
rejected=0
while [ "$(next)" = rejected ]; do
	rejected=$((rejected + 1))
done
ok "some of the complaints about lines without sense are there" test $rejected -ge 5
is "then the end" "$(jq -r .event "$T/line") $(next)" "terminating terminated"
is "which is whole" "$(jq -r '.result.cause' "$T/line")" cancelled
ended
is "the exit status is the command's" $status 143

# Read at last while the command runs: there is no other event that could push them out.
begin -- sh -c "echo up >$T/up; exec sleep 1000"
fill
echo nonsense >&8
head -c 65536 <&7 >"$T/filled"
is "what waited comes once there is room" "$(next)" rejected
kill -TERM $supervisor
is "and the rest as ever" "$(next) $(next)" "terminating terminated"
ended

# Its reader has gone while events were waiting.
begin -- sh -c "echo up >$T/up; exec sleep 1000"
fill
echo nonsense >&8
exec 7<&-
kill -TERM $supervisor
ended
is "a reader that went away holds nobody up" "$status $(field .status)" "143 terminated"
exec 8>&-
done_testing
