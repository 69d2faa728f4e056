#!/bin/sh
# A stage that outlives its time-out is ended with all that it started. It timed out:
# it did not fail, whatever status it ended with.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"
mark=7$$

gates quick, polite, stubborn <<END
  - {id: quick, command: ["true"], timeout: 10s, sandbox: none}
  - {id: polite, command: [sh, -c, "trap 'exit 9' TERM; sleep $mark & wait"], timeout: 200ms, sandbox: none}
  - {id: stubborn, command: [sh, -c, "trap '' TERM; setsid sleep $mark & sleep $mark"], timeout: 200ms, grace: 100ms, sandbox: none}
END
run_all
is "a time-out degrades: exit 3" $status 3
is "what is within its time passes" "$(record '.stages[0].result')" passed
is "one that ends with a status on TERM timed out" \
	"$(record '.stages[1] | .result, .cause, (.exit | tostring)' | paste -sd' ')" "timed-out timeout null"
is "one that ignores TERM timed out, by KILL" \
	"$(record '.stages[2] | .result, .killedBy, (.killAtMs >= 300)' | paste -sd' ')" "timed-out timeout true"
like "the verdict names the stage and the field to raise" "$(cat "$T/err")" \
	"*  stubborn: timed out after 200 ms; raise timeout if the stage needs longer (timeout)*"
ok "nothing of them runs" await none "$mark"

gates silent <<END
  - {id: silent, command: [sh, -c, "echo once; sleep $mark"], idleTimeout: 200ms, sandbox: none}
END
run_all
is "so does one that says nothing for too long" \
	"$status $(record '.stages[0] | .result, .detail' | paste -sd' ')" \
	"3 idle-timed-out printed nothing for 200 ms"
done_testing
