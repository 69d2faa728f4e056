#!/bin/sh
# Who has standard input, output and error: the command, or the protocol.
. "$(dirname "$0")/../../lib/tap.sh"

mkfifo "$T/in" "$T/out.fifo"
m=$T/m.json

# attempt OPTIONS... -- COMMAND...: a whole attempt with the protocol on 0 and 1. The
# events are in $T/events, standard error in $T/err.
attempt() {
	rm -f "$m"
	fence-supervisor --attempt a1 --marker "$m" --durable none "$@" \
		<"$T/in" >"$T/out.fifo" 2>"$T/err" 3>&- 4>&- &
	exec 3>"$T/in" 4<"$T/out.fifo"
	read -r ready <&4
	fence-marker create "$m" --attempt a1 --pid "$(echo "$ready" | jq .pid)" --json |
		jq -c '{release: .approved}' >&3
	cat <&4 >"$T/events"
	wait "$!"
	exec 3>&- 4<&-
}
said() {
	cat "$T/err"
}
words='echo to-output; echo to-error >&2; echo "read: $(cat)"'

echo input >"$T/input"
exits "with --create" 0 fence-supervisor --create --attempt a1 --marker "$m" -- sh -c "$words" \
	<"$T/input"
is "input and output are the command's" "$(xargs <"$T/out")" "to-output read: input"
is "error too" "$(cat "$T/err")" to-error

attempt -- sh -c "$words"
is "without it the events alone are on the output" "$(jq -r .event "$T/events" | xargs)" \
	"started terminated"
is "the command reads nothing, and writes to our error" "$(said | xargs)" \
	"to-output to-error read:"

attempt --stdout "$T/file" -- sh -c "$words"
is "--stdout takes its output from there" "$(said)" to-error
is "to the file" "$(xargs <"$T/file")" "to-output read:"
is "and the events are whole" "$(jq -r .event "$T/events" | xargs)" "started terminated"

attempt --capture 1KiB --result "$T/r" -- sh -c "$words"
is "what is captured goes nowhere else" "$(said)" ""
is "but to the record" "$(jq -r .output.stdout.tail "$T/r" | xargs)" "to-output read:"
attempt --capture 1KiB --tee -- sh -c "$words"
is "and with --tee to our error" "$(said | sort | xargs)" "read: to-error to-output"
is "the events stay alone" "$(jq -r .event "$T/events" | xargs)" "started terminated"

for option in "--result -" "--result-fd 1" "--events-fd 1"; do
	# shellcheck disable=SC2086 # two words
	exits "$option is refused beside the events" 125 \
		fence-supervisor --attempt a1 --marker "$m" $option -- true </dev/null
done
exits "they are no trouble with --create" 0 fence-supervisor --create --attempt a2 --marker "$m" \
	--result-fd 1 --capture 1KiB -- true
is "the record is there" "$(jq -r .tool "$T/out")" fence-supervisor
exits "the socket is none of the descriptors that the command has" 125 \
	fence-supervisor --attempt a1 --marker "$m" --control-fd 0 -- true
done_testing
