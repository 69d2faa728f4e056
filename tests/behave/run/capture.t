#!/bin/sh
# Bounded capture: the exact end of the output, every byte counted, memory constant.
. "$(dirname "$0")/../../lib/tap.sh"
word=605.$$

# 50 MiB whose end is known.
bytes=52428800
exits "50 MiB are captured" 0 fence-run --capture 64KiB --result "$T/r" -- \
	sh -c "yes 0123456789abcdef | head -c $((bytes - 6)); printf 'theend'; echo err >&2"
is "all of them counted" "$(jq -r '.output.stdout.bytes, .output.stdout.truncated, .output.stderr.bytes' "$T/r" | xargs)" \
	"$bytes true 4"
yes 0123456789abcdef | head -c $((bytes - 6)) | tail -c 65530 >"$T/wanted"
printf 'theend' >>"$T/wanted"
jq -j .output.stdout.tail "$T/r" >"$T/got"
ok "and the tail is exactly the last 64 KiB" cmp "$T/wanted" "$T/got"

peak() { # peak resident memory of fence-run's two processes, the larger one's, in KiB
	awk '/VmHWM/ { if ($2 > most) most = $2 } END { print most }' /proc/"$1"/status \
		/proc/"$(pgrep_child "$1")"/status
}
pgrep_child() {
	for at in /proc/[0-9]*; do
		[ "$(sed 's/.*) . \([0-9]*\) .*/\1/' "$at/stat" 2>/dev/null)" = "$1" ] && echo "${at#/proc/}"
	done
}
for size in 1 50; do
	rm -f "$T/up"
	fence-run -q --capture 64KiB -- sh -c "head -c ${size}M /dev/zero; echo up >$T/up; exec sleep $word" &
	run=$!
	await file "$T/up"
	eval "peak_$size=$(peak $run)"
	kill $run
	wait $run
done
note "peak with 1 MiB: $peak_1 KiB, with 50 MiB: $peak_50 KiB"
ok "memory does not grow with the output" test "$peak_50" -lt $((peak_1 + 256))

is "captured output is passed on only when asked" "$(fence-run --capture 1KiB -- echo hello)" ""
is "--tee passes it on" "$(fence-run --capture 1KiB --tee -- sh -c 'echo hello; echo err >&2' 2>/dev/null)" hello
is "standard error to standard error" "$(fence-run --tee -- sh -c 'echo hello; echo err >&2' 2>&1 >/dev/null)" err
fence-run --tee -- sh -c "yes 0123456789abcdef | head -c 10000000" | cksum >"$T/got"
yes 0123456789abcdef | head -c 10000000 | cksum >"$T/wanted"
ok "nothing is lost on the way" cmp "$T/got" "$T/wanted"
# A reader slower than the command: it takes its time and still gets all.
fence-run --tee -- head -c 3000000 /dev/zero | { await -t 0.3 file /nonexistent; wc -c; } >"$T/got"
is "a slow reader gets everything" "$(xargs <"$T/got")" 3000000

is "a terminal gets everything too" \
	"$(script -qec 'fence-run --tee -- seq 50000' /dev/null </dev/null | tr -d '\r' | cksum)" "$(seq 50000 | cksum)"

exits "a log gets both streams" 0 fence-run --log "$T/log" -- sh -c 'echo out; echo err >&2'
is "whole" "$(sort "$T/log" | xargs)" "err out"
is "and only the log" "$(cat "$T/out" "$T/err")" ""
exits "the log is exact" 0 fence-run --log "$T/log" -- sh -c "yes 0123456789abcdef | head -c 10000000"
ok "to the byte" test "$(cksum <"$T/log")" = "$(cat "$T/wanted")"

if [ -w /dev/full ]; then
	exits "a full disk does not stop the command" 3 \
		fence-run --log /dev/full --result "$T/r" -- sh -c 'echo hello; exit 3'
	like "it is said" "$(cat "$T/err")" "fence-run: write log /dev/full: No space left on device*"
	is "and recorded" "$(jq -r .output.log.complete "$T/r")" false
	fence-run --tee --result "$T/r" -- sh -c 'echo hello; exit 3' >/dev/full 2>"$T/err"
	is "nor when it is the tee's" $? 3
	like "that is said as well" "$(cat "$T/err")" \
		"fence-run: write to standard output: No space left on device*"
	is "and recorded so" "$(jq -r .output.stdout.passedOn "$T/r")" false
else
	lacks "a full disk does not stop the command" "a writable /dev/full"
fi

fence-run -q --tee --capture 16B --result "$T/r" -- sh -c 'yes | head -c 3000000; echo end' | head -c 2 >/dev/null
is "a reader that goes away does not stop the command" \
	"$(jq -r '.exitStatus, .output.stdout.bytes, .output.stdout.passedOn' "$T/r" | xargs)" "0 3000004 false"

for option in --tee "--idle-timeout 20s"; do
	# shellcheck disable=SC2086 # an option and its value
	timeout 20 fence-run -q $option --result "$T/r" -- yes | head -c 2 >/dev/null
	is "unless it was the only one ($option): a broken pipe, as without us" \
		"$(jq -r '.cause, .exit.signal, .output.stdout.passedOn' "$T/r" | xargs)" "signalled 13 false"
done

# A terminal that takes no more: script(1), which reads it, is stopped for eight seconds.
script -qec "fence-run -q -t 500ms --grace 0 --tee --result $T/rt -- \
	sh -c 'echo up >$T/tty; exec yes'; echo over >$T/over" /dev/null </dev/null >/dev/null &
terminal=$!
await file "$T/tty"
kill -STOP $terminal

mkfifo "$T/fifo" "$T/fifo2"
sh -c "exec sleep $word" <"$T/fifo" &
reader=$!
sh -c "exec sleep $word" <"$T/fifo2" &
reader2=$!
fence-run -q -t 300ms --tee -- yes >"$T/fifo2" &
run=$!
# In small pieces: what the reader does not take must find its place however it comes.
fence-run -q --tee --capture 16B --result "$T/r" -- \
	sh -c 'for i in $(seq 300); do head -c 1000 /dev/zero; done' >"$T/fifo"
is "a reader that stops reading is given up in the end" \
	"$(jq -r '.exitStatus, .output.stdout.bytes, .output.stdout.passedOn, .wallMs < 7000' "$T/r" | xargs)" \
	"0 300000 false true"
ok "a time-out does not wait for it any longer" await -t 3 gone $run
wait $run
is "and is one" $? 124
kill $reader $reader2
wait $reader $reader2 2>/dev/null

await -t 8 file "$T/over"
kill -CONT $terminal
# How script(1) takes the stop is not the subject: it is not waited for without a bound.
await -t 5 gone $terminal || kill -KILL $terminal
wait $terminal
is "a stopped terminal does not hold up a time-out" \
	"$(jq -r '.cause, .output.stdout.passedOn, .wallMs < 7000' "$T/rt" | xargs)" "timeout false true"

exits "bytes that are no text are in the record, visibly" 0 \
	fence-run --capture 1KiB --result "$T/r" -- printf '\377\000a\303\251\033'
is "as valid JSON" "$(jq -r '.output.stdout.bytes, (.output.stdout.tail | length > 5)' "$T/r" | xargs)" "6 true"
ok "nothing is left" await none "$word"
done_testing
