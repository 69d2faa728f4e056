#!/bin/sh
# A stage without a sandbox has our user's rights: it can stop and kill the gate's own
# processes and write into .fence. It may spoil a run so, but not its honesty.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"
mark=8$$

gates a <<END
  - {id: a, command: [sh, -c, "kill -STOP \$PPID; exec sleep $mark"], sandbox: none, timeout: 300ms, grace: 0}
END
exits "a stage that stops its monitor ends with its time-out" 3 timeout -k 1 20 fence-gate run all
is "and timed out" "$(record '.stages[0].result')" timed-out
ok "nothing of it runs" await none "$mark"

# It is lost, not cancelled: nobody asked for that.
gates a <<'END'
  - {id: a, command: [sh, -c, "kill -9 $PPID; exec sleep 20"], sandbox: none, timeout: 10s}
END
run_all
is "a stage that kills its monitor ended unseen" \
	"$status $(record '.verdict, .cancelled, .stages[0].result' | paste -sd' ')" "3 DEGRADED false lost"

# edit COMMAND: a stage that failed, and then one that edits what was written of it.
edit() {
	cat >edit.sh <<END
#!/bin/sh
cd .fence/runs || exit 1
for run in *; do :; done # the last one
cd "\$run" || exit 1
$1
END
	chmod +x edit.sh
	gates bad, edit <<'END'
  - {id: bad, command: ["false"], sandbox: none}
  - {id: edit, command: [./edit.sh], sandbox: none}
END
	run_all --jobs 1
}
edit ":"
is "one that edits nothing leaves the failure" "$status $(record '.stages[0].result')" "1 failed"
for change in 'sed s/failed/passed/ stages.jsonl >new; cat new >stages.jsonl' ': >stages.jsonl' \
	'tr a-z "{" <stages.jsonl >new; cat new >stages.jsonl'; do
	edit "$change"
	is "no verdict on parts that were changed ($change)" $status 70
	like "that says so" "$(tail -n 1 "$T/err")" \
		"fence-gate: .fence/runs/*/stages.jsonl: changed by somebody during the run; *"
	# shellcheck disable=SC2012 # ids sort by time and are plain
	ok "and there is no record" test ! -e ".fence/runs/$(ls .fence/runs | tail -n 1)/record.json"
done
edit 'rm -rf ../../../.fence'
is "no verdict when the folder is gone" $status 70

gates a <<'END'
  - {id: a, command: [sh, -c, "echo x; cd .fence/runs/*/ && rm a.log && mkdir a.log; exit 1"], sandbox: none}
END
rm -rf .fence
run_all
is "a log that is none any more changes no verdict" $status 1
like "and is not shown as if it were whole" "$(cat "$T/err")" "*a: its log .fence/runs/*/a.log cannot be read*"
done_testing
