#!/bin/sh
# --pty where we have no terminal: input and output are whole, and the end of either is one.
. "$(dirname "$0")/../../lib/tap.sh"
word=624.$$
pty() {
	timeout -k 1 20 fence-run -q --pty "$@"
}

is "output comes through, from a terminal" "$(pty -- sh -c 'test -t 0 && test -t 1 && test -t 2 && echo yes' </dev/null | tr -d '\r')" yes
is "which has a size" "$(pty -- stty size </dev/null | tr -d '\r')" "24 80"
is "input goes in, without an echo" "$(printf 'one\ntwo\n' | pty -- sed 's/^/got /' | tr -d '\r' | xargs)" "got one got two"
is "its end is one" "$(printf 'one\n' | pty -- cat | tr -d '\r')" one
is "after half a line too" "$(printf 'one\nhalf' | pty -- cat | tr -d '\r' | xargs)" "one half"
is "for each who reads" "$(printf 'one' | pty -- sh -c 'cat; cat; cat; echo; echo over' | tr -d '\r' | xargs)" "one over"
is "and where there never was any" "$(pty -- sh -c 'cat; echo over' </dev/null | tr -d '\r')" over
is "a file is input as well" "$(pty -- wc -l <"$0" | tr -d ' \r')" "$(wc -l <"$0")"
is "a shell that edits its lines ends with its input" \
	"$(echo 'echo $((40 + 2))' | PS1='' pty -- bash --norc --noprofile -i 2>&1 | tr -d '\r' | grep -c '^42$')" 1

# A mebibyte pasted: as lines to one that reads lines, as bytes to one that reads bytes.
yes 0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklm | head -c 1048576 >"$T/paste"
is "a mebibyte of lines arrives" "$(pty -- cksum <"$T/paste" | tr -d '\r')" "$(cksum <"$T/paste")"
head -c 1048576 /dev/urandom >"$T/bytes"
is "a mebibyte of any bytes arrives at a raw terminal" \
	"$({ await -t 5 file "$T/raw"; cat "$T/bytes"; } | pty -- sh -c "stty raw -echo; echo raw >$T/raw; head -c 1048576 | cksum" | tr -d '\r')" \
	"$(cksum <"$T/bytes")"
rm -f "$T/raw"
is "to which nothing is added" \
	"$({ await -t 5 file "$T/raw"; printf abc; } | pty -t 1500ms -- sh -c "stty raw -echo; echo raw >$T/raw; cat" | od -An -c | xargs)" "a b c"
is "and a mebibyte comes out" "$(pty -- sh -c "stty raw; cat $T/bytes" </dev/null | cksum)" "$(cksum <"$T/bytes")"

is "who closes its terminal and opens it again is still heard" \
	"$(pty -- sh -c 'exec </dev/null >/dev/null 2>&1; await -t 0.2 file /nonexistent; echo again >/dev/tty' </dev/null | tr -d '\r')" again

# One stream, which is standard output's.
pty --capture 1KiB --result "$T/r" -- sh -c 'echo out; echo err >&2; exit 3' </dev/null >"$T/out"
is "the one stream is captured" "$? $(jq -rc '[.output.stdout.tail, .output.stdout.bytes, .output.stderr.bytes]' "$T/r")" \
	'3 ["out\r\nerr\r\n",10,0]'
is "and passed on only when asked" "$(cat "$T/out")" ""
pty --log "$T/log" --tee -- echo logged </dev/null >"$T/out"
ok "logged as well" test "$(cat "$T/log" "$T/out" | tr -d '\r' | xargs)" = "logged logged"
pty --idle-timeout 300ms -- sh -c "echo one; sleep $word" </dev/null >"$T/out"
is "silence is ended" "$?" 124

# Nothing holds us up.
pty --result "$T/r" -- sh -c "setsid sh -c 'echo up >$T/up; exec sleep $word' & await file $T/up; exit 0" </dev/null >"$T/out"
is "who holds the terminal after the end is a leak" "$? $(jq -c '[.output.leaked, .output.holders == .leftover.pids, .wallMs < 2000]' "$T/r")" \
	"0 [true,true,true]"
pty --result "$T/r" -- sh -c "trap '' HUP; setsid sh -c 'while echo $word; do :; done' & exit 0" </dev/null >"$T/out"
is "who goes on writing as well" "$? $(jq -c '[.output.leaked, .wallMs < 4000]' "$T/r")" "0 [true,true]"
pty -- yes $word </dev/null | head -n 1 >"$T/out"
ok "a reader that goes away ends it" await -t 2 none "$word"
pty -t 500ms --grace 0 -- sh -c "trap '' HUP; exec yes $word" </dev/null | head -n 1 >"$T/out"
ok "one that does not mind is ended by its time-out" await -t 2 none "$word"
mkfifo "$T/fifo"
exec 9<>"$T/fifo"
pty -t 300ms --grace 0 --result "$T/r" -- yes $word </dev/null >"$T/fifo"
is "a reader that does not read holds up no time-out" "$? $(jq .cause "$T/r")" '124 "timeout"'
exec 9>&-
pty -t 300ms -- sleep $word <"$T/paste" >"$T/out"
is "nor does a command that does not read" $? 124
{ await -t 1 file /nonexistent; :; } | pty -- sh -c 'exit 5' >"$T/out"
is "nor an input that has no end" $? 5

pty -- sh -c "echo \$\$ >$T/pid; kill -KILL \$PPID; exec sleep $word" </dev/null >"$T/out" 2>&1
is "a killed monitor ends it" $? 125
fence-run --pty -- sh -c "echo \$\$ >$T/pid; trap '' HUP; sleep $word; sleep $word" </dev/null >"$T/out" &
run=$!
await file "$T/pid"
await some "sleep $word" >/dev/null || await some "$word" >/dev/null
kill -KILL $run
wait $run 2>/dev/null
ok "a killed launcher does" await -t 1 none "$word"
ok "nothing is left" await none "$word"
done_testing
