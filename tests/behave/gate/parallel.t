#!/bin/sh
# Stages run at the same time as far as their needs and --jobs allow.
. "$(dirname "$0")/../../lib/tap.sh"
. "$SRC/tests/behave/gate/gate.sh"

# Each waits for the other's word: they pass only if both run at once.
mkfifo left right
gates a, b <<'END'
  - {id: a, command: [sh, -c, "echo x >left; cat right"], sandbox: none, timeout: 20s}
  - {id: b, command: [sh, -c, "cat left; echo y >right"], sandbox: none, timeout: 20s}
END
run_all --jobs 2
is "two stages run at the same time" $status 0

gates a, b <<'END'
  - {id: a, command: [sh, -c, "echo x >left; cat right"], sandbox: none, timeout: 300ms, grace: 0}
  - {id: b, command: [sh, -c, "cat left; echo y >right"], sandbox: none, timeout: 300ms, grace: 0}
END
run_all --jobs 1
is "with --jobs 1 they do not" "$status $(record '[.stages[].result] | join(" ")')" \
	"3 timed-out timed-out"

gates c, b <<'END'
  - {id: a, command: [sh, -c, "echo a >>order"], sandbox: none}
  - {id: b, command: [sh, -c, "echo b >>order"], sandbox: none, needs: [a]}
  - {id: c, command: [sh, -c, "echo c >>order"], sandbox: none, needs: [a, b]}
END
run_all --jobs 8
is "needs are run first, and taken along when the gate does not name them" \
	"$status $(paste -sd' ' order)" "0 a b c"

gates bad, good, blocked, further <<'END'
  - {id: bad, command: ["false"], sandbox: none}
  - {id: good, command: [touch, good-ran], sandbox: none}
  - {id: blocked, command: [touch, blocked-ran], needs: [bad], sandbox: none}
  - {id: further, command: [touch, blocked-ran], needs: [blocked], sandbox: none}
END
run_all --jobs 1
is "it goes on after a failure" "$status $(record '[.stages[].result] | join(" ")')" \
	"1 failed passed blocked blocked"
ok "what is independent ran" test -e good-ran
ok "what needs the failed one did not" test ! -e blocked-ran
rm -f good-ran
run_all --jobs 1 --fail-fast
is "with --fail-fast it does not" "$status $(record '[.stages[].result] | join(" ")')" \
	"1 failed not-started blocked blocked"
ok "nothing more was started" test ! -e good-ran

mark=9$$
gates slow, bad <<END
  - {id: slow, command: [sh, -c, "echo x >left; sleep $mark"], sandbox: none}
  - {id: bad, command: [sh, -c, "cat left; exit 1"], sandbox: none}
END
run_all --jobs 2 --fail-fast
is "with --fail-fast what runs is stopped" "$status $(record '[.stages[].result] | join(" ")')" \
	"1 cancelled failed"
ok "and is gone" await none "$mark"
done_testing
