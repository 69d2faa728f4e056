#!/bin/sh
# list and plan say what is there and what would run, and run nothing.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"

cat >gates.yaml <<'END'
version: 1
stages:
  - {id: unit, command: [touch, ran], needs: [build], env: {set: {CI: "true"}}}
  - {id: build, command: [touch, ran], sandbox: none, timeout: 90s}
gates:
  - {id: full, stages: [unit, build], changes: shared behaviour}
  - {id: quick, tier: targeted, stages: [build]}
END
is "list names the gates and their stages" "$(fence-gate list)" "full (full): unit build
quick (targeted): build"
is "the same as JSON" \
	"$(fence-gate list --json | jq -c '[.schema, .gates[0].changes, .gates[1].stages[0], .stages[1]]')" \
	'["fence-gate-list/v1","shared behaviour","build","build"]'

plan=$(env -i PATH="$PATH" HOME=/h SECRET=x fence-gate plan full)
is "plan has the order, the words, the sandbox and the environment's names" "$plan" \
	"1. build
   command: touch ran
   sandbox: none, timeout: 90000 ms, grace: 5000 ms
   environment: PATH HOME
2. unit
   command: touch ran
   sandbox: gate, timeout: 600000 ms, grace: 5000 ms
   needs: build
   environment: PATH HOME CI"
is "the same as JSON" \
	"$(fence-gate plan full --json | jq -c '[.schema, .gate, .stages[0].id, .stages[1].needs[0], .stages[0].timeoutMs]')" \
	'["fence-gate-plan/v1","full","build","build",90000]'
ok "nothing was run or written" test ! -e ran -a ! -e .fence
done_testing
