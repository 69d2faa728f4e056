#!/bin/sh
# Real output against the schemas that are installed with it.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"

# faults SCHEMA FILE: what is wrong with the record, one line each.
faults() {
	jq -r --slurpfile schema "$SRC/schemas/$1.json" -f "$SRC/tests/lib/schema.jq" "$2" 2>&1
}

gates passed, failed, signalled, timed-out, left, missing, blocked, confined, unconfined <<'END'
  - {id: passed, command: [sh, -c, "echo out; echo err >&2"], sandbox: none}
  - {id: failed, command: ["false"], sandbox: none}
  - {id: signalled, command: [sh, -c, "kill -SEGV $$"], sandbox: none}
  - {id: timed-out, command: [sh, -c, "trap '' TERM; sleep 60"], timeout: 100ms, idleTimeout: 10s, grace: 50ms, sandbox: none}
  - {id: left, command: [sh, -c, "sleep 60 & exit 0"], sandbox: none}
  - {id: missing, command: [no-such-program], sandbox: none}
  - {id: blocked, command: ["true"], needs: [failed], sandbox: none}
  - {id: confined, command: ["true"]}
  - {id: unconfined, command: [no-such-program]}
END
run_all --json
is "a run of every kind of stage" "$status $(jq -r '.stages | length' "$T/out")" "1 9"
is "the record is as its schema says" "$(faults fence-gate-result-v1 "$T/out")" ""
jq '.stages[0].exit.colour = 1' "$T/out" >"$T/bad"
like "a record that is not is found out" "$(faults fence-gate-result-v1 "$T/bad")" "*stages*exit*colour*"

fence-gate list --json >"$T/list"
is "the list is as its schema says" "$(faults fence-gate-list-v1 "$T/list")" ""
fence-gate plan all --json >"$T/plan"
is "the plan is as its schema says" "$(faults fence-gate-plan-v1 "$T/plan")" ""

# A run that is killed leaves what it knew: one line for each stage that ended.
gates a, b <<'END'
  - {id: a, command: ["true"], sandbox: none}
  - {id: b, command: [sh, -c, "echo up >up; sleep 60"], needs: [a], sandbox: none}
END
fence-gate run all 2>"$T/err" &
gate=$!
await file up
kill -9 $gate
# shellcheck disable=SC2012 # ids sort by time and are plain
run=.fence/runs/$(ls .fence/runs | tail -n 1)
is "a killed run leaves the stages that had ended" "$(jq -r .result "$run/stages.jsonl")" passed
ok "and no record that could be taken for a whole one" test ! -e "$run/record.json"
done_testing
