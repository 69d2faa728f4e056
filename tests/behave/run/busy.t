#!/bin/sh
# Many lines on both streams, at 10,000 a second and more: each stream keeps its order, and
# every byte is counted.
. "$(dirname "$0")/../../lib/tap.sh"

# In turn, each line its number, by a program that does not buffer.
cat >"$T/lines" <<'END'
i=0
while [ $i -lt 20000 ]; do
	echo "out $i"
	echo "err $i" >&2
	i=$((i + 1))
done
END
wanted() { awk "BEGIN { for (i = 0; i < 20000; i++) print \"$1\", i }"; }
bytes=$(wanted out | wc -c)

fence-run --capture 64KiB --tee --log "$T/log" --result "$T/r" -- sh "$T/lines" >"$T/o" 2>"$T/e"
is "standard output came in order, all of it" "$(cksum <"$T/o")" "$(wanted out | cksum)"
is "so did standard error" "$(cksum <"$T/e")" "$(wanted err | cksum)"
is "and both in the log" "$(grep out "$T/log" | cksum) $(grep err "$T/log" | cksum)" \
	"$(wanted out | cksum) $(wanted err | cksum)"
is "every byte is counted" "$(jq '.output.stdout.bytes, .output.stderr.bytes' "$T/r" | xargs)" "$bytes $bytes"
is "at 10,000 lines a second of each, at least" "$(jq '.wallMs <= 2000' "$T/r")" true
note "$(jq -c '{wallMs}' "$T/r")"
is "the tail is the end of it" "$(jq -r .output.stdout.tail "$T/r" | tail -n 2)" "out 19999"

# Bytes that are no text.
head -c 300000 /dev/urandom >"$T/bin"
fence-run --capture 4KiB --tee --result "$T/r" -- cat "$T/bin" >"$T/o"
ok "binary data comes through unchanged" cmp "$T/bin" "$T/o"
is "and is counted" "$(jq '.output.stdout.bytes' "$T/r")" 300000
done_testing
