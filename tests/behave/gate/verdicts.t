#!/bin/sh
# One verdict for a gate: PASS, FAIL, DEGRADED, with its exit status and its reasons.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"

gates a, b <<'END'
  - {id: a, command: ["true"], sandbox: none}
  - {id: b, command: [sh, -c, "echo fine"], sandbox: none}
END
run_all
is "all stages pass: exit 0" $status 0
like "it says PASS" "$(cat "$T/err")" "*all: PASS (2 stages, *"
unlike "and nothing is unsatisfied" "$(cat "$T/err")" "*TEST_GATE_UNSATISFIED*"
is "standard output is left alone" "$(cat "$T/out")" ""
is "the record says PASS" "$(record '.verdict, .exitStatus, (.codes | length)' | paste -sd' ')" "PASS 0 0"
is "it holds the output of a stage that passed" "$(record '.stages[1].output.stdoutTail')" "fine"
is "the folder of records is private" "$(stat -c %a .fence)" 700
is "and ignored by git" "$(cat .fence/.gitignore)" "*"

gates good, bad, after <<'END'
  - {id: good, command: ["true"], sandbox: none}
  - {id: bad, command: [sh, -c, "echo the reason is here; exit 7"], sandbox: none}
  - {id: after, command: ["true"], needs: [bad], sandbox: none}
END
run_all
is "one stage fails: exit 1" $status 1
err=$(cat "$T/err")
like "it says FAIL" "$err" "*all: FAIL (3 stages, *"
like "it names the stage" "$err" "*  bad: exited with status 7*"
like "it shows the end of its output" "$err" "*  | the reason is here*"
like "what needs it was not run, and by whom" "$err" \
	'*after *blocked *was not run: it needs "bad", which did not pass*'
like "the gate is not satisfied" "$err" "*TEST_GATE_UNSATISFIED*"
is "the record says so as well" "$(record '.verdict, .codes[0], .stages[1].exit.code, .stages[2].result' | paste -sd' ')" \
	"FAIL TEST_GATE_UNSATISFIED 7 blocked"
log=$(sed -n 's/^bad: all of \(.*\)$/\1/p' "$T/err")
is "the log lies where it says" "$(cat "$log")" "the reason is here"

gates a <<'END'
  - {id: a, command: [sh, -c, "kill -SEGV $$"], sandbox: none}
END
run_all
is "a signal that we did not send fails: exit 1" $status 1
is "and is in the record" "$(record '.stages[0] | .result, .exit.signal, .killedBy' | paste -sd' ')" \
	"signalled 11 other"

gates a <<'END'
  - {id: a, command: [no-such-program], sandbox: none}
END
# A folder of PATH that may not be entered would make it "Permission denied".
PATH=$BIN:$HELP:/usr/bin:/bin run_all
is "a command that is not there degrades: exit 3" $status 3
like "it says what could not be executed and what to do" "$(cat "$T/err")" \
	"*  a: could not be executed: no-such-program: No such file or directory; install it or correct command (command)*"

printf '#!/no/such/interpreter\n' >script
chmod +x script
gates a <<'END'
  - {id: a, command: [./script], sandbox: none}
END
run_all
is "a script without its interpreter degrades: exit 3" $status 3
is "it was not executed" "$(record '.stages[0].result')" not-executed

gates a <<'END'
  - {id: a, command: [sh, -c, "exit 127"], sandbox: none}
END
run_all
is "a command's own 127 is a failure: exit 1" $status 1

# Two runs at once in one project: the one that comes first waits for the other.
gates a <<'END'
  - {id: a, command: [sh, -c, "if mkdir one; then exec await file two; else echo here >two; fi"], sandbox: none, timeout: 20s}
END
fence-gate run all 2>"$T/first" &
first=$!
fence-gate run all 2>"$T/second" &
wait $first
is "two runs at once: the one passes" $? 0
wait $!
is "and so does the other" $? 0
ok "each has a folder of its own" test "$(sed -n 's/^record: //p' "$T/first")" != "$(sed -n 's/^record: //p' "$T/second")"

if [ "$ROOT" = no ]; then
	mkdir closed
	cp gates.yaml closed/
	chmod 555 closed
	exits "a root that cannot be written: no verdict, exit 70" 70 fence-gate run all --config closed/gates.yaml
	like "it says so" "$(cat "$T/err")" "fence-gate: make folder .fence: Permission denied"
fi
done_testing
