#!/bin/sh
# Whatever a stage prints: the log has all of it, the record a bounded tail, the
# terminal nothing that could act on it, and memory does not grow.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"

mkfifo printed
cat >flood <<'END'
#!/bin/sh
head -c 20000000 /dev/zero | tr '\0' x
echo end
echo yes >printed
cat printed
END
chmod +x flood
gates flood <<'END'
  - {id: flood, command: [./flood], sandbox: none}
END
fence-gate run all >"$T/out" 2>"$T/err" &
gate=$!
read -r _ <printed
peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$gate/status")
case $FENCE_BUILD in
*asan*) most=200000 ;; # the sanitizers' own memory
*) most=6000 ;;
esac
ok "20 MB of output cost less than $most KiB of memory (it took $peak)" test "$peak" -lt $most
echo go >printed
wait $gate
is "it passes" $? 0
is "the log has every byte" "$(wc -c <"$(echo .fence/runs/*/flood.log)")" 20000007
is "the record counts them" "$(record '.stages[0].output.stdoutBytes')" 20000007
is "and has the last 256 KiB" "$(record '.stages[0].output.stdoutTail | length')" 262144
like "with the end" "$(record '.stages[0].output.stdoutTail' | tail -c 20)" "*xend
go"

gates bytes <<'END'
  - {id: bytes, command: [./bytes], sandbox: none}
END
printf '#!/bin/sh\nprintf "\\033[31mred\\033[0m\\000\\377 caf\\303\\251 \\303\\n"\nexit 1\n' >bytes
chmod +x bytes
LC_ALL=C run_all
like "in the C locale all but ASCII is shown as \\xNN" "$(cat "$T/err")" \
	'*  | \\x1b\[31mred\\x1b\[0m\\x00\\xff caf\\xc3\\xa9 \\xc3*'
LC_ALL=C.UTF-8 run_all
like "in a UTF-8 locale UTF-8 stays" "$(cat "$T/err")" \
	'*  | \\x1b\[31mred\\x1b\[0m\\x00\\xff café \\xc3*'
is "no escape reaches the terminal" "$(tr -cd '\033\000' <"$T/err" | wc -c)" 0
is "the record is JSON with the same" "$(record '.stages[0].output.stdoutTail')" \
	'\x1b[31mred\x1b[0m\x00\xff café \xc3'
is "the log has the bytes" "$(od -An -c .fence/runs/*/bytes.log | tr -d ' \n' | head -c 12)" '033[31mred03'

run_all --json
is "--json prints the record, and it alone" "$(cat "$T/out")" \
	"$(cat ".fence/runs/$(ls .fence/runs | tail -n 1)/record.json")"
is "in one line" "$(wc -l <"$T/out")" 1
fence-gate run all --json >/dev/full 2>"$T/err"
is "a record that cannot be printed is an error" $? 70
like "that says so" "$(tail -n 1 "$T/err")" "fence-gate: write to standard output: No space left on device"
fence-gate run all --json >&- 2>"$T/err"
is "so is one whose standard output is closed" $? 70
like "that says so, too" "$(tail -n 1 "$T/err")" "fence-gate: write to standard output: Bad file descriptor"
exits "without --json nobody misses it" 1 sh -c 'fence-gate run all >&-'
done_testing
