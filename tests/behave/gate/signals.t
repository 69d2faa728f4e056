#!/bin/sh
# INT or TERM cancels: the stages are stopped, the record is written, DEGRADED. A
# kill -9 leaves nothing running.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"
mark=6$$

# start STAGES...: runs the gate in the background until each stage has said that it
# runs; the pid is in $gate.
start() {
	rm -f ./*.up
	fence-gate run all --jobs 2 >"$T/out" 2>"$T/err" &
	gate=$!
	for stage; do
		await file "$stage.up" || note "$stage did not start"
	done
}

for signal in INT TERM HUP; do
	gates a, b, c <<END
  - {id: a, command: [sh, -c, "echo up >a.up; exec sleep $mark"], sandbox: none}
  - {id: b, command: [sh, -c, "trap 'exit 0' TERM; echo up >b.up; setsid sleep $mark & wait"], sandbox: none}
  - {id: c, command: ["true"], sandbox: none}
END
	start a b
	kill -s $signal $gate
	wait $gate
	is "$signal: exit 3" $? 3
	is "$signal: the record is written" \
		"$(record '.verdict, .cancelled, [.stages[].result][]' | paste -sd' ')" \
		"DEGRADED true cancelled cancelled not-started"
	like "$signal: and the verdict is said" "$(cat "$T/err")" \
		"*all: DEGRADED*the run was cancelled; run it again*TEST_GATE_UNSATISFIED*"
	ok "$signal: nothing runs any more" await none "$mark"
done

gates a <<END
  - {id: a, command: [sh, -c, "trap '' TERM; echo up >a.up; while :; do sleep $mark; done"], grace: 10m, sandbox: none}
END
start a
kill -s INT $gate
kill -s TERM $gate
wait $gate
is "a second signal kills at once" "$? $(record '.stages[0].result')" "3 cancelled"
ok "nothing runs any more" await none "$mark"

# Stopped for longer than its time-out, and continued.
mkfifo go
gates a <<'END'
  - {id: a, command: [sh, -c, "echo $$ >a.up; read -r _ <go"], timeout: 700ms, sandbox: none}
END
start a
stage=$(cat a.up)
kill -s TSTP $gate
ok "TSTP stops the gate" await state $gate T
ok "and the stage" await state "$stage" T
await -t 1 file never-made # the time-out that must not count
kill -s CONT $gate
echo word >go
wait $gate
is "CONT goes on, and the time between did not count" "$? $(record '.stages[0].result')" "0 passed"

for _ in 1 2 3; do
	gates a, b <<END
  - {id: a, command: [sh, -c, "trap '' TERM HUP; setsid sleep $mark & echo up >a.up; wait"], sandbox: none}
  - {id: b, command: [sh, -c, "(sleep $mark &) ; echo up >b.up; exec sleep $mark"], sandbox: none}
END
	start a b
	kill -9 $gate
	ok "kill -9 with two stages running leaves nothing after a second" await -t 1 none "$mark"
	wait $gate 2>/dev/null
done
done_testing
